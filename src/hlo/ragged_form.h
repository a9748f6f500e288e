// Describes the groups of a ragged dot: which rows of lhs each group has, and which parts of rhs and of the result
// depend on it.
//
// The rows of a ragged dim of lhs fall into groups of consecutive ones, whose sizes are an operand. Rows behind the
// last group belong to none.
#ifndef HEDDLE_HLO_RAGGED_FORM_H_
#define HEDDLE_HLO_RAGGED_FORM_H_

#include "hlo/module.h"

typedef enum ragged_kind {
  RAGGED_FREE,        // each group has a rhs of its own
  RAGGED_CONTRACTED,  // each group gives a result of its own
  RAGGED_BATCH,       // the groups make no difference
} ragged_kind;

typedef struct ragged_form {
  ragged_kind kind;
  int dim;          // the ragged one, of lhs
  int prefix_rank;  // dims of lhs that the group sizes depend on: those of the sizes but for the last
  int prefix[SHAPE_MAX_RANK];
  int64_t groups, rows;
} ragged_form;

// False if the group sizes have no shape that fits. Shape inference has checked all else.
bool ragged_form_of(const instruction *dot, ragged_form *out);

// By dim of lhs: which dim of a group's result it is (but for contracting dims), and which of rhs it goes with (but for
// free dims).
void ragged_form_result_positions(const instruction *dot, int positions[static SHAPE_MAX_RANK]);
void ragged_form_rhs_positions(const instruction *dot, int positions[static SHAPE_MAX_RANK]);

// Dims of rhs as those of one group's, which has lost the dim of groups; `lost` is -1 where there is none.
int_list ragged_form_rhs_dims(arena *a, int_list dims, int64_t lost);

#endif
