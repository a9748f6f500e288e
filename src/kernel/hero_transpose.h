// Transpose through tiles.
//
// Dims of size 1 are dropped and dims that stay adjacent are merged into axes. Two sides matter: `a`, along which the
// operand lies in memory, and `b`, along which the result does; all others together are the batch. A side is one axis,
// or several neighbouring ones if they are short. A tile is a piece of a times a piece of b of one batch. It is turned
// in registers.
#ifndef HEDDLE_KERNEL_HERO_TRANSPOSE_H_
#define HEDDLE_KERNEL_HERO_TRANSPOSE_H_

#include "kernel/epilogue.h"

// Transposes of one permutation are a group. Part g gives the operands of group g's heroes at the operands' index, the
// last part is the epilogue, over the result's indices.
typedef struct hero_transpose {
  int hero_count;
  const instruction *const *heroes;
  int group_count;
  const int *groups;      // by hero
  int64_t batches, a, b;  // sizes
  int64_t tile_a, tile_b, tiles_a, tiles_b;
  const indexing_map *const *to_operand;  // by group: (batch, a, b) -> indices
  const indexing_map *to_result;
  const int *direct_inputs;   // by hero: the kernel's input to read it from; -1: through a buffer
  const int *direct_outputs;  // by hero: the output to write it to; -1: through a buffer
  bool in_registers;          // false: element by element, for types that no vector holds
  bool streams;               // results go past the caches
  plan_epilogue epilogue;
} hero_transpose;

// Whether one pass over tiles makes both: transposes to the same dims whose sides are the same. l and r may be the
// same: whether tiles are of use at all.
bool hero_transpose_alike(const instruction *l, const instruction *r);

// See hero_rule. Takes transposes that are alike, with elementwise consumers.
bool hero_transpose_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
