// Transpose through tiles.
//
// After dims of size 1 are dropped and dims that stay adjacent are merged, two axes matter: `a`, along which the
// operand lies in memory, and `b`, along which the result does; all others together are the batch. A tile is a piece of
// a times a piece of b of one batch. It is turned in registers.
#ifndef HEDDLE_PLAN_HERO_TRANSPOSE_H_
#define HEDDLE_PLAN_HERO_TRANSPOSE_H_

#include "plan/epilogue.h"

// Part 0 gives the heroes' operands at the operand's index, part 1 is the epilogue, over the result's indices.
typedef struct hero_transpose {
  int hero_count;
  const instruction *const *heroes;
  int64_t batches, a, b;  // sizes
  int64_t tile_a, tile_b, tiles_a, tiles_b;
  const indexing_map *to_operand, *to_result;  // (batch, a, b) -> indices
  const int *direct_inputs;                    // by hero: the kernel's input to read it from; -1: through a buffer
  const int *direct_outputs;                   // by hero: the output to write it to; -1: through a buffer
  bool in_registers;                           // false: element by element, for types that no vector holds
  bool streams;                                // results go past the caches
  plan_epilogue epilogue;
} hero_transpose;

// See hero_rule. Takes one transpose or several of equal dims and permutation, with elementwise consumers.
bool hero_transpose_takes(arena *a, kernel_plan *k, const instruction_list *body, const plan_target *target);

#endif
