// Operations that are cut along dims of which their result has none: those that a product, a reduction or a scatter
// goes over. Turns go on with the same result, each with its part of the operands.
#ifndef HEDDLE_SUPERTILE_TILE_SUM_H_
#define HEDDLE_SUPERTILE_TILE_SUM_H_

#include "hlo/module.h"

// How many such dims there are. Sums whose order counts have none where `exact` says so, nor do those of types that
// round after every turn. A scatter's updates keep their order.
int tile_sum_dims(const instruction *i, bool exact);

int64_t tile_sum_dim_size(const instruction *i, int which);

// The operand's dim that is dim number `which` of those; -1: the operand has it whole in every turn.
int tile_sum_dim(const instruction *i, int operand, int which);

// What combines the results of two turns: add for a product. HLO_OPCODE_COUNT: nothing, each turn begins with the last
// one's result (tile_sum_goes_on).
hlo_opcode tile_sum_combiner(const instruction *i);

// Whether the operand is what the result is before the first turn, and in all others what it has become: a scatter's
// arrays.
bool tile_sum_goes_on(const instruction *i, int operand);

#endif
