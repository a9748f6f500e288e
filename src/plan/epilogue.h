// What consumers make of a hero's value.
#ifndef HEDDLE_PLAN_EPILOGUE_H_
#define HEDDLE_PLAN_EPILOGUE_H_

#include "plan/kernel.h"

typedef struct plan_epilogue {
  kernel_part part;             // over the hero's dims, given the heroes: the values of all outputs
  const indexing_map **places;  // by output: where in it the value goes; null: at the same indices
} plan_epilogue;

// Fills in the epilogue if every output either follows from the heroes (all of equal dims) elementwise, bitcasts of the
// result apart, or does not depend on them and has as many elements. The heroes' operands are not looked at.
bool plan_epilogue_find(arena *a, const kernel_plan *k, const instruction_list *body, int hero_count,
                        const instruction *const *heroes, plan_epilogue *out);

#endif
