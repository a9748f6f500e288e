// Gives the dimension numbers of gather and of scatter common names.
//
// Both split the dims of the indexed array into those that a window runs along, those of size one that the result (the
// updates) leaves out, and batch dims shared with the indices; and the dims of the indices into batch dims and the
// index vector's.
#ifndef HEDDLE_HLO_INDEX_DIMS_H_
#define HEDDLE_HLO_INDEX_DIMS_H_

#include "hlo/attributes.h"

typedef struct index_dims {
  int_list window;            // dims of the result (of the updates) that windows run along
  int_list omitted;           // dims of the indexed array that are left out
  int_list batching;          // dims of the indexed array that go with ...
  int_list indices_batching;  // ... these dims of the indices
  int_list map;               // component of the index vector -> dim of the indexed array
  int64_t vector_dim;         // of the indices; the one behind their last if the vectors have one component
} index_dims;

static inline index_dims index_dims_of_gather(const hlo_attributes *x) {
  return (index_dims){x->offset_dims,           x->collapsed_slice_dims,
                      x->operand_batching_dims, x->start_indices_batching_dims,
                      x->start_index_map,       x->index_vector_dim};
}

static inline index_dims index_dims_of_scatter(const hlo_attributes *x) {
  return (index_dims){x->update_window_dims,           x->inserted_window_dims,
                      x->input_batching_dims,          x->scatter_indices_batching_dims,
                      x->scatter_dims_to_operand_dims, x->index_vector_dim};
}

// Whether windows run along a dim of the indexed array: they have such dims in the order of `window`.
static inline bool index_dims_has_window(const index_dims *d, int64_t dim) {
  return !int_list_has(d->omitted, dim) && !int_list_has(d->batching, dim);
}

#endif
