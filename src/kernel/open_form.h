// How the open sizes of a program lie in the arrays of a kernel.
#ifndef HEDDLE_KERNEL_OPEN_FORM_H_
#define HEDDLE_KERNEL_OPEN_FORM_H_

#include "hlo/module.h"

// Whether code for these instructions (one kernel's) must know the open sizes of the run. Not where all open arrays are
// rows of the same number, whose elements lie where they would lie among more rows: the kernel then runs fewer tiles.
bool open_form_takes_sizes(const instruction_list *body);

// The number of the innermost dim that is open; -1 if none is.
int open_form_last_dim(const module *m, const shape *s);

#endif
