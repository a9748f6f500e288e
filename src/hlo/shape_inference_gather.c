// Shape rules of gather and scatter.
#include "hlo/index_dims.h"
#include "hlo/shape_rules.h"

typedef struct index_rule {
  const char *window_name, *omitted_name, *batching_name, *indices_batching_name, *map_name;
  index_dims dims;
} index_rule;

static index_rule gather_rule(const hlo_attributes *x) {
  return (index_rule){"offset_dims",     "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
                      "start_index_map", index_dims_of_gather(x)};
}

static index_rule scatter_rule(const hlo_attributes *x) {
  return (index_rule){"update_window_dims",           "inserted_window_dims",
                      "input_batching_dims",          "scatter_indices_batching_dims",
                      "scatter_dims_to_operand_dims", index_dims_of_scatter(x)};
}

// (I1) Indices are integers. (I2) index_vector_dim is one of their dims or the one behind the last. (I3) The index
// vector has an entry of `map` for each component.
static heddle_status check_indices(arena *a, const instruction *i, const index_rule *d, const shape *indices) {
  if (!shape_is_array(indices) || !dtype_is_integer(indices->dtype))
    return RULE_ERROR(i, "the indices have shape %s, wanted integers", shape_text(a, indices));
  if (d->dims.vector_dim < 0 || d->dims.vector_dim > indices->rank)
    return RULE_ERROR(i, "index_vector_dim is %lld, wanted at most the rank of the indices, %d",
                      (long long)d->dims.vector_dim, indices->rank);
  int64_t components = d->dims.vector_dim < indices->rank ? indices->dims[d->dims.vector_dim] : 1;
  if (!shape_rule_sizes_agree(components, d->dims.map.size))
    return RULE_ERROR(i, "%s has %d entries, wanted one for each of the %lld components of an index", d->map_name,
                      d->dims.map.size, (long long)components);
  return status_ok();
}

// (I4) Window, omitted and batching dims together are as many as the indexed array has. (I5) Omitted and batching dims
// are ascending and disjoint. (I6) `map` and batching dims are disjoint dims of the array. (I7) Batching dims pair with
// dims of the indices of the same size, none of which is the index vector's.
static heddle_status check_operand_dims(const instruction *i, const index_rule *d, const shape *array,
                                        const shape *indices) {
  if ((int64_t)d->dims.window.size + d->dims.omitted.size + d->dims.batching.size != array->rank)
    return RULE_ERROR(i, "%s, %s and %s have %d, %d and %d entries, wanted %d in all", d->window_name, d->omitted_name,
                      d->batching_name, d->dims.window.size, d->dims.omitted.size, d->dims.batching.size, array->rank);
  uint64_t omitted = 0, mapped = 0, unused = 0;
  TRY(shape_rule_wants_sorted_dims(i, d->omitted_name, d->dims.omitted, array->rank, &omitted));
  TRY(shape_rule_wants_sorted_dims(i, d->batching_name, d->dims.batching, array->rank, &omitted));
  TRY(shape_rule_wants_dims(i, d->map_name, d->dims.map, array->rank, &mapped));
  TRY(shape_rule_wants_dims(i, d->batching_name, d->dims.batching, array->rank, &mapped));
  if (d->dims.indices_batching.size != d->dims.batching.size)
    return RULE_ERROR(i, "%s has %d entries, wanted as many as %s, %d", d->indices_batching_name,
                      d->dims.indices_batching.size, d->batching_name, d->dims.batching.size);
  TRY(shape_rule_wants_dims(i, d->indices_batching_name, d->dims.indices_batching, indices->rank, &unused));
  for (int k = 0; k < d->dims.batching.size; k++) {
    int64_t from = d->dims.indices_batching.data[k], to = d->dims.batching.data[k];
    if (from == d->dims.vector_dim) return RULE_ERROR(i, "%s names the index_vector_dim", d->indices_batching_name);
    if (!shape_rule_sizes_agree(indices->dims[from], array->dims[to]))
      return RULE_ERROR(i, "batching dimension %lld of the indices has size %lld, dimension %lld of the operand %lld",
                        (long long)from, (long long)indices->dims[from], (long long)to, (long long)array->dims[to]);
  }
  return status_ok();
}

// (C1) slice_sizes has an entry for each dim of the operand, between 0 and its size. (C2) That of a dim left out is at
// most 1.
static heddle_status check_slice_sizes(const instruction *i, const index_rule *d, const shape *operand) {
  int_list sizes = i->attributes->slice_sizes;
  if (sizes.size != operand->rank)
    return RULE_ERROR(i, "slice_sizes has %d entries, wanted one for each of the operand's %d dimensions", sizes.size,
                      operand->rank);
  for (int k = 0; k < sizes.size; k++) {
    int64_t limit = operand->dims[k] == -1 ? INT64_MAX : operand->dims[k];
    if (int_list_has(d->dims.omitted, k) || int_list_has(d->dims.batching, k)) limit = limit < 1 ? limit : 1;
    if (sizes.data[k] < 0 || sizes.data[k] > limit)
      return RULE_ERROR(i, "slice_sizes[%d] is %lld, wanted at most %lld", k, (long long)sizes.data[k],
                        (long long)limit);
  }
  return status_ok();
}

// The dims of the indices that are not the index vector's.
static dims_builder batch_dims(const index_rule *d, const shape *indices) {
  dims_builder b = {0};
  for (int k = 0; k < indices->rank; k++)
    if (k != d->dims.vector_dim) dims_builder_push_from(&b, indices, k);
  return b;
}

// (C3) offset_dims is ascending. The result has the window's sizes at offset_dims and the indices' batch dims
// elsewhere.
heddle_status shape_rule_gather(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  const shape *operand = i->operands[0]->shape, *indices = i->operands[1]->shape;
  const index_rule d = gather_rule(i->attributes);
  TRY(check_indices(a, i, &d, indices));
  TRY(check_operand_dims(i, &d, operand, indices));
  TRY(check_slice_sizes(i, &d, operand));
  dims_builder batch = batch_dims(&d, indices), b = {0};
  if (batch.rank + d.dims.window.size > SHAPE_MAX_RANK)
    return RULE_ERROR(i, "the result's rank would be %d, wanted at most %d", batch.rank + d.dims.window.size,
                      SHAPE_MAX_RANK);
  TRY(shape_rule_wants_sorted_dims(i, "offset_dims", d.dims.window, batch.rank + d.dims.window.size, NULL));
  int next_batch = 0, next_dim = 0;
  for (int k = 0; k < batch.rank + d.dims.window.size; k++) {
    if (!int_list_has(d.dims.window, k)) {
      dims_builder_push(&b, batch.dims[next_batch], batch.dynamic_dims >> next_batch & 1);
      next_batch++;
      continue;
    }
    while (int_list_has(d.dims.omitted, next_dim) || int_list_has(d.dims.batching, next_dim)) next_dim++;
    dims_builder_push(&b, i->attributes->slice_sizes.data[next_dim++], false);
  }
  return dims_builder_finish(a, i, &b, operand->dtype, out);
}

// (C1) The updates' rank is that of the indices without the index vector plus the window's. (C2) update_window_dims is
// ascending. (C3) Along windows, updates are not larger than the input; elsewhere they have the indices' sizes.
static heddle_status check_updates(const instruction *i, const index_rule *d, const shape *input, const shape *indices,
                                   const shape *updates) {
  dims_builder batch = batch_dims(d, indices);
  if (updates->rank != batch.rank + d->dims.window.size)
    return RULE_ERROR(i, "the updates have rank %d, wanted %d from the indices and %d from update_window_dims",
                      updates->rank, batch.rank, d->dims.window.size);
  TRY(shape_rule_wants_sorted_dims(i, "update_window_dims", d->dims.window, updates->rank, NULL));
  int next_batch = 0, next_dim = 0;
  for (int k = 0; k < updates->rank; k++) {
    bool is_window = int_list_has(d->dims.window, k);
    while (is_window && (int_list_has(d->dims.omitted, next_dim) || int_list_has(d->dims.batching, next_dim)))
      next_dim++;
    int64_t found = updates->dims[k], wanted = is_window ? input->dims[next_dim++] : batch.dims[next_batch++];
    if (is_window ? found > wanted && wanted != -1 : !shape_rule_sizes_agree(found, wanted))
      return RULE_ERROR(i, "dimension %d of the updates has size %lld, wanted %s%lld", k, (long long)found,
                        is_window ? "at most the operand's " : "that of the indices, ", (long long)wanted);
  }
  return status_ok();
}

// (C4) 2 N + 1 operands: N inputs of the same dims, the indices, N updates of the same dims. (C5) An update has its
// input's type.
heddle_status shape_rule_scatter(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  if (i->operand_count % 2 == 0)
    return RULE_ERROR(i, "found %d operands, wanted as many updates as inputs and one of indices", i->operand_count);
  int n = i->operand_count / 2;
  for (int k = 0; k < n; k++) {
    TRY(shape_rule_wants_same_dims(a, i, 0, k));
    TRY(shape_rule_wants_same_dims(a, i, n + 1, n + 1 + k));
    dtype found = i->operands[n + 1 + k]->shape->dtype, wanted = i->operands[k]->shape->dtype;
    if (!dtype_same_in_floats(found, wanted))
      return RULE_ERROR(i, "operand %d has element type %s, wanted that of operand %d, %s", n + 1 + k,
                        dtype_name(found), k, dtype_name(wanted));
  }
  index_rule d = scatter_rule(i->attributes);
  const shape *input = i->operands[0]->shape, *indices = i->operands[n]->shape;
  TRY(check_indices(a, i, &d, indices));
  TRY(check_operand_dims(i, &d, input, indices));
  TRY(check_updates(i, &d, input, indices, i->operands[n + 1]->shape));
  const shape **results = arena_array(a, const shape *, n);
  for (int k = 0; k < n; k++) results[k] = i->operands[k]->shape;
  *out = shape_rule_results(a, n, results);
  return status_ok();
}
