// How the threads of a block bring their partial results together.
#ifndef HEDDLE_EMIT_GRID_COMBINE_H_
#define HEDDLE_EMIT_GRID_COMBINE_H_

#include "emit/row_passes.h"

// What partial results begin with: the reducer's neutral value, or the initial one where that may come in twice.
MlirValue grid_combine_start(row_pass_emitter *s, const row_reduction *r, int value);

// Partial results of a thread that has several columns: a vector, of which `lane` is an element's number.
MlirValue grid_combine_spread(ir_builder *b, MlirValue x, int64_t lanes);
MlirValue grid_combine_get(ir_builder *b, MlirValue vector, MlirValue lane, MlirType type);
MlirValue grid_combine_put(ir_builder *b, MlirValue x, MlirValue vector, MlirValue lane);

// `partial`: the thread's results, of all reductions of the pass one after the other. Rows: the results become values
// that every thread of the row has. Columns (and rows in order, but for the vectors): `partial` are vectors where
// threads have several columns, and the results lie in the tensors of the carried values.
heddle_status grid_combine_pass(row_pass_emitter *s, int pass, const MlirValue *partial);

#endif
