// Top-k rewriter: slices of sort(x, y, ...) near one end -> slices of topk(x) and of what y has at its places.
//
// A top-k orders floats by the total order and leaves equal elements in theirs, as every sort does here. So the sort
// must be by one operand, and its order must be
//  - that of integers, or the total order of floats: the values are the top-k's;
//  - floats with one zero and one NaN, as JAX writes it: what is ordered is select(x != x, nan, select(x == 0, 0, x)),
//    and the values, whose zeros and NaN differ, are picked from x at the places.
// Where NaN is not ordered (a plain `<` of floats) the sort stays.
//
// The last elements of a sort are, from the last one, the first of the opposite order of the reversed operand, in which
// also equal elements are reversed.
#include "opt/passes.h"

#include <math.h>

#include "opt/rewrite.h"
#include "opt/sort_comparator.h"

// A sort is as fast as a top-k of more than one element in so many.
enum { LEAST_SHARE = 4 };

typedef struct choice {
  builder b;
  const instruction *sort;
  sort_comparator_key key;
  int dim;
  int64_t size;         // of the dim
  int64_t first, last;  // elements of the dim that are read: first … last - 1
  bool is_tail;         // they are chosen from the end
  int64_t begin, k;     // those that are chosen: begin … begin + k - 1
} choice;

// --- what is read

// Whether all that becomes of a sorted array is sliced from it; widens what is read.
static bool read_slices(choice *c, const instruction *array) {
  if (array->parent->root == array) return false;
  for (int k = 0; k < array->users.size; k++) {
    const instruction *user = array->users.data[k];
    if (user->opcode != HLO_SLICE) return false;
    const slice_dim *s = &user->attributes->slice.dims[c->dim];
    if (s->start < c->first) c->first = s->start;
    if (s->limit > c->last) c->last = s->limit;
  }
  return true;
}

static bool read_results(choice *c) {
  const instruction *sort = c->sort;
  if (shape_is_array(sort->shape)) return read_slices(c, sort);
  if (sort->parent->root == sort) return false;
  for (int k = 0; k < sort->users.size; k++)
    if (sort->users.data[k]->opcode != HLO_GET_TUPLE_ELEMENT || !read_slices(c, sort->users.data[k])) return false;
  return true;
}

// Whether one zero and one NaN have to be made of the key's.
static bool is_joined(const choice *c) {
  return dtype_is_float(c->sort->operands[c->key.operand]->shape->dtype) && c->key.order == SORT_NUMERIC;
}

static bool read_sort(const instruction *i, choice *c) {
  sort_comparator order;
  if (i->opcode != HLO_SORT || !shape_is_static(i->operands[0]->shape) || i->operands[0]->shape->rank == 0 ||
      i->users.size == 0 || !sort_comparator_read(i->called[0], &order) || order.count != 1)
    return false;
  *c = (choice){.sort = i, .key = order.keys[0]};
  c->dim = (int)i->attributes->dimensions.data[0];
  c->size = c->first = i->operands[0]->shape->dims[c->dim];
  const dtype_info *type = &dtypes[i->operands[c->key.operand]->shape->dtype];
  if (c->key.order == SORT_LESS || c->size > INT32_MAX || type->class & CLASS_COMPLEX) return false;
  if (is_joined(c) && type->bits < 16) return false;  // not all of these have a NaN
  if (!read_results(c) || c->first >= c->last) return false;
  c->is_tail = c->size - c->first < c->last;
  c->k = c->is_tail ? c->size - c->first : c->last;
  c->begin = c->is_tail ? c->first : 0;
  return c->k <= c->size / LEAST_SHARE;
}

// Whether control edges order any of what would go.
static bool is_ordered(const instruction *i, const ptr_map *waited_for) {
  if (i->control_predecessors.size || ptr_map_has(waited_for, i)) return true;
  const bool has_more = i->opcode == HLO_SORT || i->opcode == HLO_GET_TUPLE_ELEMENT;
  for (int k = 0; has_more && k < i->users.size; k++)
    if (is_ordered(i->users.data[k], waited_for)) return true;
  return false;
}

// --- what it becomes

static instruction *reverse(const choice *c, instruction *x) {
  instruction *by = builder_add(&c->b, HLO_REVERSE, x->shape, 1, &x);
  builder_set_dimensions(&c->b, by, 1, (const int64_t[]){c->dim});
  return by;
}

static instruction *count_from_end(const choice *c, instruction *positions) {
  return builder_binary(&c->b, HLO_SUBTRACT, builder_like_int(&c->b, positions, c->size - 1), positions);
}

static instruction *join_zeros_and_nan(const builder *b, instruction *x) {
  instruction *zero = builder_like(b, x, 0), *nan = builder_like(b, x, NAN);
  instruction *is_zero = builder_compare(b, x, zero, COMPARE_EQ), *is_nan = builder_compare(b, x, x, COMPARE_NE);
  return builder_select(b, is_nan, nan, builder_select(b, is_zero, zero, x));
}

// The sorted dim exchanged with the last one.
static instruction *exchange(const choice *c, instruction *x) {
  int64_t order[SHAPE_MAX_RANK];
  const int rank = x->shape->rank;
  for (int d = 0; d < rank; d++) order[d] = d;
  order[c->dim] = rank - 1;
  order[rank - 1] = c->dim;
  return builder_transpose(&c->b, x, order);
}

// Values and places of the chosen elements, in the order and the dims of the sort.
static void choose(const choice *c, instruction *chosen[2]) {
  instruction *key = c->sort->operands[c->key.operand];
  if (c->is_tail) key = reverse(c, key);
  if (is_joined(c)) key = join_zeros_and_nan(&c->b, key);
  key = exchange(c, key);
  int64_t dims[SHAPE_MAX_RANK] = {0};
  const int rank = key->shape->rank;
  for (int d = 0; d < rank; d++) dims[d] = d == rank - 1 ? c->k : key->shape->dims[d];
  const shape *parts[] = {shape_array(c->b.arena, key->shape->dtype, rank, dims),
                          shape_array(c->b.arena, DTYPE_S32, rank, dims)};
  instruction *top = builder_add(&c->b, HLO_TOPK, shape_tuple(c->b.arena, 2, parts), 1, &key);
  top->attributes->k = c->k;
  top->attributes->largest = c->key.is_descending != c->is_tail;
  attributes_mark(top->attributes, HLO_ATTRIBUTE_K);
  attributes_mark(top->attributes, HLO_ATTRIBUTE_LARGEST);
  for (int r = 0; r < 2; r++) {
    chosen[r] = exchange(c, builder_element(&c->b, top, r));
    if (c->is_tail) chosen[r] = reverse(c, chosen[r]);
  }
  if (c->is_tail) chosen[1] = count_from_end(c, chosen[1]);
}

// The elements of an operand at places along the sorted dim: a gather from its list of elements.
static instruction *gather(const choice *c, instruction *operand, instruction *positions) {
  const builder *b = &c->b;
  const shape *from = operand->shape;
  int64_t count = shape_element_count(positions->shape), total = shape_element_count(from), stride = 1;
  instruction *index = NULL;
  positions = builder_convert(b, positions, total > INT32_MAX ? DTYPE_S64 : DTYPE_S32);
  for (int d = from->rank - 1; d >= 0; stride *= from->dims[d--]) {
    if (positions->shape->dims[d] == 1 && d != c->dim) continue;
    instruction *at = positions;
    if (d != c->dim) at = builder_iota(b, positions->shape->dtype, from->rank, positions->shape->dims, d);
    if (stride > 1) at = builder_binary(b, HLO_MULTIPLY, at, builder_like_int(b, at, stride));
    index = index ? builder_binary(b, HLO_ADD, index, at) : at;
  }
  instruction *operands[2] = {builder_reshape(b, operand, 1, &total)};
  operands[1] = builder_reshape(b, index, 2, (const int64_t[]){count, 1});
  instruction *list =
      builder_add(b, HLO_GATHER, shape_array(b->arena, from->dtype, 2, (const int64_t[]){count, 1}), 2, operands);
  static const int64_t zero = 0, one = 1;
  hlo_attributes *x = list->attributes;
  x->offset_dims = (int_list){&one, 1};
  x->start_index_map = (int_list){&zero, 1};
  x->slice_sizes = (int_list){&one, 1};
  x->index_vector_dim = 1;
  static const hlo_attribute_id required[] = {HLO_ATTRIBUTE_OFFSET_DIMS, HLO_ATTRIBUTE_COLLAPSED_SLICE_DIMS,
                                              HLO_ATTRIBUTE_START_INDEX_MAP, HLO_ATTRIBUTE_INDEX_VECTOR_DIM,
                                              HLO_ATTRIBUTE_SLICE_SIZES};
  for (size_t k = 0; k < sizeof required / sizeof *required; k++) attributes_mark(x, required[k]);
  return builder_reshape(b, list, from->rank, positions->shape->dims);
}

static instruction *pick(const choice *c, instruction *operand, instruction *positions) {
  if (operand->opcode == HLO_REVERSE && operand->attributes->dimensions.size == 1 &&
      operand->attributes->dimensions.data[0] == c->dim) {
    positions = count_from_end(c, positions);
    operand = operand->operands[0];
  }
  if (operand->opcode == HLO_IOTA && operand->attributes->iota_dimension == c->dim)
    return builder_convert(&c->b, positions, operand->shape->dtype);
  return gather(c, operand, positions);
}

// --- the exchange

// Slices of `array` become slices of `by`, which has only the chosen elements.
static void move_slices(const choice *c, instruction *array, instruction *by) {
  for (int k = 0; k < array->users.size; k++) {
    instruction *slice = array->users.data[k];
    slice_dim dims[SHAPE_MAX_RANK];
    memcpy(dims, slice->attributes->slice.dims, (size_t)slice->shape->rank * sizeof *dims);
    dims[c->dim].start -= c->begin;
    dims[c->dim].limit -= c->begin;
    instruction *moved = builder_slice(&c->b, by, dims);
    if (shape_same_dims(moved->shape, slice->shape)) moved->shape = slice->shape;
    instruction_replace_uses(slice, moved);
  }
}

static void detach_users(instruction *i) {
  const instruction_list users = i->users;
  i->users = (instruction_list){0};
  for (int k = 0; k < users.size; k++) computation_detach(i->parent, users.data[k]);
}

static void rewrite(const choice *c, instruction *sort) {
  instruction *chosen[2];
  choose(c, chosen);
  const bool is_array = shape_is_array(sort->shape);
  const instruction_list results = is_array ? (instruction_list){&sort, 1, 1} : sort->users;
  for (int k = 0; k < results.size; k++) {
    instruction *result = results.data[k];
    const int operand = is_array ? 0 : (int)result->attributes->index;
    const bool is_key = operand == c->key.operand && !is_joined(c);
    move_slices(c, result, is_key ? chosen[0] : pick(c, sort->operands[operand], chosen[1]));
    detach_users(result);
  }
  if (!is_array) detach_users(sort);
  computation_detach(sort->parent, sort);
}

static void rewrite_sorts(pass_context *context, computation *c) {
  arena *scratch = context->scratch;
  instruction_list sorts = {0};
  ptr_map waited_for = {0};
  rewrite_find_waited_for(scratch, c, &waited_for);
  for (int k = 0; k < c->instructions.size; k++)
    if (c->instructions.data[k]->opcode == HLO_SORT) vec_push(scratch, &sorts, c->instructions.data[k]);
  for (int k = 0; k < sorts.size; k++) {
    choice found;
    if (!read_sort(sorts.data[k], &found) || is_ordered(sorts.data[k], &waited_for)) continue;
    found.b = builder_for(sorts.data[k]);
    rewrite(&found, sorts.data[k]);
    context->changed = true;
  }
  computation_drop_detached(c);
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  for (int c = 0; c < m->computations.size; c++) rewrite_sorts(context, m->computations.data[c]);
  return status_ok();
}

const pass opt_top_k_rewriter = {
    .name = "topk-rewriter",
    .summary = "sorts of which few elements are read become top-k",
    .order_reason =
        "behind the barriers, so that it sees all that is read, and before the slice "
        "sinker joins the slices of what a sort gives",
    .use = PASS_IMPROVES,
    .run = run,
};
