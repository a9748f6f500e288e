// Rows whose elements a block leaves in shared memory, for a thread each to combine in order.
#ifndef HEDDLE_EMIT_GRID_STAGED_H_
#define HEDDLE_EMIT_GRID_STAGED_H_

#include "emit/row_passes.h"

// Makes room for the elements of all reductions of the pass; the tensors' numbers, by value of one reduction after the
// other.
const int *grid_staged_allocate(row_pass_emitter *s, const row_pass *pass);

// Visits an element: calls the pass's body at `point`, the space's indices, the row's number in the block and the place
// in the stages; stores what is to be stored and leaves an element of each reduction there. In `outputs`, the tensors.
void grid_staged_visit(row_pass_emitter *s, ir_builder *b, const row_pass *pass, const int *stages,
                       const MlirValue *point, MlirValue *outputs);

// Flags the tensors that it changes.
void grid_staged_changes(const row_pass_emitter *s, const row_pass *pass, const int *stages, bool *changes);

// One element more of a reduction: `stages` are its own, and `so_far` are its partial results.
void grid_staged_take(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const int *stages,
                      const MlirValue *tensors, const MlirValue *place, MlirValue *so_far);

// Each thread combines the elements of its row; results lie in the tensors of the carried values.
heddle_status grid_staged_combine(row_pass_emitter *s, const row_pass *pass, const int *tensors);

#endif
