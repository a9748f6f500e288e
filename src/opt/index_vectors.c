// Index operands as lists of index vectors: transposed, flattened, and with batching dims written out by iotas.
#include "opt/index_vectors.h"

bool index_vectors_are_canonical(const instruction *indices, const index_dims *from) {
  if (indices->shape->rank != 2 || from->vector_dim != 1 || from->indices_batching.size > 0) return false;
  for (int k = 0; k < from->map.size; k++)
    if (from->map.data[k] != k) return false;
  return true;
}

void index_vectors_put_first(int rank, int count, const int64_t *first, int64_t *permutation) {
  uint64_t taken = 0;
  for (int k = 0; k < count; k++) {
    permutation[k] = first[k];
    taken |= (uint64_t)1 << first[k];
  }
  for (int d = 0; d < rank; d++)
    if (!((taken >> d) & 1)) permutation[count++] = d;
}

void index_vectors_invert(int rank, const int64_t *permutation, int64_t *inverse) {
  for (int k = 0; k < rank; k++) inverse[permutation[k]] = k;
}

int_list index_vectors_count_up(arena *a, int64_t start, int count) {
  int64_t *data = arena_array(a, int64_t, count);
  for (int k = 0; k < count; k++) data[k] = start + k;
  return (int_list){data, count};
}

// The indices with the vector as the last dim.
static instruction *vector_last(const builder *b, instruction *indices, int64_t vector_dim) {
  const shape *s = indices->shape;
  int64_t dims[SHAPE_MAX_RANK + 1], permutation[SHAPE_MAX_RANK];
  if (vector_dim == s->rank) {
    if (s->rank) memcpy(dims, s->dims, (size_t)s->rank * sizeof *dims);
    dims[s->rank] = 1;
    return builder_reshape(b, indices, s->rank + 1, dims);
  }
  int count = 0;
  for (int d = 0; d < s->rank; d++)
    if (d != vector_dim) permutation[count++] = d;
  permutation[count] = vector_dim;
  return builder_transpose(b, indices, permutation);
}

// Puts the position along each batching dim in front of every vector. Types too narrow for these are made wider.
static instruction *with_batch_positions(const builder *b, instruction *indices, const index_dims *from) {
  if (from->indices_batching.size == 0) return indices;
  if (dtypes[indices->shape->dtype].bits < 32) indices = builder_convert(b, indices, DTYPE_S32);
  const shape *s = indices->shape;
  instruction *parts[SHAPE_MAX_RANK + 1];
  int64_t dims[SHAPE_MAX_RANK];
  memcpy(dims, s->dims, (size_t)s->rank * sizeof *dims);
  dims[s->rank - 1] = 1;
  for (int k = 0; k < from->indices_batching.size; k++) {
    int64_t dim = from->indices_batching.data[k];
    if (dim > from->vector_dim) dim--;  // the vector has moved behind it
    parts[k] = builder_iota(b, s->dtype, s->rank, dims, dim);
  }
  parts[from->indices_batching.size] = indices;
  return builder_concatenate(b, from->indices_batching.size + 1, parts, s->rank - 1);
}

index_vectors index_vectors_make(const builder *b, instruction *indices, const index_dims *from) {
  instruction *all = with_batch_positions(b, vector_last(b, indices, from->vector_dim), from);
  int batch_rank = all->shape->rank - 1;
  index_vectors v = {.count = 1, .batch_rank = batch_rank, .entries = from->indices_batching.size + from->map.size};
  v.batch_dims = arena_array(b->arena, int64_t, batch_rank);
  for (int k = 0; k < batch_rank; k++) v.count *= v.batch_dims[k] = all->shape->dims[k];
  v.map = arena_array(b->arena, int64_t, v.entries);
  for (int k = 0; k < from->indices_batching.size; k++) v.map[k] = from->batching.data[k];
  for (int k = 0; k < from->map.size; k++) v.map[from->indices_batching.size + k] = from->map.data[k];
  v.vectors = batch_rank == 1 ? all : builder_reshape(b, all, 2, (int64_t[]){v.count, v.entries});
  return v;
}

void index_vectors_starts(const builder *b, const index_vectors *v, int rank, instruction **starts) {
  instruction *zero = builder_scalar_int(b, v->vectors->shape->dtype, 0);
  for (int d = 0; d < rank; d++) starts[d] = zero;
  for (int k = 0; k < v->entries; k++) {
    instruction *entry = builder_slice(b, v->vectors, (slice_dim[]){{0, 1, 1}, {k, k + 1, 1}});
    starts[v->map[k]] = builder_reshape(b, entry, 0, NULL);
  }
}
