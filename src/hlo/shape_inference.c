// Shape inference: the result's shape from operands, attributes and called computations, by the rule that ops.def
// names; here the dispatch, what the rules share, and the elementwise rules.
//
// Rules check all they rely on and number their constraints (C1, C2, …) in the order in which they are checked.
#include "hlo/text.h"

#include "hlo/shape_rules.h"

static heddle_status rule_given(arena *a, const instruction *i, const shape **out) {
  (void)a;
  TRY(shape_rule_wants_given(i));
  *out = i->shape;
  return status_ok();
}

static heddle_status rule_first_operand(arena *a, const instruction *i, const shape **out) {
  (void)a;
  *out = i->operands[0]->shape;
  return status_ok();
}

static heddle_status rule_token(arena *a, const instruction *i, const shape **out) {
  (void)i;
  *out = shape_token(a);
  return status_ok();
}

static shape_rule_fn *const rules[] = {
    [SHAPE_RULE_GIVEN] = rule_given,
    [SHAPE_RULE_SAME] = shape_rule_same,
    [SHAPE_RULE_PART] = shape_rule_part,
    [SHAPE_RULE_COMPLEX] = shape_rule_complex,
    [SHAPE_RULE_PREDICATE] = shape_rule_predicate,
    [SHAPE_RULE_CONVERT] = shape_rule_convert,
    [SHAPE_RULE_BITCAST_CONVERT] = shape_rule_bitcast_convert,
    [SHAPE_RULE_CLAMP] = shape_rule_clamp,
    [SHAPE_RULE_SELECT] = shape_rule_select,
    [SHAPE_RULE_BROADCAST] = shape_rule_broadcast,
    [SHAPE_RULE_RESHAPE] = shape_rule_reshape,
    [SHAPE_RULE_BITCAST] = shape_rule_bitcast,
    [SHAPE_RULE_TRANSPOSE] = shape_rule_transpose,
    [SHAPE_RULE_REVERSE] = shape_rule_reverse,
    [SHAPE_RULE_SLICE] = shape_rule_slice,
    [SHAPE_RULE_PAD] = shape_rule_pad,
    [SHAPE_RULE_CONCATENATE] = shape_rule_concatenate,
    [SHAPE_RULE_DYNAMIC_SLICE] = shape_rule_dynamic_slice,
    [SHAPE_RULE_DYNAMIC_UPDATE_SLICE] = shape_rule_dynamic_update_slice,
    [SHAPE_RULE_GATHER] = shape_rule_gather,
    [SHAPE_RULE_SCATTER] = shape_rule_scatter,
    [SHAPE_RULE_REDUCE] = shape_rule_reduce,
    [SHAPE_RULE_REDUCE_WINDOW] = shape_rule_reduce_window,
    [SHAPE_RULE_SELECT_AND_SCATTER] = shape_rule_select_and_scatter,
    [SHAPE_RULE_DOT] = shape_rule_dot,
    [SHAPE_RULE_RAGGED_DOT] = shape_rule_ragged_dot,
    [SHAPE_RULE_CONVOLUTION] = shape_rule_convolution,
    [SHAPE_RULE_IOTA] = shape_rule_iota,
    [SHAPE_RULE_MAP] = shape_rule_map,
    [SHAPE_RULE_SORT] = shape_rule_sort,
    [SHAPE_RULE_TUPLE] = shape_rule_tuple,
    [SHAPE_RULE_GET_TUPLE_ELEMENT] = shape_rule_get_tuple_element,
    [SHAPE_RULE_FIRST_OPERAND] = rule_first_operand,
    [SHAPE_RULE_CALL] = shape_rule_call,
    [SHAPE_RULE_CONDITIONAL] = shape_rule_conditional,
    [SHAPE_RULE_WHILE] = shape_rule_while,
    [SHAPE_RULE_TOKEN] = rule_token,
    [SHAPE_RULE_DIMENSION_SIZE] = shape_rule_dimension_size,
};

heddle_status shape_infer(arena *a, const instruction *i, const shape **out) {
  const hlo_op_info *op = &hlo_ops[i->opcode];
  if (op->arity >= 0 && i->operand_count != op->arity)
    return RULE_ERROR(i, "found %d operands, wanted %d", i->operand_count, op->arity);
  if (i->operand_count < op->min_operands)
    return RULE_ERROR(i, "found %d operands, wanted at least %d", i->operand_count, op->min_operands);
  return rules[op->shape_rule](a, i, out);
}

void dims_builder_push(dims_builder *b, int64_t size, bool is_dynamic) {
  if (b->rank < SHAPE_MAX_RANK) {
    b->dims[b->rank] = size;
    b->dynamic_dims |= (uint64_t)is_dynamic << b->rank;
  }
  b->rank++;
}

void dims_builder_push_from(dims_builder *b, const shape *s, int dim) {
  dims_builder_push(b, s->dims[dim], shape_is_dynamic_dim(s, dim));
}

heddle_status dims_builder_finish(arena *a, const instruction *i, const dims_builder *b, dtype t, const shape **out) {
  if (b->rank > SHAPE_MAX_RANK)
    return RULE_ERROR(i, "the result's rank would be %d, wanted at most %d", b->rank, SHAPE_MAX_RANK);
  shape *s = arena_new(a, shape);
  int64_t *dims = arena_array(a, int64_t, b->rank);
  memcpy(dims, b->dims, (size_t)b->rank * sizeof *dims);
  *s = (shape){.dtype = t, .rank = b->rank, .dims = dims, .dynamic_dims = b->dynamic_dims};
  *out = s;
  return status_context(shape_check(s, i->where), "while inferring the shape of %s", hlo_op_text(i->opcode));
}

const shape *shape_rule_results(arena *a, int count, const shape *const *results) {
  return count == 1 ? results[0] : shape_tuple(a, count, results);
}

const shape *shape_rule_reduced(arena *a, const instruction *i, int count, const shape *const *results) {
  const bool is_tuple = i->called_count > 0 && i->called[0]->root && shape_is_tuple(i->called[0]->root->shape);
  return count == 1 && is_tuple ? shape_tuple(a, 1, results) : shape_rule_results(a, count, results);
}

heddle_status shape_rule_called_root(const instruction *i, int index, const shape **out) {
  if (index >= i->called_count || !i->called[index]->root)
    return RULE_ERROR(i, "found %d called computations, wanted %d", i->called_count, index + 1);
  *out = i->called[index]->root->shape;
  return status_ok();
}

bool shape_rule_sizes_agree(int64_t l, int64_t r) { return l == r || l == -1 || r == -1; }

bool shape_rule_dims_agree(const shape *l, const shape *r) {
  if (l->rank != r->rank) return false;
  for (int d = 0; d < l->rank; d++)
    if (!shape_rule_sizes_agree(l->dims[d], r->dims[d])) return false;
  return true;
}

heddle_status shape_rule_wants_array(const instruction *i, int index) {
  const shape *s = i->operands[index]->shape;
  if (shape_is_array(s)) return status_ok();
  return RULE_ERROR(i, "operand %d is a %s, wanted an array", index, dtype_name(s->dtype));
}

heddle_status shape_rule_wants_given(const instruction *i) {
  return i->shape ? status_ok() : RULE_ERROR(i, "the result's shape must be given");
}

heddle_status shape_rule_wants_array_result(const instruction *i) {
  TRY(shape_rule_wants_given(i));
  if (shape_is_array(i->shape)) return status_ok();
  return RULE_ERROR(i, "the result is a %s, wanted an array", dtype_name(i->shape->dtype));
}

heddle_status shape_rule_wants_arrays(const instruction *i, int first, int end) {
  for (int index = first; index < end; index++) TRY(shape_rule_wants_array(i, index));
  return status_ok();
}

heddle_status shape_rule_wants_scalar(arena *a, const instruction *i, int index, dtype t) {
  const shape *s = i->operands[index]->shape;
  if (shape_is_scalar(s) && dtype_same_in_floats(s->dtype, t)) return status_ok();
  return RULE_ERROR(i, "operand %d has shape %s, wanted %s[]", index, shape_text(a, s), dtype_name(t));
}

heddle_status shape_rule_wants_same_dims(arena *a, const instruction *i, int l, int r) {
  const shape *x = i->operands[l]->shape, *y = i->operands[r]->shape;
  if (shape_rule_dims_agree(x, y)) return status_ok();
  return RULE_ERROR(i, "operand %d has shape %s, wanted the dimensions of operand %d, %s", r, shape_text(a, y), l,
                    shape_text(a, x));
}

heddle_status shape_rule_wants_same(arena *a, const instruction *i, int l, int r) {
  TRY(shape_rule_wants_same_dims(a, i, l, r));
  dtype x = i->operands[l]->shape->dtype, y = i->operands[r]->shape->dtype;
  if (dtype_same_in_floats(x, y)) return status_ok();
  return RULE_ERROR(i, "operand %d has element type %s, wanted that of operand %d, %s", r, dtype_name(y), l,
                    dtype_name(x));
}

heddle_status shape_rule_wants_dims(const instruction *i, const char *name, int_list dims, int rank, uint64_t *seen) {
  uint64_t own = 0;
  if (!seen) seen = &own;
  for (int k = 0; k < dims.size; k++) {
    int64_t d = dims.data[k];
    if (d < 0 || d >= rank)
      return RULE_ERROR(i, "%s[%d] is %lld, wanted a dimension below %d", name, k, (long long)d, rank);
    uint64_t bit = (uint64_t)1 << (d & 63);
    if (*seen & bit) return RULE_ERROR(i, "%s[%d]: dimension %lld is named twice", name, k, (long long)d);
    *seen |= bit;
  }
  return status_ok();
}

heddle_status shape_rule_wants_sorted_dims(const instruction *i, const char *name, int_list dims, int rank,
                                           uint64_t *seen) {
  TRY(shape_rule_wants_dims(i, name, dims, rank, seen));
  for (int k = 1; k < dims.size; k++)
    if (dims.data[k - 1] > dims.data[k])
      return RULE_ERROR(i, "%s has %lld before %lld, wanted ascending order", name, (long long)dims.data[k - 1],
                        (long long)dims.data[k]);
  return status_ok();
}

// Operand 0's dims, made dynamic or bounded where any other operand of full shape is.
static const shape *merge_dims(arena *a, const instruction *i, dtype t) {
  const shape *first = i->operands[0]->shape;
  uint64_t dynamic_dims = first->dynamic_dims;
  bool is_unbounded = false;
  for (int k = 1; k < i->operand_count; k++)
    if (i->operands[k]->shape->rank == first->rank) dynamic_dims |= i->operands[k]->shape->dynamic_dims;
  for (int d = 0; d < first->rank; d++) is_unbounded |= first->dims[d] == -1;
  if (first->dtype == t && dynamic_dims == first->dynamic_dims && !is_unbounded) return first;
  shape *s = arena_new(a, shape);
  *s = *first;
  s->dtype = t;
  s->dynamic_dims = dynamic_dims;
  int64_t *dims = arena_array(a, int64_t, first->rank);
  for (int d = 0; d < first->rank; d++) {
    dims[d] = first->dims[d];
    for (int k = 1; k < i->operand_count && dims[d] == -1; k++)
      if (i->operands[k]->shape->rank == first->rank) dims[d] = i->operands[k]->shape->dims[d];
  }
  s->dims = dims;
  return s;
}

// (C1) Every operand is an array. (C2) All have the same dims and element type, or floats, of which the widest counts.
heddle_status shape_rule_same(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  for (int k = 1; k < i->operand_count; k++) TRY(shape_rule_wants_same(a, i, 0, k));
  dtype t = i->operands[0]->shape->dtype;
  for (int k = 1; k < i->operand_count; k++) t = dtype_wider_float(t, i->operands[k]->shape->dtype);
  *out = merge_dims(a, i, t);
  return status_ok();
}

// (C1) The operand is an array. The result has the type of its parts if it is complex, else its own.
heddle_status shape_rule_part(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  dtype t = i->operands[0]->shape->dtype;
  *out = merge_dims(a, i, dtype_is_complex(t) ? dtypes[t].part : t);
  return status_ok();
}

// (C1) Both operands have the same dims and type. (C2) That type is f32 or f64.
heddle_status shape_rule_complex(arena *a, const instruction *i, const shape **out) {
  const shape *same;
  TRY(shape_rule_same(a, i, &same));
  if (same->dtype != DTYPE_F32 && same->dtype != DTYPE_F64)
    return RULE_ERROR(i, "operands have element type %s, wanted f32 or f64", dtype_name(same->dtype));
  *out = merge_dims(a, i, same->dtype == DTYPE_F32 ? DTYPE_C64 : DTYPE_C128);
  return status_ok();
}

// (C1) All operands have the same dims and type. The result is pred of these dims.
heddle_status shape_rule_predicate(arena *a, const instruction *i, const shape **out) {
  const shape *same;
  TRY(shape_rule_same(a, i, &same));
  *out = merge_dims(a, i, DTYPE_PRED);
  return status_ok();
}

// (C1) Operands are arrays of the same dims. (C2) The result's type as given is an array type. (C3) A complex operand
// gives a complex result.
heddle_status shape_rule_convert(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  for (int k = 1; k < i->operand_count; k++) TRY(shape_rule_wants_same_dims(a, i, 0, k));
  TRY(shape_rule_wants_array_result(i));
  dtype from = i->operands[0]->shape->dtype, to = i->shape->dtype;
  if (dtype_is_complex(from) && !dtype_is_complex(to))
    return RULE_ERROR(i, "cannot convert %s to %s: take `real` or `imag` first", dtype_name(from), dtype_name(to));
  *out = merge_dims(a, i, to);
  return status_ok();
}

// (C1) Operand and result are arrays, both complex or neither. (C2) One element width is a multiple of the other. (C3)
// A wider result takes up the operand's last dim, which is the ratio of the widths; a narrower one appends such a dim.
heddle_status shape_rule_bitcast_convert(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  const shape *from = i->operands[0]->shape;
  TRY(shape_rule_wants_array_result(i));
  dtype to = i->shape->dtype;
  if (dtype_is_complex(from->dtype) != dtype_is_complex(to))
    return RULE_ERROR(i, "cannot reinterpret %s as %s", dtype_name(from->dtype), dtype_name(to));
  int from_bits = dtypes[from->dtype].bits, to_bits = dtypes[to].bits, rank = from->rank;
  dims_builder b = {0};
  if (to_bits > from_bits) {
    if (to_bits % from_bits || rank == 0 || !shape_rule_sizes_agree(from->dims[rank - 1], to_bits / from_bits))
      return RULE_ERROR(i, "operand has shape %s, wanted a last dimension of %d for a result of %s",
                        shape_text(a, from), to_bits / from_bits, dtype_name(to));
    rank--;
  }
  if (from_bits % to_bits && to_bits < from_bits)
    return RULE_ERROR(i, "cannot split %s into elements of %s", dtype_name(from->dtype), dtype_name(to));
  for (int d = 0; d < rank; d++) dims_builder_push_from(&b, from, d);
  if (to_bits < from_bits) dims_builder_push(&b, from_bits / to_bits, false);
  return dims_builder_finish(a, i, &b, to, out);
}

// (C1) The three operands are arrays of the same type. (C2) The bounds are scalars or have the dims of operand 1.
heddle_status shape_rule_clamp(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, 3));
  for (int k = 0; k < 3; k += 2) {
    if (i->operands[k]->shape->rank != 0) TRY(shape_rule_wants_same(a, i, 1, k));
    else TRY(shape_rule_wants_scalar(a, i, k, i->operands[1]->shape->dtype));
  }
  *out = i->operands[1]->shape;
  return status_ok();
}

// (C1) Operands are arrays. (C2) Operand 0 is pred, a scalar or of the dims of the others. (C3) Operands 1 and 2 have
// the same dims and type.
heddle_status shape_rule_select(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, 3));
  const shape *condition = i->operands[0]->shape;
  if (condition->dtype != DTYPE_PRED)
    return RULE_ERROR(i, "operand 0 has element type %s, wanted pred", dtype_name(condition->dtype));
  TRY(shape_rule_wants_same(a, i, 1, 2));
  if (condition->rank != 0) TRY(shape_rule_wants_same_dims(a, i, 1, 0));
  *out = i->operands[1]->shape;
  return status_ok();
}
