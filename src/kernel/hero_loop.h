// The loop hero computes every element of the output on its own, as any kernel can be made.
#ifndef HEDDLE_KERNEL_HERO_LOOP_H_
#define HEDDLE_KERNEL_HERO_LOOP_H_

#include "kernel/kernel.h"

// What one of `elements` points of the kernel's index space costs.
launch_cost hero_loop_cost(const kernel_plan *k, const instruction_list *body, int64_t elements);

// Whether an instruction of another opcode than `but` has a loop of its own for every element.
bool hero_loop_prevents_vectors(const instruction_list *body, hlo_opcode but);

// Of the widest array that is walked, if nothing but an instruction of opcode `but` (HLO_OPCODE_COUNT: nothing) reaches
// elements in another order than that in which they lie in memory; else 0. See launch_cost.
int hero_loop_widest_bits(const kernel_plan *k, const instruction_list *body, hlo_opcode but);

// See hero_rule. Takes everything.
bool hero_loop_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
