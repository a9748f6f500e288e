// Estimates how many registers a thread needs that computes one element of a kernel's outputs.
#ifndef HEDDLE_KERNEL_LIVE_VALUES_H_
#define HEDDLE_KERNEL_LIVE_VALUES_H_

#include "hlo/module.h"

// Registers of 32 bits that values take at once, most, when the instructions are computed in this order, operands
// before users, and all inputs are read first.
int live_values_registers(arena *scratch, const instruction_list *body);

#endif
