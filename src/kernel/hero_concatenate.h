// Concatenate: each operand walks its own block of the output.
#ifndef HEDDLE_KERNEL_HERO_CONCATENATE_H_
#define HEDDLE_KERNEL_HERO_CONCATENATE_H_

#include "kernel/blocks.h"
#include "kernel/epilogue.h"

// Part b gives the operands of block b, one per hero; the last part is the epilogue, over the output's indices.
typedef struct hero_concatenate {
  int dim;
  int block_count;  // operands that are not empty
  const plan_block *blocks;
  const int64_t *offsets;  // of each block along `dim`
  plan_epilogue epilogue;
} hero_concatenate;

// See hero_rule. Takes one concatenate, or several of equal operand dims, with elementwise consumers.
bool hero_concatenate_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
