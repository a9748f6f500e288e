// Heroes are the instructions that decide which emitter a kernel gets; the epilogue is what consumers in the same
// kernel make of their values.
#ifndef HEDDLE_KERNEL_EPILOGUE_H_
#define HEDDLE_KERNEL_EPILOGUE_H_

#include "kernel/kernel.h"

// Whether a hero can make both in one pass; they have the same opcode, or are the same: whether it is of use for that.
typedef bool (*kernel_alike_fn)(const target_description *target, const instruction *l, const instruction *r);

// The body's last instruction of the opcode that is of use and those like it, users first: each is a hero unless it
// feeds another. Marks are lost.
void kernel_epilogue_heroes(arena *a, const target_description *target, const instruction_list *body, hlo_opcode opcode,
                            kernel_alike_fn is_alike, instruction_list *heroes);

// Fills in the epilogue if every output either follows from the heroes (all of equal dims) elementwise, bitcasts apart,
// or does not depend on them and has as many elements. What stands behind a bitcast is computed over the heroes' dims,
// by instructions made for it. The heroes' operands are not looked at.
bool kernel_epilogue_find(arena *a, const kernel_plan *k, const instruction_list *body, int hero_count,
                          const instruction *const *heroes, kernel_epilogue *out);

#endif
