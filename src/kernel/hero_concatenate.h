// Concatenate: each operand walks its own block of the output.
#ifndef HEDDLE_KERNEL_HERO_CONCATENATE_H_
#define HEDDLE_KERNEL_HERO_CONCATENATE_H_

#include "kernel/blocks.h"
#include "kernel/epilogue.h"

// See hero_rule. Takes one concatenate, or several of equal operand dims, with elementwise consumers.
bool hero_concatenate_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
