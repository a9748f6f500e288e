// Rows whose elements a block leaves in shared memory, for a thread each to combine in order.
#ifndef HEDDLE_EMIT_GRID_STAGED_H_
#define HEDDLE_EMIT_GRID_STAGED_H_

#include "emit/row_passes.h"

// Makes room for the elements of all reductions of the pass; the tensors' numbers, by value of one reduction after the
// other.
const int *grid_staged_allocate(row_pass_emitter *s, const row_pass *pass);

// Leaves an element of each at `place`.
void grid_staged_leave(row_pass_emitter *s, ir_builder *b, const row_pass *pass, const int *tensors,
                       const MlirValue *results, MlirValue place);

// Each thread combines the elements of its row; results lie in the tensors of the carried values.
heddle_status grid_staged_combine(row_pass_emitter *s, const row_pass *pass, const int *tensors);

#endif
