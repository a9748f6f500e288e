// Rewrites scalar operations for `width` lanes at once; see vectorize_loops.c for why.
//
// Values are classified while they are built (lane_kind). What does not depend on the lane stays scalar and is merely
// cloned, so that address arithmetic and loads of broadcast operands cost one scalar operation per vector.
#include "lower/vectorize_body.h"

#include <mlir-c/AffineMap.h>

#include "dialect/xla_gpu.h"
#include "lower/tensor_access.h"

static bool refuse(vectorizer *v, const char *reason) {
  if (!v->refusal) v->refusal = reason;
  return false;
}

static lane_value *bind_value(vectorizer *v, MlirValue old, lane_kind kind, MlirValue value) {
  lane_value *entry = arena_new(v->arena, lane_value);
  *entry = (lane_value){.kind = kind, .value = value};
  ptr_map_put(v->arena, &v->values, old.ptr, entry);
  return entry;
}

void vectorizer_bind(vectorizer *v, MlirValue old, lane_kind kind, MlirValue value) { bind_value(v, old, kind, value); }

// Values from outside the loop are their own uniform value.
lane_value *vectorizer_lookup(vectorizer *v, MlirValue old) {
  lane_value *entry = ptr_map_get(&v->values, old.ptr);
  return entry ? entry : bind_value(v, old, LANE_UNIFORM, old);
}

static bool is_lane_type(MlirType t) { return mlirTypeIsAInteger(t) || mlirTypeIsAFloat(t) || mlirTypeIsAIndex(t); }

static MlirType vector_of(vectorizer *v, MlirType element) {
  int64_t width = v->width;
  return mlirVectorTypeGet(1, &width, element);
}

// <0, 1, ..., width - 1>
static MlirValue lane_numbers(vectorizer *v, ir_builder *b, MlirType element) {
  MlirAttribute *numbers = arena_array(v->arena, MlirAttribute, v->width);
  for (int l = 0; l < v->width; l++) numbers[l] = mlirIntegerAttrGet(element, l);
  MlirType type = vector_of(v, element);
  MlirNamedAttribute value = ir_named(b->context, "value", mlirDenseElementsAttrGet(type, v->width, numbers));
  return ir_value_with(b, "arith.constant", type, 0, NULL, 1, &value);
}

MlirValue vectorizer_vector(vectorizer *v, ir_builder *b, MlirValue old) {
  lane_value *entry = vectorizer_lookup(v, old);
  if (entry->kind == LANE_VECTOR) return entry->value;
  // A cached form may have been built in a nested block that does not enclose this point.
  if (entry->vector.ptr && mlirBlockEqual(entry->vector_block, b->block)) return entry->vector;
  MlirType type = vector_of(v, mlirValueGetType(old));
  MlirValue vector;
  if (entry->kind == LANE_SEPARATE) {
    vector = ir_value(b, "vector.from_elements", type, v->width, entry->lanes);
  } else {
    vector = ir_value(b, "vector.broadcast", type, 1, &entry->value);
    if (entry->kind == LANE_CONTIGUOUS)
      vector = ir_binary(b, "arith.addi", vector, lane_numbers(v, b, mlirIndexTypeGet(b->context)));
  }
  entry->vector = vector;
  entry->vector_block = b->block;
  return vector;
}

static MlirValue extract_lane(ir_builder *b, MlirValue vector, int lane) {
  MlirNamedAttribute position =
      ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, (int64_t[]){lane}));
  return ir_value_with(b, "vector.extract", ir_element_type(mlirValueGetType(vector)), 1, &vector, 1, &position);
}

static MlirValue get_lane(vectorizer *v, ir_builder *b, MlirValue old, int lane) {
  lane_value *entry = vectorizer_lookup(v, old);
  switch (entry->kind) {
    case LANE_UNIFORM: return entry->value;
    case LANE_CONTIGUOUS: return lane ? ir_binary(b, "arith.addi", entry->value, ir_index(b, lane)) : entry->value;
    case LANE_SEPARATE: return entry->lanes[lane];
    case LANE_VECTOR: break;
  }
  return extract_lane(b, entry->value, lane);
}

static bool all_uniform(vectorizer *v, MlirOperation op) {
  for (int i = 0; i < (int)mlirOperationGetNumOperands(op); i++)
    if (vectorizer_lookup(v, ir_operand(op, i))->kind != LANE_UNIFORM) return false;
  return true;
}

static MlirOperation clone_for_lane(vectorizer *v, ir_builder *b, MlirOperation op, int lane) {
  int count = (int)mlirOperationGetNumOperands(op);
  MlirValue *operands = arena_array(v->arena, MlirValue, count);
  for (int i = 0; i < count; i++) operands[i] = get_lane(v, b, ir_operand(op, i), lane);
  MlirOperation clone = mlirOperationClone(op);
  for (int i = 0; i < count; i++) mlirOperationSetOperand(clone, i, operands[i]);
  mlirBlockInsertOwnedOperationBefore(b->block, b->before, clone);
  return clone;
}

static bool do_uniform(vectorizer *v, ir_builder *b, MlirOperation op) {
  MlirOperation clone = clone_for_lane(v, b, op, 0);
  for (int i = 0; i < (int)mlirOperationGetNumResults(op); i++)
    bind_value(v, ir_result(op, i), LANE_UNIFORM, ir_result(clone, i));
  return true;
}

// A separate index: by how much lanes differ from the first one, as far as that is the same in all iterations.
typedef struct lane_steps {
  int64_t stride;    // from lane to lane, 0 if that differs
  int64_t place;     // remainder of a division by the stride, -1 if it is not the same always
  int64_t *offsets;  // of each lane, null if they depend on more than the lane
} lane_steps;

// The offsets of an index `e`, of which the symbol `lane` is the last one, for lanes 0 … width - 1; null if one is no
// constant.
static int64_t *lane_offsets(vectorizer *v, const affine_expr *e, int lane, const interval *dims,
                             const interval *symbols) {
  int64_t *offsets = arena_array(v->arena, int64_t, v->width);
  const affine_expr **by = arena_array(v->arena, const affine_expr *, lane + 1);
  by[lane] = affine_constant(v->arena, 0);
  const affine_expr *first = affine_replace(v->arena, e, NULL, 0, by, lane + 1);
  for (int l = 1; l < v->width; l++) {
    by[lane] = affine_constant(v->arena, l);
    const affine_expr *here = affine_replace(v->arena, e, NULL, 0, by, lane + 1);
    here = affine_simplify(v->arena, affine_sub(v->arena, here, first), dims, symbols);
    if (!affine_is_constant(here, &offsets[l])) return NULL;
  }
  return offsets;
}

// How a result of an apply_indexing varies over the lanes when its operands that vary are the loop's own variable.
static lane_kind index_kind(vectorizer *v, MlirOperation op, int result, lane_steps *steps) {
  const indexing_map *m = xla_gpu_indexing_map(ir_get(op, "map"));
  int symbols = m->range_count + m->rt_count;
  *steps = (lane_steps){0};
  interval *dim_bounds = arena_array(v->arena, interval, m->dim_count);
  interval *symbol_bounds = arena_array(v->arena, interval, symbols + 1);
  const affine_expr **dim_by = arena_array(v->arena, const affine_expr *, m->dim_count);
  const affine_expr **symbol_by = arena_array(v->arena, const affine_expr *, symbols);
  const affine_expr *lane = affine_symbol(v->arena, symbols);
  symbol_bounds[symbols] = (interval){0, v->width - 1};
  for (int i = 0; i < m->dim_count + symbols; i++) {
    bool is_dim = i < m->dim_count;
    int position = is_dim ? i : i - m->dim_count;
    indexing_variable variable = is_dim                      ? m->dims[position]
                                 : position < m->range_count ? m->ranges[position]
                                                             : m->rts[position - m->range_count];
    interval *bounds = is_dim ? &dim_bounds[position] : &symbol_bounds[position];
    *bounds = variable.bounds;
    MlirValue operand = ir_operand(op, i);
    if (vectorizer_lookup(v, operand)->kind == LANE_UNIFORM) continue;
    if (!mlirValueEqual(operand, v->old_iv)) return LANE_SEPARATE;
    const affine_expr *self = is_dim ? affine_dim(v->arena, position) : affine_symbol(v->arena, position);
    const affine_expr *split = affine_add(v->arena, affine_mul_constant(v->arena, self, v->width), lane);
    if (v->done_lanes > 0) split = affine_add(v->arena, affine_constant(v->arena, v->first), lane);
    *(is_dim ? &dim_by[position] : &symbol_by[position]) = split;
    *bounds = interval_floordiv(*bounds, v->width);
  }
  const affine_expr *e = affine_replace(v->arena, m->results[result], dim_by, m->dim_count, symbol_by, symbols);
  e = affine_simplify(v->arena, e, dim_bounds, symbol_bounds);
  if (!affine_uses_symbol(e, symbols)) return LANE_UNIFORM;
  const affine_expr *rest = affine_simplify(v->arena, affine_sub(v->arena, e, lane), dim_bounds, symbol_bounds);
  if (!affine_uses_symbol(rest, symbols)) return LANE_CONTIGUOUS;
  const affine_expr **next_by = arena_array(v->arena, const affine_expr *, symbols + 1);
  next_by[symbols] = affine_add(v->arena, lane, affine_constant(v->arena, 1));
  const affine_expr *next = affine_replace(v->arena, e, NULL, 0, next_by, symbols + 1);
  symbol_bounds[symbols].upper--;
  next = affine_simplify(v->arena, affine_sub(v->arena, next, e), dim_bounds, symbol_bounds);
  if (affine_is_constant(next, &steps->stride)) {
    steps->place = -1;
    if (steps->stride <= 1) return LANE_SEPARATE;
    symbol_bounds[symbols].upper++;
    e = affine_simplify(v->arena, affine_mod(v->arena, e, steps->stride), dim_bounds, symbol_bounds);
    if (!affine_is_constant(e, &steps->place)) steps->place = -1;
    return LANE_SEPARATE;
  }
  steps->stride = 0;
  steps->offsets = lane_offsets(v, e, symbols, dim_bounds, symbol_bounds);
  return LANE_SEPARATE;
}

bool vectorizer_has_neighbours(arena *a, MlirOperation apply_indexing, MlirValue iv, int width) {
  vectorizer v = {.arena = a, .width = width, .old_iv = iv};
  vectorizer_bind(&v, iv, LANE_CONTIGUOUS, iv);
  for (int r = 0; r < (int)mlirOperationGetNumResults(apply_indexing); r++) {
    lane_steps steps;
    if (index_kind(&v, apply_indexing, r, &steps) == LANE_SEPARATE) return false;
  }
  return true;
}

// The lanes are counted from the first one, which may stand before the map's domain where a mask turns it off.
static void widen_domain(vectorizer *v, MlirOperation op, MlirOperation first) {
  const indexing_map *from = xla_gpu_indexing_map(ir_get(op, "map"));
  indexing_map *m = indexing_map_copy(v->arena, from);
  bool any = false;
  for (int i = 0; i < m->dim_count; i++) {
    if (vectorizer_lookup(v, ir_operand(op, i))->kind == LANE_UNIFORM || m->dims[i].bounds.lower % v->width == 0)
      continue;
    m->dims[i].bounds.lower = interval_floordiv(m->dims[i].bounds, v->width).lower * v->width;
    any = true;
  }
  if (any) ir_set(first, "map", xla_gpu_indexing_map_attribute(mlirOperationGetContext(first), m));
}

static bool do_apply_indexing(vectorizer *v, ir_builder *b, MlirOperation op) {
  MlirOperation *clones = arena_array(v->arena, MlirOperation, v->width);
  clones[0] = clone_for_lane(v, b, op, 0);
  widen_domain(v, op, clones[0]);
  for (int r = 0; r < (int)mlirOperationGetNumResults(op); r++) {
    lane_steps steps;
    lane_kind kind = index_kind(v, op, r, &steps);
    lane_value *entry = bind_value(v, ir_result(op, r), kind, ir_result(clones[0], r));
    if (kind != LANE_SEPARATE) continue;
    entry->stride = steps.stride;
    entry->place = steps.place;
    entry->lanes = arena_array(v->arena, MlirValue, v->width);
    entry->lanes[0] = ir_result(clones[0], r);
    for (int l = 1; l < v->width; l++) {
      if (steps.stride != 0 || steps.offsets) {
        const int64_t offset = steps.stride != 0 ? l * steps.stride : steps.offsets[l];
        entry->lanes[l] = ir_binary(b, "arith.addi", entry->lanes[0], ir_index(b, offset));
        continue;
      }
      if (!clones[l].ptr) clones[l] = clone_for_lane(v, b, op, l);
      entry->lanes[l] = ir_result(clones[l], r);
    }
  }
  return true;
}

// An index as a number: converted once, then counted in the number's own type, which has more lanes in a register.
static bool do_index_cast(vectorizer *v, ir_builder *b, MlirOperation op) {
  MlirType element = ir_result_type(op, 0), type = vector_of(v, element);
  MlirOperation first = clone_for_lane(v, b, op, 0);
  MlirValue scalar = ir_result(first, 0);
  MlirValue spread = ir_value(b, "vector.broadcast", type, 1, &scalar);
  MlirValue numbers = lane_numbers(v, b, element);
  bind_value(v, ir_result(op, 0), LANE_VECTOR, ir_binary(b, "arith.addi", spread, numbers));
  return true;
}

static bool do_elementwise(vectorizer *v, ir_builder *b, MlirOperation op) {
  int count = (int)mlirOperationGetNumOperands(op);
  MlirValue *operands = arena_array(v->arena, MlirValue, count);
  if (mlirOperationGetNumResults(op) != 1 || !is_lane_type(ir_result_type(op, 0)))
    return refuse(v, "an elementwise operation on a type without vector form");
  for (int i = 0; i < count; i++) {
    if (!is_lane_type(mlirValueGetType(ir_operand(op, i))))
      return refuse(v, "an elementwise operation on a type without vector form");
    operands[i] = vectorizer_vector(v, b, ir_operand(op, i));
  }
  int attribute_count = (int)mlirOperationGetNumAttributes(op);
  MlirNamedAttribute *attributes = arena_array(v->arena, MlirNamedAttribute, attribute_count);
  for (int i = 0; i < attribute_count; i++) attributes[i] = mlirOperationGetAttribute(op, i);
  const char *name = mlirIdentifierStr(mlirOperationGetName(op)).data;
  MlirValue result =
      ir_value_with(b, name, vector_of(v, ir_result_type(op, 0)), count, operands, attribute_count, attributes);
  bind_value(v, ir_result(op, 0), LANE_VECTOR, result);
  return true;
}

// Lanes one by one. Under a mask the index of a lane that is off becomes 0, which is always inside the tensor.
static MlirValue gather(vectorizer *v, ir_builder *b, MlirOperation op) {
  MlirValue *lanes = arena_array(v->arena, MlirValue, v->width);
  MlirValue operands[2] = {vectorizer_lookup(v, ir_operand(op, 0))->value};
  for (int l = 0; l < v->width; l++) {
    operands[1] = get_lane(v, b, ir_operand(op, 1), l);
    if (v->mask.ptr) {
      MlirValue is_on = extract_lane(b, v->mask, l);
      operands[1] = ir_select(b, is_on, operands[1], ir_index(b, 0));
    }
    lanes[l] = ir_value(b, "tensor.extract", ir_result_type(op, 0), 2, operands);
  }
  v->separate_loads += v->width;
  return tensor_access_gather(b, vector_of(v, ir_result_type(op, 0)), lanes);
}

// What a read and a write of neighbouring elements of a flat tensor say alike: in order, in bounds, no mask.
typedef struct transfer_attributes {
  MlirNamedAttribute all[3];
} transfer_attributes;

static transfer_attributes contiguous_transfer(MlirContext c) {
  return (transfer_attributes){{
      ir_named(c, "permutation_map", mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(c, 1))),
      ir_named_text(c, "in_bounds", "[true]"),
      ir_named_text(c, "operandSegmentSizes", "array<i32: 1, 1, 1, 0>"),
  }};
}

static MlirValue read_elements(ir_builder *b, MlirType type, MlirValue tensor, MlirValue first) {
  MlirType element = ir_element_type(type);
  MlirValue padding = mlirTypeIsAFloat(element) ? ir_float(b, element, 0) : ir_int(b, element, 0);
  transfer_attributes attributes = contiguous_transfer(b->context);
  return ir_value_with(b, "vector.transfer_read", type, 3, (MlirValue[]){tensor, first, padding}, 3, attributes.all);
}

// Neighbouring elements from `first` on; lanes that the mask turns off are not read.
static MlirValue transfer_read(vectorizer *v, ir_builder *b, MlirOperation op, MlirValue first) {
  MlirType element = ir_result_type(op, 0);
  MlirValue padding = mlirTypeIsAFloat(element) ? ir_float(b, element, 0) : ir_int(b, element, 0);
  MlirValue operands[] = {vectorizer_lookup(v, ir_operand(op, 0))->value, first, padding, v->mask};
  bool is_masked = v->mask.ptr != NULL;
  transfer_attributes attributes = contiguous_transfer(b->context);
  if (is_masked) attributes.all[2] = ir_named_text(b->context, "operandSegmentSizes", "array<i32: 1, 1, 1, 1>");
  return ir_value_with(b, "vector.transfer_read", vector_of(v, element), 3 + is_masked, operands, 3, attributes.all);
}

// Lanes of x, then of y, which are of one type.
static MlirValue shuffle(ir_builder *b, MlirValue x, MlirValue y, int width, const int64_t *lanes) {
  MlirAttribute *numbers = arena_array(b->arena, MlirAttribute, width);
  for (int l = 0; l < width; l++) numbers[l] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), lanes[l]);
  MlirNamedAttribute mask = ir_named(b->context, "mask", mlirArrayAttrGet(b->context, width, numbers));
  int64_t size = width;
  MlirType type = mlirVectorTypeGet(1, &size, ir_element_type(mlirValueGetType(x)));
  return ir_value_with(b, "vector.shuffle", type, 2, (MlirValue[]){x, y}, 1, &mask);
}

// Elements a few places apart: as many whole vectors, the last of which ends with the last lane's element, so that
// nothing is read behind it. One vector after the other gives its lanes to what the ones before it gave. Of fewer than
// there are lanes: else single elements take as many loads and inserts.
static MlirValue strided_read(vectorizer *v, ir_builder *b, MlirOperation op, const lane_value *index) {
  const int64_t width = v->width, last = index->stride * (width - 1) + 1 - width;
  int64_t *lanes = arena_array(v->arena, int64_t, width);
  for (int64_t l = 0; l < width; l++) lanes[l] = index->stride * l;
  MlirValue result = transfer_read(v, b, op, index->lanes[0]);
  for (int64_t part = 1; part < index->stride; part++) {
    const int64_t offset = part * width < last ? part * width : last;
    MlirValue next = transfer_read(v, b, op, ir_binary(b, "arith.addi", index->lanes[0], ir_index(b, offset)));
    for (int64_t l = 0; l < width; l++) {
      const int64_t place = index->stride * l;
      if (place >= part * width) lanes[l] = place < offset + width ? width + place - offset : 0;
    }
    result = shuffle(b, result, next, v->width, lanes);
    for (int64_t l = 0; l < width; l++)
      if (index->stride * l < offset + width) lanes[l] = l;
  }
  return result;
}

// --- pairs

// One of two arrays whose elements take turns in memory: real and imaginary parts. Both are read, and both are written,
// by vectors of whole pairs.

static bool is_of_pair(const lane_value *index, MlirType tensor) {
  return index->kind == LANE_SEPARATE && index->stride == 2 && index->place >= 0 &&
         mlirShapedTypeGetDimSize(tensor, 0) % 2 == 0;
}

// The index of the pair that the first lane's element is of.
static MlirValue first_of_pair(ir_builder *b, const lane_value *index) {
  MlirOperation op = ir_defining_op(index->lanes[0]);
  if (index->place == 0) return index->lanes[0];
  const indexing_map *from = xla_gpu_indexing_map(ir_get(op, "map"));
  indexing_map *m = indexing_map_copy(b->arena, from);
  const affine_expr *first = affine_add(b->arena, from->results[0], affine_constant(b->arena, -index->place));
  MlirValue *operands = arena_array(b->arena, MlirValue, mlirOperationGetNumOperands(op));
  for (int i = 0; i < (int)mlirOperationGetNumOperands(op); i++) operands[i] = ir_operand(op, i);
  m = indexing_map_with_results(b->arena, m, 1, &first);
  return ir_apply_indexing(b, m, operands, operands + m->dim_count).data[0];
}

static MlirValue read_of_pairs(vectorizer *v, ir_builder *b, MlirOperation op, const lane_value *index) {
  const int64_t both = 2 * (int64_t)v->width;
  int64_t *lanes = arena_array(v->arena, int64_t, v->width);
  for (int l = 0; l < v->width; l++) lanes[l] = 2 * l + index->place;
  MlirValue tensor = vectorizer_lookup(v, ir_operand(op, 0))->value;
  MlirType pairs = mlirVectorTypeGet(1, &both, ir_result_type(op, 0));
  MlirValue read = read_elements(b, pairs, tensor, first_of_pair(b, index));
  return shuffle(b, read, read, v->width, lanes);
}

// Whether index `r` is one behind `l` in every iteration.
static bool is_next(vectorizer *v, MlirValue l, MlirValue r) {
  MlirOperation first = ir_defining_op(l), second = ir_defining_op(r);
  const char *name = "xla_gpu.apply_indexing";
  if (ir_is_null(first) || ir_is_null(second) || !ir_is(first, name) || !ir_is(second, name)) return false;
  const int count = (int)mlirOperationGetNumOperands(first);
  if (count != (int)mlirOperationGetNumOperands(second)) return false;
  for (int i = 0; i < count; i++)
    if (!mlirValueEqual(ir_operand(first, i), ir_operand(second, i))) return false;
  const indexing_map *m = xla_gpu_indexing_map(ir_get(first, "map")), *n = xla_gpu_indexing_map(ir_get(second, "map"));
  if (m->dim_count != n->dim_count || m->result_count != 1 || n->result_count != 1) return false;
  const affine_expr *one = affine_add(v->arena, m->results[0], affine_constant(v->arena, 1));
  return indexing_map_equal(indexing_map_with_results(v->arena, n, 1, &one), n);
}

// The insert of the second part, behind one of the first; null if it is no such pair. Elements of pairs are numbers.
static MlirOperation second_insert(vectorizer *v, MlirOperation first) {
  const MlirOperation none = {NULL};
  const lane_value *index = ptr_map_get(&v->values, ir_operand(first, 2).ptr);
  MlirOpOperand use = mlirValueGetFirstUse(ir_result(first, 0));
  if (v->done_lanes > 0 || !index || index->place != 0 || !is_of_pair(index, ir_result_type(first, 0))) return none;
  if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use))) return none;
  MlirOperation second = mlirOpOperandGetOwner(use);
  const bool fits = ir_is(second, "tensor.insert") && mlirOpOperandGetOperandNumber(use) == 1 &&
                    mlirOperationGetNumOperands(second) == 3 && is_next(v, ir_operand(first, 2), ir_operand(second, 2));
  return fits ? second : none;
}

// The insert of the first part, in front of one of the second.
static MlirOperation first_insert(vectorizer *v, MlirOperation second) {
  const MlirOperation none = {NULL};
  MlirOperation first = ir_defining_op(ir_operand(second, 1));
  if (ir_is_null(first) || !ir_is(first, "tensor.insert") || mlirOperationGetNumOperands(first) != 3) return none;
  return mlirOperationEqual(second_insert(v, first), second) ? first : none;
}

// Neighbours in falling order: one vector that ends with the first lane's element, its lanes turned round.
static MlirValue reversed_read(vectorizer *v, ir_builder *b, MlirOperation op, const lane_value *index) {
  int64_t *lanes = arena_array(v->arena, int64_t, v->width);
  for (int l = 0; l < v->width; l++) lanes[l] = v->width - 1 - l;
  MlirValue rising = transfer_read(v, b, op, index->lanes[v->width - 1]);
  return shuffle(b, rising, rising, v->width, lanes);
}

// Machines load words under a mask, but only those that have registers for masks, which take the last lanes so, bytes.
static bool has_masked_form(const vectorizer *v, MlirType element) {
  if (mlirTypeIsAIndex(element)) return false;
  const int bits = ir_bit_width(element);
  return bits == 32 || bits == 64 || (v->rest.ptr && (bits == 1 || bits == 8 || bits == 16));
}

// --- tensors that the loop both reads and writes

// Lanes from `from` on are cut in powers of two, the largest first: so many are the next.
static int piece_from(const vectorizer *v, int from) {
  int count = 1;
  while (2 * count <= v->width - from) count *= 2;
  return count;
}

static MlirOperation loop_of(const vectorizer *v) {
  return mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v->old_iv));
}

static bool is_inside_loop(const vectorizer *v, MlirValue value) {
  MlirBlock block = mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                                     : mlirOperationGetBlock(ir_defining_op(value));
  for (MlirOperation op = mlirBlockGetParentOperation(block); !ir_is_null(op); op = mlirOperationGetParentOperation(op))
    if (mlirOperationEqual(op, loop_of(v))) return true;
  return false;
}

// As the loop carries it: before the first write of an iteration. Null if there is more than writes between.
static MlirValue before_writes(const vectorizer *v, MlirValue tensor) {
  while (!mlirValueIsABlockArgument(tensor)) {
    MlirOperation op = ir_defining_op(tensor);
    if (!ir_is(op, "tensor.insert")) return (MlirValue){NULL};
    tensor = ir_operand(op, 1);
  }
  bool is_carried = mlirOperationEqual(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(tensor)), loop_of(v));
  return is_carried ? tensor : (MlirValue){NULL};
}

// Whether an iteration does nothing to the tensor but read it, write it at this index and hand it on. *next: the tensor
// after the write, null if there is none.
static bool writes_at(const vectorizer *v, MlirValue tensor, MlirValue index, MlirValue *next) {
  *next = (MlirValue){NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(tensor); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (ir_is(op, "tensor.extract")) continue;
    if (ir_is(op, "scf.yield") && mlirOperationEqual(mlirOperationGetParentOperation(op), loop_of(v))) continue;
    if (!ir_is(op, "tensor.insert") || next->ptr || !mlirValueEqual(ir_operand(op, 2), index)) return false;
    *next = ir_result(op, 0);
  }
  return true;
}

// Whether the lanes may read before they all write, although the tensor may be one that the loop writes: each lane
// then reads and writes an element of its own. A scatter's iterations may meet in one element.
static bool reads_its_own(vectorizer *v, MlirOperation extract) {
  MlirValue tensor = ir_operand(extract, 0);
  if (!is_inside_loop(v, tensor)) return true;
  if (mlirOperationGetNumOperands(extract) != 2) return false;
  MlirValue index = ir_operand(extract, 1);
  const lane_value *lanes = vectorizer_lookup(v, index);
  if (lanes->kind != LANE_CONTIGUOUS && (lanes->kind != LANE_SEPARATE || lanes->stride == 0)) return false;
  tensor = before_writes(v, tensor);
  if (!tensor.ptr) return false;
  for (MlirValue next; tensor.ptr; tensor = next)
    if (!writes_at(v, tensor, index, &next)) return false;
  return true;
}

// Elements of a tensor that the loop writes, for lanes that are not done. In pieces, as they are written in pieces: a
// vector that is read before all of the writes that it overlaps with have reached the cache waits for them.
static MlirValue read_rest(vectorizer *v, ir_builder *b, MlirOperation op, MlirValue first) {
  MlirType element = ir_result_type(op, 0), type = vector_of(v, element);
  MlirValue tensor = vectorizer_lookup(v, ir_operand(op, 0))->value;
  MlirValue result = mlirTypeIsAFloat(element) ? ir_float(b, type, 0) : ir_int(b, type, 0);
  int64_t *lanes = arena_array(v->arena, int64_t, v->width);
  for (int from = v->done_lanes, count; from < v->width; from += count) {
    count = piece_from(v, from);
    MlirValue at = ir_binary(b, "arith.addi", first, ir_index(b, from));
    int64_t size = count;
    MlirValue piece = read_elements(b, mlirVectorTypeGet(1, &size, element), tensor, at);
    for (int l = 0; l < v->width; l++) lanes[l] = l >= from && l < from + count ? l - from : 0;
    piece = shuffle(b, piece, piece, v->width, lanes);
    for (int l = 0; l < v->width; l++) lanes[l] = l >= from && l < from + count ? v->width + l : l;
    result = shuffle(b, result, piece, v->width, lanes);
  }
  return result;
}

static bool do_extract(vectorizer *v, ir_builder *b, MlirOperation op) {
  if (!is_lane_type(ir_result_type(op, 0))) return refuse(v, "an element type without vector form");
  if (mlirOperationGetNumOperands(op) != 2) return refuse(v, "a tensor that is not flat");
  lane_value *index = vectorizer_lookup(v, ir_operand(op, 1));
  bool is_contiguous = index->kind == LANE_CONTIGUOUS && (!v->mask.ptr || has_masked_form(v, ir_result_type(op, 0)));
  if (v->rest.ptr && !is_contiguous) return refuse(v, "a load of the last lanes that has no masked form");
  bool is_strided = index->kind == LANE_SEPARATE && !v->mask.ptr && index->stride > 1 && index->stride < v->width &&
                    index->stride <= v->limits->max_lane_stride;
  bool is_reversed = index->kind == LANE_SEPARATE && !v->mask.ptr && index->stride == -1;
  bool is_pair = !v->mask.ptr && v->done_lanes == 0 && is_of_pair(index, mlirValueGetType(ir_operand(op, 0)));
  bool is_rest = is_contiguous && v->done_lanes > 0 && !v->mask.ptr && is_inside_loop(v, ir_operand(op, 0));
  MlirValue result = is_rest         ? read_rest(v, b, op, index->value)
                     : is_contiguous ? transfer_read(v, b, op, index->value)
                     : is_pair       ? read_of_pairs(v, b, op, index)
                     : is_strided    ? strided_read(v, b, op, index)
                     : is_reversed   ? reversed_read(v, b, op, index)
                                     : gather(v, b, op);
  bind_value(v, ir_result(op, 0), LANE_VECTOR, result);
  return true;
}

MlirValue vectorizer_rest(arena *a, ir_builder *b, MlirValue iv, MlirValue end, int width) {
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  vectorizer v = {.arena = a, .width = width};
  MlirValue left = ir_cast(b, "arith.index_cast", i32, ir_binary(b, "arith.subi", end, iv));
  MlirValue spread = ir_value(b, "vector.broadcast", vector_of(&v, i32), 1, &left);
  return ir_cmpi(b, "slt", lane_numbers(&v, b, i32), spread);
}

MlirValue vectorizer_blend(vectorizer *v, ir_builder *b, MlirValue now, MlirValue before) {
  if (v->rest.ptr) return ir_select(b, v->rest, now, before);
  int *flags = arena_array(v->arena, int, v->width);
  for (int l = 0; l < v->width; l++) flags[l] = l >= v->done_lanes;
  MlirType type = vector_of(v, mlirIntegerTypeGet(b->context, 1));
  MlirNamedAttribute value = ir_named(b->context, "value", mlirDenseElementsAttrBoolGet(type, v->width, flags));
  MlirValue mask = ir_value_with(b, "arith.constant", type, 0, NULL, 1, &value);
  return ir_select(b, mask, now, before);
}

// All lanes, or those that the mask has on, if there is one.
static MlirValue write_masked(ir_builder *b, MlirValue vector, MlirValue tensor, MlirValue first, MlirValue mask) {
  const bool is_masked = mask.ptr != NULL;
  transfer_attributes attributes = contiguous_transfer(b->context);
  if (is_masked) attributes.all[2] = ir_named_text(b->context, "operandSegmentSizes", "array<i32: 1, 1, 1, 1>");
  MlirValue operands[] = {vector, tensor, first, mask};
  return ir_value_with(b, "vector.transfer_write", mlirValueGetType(tensor), 3 + is_masked, operands, 3,
                       attributes.all);
}

static MlirValue write_elements(ir_builder *b, MlirValue vector, MlirValue tensor, MlirValue first) {
  return write_masked(b, vector, tensor, first, (MlirValue){NULL});
}

// Lanes that are not done, in pieces.
static MlirValue write_rest(vectorizer *v, ir_builder *b, MlirValue vector, MlirValue tensor, MlirValue first) {
  int64_t *lanes = arena_array(v->arena, int64_t, v->width);
  for (int from = v->done_lanes, count; from < v->width; from += count) {
    count = piece_from(v, from);
    for (int l = 0; l < count; l++) lanes[l] = from + l;
    MlirValue at = ir_binary(b, "arith.addi", first, ir_index(b, from));
    tensor = write_elements(b, shuffle(b, vector, vector, count, lanes), tensor, at);
  }
  return tensor;
}

static MlirValue write_pairs(vectorizer *v, ir_builder *b, MlirOperation first, MlirOperation second,
                             MlirValue tensor) {
  int64_t *lanes = arena_array(v->arena, int64_t, 2 * v->width);
  for (int l = 0; l < v->width; l++) {
    lanes[2 * l] = l;
    lanes[2 * l + 1] = v->width + l;
  }
  MlirValue x = vectorizer_vector(v, b, ir_operand(first, 0)), y = vectorizer_vector(v, b, ir_operand(second, 0));
  MlirValue at = vectorizer_lookup(v, ir_operand(first, 2))->lanes[0];
  return write_elements(b, shuffle(b, x, y, 2 * v->width, lanes), tensor, at);
}

static bool do_insert(vectorizer *v, ir_builder *b, MlirOperation op) {
  if (!mlirValueEqual(v->mask, v->rest)) return refuse(v, "a store under a condition");
  if (mlirOperationGetNumOperands(op) != 3) return refuse(v, "a tensor that is not flat");
  MlirValue element = ir_operand(op, 0);
  if (!is_lane_type(mlirValueGetType(element))) return refuse(v, "an element type without vector form");
  MlirValue tensor = vectorizer_lookup(v, ir_operand(op, 1))->value;
  lane_value *index = vectorizer_lookup(v, ir_operand(op, 2));
  if (index->kind == LANE_UNIFORM) return refuse(v, "a store to one place by all iterations");
  if (index->kind == LANE_CONTIGUOUS) {
    MlirValue vector = vectorizer_vector(v, b, element);
    if (v->rest.ptr && !has_masked_form(v, mlirValueGetType(element)))
      return refuse(v, "a store of the last lanes that has no masked form");
    tensor = v->rest.ptr         ? write_masked(b, vector, tensor, index->value, v->rest)
             : v->done_lanes > 0 ? write_rest(v, b, vector, tensor, index->value)
                                 : write_elements(b, vector, tensor, index->value);
  } else if (v->rest.ptr) {
    return refuse(v, "a store of the last lanes that has no masked form");
  } else if (!ir_is_null(second_insert(v, op))) {
    // Both parts are written where the second is.
  } else if (!ir_is_null(first_insert(v, op))) {
    // See fills_a_tensor in vectorize_loops.c.
    if (mlirShapedTypeGetDimSize(ir_result_type(op, 0), 0) == 2 * (int64_t)v->width)
      return refuse(v, "one vector of pairs that is all of a tensor");
    tensor = write_pairs(v, b, first_insert(v, op), op, tensor);
  } else {
    for (int l = v->done_lanes; l < v->width; l++) {
      MlirValue lane = get_lane(v, b, element, l);
      MlirValue operands[] = {lane, tensor, get_lane(v, b, ir_operand(op, 2), l)};
      tensor = ir_value(b, "tensor.insert", mlirValueGetType(tensor), 3, operands);
    }
  }
  bind_value(v, ir_result(op, 0), LANE_UNIFORM, tensor);
  return true;
}

// Both branches run, under complementary masks; the results are selected.
static bool do_divergent_if(vectorizer *v, ir_builder *b, MlirOperation op) {
  int count = (int)mlirOperationGetNumResults(op);
  for (int i = 0; i < count; i++)
    if (!is_lane_type(ir_result_type(op, i))) return refuse(v, "a condition that varies and guards a tensor");
  MlirValue condition = vectorizer_vector(v, b, ir_operand(op, 0)), outer = v->mask;
  MlirValue yes = ir_int(b, vector_of(v, mlirIntegerTypeGet(b->context, 1)), 1);
  MlirValue masks[2] = {condition, ir_binary(b, "arith.xori", condition, yes)};
  MlirValue *results[2];
  for (int branch = 0; branch < 2; branch++) {
    results[branch] = arena_array(v->arena, MlirValue, count);
    MlirBlock block = ir_body(op, branch);
    if (mlirBlockIsNull(block)) return count == 0 ? true : refuse(v, "a condition without an else branch");
    v->mask = outer.ptr ? ir_binary(b, "arith.andi", outer, masks[branch]) : masks[branch];
    if (!vectorizer_block(v, b, block)) return false;
    for (int i = 0; i < count; i++) results[branch][i] = vectorizer_vector(v, b, ir_operand(ir_terminator(block), i));
  }
  v->mask = outer;
  for (int i = 0; i < count; i++)
    bind_value(v, ir_result(op, i), LANE_VECTOR, ir_select(b, condition, results[0][i], results[1][i]));
  return true;
}

// What the block yields, as the new operation carries it: vectors for numbers, tensors as they are.
static void yield_lanes(vectorizer *v, ir_builder *b, MlirOperation terminator) {
  int count = (int)mlirOperationGetNumOperands(terminator);
  MlirValue *yielded = arena_array(v->arena, MlirValue, count);
  for (int i = 0; i < count; i++) {
    MlirValue old = ir_operand(terminator, i);
    yielded[i] = is_lane_type(mlirValueGetType(old)) ? vectorizer_vector(v, b, old) : vectorizer_lookup(v, old)->value;
  }
  ir_yield(b, count, yielded);
}

static void bind_lanes(vectorizer *v, MlirValue old, MlirValue new_value) {
  bind_value(v, old, is_lane_type(mlirValueGetType(old)) ? LANE_VECTOR : LANE_UNIFORM, new_value);
}

static bool do_uniform_if(vectorizer *v, ir_builder *b, MlirOperation op) {
  int count = (int)mlirOperationGetNumResults(op);
  MlirType *types = arena_array(v->arena, MlirType, count);
  for (int i = 0; i < count; i++) {
    types[i] = ir_result_type(op, i);
    if (is_lane_type(types[i])) types[i] = vector_of(v, types[i]);
    else if (!mlirTypeIsATensor(types[i])) return refuse(v, "a condition that yields a type without vector form");
  }
  MlirOperation result = ir_if(b, vectorizer_lookup(v, ir_operand(op, 0))->value, count, types);
  bool ok = true;
  for (int branch = 0; branch < 2; branch++) {
    ir_builder inner = ir_builder_at_end(b->context, ir_body(result, branch), v->arena);
    MlirBlock block = ir_body(op, branch);
    if (mlirBlockIsNull(block)) {
      ir_yield(&inner, 0, NULL);
      continue;
    }
    ok = ok && vectorizer_block(v, &inner, block);
    if (ok) yield_lanes(v, &inner, ir_terminator(block));
    else ir_yield(&inner, 0, NULL);
  }
  for (int i = 0; i < count; i++) bind_lanes(v, ir_result(op, i), ir_result(result, i));
  return ok;
}

static bool do_for(vectorizer *v, ir_builder *b, MlirOperation op) {
  MlirValue bounds[3];
  for (int i = 0; i < 3; i++) {
    lane_value *bound = vectorizer_lookup(v, ir_operand(op, i));
    if (bound->kind != LANE_UNIFORM) return refuse(v, "an inner loop whose bounds vary");
    bounds[i] = bound->value;
  }
  int count = (int)mlirOperationGetNumResults(op);
  MlirValue *inits = arena_array(v->arena, MlirValue, count);
  for (int i = 0; i < count; i++) {
    MlirValue old = ir_operand(op, 3 + i);
    bool is_lane = is_lane_type(mlirValueGetType(old));
    if (!is_lane && !mlirTypeIsATensor(mlirValueGetType(old)))
      return refuse(v, "an inner loop over a type without vector form");
    inits[i] = is_lane ? vectorizer_vector(v, b, old) : vectorizer_lookup(v, old)->value;
  }
  MlirOperation result = ir_for(b, bounds[0], bounds[1], bounds[2], count, inits);
  MlirBlock old_body = ir_body(op, 0), body = ir_body(result, 0);
  bind_value(v, mlirBlockGetArgument(old_body, 0), LANE_UNIFORM, mlirBlockGetArgument(body, 0));
  for (int i = 0; i < count; i++)
    bind_lanes(v, mlirBlockGetArgument(old_body, i + 1), mlirBlockGetArgument(body, i + 1));
  ir_builder inner = ir_builder_at_end(b->context, body, v->arena);
  bool ok = vectorizer_block(v, &inner, old_body);
  if (ok) yield_lanes(v, &inner, ir_terminator(old_body));
  else ir_yield(&inner, count, inits);
  for (int i = 0; i < count; i++) bind_lanes(v, ir_result(op, i), ir_result(result, i));
  return ok;
}

static bool is_region_free(MlirOperation op) { return mlirOperationGetNumRegions(op) == 0; }

static bool vectorize_op(vectorizer *v, ir_builder *b, MlirOperation op) {
  str name = {mlirIdentifierStr(mlirOperationGetName(op)).data, mlirIdentifierStr(mlirOperationGetName(op)).length};
  if (str_is(name, "scf.for")) return do_for(v, b, op);
  if (str_is(name, "scf.if")) {
    bool is_uniform = vectorizer_lookup(v, ir_operand(op, 0))->kind == LANE_UNIFORM;
    return is_uniform ? do_uniform_if(v, b, op) : do_divergent_if(v, b, op);
  }
  // A uniform load under a condition may be out of bounds when no lane is on; it takes the masked path.
  bool is_load = str_is(name, "tensor.extract");
  if (is_load && !reads_its_own(v, op)) return refuse(v, "a load of what another iteration may have stored");
  if (str_is(name, "tensor.insert")) return do_insert(v, b, op);
  if (is_region_free(op) && all_uniform(v, op) && !(is_load && !mlirValueEqual(v->mask, v->rest)))
    return do_uniform(v, b, op);
  if (is_load) return do_extract(v, b, op);
  if (str_is(name, "xla_gpu.apply_indexing")) return do_apply_indexing(v, b, op);
  bool counts = str_is(name, "arith.index_cast") && mlirTypeIsAInteger(ir_result_type(op, 0)) &&
                ir_bit_width(ir_result_type(op, 0)) >= 8;
  if (counts && vectorizer_lookup(v, ir_operand(op, 0))->kind == LANE_CONTIGUOUS) return do_index_cast(v, b, op);
  if (is_region_free(op) && (str_starts_with(name, "arith.") || str_starts_with(name, "math.")))
    return do_elementwise(v, b, op);
  return refuse(v, arena_strdup(v->arena, name.data, name.size));
}

bool vectorizer_block(vectorizer *v, ir_builder *b, MlirBlock block) {
  MlirOperation terminator = ir_terminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, terminator);
       op = mlirOperationGetNextInBlock(op))
    if (!vectorize_op(v, b, op)) return false;
  return true;
}
