// Steps in which MLIR lowers vectors, which have no C API: thin calls, no decisions.
#ifndef HEDDLE_DIALECT_VECTOR_STEPS_H_
#define HEDDLE_DIALECT_VECTOR_STEPS_H_

#include <mlir-c/Rewrite.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vector_step {
  VECTOR_STEP_RECOGNIZE,  // multiplications that are reduced become contractions, permuted accesses plain ones
  VECTOR_STEP_VIEWS,      // accesses to views become accesses to what these are views of
  VECTOR_STEP_LOWER,      // contractions, reductions of dims, broadcasts, transposes become arithmetic and shuffles
  VECTOR_STEP_UNIT_DIMS,  // leading dims of one element go
  VECTOR_STEP_ROWS,       // accesses to several rows become accesses to one each, reshapes and masks go
  VECTOR_STEP_COUNT
} vector_step;

// MLIR's patterns for a step, to be kept for all that is rewritten in the context, which outlives them.
MlirFrozenRewritePatternSet vector_steps_collect(MlirContext context, vector_step step);

// Applies them to an operation's regions until nothing changes; has_branches: whether some region has several blocks.
// False if that does not end.
bool vector_steps_apply(MlirOperation op, MlirFrozenRewritePatternSet patterns, bool has_branches);

// Sums that a loop within the operation carries through memory stay in registers. What else the loop does to that
// memory is not seen.
void vector_steps_hoist(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif
