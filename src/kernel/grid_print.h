// Prints what heroes decided for kernels that run as a grid of threads.
#ifndef HEDDLE_KERNEL_GRID_PRINT_H_
#define HEDDLE_KERNEL_GRID_PRINT_H_

#include "kernel/kernel.h"

// Every number of the plan's details, a line or more; nothing for heroes whose launch says all.
void grid_print_details(text *out, const kernel_plan *k);

#endif
