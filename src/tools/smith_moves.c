// Generates random operations that move values: reshapes, slices, gathers, scatters.
#include "hlo/text.h"
#include "tools/smith_pool.h"

static int_list ints(smith *s, int count, const int64_t *values) {
  int64_t *copy = arena_array(s->arena, int64_t, count);
  if (count) memcpy(copy, values, (size_t)count * sizeof *copy);
  return (int_list){copy, count};
}

static void random_order(smith *s, int rank, int64_t *order) {
  for (int k = 0; k < rank; k++) order[k] = k;
  smith_shuffle(s, rank, order);
}

instruction *smith_broadcast(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  int64_t dims[SMITH_MAX_RANK], kept[SMITH_MAX_RANK];
  if (!x || x->shape->rank >= s->options.rank) return NULL;
  int rank = (int)smith_between(s, x->shape->rank + 1, s->options.rank), next = 0;
  for (int k = 0; k < rank; k++) {
    bool is_kept = next < x->shape->rank && (rank - k == x->shape->rank - next || smith_chance(s, 50));
    dims[k] = is_kept ? x->shape->dims[next] : smith_between(s, 1, 4);
    if (is_kept) kept[next++] = k;
  }
  if (!smith_fits(s, rank, dims)) return NULL;
  return builder_broadcast(&s->b, x, shape_array(s->arena, x->shape->dtype, rank, dims), next, kept);
}

// Neighbours are merged, ones put in between.
instruction *smith_reshape(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  int64_t dims[2 * SMITH_MAX_RANK + 1];
  int rank = 0;
  if (!x) return NULL;
  for (int k = 0; k < x->shape->rank; k++) {
    if (smith_chance(s, 20)) dims[rank++] = 1;
    if (rank > 0 && smith_chance(s, 40)) dims[rank - 1] *= x->shape->dims[k];
    else dims[rank++] = x->shape->dims[k];
  }
  if (rank < s->options.rank && smith_chance(s, 20)) dims[rank++] = 1;
  return smith_fits(s, rank, dims) ? builder_reshape(&s->b, x, rank, dims) : NULL;
}

instruction *smith_transpose(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 2);
  int64_t order[SMITH_MAX_RANK];
  if (!x) return NULL;
  random_order(s, x->shape->rank, order);
  instruction *i = builder_transpose(&s->b, x, order);
  return i == x ? NULL : i;
}

instruction *smith_reverse(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1);
  int64_t order[SMITH_MAX_RANK];
  if (!x) return NULL;
  random_order(s, x->shape->rank, order);
  instruction *i = builder_add(&s->b, HLO_REVERSE, x->shape, 1, &x);
  i->attributes->dimensions = ints(s, (int)smith_between(s, 1, x->shape->rank), order);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIMENSIONS);
  return i;
}

instruction *smith_slice(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1);
  if (!x) return NULL;
  slice_dim *dims = arena_array(s->arena, slice_dim, x->shape->rank);
  for (int k = 0; k < x->shape->rank; k++) {
    dims[k].start = smith_below(s, x->shape->dims[k] + 1);
    dims[k].limit = smith_between(s, dims[k].start, x->shape->dims[k]);
    dims[k].stride = smith_between(s, 1, 3);
  }
  instruction *i = builder_add(&s->b, HLO_SLICE, x->shape, 1, &x);
  i->attributes->slice = (slice_config){x->shape->rank, dims};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_SLICE);
  return builder_infer(&s->b, i);
}

instruction *smith_pad(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1);
  int64_t dims[SMITH_MAX_RANK];
  if (!x) return NULL;
  padding_dim *padding = arena_array(s->arena, padding_dim, x->shape->rank);
  for (int k = 0; k < x->shape->rank; k++) {
    int64_t size = x->shape->dims[k];
    padding[k].low = smith_between(s, -1, 2);
    padding[k].high = smith_between(s, -1, 2);
    padding[k].interior = smith_chance(s, 25);
    dims[k] = size + (size > 0 ? size - 1 : 0) * padding[k].interior + padding[k].low + padding[k].high;
    if (dims[k] < 0) return NULL;
  }
  if (!smith_fits(s, x->shape->rank, dims)) return NULL;
  instruction *value = smith_scalar(s, x->shape->dtype);
  instruction *i = builder_add(&s->b, HLO_PAD, x->shape, 2, (instruction *[]){x, value});
  i->attributes->padding = (padding_config){x->shape->rank, padding};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_PADDING);
  return builder_infer(&s->b, i);
}

instruction *smith_concatenate(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1), *parts[3];
  if (!x) return NULL;
  int64_t dim = smith_below(s, x->shape->rank), dims[SMITH_MAX_RANK], total = x->shape->dims[dim];
  int count = (int)smith_between(s, 2, 3), first = (int)smith_below(s, count);
  memcpy(dims, x->shape->dims, (size_t)x->shape->rank * sizeof *dims);
  for (int k = 0; k < count; k++) {
    dims[dim] = smith_between(s, 0, 3);
    parts[k] = k == first ? x : smith_fresh(s, x->shape->dtype, x->shape->rank, dims);
    total += k == first ? 0 : dims[dim];
  }
  dims[dim] = total;
  return smith_fits(s, x->shape->rank, dims) ? builder_concatenate(&s->b, count, parts, dim) : NULL;
}

// An index type the options allow; s32 where they allow none. Signed: what an index beyond 2^63 means is not agreed
// upon.
static dtype index_type(smith *s) {
  dtype t = smith_dtype(s, CLASS_SIGNED);
  return t == DTYPE_INVALID || dtypes[t].bits < 8 ? DTYPE_S32 : t;
}

instruction *smith_dynamic_slice(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1), *operands[SMITH_MAX_RANK + 1];
  int64_t sizes[SMITH_MAX_RANK];
  if (!x) return NULL;
  dtype index = index_type(s);
  operands[0] = x;
  for (int k = 0; k < x->shape->rank; k++) {
    operands[k + 1] = smith_scalar(s, index);
    sizes[k] = smith_between(s, x->shape->dims[k] > 0, x->shape->dims[k]);
  }
  instruction *i = builder_add(&s->b, HLO_DYNAMIC_SLICE, shape_array(s->arena, x->shape->dtype, x->shape->rank, sizes),
                               x->shape->rank + 1, operands);
  i->attributes->dynamic_slice_sizes = ints(s, x->shape->rank, sizes);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return i;
}

instruction *smith_dynamic_update_slice(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1), *operands[SMITH_MAX_RANK + 2];
  int64_t sizes[SMITH_MAX_RANK];
  if (!x) return NULL;
  dtype index = index_type(s);
  for (int k = 0; k < x->shape->rank; k++) {
    operands[k + 2] = smith_scalar(s, index);
    sizes[k] = smith_between(s, 0, x->shape->dims[k]);
  }
  operands[0] = x;
  operands[1] = smith_fresh(s, x->shape->dtype, x->shape->rank, sizes);
  return builder_add(&s->b, HLO_DYNAMIC_UPDATE_SLICE, x->shape, x->shape->rank + 2, operands);
}

// --- gather and scatter: one plan for both

typedef struct index_plan {
  int64_t map[SMITH_MAX_RANK], batching[SMITH_MAX_RANK], sizes[SMITH_MAX_RANK], dropped[SMITH_MAX_RANK];
  int map_count, batching_count, dropped_count;
  int64_t index_dims[SMITH_MAX_RANK], index_batching[SMITH_MAX_RANK];
  int index_rank, vector_dim;
  // The windows' own array: batch dims, window dims, and where the latter stand.
  int64_t dims[2 * SMITH_MAX_RANK], window_dims[SMITH_MAX_RANK];
  int rank, window_count;
} index_plan;

static bool is_in(int64_t d, int count, const int64_t *list) {
  for (int k = 0; k < count; k++)
    if (list[k] == d) return true;
  return false;
}

static void plan_operand(smith *s, const shape *of, index_plan *p) {
  int64_t order[SMITH_MAX_RANK];
  random_order(s, of->rank, order);
  p->batching_count = of->rank > 1 && smith_chance(s, 30) ? 1 : 0;
  if (p->batching_count) p->batching[0] = order[0];
  p->map_count = (int)smith_between(s, 1, of->rank - p->batching_count);
  for (int k = 0; k < p->map_count; k++) p->map[k] = order[p->batching_count + k];
  for (int d = 0; d < of->rank; d++) {
    bool is_batching = is_in(d, p->batching_count, p->batching);
    p->sizes[d] = is_batching ? 1 : smith_between(s, 1, of->dims[d]);
    if (!is_batching && p->sizes[d] == 1 && smith_chance(s, 60)) p->dropped[p->dropped_count++] = d;
  }
}

// Indices of rank 1 or 2 beside the vector, whose dim may be left out when it has one entry.
static void plan_indices(smith *s, const shape *of, index_plan *p) {
  int batch = (int)smith_between(s, p->batching_count, 2);
  bool is_implied = p->map_count == 1 && smith_chance(s, 50);
  p->index_rank = batch + !is_implied;
  p->vector_dim = is_implied ? batch : (int)smith_below(s, batch + 1);
  for (int k = 0, seen = 0; k < p->index_rank; k++) {
    bool is_vector = !is_implied && k == p->vector_dim;
    p->index_dims[k] = is_vector ? p->map_count : smith_between(s, 1, 3);
    if (!is_vector && seen++ == 0 && p->batching_count) {
      p->index_dims[k] = of->dims[p->batching[0]];
      p->index_batching[0] = k;
    }
  }
}

static void plan_windows(smith *s, const shape *of, index_plan *p) {
  int64_t batch[SMITH_MAX_RANK] = {0}, sizes[SMITH_MAX_RANK] = {0};
  int batch_count = 0, next_batch = 0, next_window = 0;
  for (int k = 0; k < p->index_rank; k++)
    if (k != p->vector_dim || p->vector_dim == p->index_rank) batch[batch_count++] = p->index_dims[k];
  for (int d = 0; d < of->rank; d++)
    if (!is_in(d, p->dropped_count, p->dropped) && !is_in(d, p->batching_count, p->batching))
      sizes[p->window_count++] = p->sizes[d];
  p->rank = batch_count + p->window_count;
  for (int k = 0; k < p->rank; k++) {
    bool is_window = next_batch == batch_count || (next_window < p->window_count && smith_chance(s, 50));
    if (is_window) p->window_dims[next_window] = k;
    p->dims[k] = is_window ? sizes[next_window++] : batch[next_batch++];
  }
}

static bool plan(smith *s, const shape *of, index_plan *p) {
  *p = (index_plan){0};
  if (shape_element_count(of) == 0) return false;
  plan_operand(s, of, p);
  plan_indices(s, of, p);
  plan_windows(s, of, p);
  return smith_fits(s, p->rank, p->dims) && p->index_rank <= SMITH_MAX_RANK;
}

instruction *smith_gather(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1);
  index_plan p;
  if (!x || !plan(s, x->shape, &p)) return NULL;
  instruction *indices = smith_fresh(s, index_type(s), p.index_rank, p.index_dims);
  instruction *i = builder_add(&s->b, HLO_GATHER, shape_array(s->arena, x->shape->dtype, p.rank, p.dims), 2,
                               (instruction *[]){x, indices});
  hlo_attributes *to = i->attributes;
  to->offset_dims = ints(s, p.window_count, p.window_dims);
  to->collapsed_slice_dims = ints(s, p.dropped_count, p.dropped);
  to->start_index_map = ints(s, p.map_count, p.map);
  to->operand_batching_dims = ints(s, p.batching_count, p.batching);
  to->start_indices_batching_dims = ints(s, p.batching_count, p.index_batching);
  to->slice_sizes = ints(s, x->shape->rank, p.sizes);
  to->index_vector_dim = p.vector_dim;
  static const hlo_attribute_id marks[] = {HLO_ATTRIBUTE_OFFSET_DIMS, HLO_ATTRIBUTE_COLLAPSED_SLICE_DIMS,
                                           HLO_ATTRIBUTE_START_INDEX_MAP, HLO_ATTRIBUTE_INDEX_VECTOR_DIM,
                                           HLO_ATTRIBUTE_SLICE_SIZES};
  for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) attributes_mark(to, marks[k]);
  return i;
}

instruction *smith_scatter(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1);
  index_plan p;
  if (!x || !plan(s, x->shape, &p)) return NULL;
  dtype t = x->shape->dtype;
  instruction *indices = smith_fresh(s, index_type(s), p.index_rank, p.index_dims);
  instruction *updates = smith_fresh(s, t, p.rank, p.dims);
  computation *body = smith_reducer(s, t, NULL);
  instruction *i = builder_add(&s->b, HLO_SCATTER, shape_array(s->arena, t, x->shape->rank, x->shape->dims), 3,
                               (instruction *[]){x, indices, updates});
  hlo_attributes *to = i->attributes;
  to->update_window_dims = ints(s, p.window_count, p.window_dims);
  to->inserted_window_dims = ints(s, p.dropped_count, p.dropped);
  to->scatter_dims_to_operand_dims = ints(s, p.map_count, p.map);
  to->input_batching_dims = ints(s, p.batching_count, p.batching);
  to->scatter_indices_batching_dims = ints(s, p.batching_count, p.index_batching);
  to->index_vector_dim = p.vector_dim;
  static const hlo_attribute_id marks[] = {HLO_ATTRIBUTE_UPDATE_WINDOW_DIMS, HLO_ATTRIBUTE_INSERTED_WINDOW_DIMS,
                                           HLO_ATTRIBUTE_SCATTER_DIMS_TO_OPERAND_DIMS, HLO_ATTRIBUTE_INDEX_VECTOR_DIM};
  for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) attributes_mark(to, marks[k]);
  instruction_set_called(i, 1, &body);
  return i;
}

// A dim cut to a size that a constant says, something done to it, and summed up again.
instruction *smith_dynamic_size(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_INTEGER, 1);
  if (!x) return NULL;
  int64_t d = smith_below(s, x->shape->rank);
  instruction *size = builder_scalar_int(&s->b, DTYPE_S32, smith_between(s, 0, x->shape->dims[d]));
  shape *open = shape_copy(s->arena, shape_array(s->arena, x->shape->dtype, x->shape->rank, x->shape->dims));
  open->dynamic_dims = (uint64_t)1 << d;
  instruction *cut = builder_add(&s->b, HLO_SET_DIMENSION_SIZE, open, 2, (instruction *[]){x, size});
  cut->attributes->dimensions = ints(s, 1, &d);
  attributes_mark(cut->attributes, HLO_ATTRIBUTE_DIMENSIONS);
  instruction *changed = builder_add(&s->b, HLO_NOT, open, 1, &cut);
  instruction *zero = builder_scalar_int(&s->b, x->shape->dtype, 0);
  computation *sum = builder_binary_computation(&s->b, HLO_ADD, x->shape->dtype);
  return builder_reduce(&s->b, changed, zero, 1, &d, sum);
}
