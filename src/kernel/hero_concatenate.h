// The concatenate hero makes one block of each operand: a loop over the operand's elements that stores where they
// belong in the output, so that no element asks which operand it comes from.
#ifndef HEDDLE_KERNEL_HERO_CONCATENATE_H_
#define HEDDLE_KERNEL_HERO_CONCATENATE_H_

#include "kernel/blocks.h"
#include "kernel/epilogue.h"

// See hero_rule. Takes one concatenate, or several of equal operand dims, with elementwise consumers.
bool hero_concatenate_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// The heroes, at least one and none empty, and what consumers make of them; false if the kernel is no concatenate.
bool hero_concatenate_find(arena *a, const kernel_plan *k, const instruction_list *body,
                           const target_description *target, instruction_list *heroes, kernel_epilogue *epilogue);

// Gives operand number `operand` of each hero, over that operand's indices.
kernel_part hero_concatenate_operand(arena *a, const instruction_list *heroes, int operand);

#endif
