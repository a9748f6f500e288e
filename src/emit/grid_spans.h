// Rows whose elements have an order, however long they are.
#ifndef HEDDLE_EMIT_GRID_SPANS_H_
#define HEDDLE_EMIT_GRID_SPANS_H_

#include "emit/row_passes.h"

// Pass `pass`: reads, stores and combines; results lie in the tensors of the carried values.
heddle_status grid_spans_pass(row_pass_emitter *s, int pass);

#endif
