// Operations that only move elements: broadcasts, transposes, reversals and iotas are loops that copy by a map, what
// cuts or joins arrays is a slice of a tensor.
#include <mlir-c/AffineExpr.h>

#include "base/int64.h"
#include "dialect/tiling.h"
#include "emit/elemental.h"
#include "kernel/hero_tiles.h"
#include "opt/reshape_groups.h"
#include "tile/linalg.h"
#include "tile/structured.h"

static MlirType element_type(const linalg_emitter *e, const instruction *i) {
  return linalg_element_type(e->b.context, i->shape->dtype);
}

static MlirValue empty_of(linalg_emitter *e, const instruction *i) {
  return structured_empty(&e->b, i->shape->rank, i->shape->dims, element_type(e, i));
}

MlirValue linalg_copied(linalg_emitter *e, MlirValue x, const shape *to, MlirAffineMap map) {
  MlirValue empty = structured_empty(&e->b, to->rank, to->dims, ir_element_type(mlirValueGetType(x)));
  return ir_result(structured_copy(&e->b, x, empty, map), 0);
}

static heddle_status copy_by(linalg_emitter *e, const instruction *i, MlirAffineMap map, MlirValue *out) {
  *out = linalg_copied(e, linalg_operand(e, i, 0), i->shape, map);
  return status_ok();
}

heddle_status linalg_broadcast(linalg_emitter *e, const instruction *i, MlirValue *out) {
  const int_list dims = i->attributes->dimensions;
  return copy_by(e, i, structured_dims(e->b.context, i->shape->rank, dims.size, dims.data), out);
}

// Dimension d of the result is dimensions[d] of the operand.
heddle_status linalg_transpose(linalg_emitter *e, const instruction *i, MlirValue *out) {
  const int_list dims = i->attributes->dimensions;
  int64_t inverse[SHAPE_MAX_RANK];
  for (int d = 0; d < dims.size; d++) inverse[dims.data[d]] = d;
  return copy_by(e, i, structured_dims(e->b.context, i->shape->rank, dims.size, inverse), out);
}

// A map that runs backwards has no tiles that are slices, so the body asks for its element itself.
MlirValue linalg_turned(linalg_emitter *e, MlirValue x, const shape *s, const bool *is_turned) {
  const int rank = s->rank;
  MlirAffineMap identity = structured_identity(e->b.context, rank);
  MlirValue empty = structured_empty(&e->b, rank, s->dims, ir_element_type(mlirValueGetType(x)));
  const structured_op op = {.output_count = 1, .outputs = &empty, .maps = &identity, .loop_count = rank};
  ir_builder body;
  MlirOperation made = structured_begin(&e->b, &op, &body);
  MlirValue operands[1 + SHAPE_MAX_RANK] = {x};
  for (int d = 0; d < rank; d++) {
    MlirValue at = structured_index(&body, d);
    operands[1 + d] = is_turned[d] ? ir_binary(&body, "arith.subi", ir_index(&body, s->dims[d] - 1), at) : at;
  }
  MlirValue element = ir_value(&body, "tensor.extract", ir_element_type(mlirValueGetType(x)), 1 + rank, operands);
  structured_yield(&body, 1, &element);
  return ir_result(made, 0);
}

heddle_status linalg_reverse(linalg_emitter *e, const instruction *i, MlirValue *out) {
  bool is_turned[SHAPE_MAX_RANK];
  for (int d = 0; d < i->shape->rank; d++) is_turned[d] = int_list_has(i->attributes->dimensions, d);
  *out = linalg_turned(e, linalg_operand(e, i, 0), i->shape, is_turned);
  return status_ok();
}

heddle_status linalg_iota(linalg_emitter *e, const instruction *i, MlirValue *out) {
  const int rank = i->shape->rank;
  MlirAffineMap identity = structured_identity(e->b.context, rank);
  MlirValue empty = empty_of(e, i);
  const structured_op op = {.output_count = 1, .outputs = &empty, .maps = &identity, .loop_count = rank};
  ir_builder body;
  MlirOperation made = structured_begin(&e->b, &op, &body);
  MlirValue index = structured_index(&body, (int)i->attributes->iota_dimension);
  MlirValue number = ir_cast(&body, "arith.index_cast", mlirIntegerTypeGet(e->b.context, 64), index);
  number = linalg_stored(&body, emit_convert(&body, number, DTYPE_S64, i->shape->dtype), i->shape->dtype);
  structured_yield(&body, 1, &number);
  *out = ir_result(made, 0);
  return status_ok();
}

// --- reshape: groups of dims become one each, which become the others. Where one side is a scalar there are none

// [[0, 1], [2], …]: which dims of an operand or a result each of the groups has.
static MlirNamedAttribute reassociation(const linalg_emitter *e, int count, const reshape_group *groups,
                                        bool of_result) {
  text t = {0};
  text_puts(&t, "[");
  for (int k = 0; k < count; k++) {
    const int from = of_result ? groups[k].to : groups[k].from, end = of_result ? groups[k].to_end : groups[k].from_end;
    text_puts(&t, k > 0 ? ", [" : "[");
    for (int d = from; d < end; d++) text_printf(&t, d > from ? ", %d" : "%d", d);
    text_puts(&t, "]");
  }
  text_puts(&t, "]");
  MlirNamedAttribute made = ir_named_text(e->b.context, "reassociation", text_cstr(&t));
  text_free(&t);
  return made;
}

static MlirValue collapse(linalg_emitter *e, MlirValue x, const shape *from, int count, const reshape_group *groups) {
  MlirNamedAttribute how = reassociation(e, count, groups, false);
  int64_t dims[SHAPE_MAX_RANK];
  for (int k = 0; k < count; k++) {
    dims[k] = 1;
    for (int d = groups[k].from; d < groups[k].from_end; d++) dims[k] *= from->dims[d];
  }
  MlirType type = mlirRankedTensorTypeGet(count, dims, ir_element_type(mlirValueGetType(x)), mlirAttributeGetNull());
  return ir_value_with(&e->b, "tensor.collapse_shape", type, 1, &x, 1, &how);
}

static MlirValue expand(linalg_emitter *e, MlirValue x, const shape *to, int count, const reshape_group *groups) {
  MlirType element = ir_element_type(mlirValueGetType(x));
  MlirType type = mlirRankedTensorTypeGet(to->rank, to->dims, element, mlirAttributeGetNull());
  MlirNamedAttribute attributes[] = {
      reassociation(e, count, groups, true),
      ir_named(e->b.context, "static_output_shape", mlirDenseI64ArrayGet(e->b.context, to->rank, to->dims))};
  return ir_value_with(&e->b, "tensor.expand_shape", type, 1, &x, 2, attributes);
}

static bool has_both_sides(const reshape_group *g) { return g->from < g->from_end && g->to < g->to_end; }

// The smallest groups: dims of a slice do not lie side by side in memory, and would have to be copied to become one. A
// group of one side alone, whose dims have one element, joins a neighbour.
static int groups_of(const shape *from, const shape *to, reshape_group out[RESHAPE_MAX_GROUPS]) {
  if (from->rank == 0 || to->rank == 0) return 0;
  reshape_group found[RESHAPE_MAX_GROUPS];
  const int count = shape_element_count(from) > 0 ? reshape_groups_find(from, to, found) : 0;
  int made = 0;
  for (int k = 0; k < count; k++) {
    if (!has_both_sides(&found[k])) continue;
    out[made] = found[k];
    out[made].from = made > 0 ? out[made - 1].from_end : 0;
    out[made].to = made > 0 ? out[made - 1].to_end : 0;
    made++;
  }
  if (made == 0) out[made++] = (reshape_group){0};
  out[made - 1].from_end = from->rank;
  out[made - 1].to_end = to->rank;
  return made;
}

static bool is_computed(MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  return !ir_is_null(op) && tiling_is_structured(op);
}

// The elements' positions before a reshape that only adds or takes away dims of one element; false of other reshapes.
static bool unit_dims_map(const linalg_emitter *e, const shape *from, const shape *to, MlirAffineMap *out) {
  MlirAffineExpr exprs[SHAPE_MAX_RANK] = {{0}};
  int dims[SHAPE_MAX_RANK];
  if (!shape_moves_unit_dims(from, to, dims)) return false;
  for (int k = 0; k < from->rank; k++)
    exprs[k] = dims[k] < 0 ? mlirAffineConstantExprGet(e->b.context, 0) : mlirAffineDimExprGet(e->b.context, dims[k]);
  *out = mlirAffineMapGet(e->b.context, to->rank, 0, from->rank, exprs);
  return true;
}

// What is computed and only gets other dims of one element is copied by a map: that has tiles, and is fused with who
// reads it.
heddle_status linalg_reshape(linalg_emitter *e, const instruction *i, MlirValue *out) {
  const shape *from = i->operands[0]->shape, *to = i->shape;
  MlirAffineMap map;
  if (from->dtype != to->dtype) return linalg_refuse(e, i, "it reads elements as others");
  if (is_computed(linalg_operand(e, i, 0)) && unit_dims_map(e, from, to, &map)) return copy_by(e, i, map, out);
  reshape_group groups[RESHAPE_MAX_GROUPS];
  const int between = groups_of(from, to, groups);
  MlirValue x = linalg_operand(e, i, 0);
  if (from->rank > between) x = collapse(e, x, from, between, groups);
  *out = to->rank > between ? expand(e, x, to, between, groups) : x;
  return status_ok();
}

// --- what cuts and joins

typedef struct cut {
  int64_t offsets[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
} cut;

static MlirValue build_cut(linalg_emitter *e, const char *name, int rank, const cut *c, int operand_count,
                           const MlirValue *operands, MlirType type) {
  const structured_part part = {.rank = rank, .offsets = c->offsets, .sizes = c->sizes, .strides = c->strides};
  return ir_result(structured_slice(&e->b, name, &part, operand_count, operands, type), 0);
}

heddle_status linalg_slice(linalg_emitter *e, const instruction *i, MlirValue *out) {
  const int rank = i->shape->rank;
  cut c;
  for (int d = 0; d < rank; d++) {
    const slice_dim *dim = &i->attributes->slice.dims[d];
    c.offsets[d] = dim->start;
    c.sizes[d] = i->shape->dims[d];
    c.strides[d] = dim->stride;
  }
  MlirValue x = linalg_operand(e, i, 0);
  MlirType type = mlirRankedTensorTypeGet(rank, i->shape->dims, element_type(e, i), mlirAttributeGetNull());
  *out = build_cut(e, "tensor.extract_slice", rank, &c, 1, &x, type);
  return status_ok();
}

heddle_status linalg_concatenate(linalg_emitter *e, const instruction *i, MlirValue *out) {
  const int rank = i->shape->rank;
  const int64_t dim = i->attributes->dimensions.data[0];
  MlirValue whole = empty_of(e, i);
  cut c = {0};
  for (int k = 0; k < i->operand_count; k++) {
    const shape *part = i->operands[k]->shape;
    for (int d = 0; d < rank; d++) {
      c.sizes[d] = part->dims[d];
      c.strides[d] = 1;
    }
    MlirValue operands[] = {linalg_operand(e, i, k), whole};
    whole = build_cut(e, "tensor.insert_slice", rank, &c, 2, operands, mlirValueGetType(whole));
    c.offsets[dim] += part->dims[dim];
  }
  *out = whole;
  return status_ok();
}

// What negative padding cuts off is not copied.
MlirValue linalg_padded(linalg_emitter *e, MlirValue x, int rank, const int64_t *from, const padding_dim *padding,
                        const int64_t *to, MlirValue value) {
  cut taken = {0}, put = {0};
  bool is_empty = false;
  for (int d = 0; d < rank; d++) {
    const padding_dim *p = &padding[d];
    const int64_t step = p->interior + 1, first = p->low >= 0 ? 0 : int64_ceil_div(-p->low, step);
    int64_t end = from[d];
    while (end > first && p->low + (end - 1) * step >= to[d]) end--;
    is_empty |= end <= first;
    taken.offsets[d] = first;
    put.offsets[d] = p->low + first * step;
    put.sizes[d] = taken.sizes[d] = end - first;
    put.strides[d] = step;
    taken.strides[d] = 1;
  }
  MlirType element = mlirValueGetType(value);
  MlirValue whole = structured_fill(&e->b, value, structured_empty(&e->b, rank, to, element));
  if (is_empty) return whole;
  MlirType type = mlirRankedTensorTypeGet(rank, taken.sizes, element, mlirAttributeGetNull());
  MlirValue operands[] = {build_cut(e, "tensor.extract_slice", rank, &taken, 1, &x, type), whole};
  return build_cut(e, "tensor.insert_slice", rank, &put, 2, operands, mlirValueGetType(whole));
}

MlirValue linalg_scalar(linalg_emitter *e, MlirValue tensor) {
  return ir_value(&e->b, "tensor.extract", ir_element_type(mlirValueGetType(tensor)), 1, &tensor);
}

heddle_status linalg_pad(linalg_emitter *e, const instruction *i, MlirValue *out) {
  *out = linalg_padded(e, linalg_operand(e, i, 0), i->shape->rank, i->operands[0]->shape->dims,
                       i->attributes->padding.dims, i->shape->dims, linalg_scalar(e, linalg_operand(e, i, 1)));
  return status_ok();
}

MlirValue linalg_windowed(linalg_emitter *e, MlirValue x, const shape *s, const window *w, const int64_t *dims,
                          MlirValue value) {
  padding_dim padding[SHAPE_MAX_RANK] = {0};
  int64_t to[SHAPE_MAX_RANK];
  for (int d = 0; d < s->rank; d++) to[d] = s->dims[d];
  for (int k = 0; k < w->rank; k++) {
    const window_dim *dim = &w->dims[k];
    const int64_t d = dims ? dims[k] : k;
    padding[d] = (padding_dim){dim->padding_low, dim->padding_high, dim->base_dilation - 1};
    to[d] = hero_tiles_padded_size(s->dims[d], dim);
  }
  return linalg_padded(e, x, s->rank, s->dims, padding, to, value);
}

MlirValue linalg_and(ir_builder *b, MlirValue x, MlirValue y) {
  if (mlirValueIsNull(x) || mlirValueIsNull(y)) return mlirValueIsNull(x) ? y : x;
  return ir_binary(b, "arith.andi", x, y);
}

static MlirValue times(ir_builder *b, MlirValue x, int64_t by) {
  return by == 1 ? x : ir_binary(b, "arith.muli", x, ir_index(b, by));
}

MlirValue linalg_meets_element(ir_builder *body, const window_dim *w, int64_t image, int64_t positions, int output,
                               int step) {
  const int64_t last = w->padding_low + (image - 1) * w->base_dilation;
  MlirValue at = ir_binary(body, "arith.addi", times(body, structured_index(body, output), w->stride),
                           times(body, structured_index(body, step), w->window_dilation));
  MlirValue all = {NULL};
  if (w->padding_low > 0) all = ir_cmpi(body, "sge", at, ir_index(body, w->padding_low));
  if ((positions - 1) * w->stride + (w->size - 1) * w->window_dilation > last)
    all = linalg_and(body, all, ir_cmpi(body, "sle", at, ir_index(body, last)));
  if (w->base_dilation > 1) {
    MlirValue from_first = ir_binary(body, "arith.subi", at, ir_index(body, w->padding_low));
    MlirValue gap = ir_binary(body, "arith.remsi", from_first, ir_index(body, w->base_dilation));
    all = linalg_and(body, all, ir_cmpi(body, "eq", gap, ir_index(body, 0)));
  }
  return all;
}
