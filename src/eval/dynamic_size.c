// How actual sizes pass through operations, and the operations that ask for sizes and set them.
//
// An operation that is run on sizes other than the declared ones is a copy of the instruction with the actual shapes:
// most take their result's shape from shape inference, as a static program of these sizes would. What has no such rule
// gets its operands at their bounds, zeros behind the valid part.
#include "eval/dynamic_size.h"

#include "eval/custom_call.h"
#include "eval/strided.h"
#include "hlo/text.h"

bool dynamic_size_allows(const shape *declared, const shape *actual) {
  if (declared->dtype != actual->dtype || declared->rank != actual->rank || declared->tuple_size != actual->tuple_size)
    return false;
  for (int k = 0; k < declared->tuple_size; k++)
    if (!dynamic_size_allows(declared->elements[k], actual->elements[k])) return false;
  for (int d = 0; d < declared->rank; d++) {
    const int64_t bound = declared->dims[d], size = actual->dims[d];
    if (size == bound || bound < 0) continue;
    if (!shape_is_dynamic_dim(declared, d) || size > bound) return false;
  }
  return true;
}

// The one shape object of these sizes, so that loops do not fill the arena.
static const shape *shape_of(dynamic_shapes *s, dtype t, int rank, const int64_t *dims) {
  int64_t key[SHAPE_MAX_RANK + 1] = {t};
  memcpy(key + 1, dims, (size_t)rank * sizeof *dims);
  const str text = {(const char *)key, (size_t)(rank + 1) * sizeof *key};
  const shape *known = str_map_get(&s->known, text);
  if (known) return known;
  known = shape_array(s->arena, t, rank, dims);
  str_map_put(s->arena, &s->known, str_copy(s->arena, text), (void *)known);
  return known;
}

heddle_status dynamic_size_resize(interpreter *in, const value *v, const int64_t *dims, source_location where,
                                  value **out) {
  const int rank = v->shape->rank;
  const shape *s = shape_of(in->shapes, v->shape->dtype, rank, dims);
  TRY(shape_check(s, where));
  TRY(value_create(&in->pool, s, where, out));
  memset((*out)->data, 0, (size_t)shape_byte_size(s));
  int64_t common[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) common[d] = dims[d] < v->shape->dims[d] ? dims[d] : v->shape->dims[d];
  shape_strides(v->shape, from);
  shape_strides(s, to);
  strided_copy(dtypes[s->dtype].bytes, rank, common, (*out)->data, to, v->data, from);
  return status_ok();
}

static heddle_status conform_array(interpreter *in, const shape *declared, source_location where, value *v,
                                   value **out) {
  int64_t dims[SHAPE_MAX_RANK];
  bool fits = true;
  for (int d = 0; d < declared->rank; d++) {
    const int64_t bound = declared->dims[d];
    dims[d] = shape_is_dynamic_dim(declared, d) || bound < 0 ? v->shape->dims[d] : bound;
    if (bound >= 0 && v->shape->dims[d] > bound)
      return status_at(HEDDLE_INVALID, where, "dimension %d has size %lld, beyond its bound %lld", d,
                       (long long)v->shape->dims[d], (long long)bound);
    fits = fits && dims[d] == v->shape->dims[d];
  }
  if (!fits) return dynamic_size_resize(in, v, dims, where, out);
  *out = value_retain(v);
  return status_ok();
}

// A new reference to `v`, or to a copy with zeros where `declared` has larger static sizes.
static heddle_status conform(interpreter *in, const shape *declared, source_location where, value *v, value **out) {
  if (shape_is_array(declared)) return conform_array(in, declared, where, v, out);
  if (!shape_is_tuple(declared)) {
    *out = value_retain(v);
    return status_ok();
  }
  value **elements = arena_array(in->arena, value *, v->element_count);
  bool same = true;
  heddle_status status = status_ok();
  for (int k = 0; k < v->element_count && status_is_ok(status); k++) {
    status = conform(in, declared->elements[k], where, v->elements[k], &elements[k]);
    same = same && elements[k] == v->elements[k];
  }
  if (status_is_ok(status) && same) *out = value_retain(v);
  else if (status_is_ok(status)) status = value_create_tuple(&in->pool, declared, elements, where, out);
  for (int k = 0; k < v->element_count; k++) value_release(elements[k]);
  return status;
}

// How the result's sizes follow. Elementwise operations not listed are RULE_ELEMENTWISE.
typedef enum dynamic_rule {
  RULE_FILL,   // operands at their bounds
  RULE_AS_IS,  // passes values on, or looks at their sizes itself
  RULE_INFER,  // shape inference on the actual sizes
  RULE_ELEMENTWISE,
  RULE_BROADCAST,
  RULE_RESHAPE,
} dynamic_rule;

static const dynamic_rule rules[HLO_OPCODE_COUNT] = {
    [HLO_ADD_DEPENDENCY] = RULE_AS_IS,
    [HLO_AFTER_ALL] = RULE_AS_IS,
    [HLO_ALL_REDUCE] = RULE_ELEMENTWISE,
    [HLO_ASYNC_DONE] = RULE_AS_IS,
    [HLO_ASYNC_START] = RULE_AS_IS,
    [HLO_ASYNC_UPDATE] = RULE_AS_IS,
    [HLO_BITCAST_CONVERT] = RULE_INFER,
    [HLO_BROADCAST] = RULE_BROADCAST,
    [HLO_CALL] = RULE_AS_IS,
    [HLO_COLLECTIVE_BROADCAST] = RULE_ELEMENTWISE,
    [HLO_COLLECTIVE_PERMUTE] = RULE_ELEMENTWISE,
    [HLO_CONCATENATE] = RULE_INFER,
    [HLO_CONDITIONAL] = RULE_AS_IS,
    [HLO_CONSTANT] = RULE_AS_IS,
    [HLO_CONVOLUTION] = RULE_INFER,
    [HLO_COPY] = RULE_AS_IS,
    [HLO_COPY_DONE] = RULE_AS_IS,
    [HLO_COPY_START] = RULE_AS_IS,
    [HLO_DOMAIN] = RULE_AS_IS,
    [HLO_DOT] = RULE_INFER,
    [HLO_DYNAMIC_RESHAPE] = RULE_AS_IS,
    [HLO_DYNAMIC_SLICE] = RULE_INFER,
    [HLO_DYNAMIC_UPDATE_SLICE] = RULE_INFER,
    [HLO_FUSION] = RULE_AS_IS,
    [HLO_GATHER] = RULE_INFER,
    [HLO_GET_DIMENSION_SIZE] = RULE_AS_IS,
    [HLO_GET_TUPLE_ELEMENT] = RULE_AS_IS,
    [HLO_INFEED] = RULE_AS_IS,
    [HLO_MAP] = RULE_ELEMENTWISE,
    [HLO_OPT_BARRIER] = RULE_AS_IS,
    [HLO_OUTFEED] = RULE_AS_IS,
    [HLO_PAD] = RULE_INFER,
    [HLO_PARAMETER] = RULE_AS_IS,
    [HLO_RECV_DONE] = RULE_AS_IS,
    [HLO_REDUCE] = RULE_INFER,
    [HLO_REDUCE_WINDOW] = RULE_INFER,
    [HLO_RESHAPE] = RULE_RESHAPE,
    [HLO_REVERSE] = RULE_INFER,
    [HLO_SCATTER] = RULE_INFER,
    [HLO_SELECT_AND_SCATTER] = RULE_INFER,
    [HLO_SEND] = RULE_AS_IS,
    [HLO_SEND_DONE] = RULE_AS_IS,
    [HLO_SET_DIMENSION_SIZE] = RULE_AS_IS,
    [HLO_SLICE] = RULE_INFER,
    [HLO_SORT] = RULE_INFER,
    [HLO_TRANSPOSE] = RULE_INFER,
    [HLO_TUPLE] = RULE_AS_IS,
    [HLO_WHILE] = RULE_AS_IS,
};

static dynamic_rule rule_of(const instruction *i) {
  if (i->opcode == HLO_CUSTOM_CALL && custom_call_looks_at_sizes(i)) return RULE_AS_IS;
  return rules[i->opcode] == RULE_FILL && hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) ? RULE_ELEMENTWISE
                                                                                   : rules[i->opcode];
}

// An instruction with the actual shapes, in a scratch arena.
typedef struct refinement {
  arena *scratch;
  instruction *instruction;
  value **operands;  // references, refined too where the operation needs it
  const struct instruction *original;
} refinement;

static void refinement_start(refinement *r, const instruction *i, value *const *operands) {
  r->scratch = arena_create();
  r->original = i;
  r->instruction = arena_new(r->scratch, instruction);
  *r->instruction = *i;
  r->operands = arena_array(r->scratch, value *, i->operand_count);
  r->instruction->operands = arena_array(r->scratch, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) {
    r->operands[k] = value_retain(operands[k]);
    instruction *operand = arena_new(r->scratch, instruction);
    *operand = *i->operands[k];
    r->instruction->operands[k] = operand;
  }
}

static void take_operand_shapes(refinement *r) {
  for (int k = 0; k < r->original->operand_count; k++) r->instruction->operands[k]->shape = r->operands[k]->shape;
}

static void refinement_finish(refinement *r) {
  for (int k = 0; k < r->original->operand_count; k++) value_release(r->operands[k]);
  arena_destroy(r->scratch);
}

static heddle_status resize_operand(interpreter *in, refinement *r, int k, const int64_t *dims) {
  value *resized;
  TRY(dynamic_size_resize(in, r->operands[k], dims, r->original->where, &resized));
  value_release(r->operands[k]);
  r->operands[k] = resized;
  return status_ok();
}

static heddle_status refine_fill(interpreter *in, refinement *r) {
  const instruction *i = r->original;
  for (int k = 0; k < i->operand_count; k++) {
    const shape *declared = i->operands[k]->shape;
    if (!shape_is_array(declared) || shape_same_dims(declared, r->operands[k]->shape)) continue;
    for (int d = 0; d < declared->rank; d++)
      if (declared->dims[d] < 0) return interpreter_refuse(i, "an operand without bounds");
    TRY(resize_operand(in, r, k, declared->dims));
  }
  return status_ok();
}

// The smallest size any operand has, to which the others are cut: a static operand stands beside a dynamic one at its
// bound.
static heddle_status refine_elementwise(interpreter *in, refinement *r) {
  const instruction *i = r->original;
  const int rank = i->shape->rank;
  if (!shape_is_array(i->shape)) return refine_fill(in, r);
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    dims[d] = i->shape->dims[d] < 0 ? INT64_MAX : i->shape->dims[d];
    for (int k = 0; k < i->operand_count; k++) {
      const shape *s = r->operands[k]->shape;
      if (s->rank == rank && s->dims[d] < dims[d]) dims[d] = s->dims[d];
    }
    if (dims[d] == INT64_MAX) return interpreter_refuse(i, "a result without bounds");
  }
  for (int k = 0; k < i->operand_count; k++) {
    const shape *s = r->operands[k]->shape;
    if (s->rank == rank && memcmp(s->dims, dims, (size_t)rank * sizeof *dims) != 0) TRY(resize_operand(in, r, k, dims));
  }
  r->instruction->shape = shape_of(in->shapes, i->shape->dtype, rank, dims);
  return status_ok();
}

static heddle_status refine_broadcast(interpreter *in, refinement *r) {
  const instruction *i = r->original;
  const int_list positions = i->attributes->dimensions;
  int64_t dims[SHAPE_MAX_RANK];
  memcpy(dims, i->shape->dims, (size_t)i->shape->rank * sizeof *dims);
  for (int k = 0; k < positions.size; k++) dims[positions.data[k]] = r->operands[0]->shape->dims[k];
  for (int d = 0; d < i->shape->rank; d++)
    if (dims[d] < 0) return interpreter_refuse(i, "a result without bounds");
  r->instruction->shape = shape_of(in->shapes, i->shape->dtype, i->shape->rank, dims);
  return status_ok();
}

// The one dynamic dim of the result between `first` and `end`, or -1.
static int dynamic_dim_between(const shape *s, int first, int end) {
  int found = -1;
  for (int d = first; d < end; d++)
    if (shape_is_dynamic_dim(s, d)) found = found < 0 ? d : -2;
  return found;
}

// Dims fall into groups that hold equally many elements at the bounds; within a group, the result's one dynamic dim
// takes what the operand's actual sizes leave. False if the sizes do not divide.
static bool reshape_sizes(const shape *bounds, const shape *actual, const shape *to, int64_t *dims) {
  int from_first = 0, to_first = 0;
  while (from_first < bounds->rank || to_first < to->rank) {
    int from_end = from_first, to_end = to_first;
    int64_t from_product = 1, to_product = 1, elements = 1, fixed = 1;
    if (from_end < bounds->rank) from_product *= bounds->dims[from_end++];
    if (to_end < to->rank) to_product *= to->dims[to_end++];
    while (from_product != to_product) {
      if (from_product < to_product && from_end < bounds->rank) from_product *= bounds->dims[from_end++];
      else if (from_product > to_product && to_end < to->rank) to_product *= to->dims[to_end++];
      else return false;
    }
    for (int d = from_first; d < from_end; d++) elements *= actual->dims[d];
    const int open = dynamic_dim_between(to, to_first, to_end);
    for (int d = to_first; d < to_end; d++) {
      dims[d] = to->dims[d];
      if (d != open) fixed *= dims[d];
    }
    if (open >= 0 && fixed > 0 && elements % fixed == 0) dims[open] = elements / fixed;
    else if (elements != fixed) return false;
    from_first = from_end;
    to_first = to_end;
  }
  return true;
}

static heddle_status refine_reshape(interpreter *in, refinement *r) {
  const instruction *i = r->original;
  const shape *bounds = i->operands[0]->shape;
  int64_t dims[SHAPE_MAX_RANK];
  bool is_bounded = true;
  for (int d = 0; d < bounds->rank; d++) is_bounded = is_bounded && bounds->dims[d] >= 0;
  for (int d = 0; d < i->shape->rank; d++) is_bounded = is_bounded && i->shape->dims[d] >= 0;
  if (!is_bounded || !reshape_sizes(bounds, r->operands[0]->shape, i->shape, dims)) return refine_fill(in, r);
  r->instruction->shape = shape_of(in->shapes, i->shape->dtype, i->shape->rank, dims);
  return status_ok();
}

static int_list smaller_sizes(arena *a, int_list sizes, const shape *bounds, const shape *actual) {
  int64_t *smaller = arena_array(a, int64_t, sizes.size);
  for (int d = 0; d < sizes.size; d++)
    smaller[d] = sizes.data[d] == bounds->dims[d] && actual->dims[d] < sizes.data[d] ? actual->dims[d] : sizes.data[d];
  return (int_list){smaller, sizes.size};
}

// A slice that is as large as the bound means all that is there.
static void refine_attributes(refinement *r) {
  const instruction *i = r->original;
  if (i->opcode != HLO_SLICE && i->opcode != HLO_GATHER && i->opcode != HLO_DYNAMIC_SLICE) return;
  const shape *bounds = i->operands[0]->shape, *actual = r->operands[0]->shape;
  hlo_attributes *x = arena_new(r->scratch, hlo_attributes);
  *x = *i->attributes;
  if (i->opcode == HLO_GATHER) x->slice_sizes = smaller_sizes(r->scratch, x->slice_sizes, bounds, actual);
  if (i->opcode == HLO_DYNAMIC_SLICE)
    x->dynamic_slice_sizes = smaller_sizes(r->scratch, x->dynamic_slice_sizes, bounds, actual);
  if (i->opcode == HLO_SLICE) {
    x->slice.dims = arena_array(r->scratch, slice_dim, x->slice.rank);
    for (int d = 0; d < x->slice.rank; d++) {
      slice_dim *s = &x->slice.dims[d];
      *s = i->attributes->slice.dims[d];
      if (s->limit == bounds->dims[d] && s->start <= actual->dims[d]) s->limit = actual->dims[d];
    }
  }
  r->instruction->attributes = x;
}

// By shape inference; where the actual sizes do not fit together, the operands are filled up after all.
static heddle_status refine_inferred(interpreter *in, refinement *r) {
  refine_attributes(r);
  take_operand_shapes(r);
  const shape *inferred;
  heddle_status status = shape_infer(r->scratch, r->instruction, &inferred);
  if (status_is_ok(status)) {
    const bool is_array = shape_is_array(inferred);
    r->instruction->shape = is_array ? shape_of(in->shapes, inferred->dtype, inferred->rank, inferred->dims)
                                     : shape_copy(in->shapes->arena, inferred);
    return status;
  }
  heddle_status_free(status);
  r->instruction->attributes = r->original->attributes;
  return refine_fill(in, r);
}

static heddle_status refine(interpreter *in, refinement *r) {
  switch (rule_of(r->original)) {
    case RULE_INFER: return refine_inferred(in, r);
    case RULE_ELEMENTWISE: return refine_elementwise(in, r);
    case RULE_BROADCAST: return refine_broadcast(in, r);
    case RULE_RESHAPE: return refine_reshape(in, r);
    default: return refine_fill(in, r);
  }
}

// Whether every size is at its bound.
static bool has_declared_sizes(const instruction *i, value *const *operands) {
  for (int d = 0; d < i->shape->rank; d++)
    if (i->shape->dims[d] < 0) return false;
  for (int k = 0; k < i->operand_count; k++)
    if (shape_is_array(i->operands[k]->shape) && !shape_same_dims(i->operands[k]->shape, operands[k]->shape))
      return false;
  return true;
}

static heddle_status run_refined(interpreter *in, const instruction *i, value *const *operands, value **out) {
  refinement r;
  refinement_start(&r, i, operands);
  heddle_status status = refine(in, &r);
  if (status_is_ok(status)) {
    take_operand_shapes(&r);
    for (int d = 0; d < r.instruction->shape->rank && status_is_ok(status); d++)
      if (r.instruction->shape->dims[d] < 0) status = interpreter_refuse(i, "a result without bounds");
  }
  if (status_is_ok(status)) status = eval_ops[i->opcode](in, r.instruction, r.operands, out);
  refinement_finish(&r);
  return status;
}

heddle_status dynamic_size_step(interpreter *in, const instruction *i, value *const *operands, value **out) {
  value *result = NULL;
  if (rule_of(i) == RULE_AS_IS || has_declared_sizes(i, operands)) TRY(eval_ops[i->opcode](in, i, operands, &result));
  else TRY(run_refined(in, i, operands, &result));
  heddle_status status = conform(in, i->shape, i->where, result, out);
  value_release(result);
  return status;
}

// `declared` itself where it is static.
static const shape *actual_shape(arena *a, const value *v, const shape *declared) {
  if (shape_is_static(declared)) return declared;
  if (!shape_is_tuple(declared)) return shape_array(a, declared->dtype, declared->rank, v->shape->dims);
  const shape **elements = arena_array(a, const shape *, declared->tuple_size);
  for (int k = 0; k < declared->tuple_size; k++) elements[k] = actual_shape(a, v->elements[k], declared->elements[k]);
  return shape_tuple(a, declared->tuple_size, elements);
}

heddle_status dynamic_size_result(arena *a, const value *v, const shape *declared, literal **out) {
  return value_to_literal(a, v, actual_shape(a, v, declared), out);
}

heddle_status eval_get_dimension_size(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(value_create(&in->pool, i->shape, i->where, out));
  literal view = {.shape = i->shape, .data = (*out)->data};
  literal_set_int(&view, 0, operands[0]->shape->dims[i->attributes->dimensions.data[0]]);
  return status_ok();
}

// Elements beyond the old size, of which there is no record, are zero.
heddle_status eval_set_dimension_size(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const int64_t d = i->attributes->dimensions.data[0], size = value_get_int(operands[1], 0);
  const int64_t bound = i->shape->dims[d];
  if (size < 0 || (bound >= 0 && size > bound))
    return status_at(HEDDLE_INVALID, i->where, "dimension %lld is set to size %lld, beyond its bound %lld",
                     (long long)d, (long long)size, (long long)bound);
  if (size != bound && !shape_is_dynamic_dim(i->shape, (int)d))
    return status_at(HEDDLE_INVALID, i->where, "dimension %lld is set to size %lld but declared to be %lld",
                     (long long)d, (long long)size, (long long)bound);
  int64_t dims[SHAPE_MAX_RANK];
  memcpy(dims, operands[0]->shape->dims, (size_t)i->shape->rank * sizeof *dims);
  if (dims[d] == size) {
    *out = value_retain(operands[0]);
    return status_ok();
  }
  dims[d] = size;
  return dynamic_size_resize(in, operands[0], dims, i->where, out);
}

heddle_status eval_dynamic_reshape(interpreter *in, const instruction *i, value *const *operands, value **out) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < i->shape->rank; d++) {
    dims[d] = value_get_int(operands[d + 1], 0);
    const int64_t bound = i->shape->dims[d];
    const bool fits = dims[d] == bound || (shape_is_dynamic_dim(i->shape, d) && (bound < 0 || dims[d] < bound));
    if (dims[d] < 0 || !fits)
      return status_at(HEDDLE_INVALID, i->where, "size %lld of dimension %d does not fit its bound %lld",
                       (long long)dims[d], d, (long long)bound);
  }
  const shape *s = shape_of(in->shapes, i->shape->dtype, i->shape->rank, dims);
  if (shape_element_count(s) != shape_element_count(operands[0]->shape))
    return status_at(HEDDLE_INVALID, i->where, "the sizes make %lld elements of %lld",
                     (long long)shape_element_count(s), (long long)shape_element_count(operands[0]->shape));
  return value_create_view(operands[0], s, out);
}
