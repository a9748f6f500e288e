// iree-codegen-read-panels: a product's right side that is made of panels by moves is loaded as what it is.
//
// The moves would be fused with the product, which had two loops along its columns then, or be made for each of its
// tiles. So the load is one of the right side itself, and says how it lies: panel_width columns of the dim panel_column
// side by side, in front of them the right side's dims in the order of panel_order. A product that takes its columns by
// such panels (tile/pack.c) reads them where they lie; for whoever else reads the load elements are picked.
#include "tile/panels.h"

#include <mlir-c/AffineExpr.h>
#include <string.h>

#include "base/int64.h"
#include "kernel/panels.h"
#include "tile/markers.h"
#include "tile/passes.h"
#include "tile/structured.h"

#define LOAD "hal.interface.load.tensor"
#define SLICE "tensor.extract_slice"
#define WIDTH "panel_width"
#define COLUMN "panel_column"
#define ORDER "panel_order"

static bool is_op(MlirOperation op, const char *name) { return !ir_is_null(op) && ir_is(op, name); }

static int64_t element_of(MlirAttribute list, intptr_t k) { return mlirDenseI64ArrayGetElement(list, k); }

static bool are_all(MlirAttribute list, int64_t value) {
  bool all = true;
  for (intptr_t k = 0; k < mlirDenseArrayGetNumElements(list); k++) all &= element_of(list, k) == value;
  return all;
}

// --- what a load says

static bool read_number(MlirOperation op, const char *name, int64_t *out) {
  MlirAttribute value = ir_get(op, name);
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAInteger(value)) return false;
  *out = mlirIntegerAttrGetValueInt(value);
  return true;
}

// False, too, for what is said wrongly: then nobody takes the load.
static bool read_load(MlirOperation load, panels *out) {
  MlirAttribute order = ir_get(load, ORDER);
  uint64_t seen = 0;
  if (!read_number(load, WIDTH, &out->width) || !read_number(load, COLUMN, &out->column)) return false;
  if (mlirAttributeIsNull(order) || !mlirAttributeIsADenseI64Array(order)) return false;
  out->load = load;
  out->rank = (int)mlirShapedTypeGetRank(ir_result_type(load, 0));
  if (out->width < 1 || out->rank < 1 || out->rank >= TILING_MAX_LOOPS || out->column < 0 || out->column >= out->rank ||
      mlirDenseArrayGetNumElements(order) != out->rank)
    return false;
  for (int k = 0; k < out->rank; k++) {
    const int64_t d = out->order[k] = element_of(order, k);
    if (d < 0 || d >= out->rank) return false;
    seen |= UINT64_C(1) << d;
  }
  return seen == (UINT64_C(1) << out->rank) - 1;
}

bool panels_is(MlirOperation load) { return !mlirAttributeIsNull(ir_get(load, WIDTH)); }

static MlirType packed_type(arena *a, const panels *p) {
  MlirType type = ir_result_type(p->load, 0);
  int64_t *dims = arena_array(a, int64_t, p->rank + 1);
  for (int k = 0; k < p->rank; k++) {
    dims[k] = mlirShapedTypeGetDimSize(type, p->order[k]);
    if (p->order[k] == p->column) dims[k] = int64_ceil_div(dims[k], p->width);
  }
  dims[p->rank] = p->width;
  return mlirRankedTensorTypeGet(p->rank + 1, dims, ir_element_type(type), mlirAttributeGetNull());
}

MlirType panels_type_in_memory(arena *a, MlirOperation load) {
  panels p = {0};
  return panels_is(load) && read_load(load, &p) ? packed_type(a, &p) : ir_result_type(load, 0);
}

static MlirValue source_of(arena *a, const panels *p) {
  ir_builder b = ir_builder_before(p->load, a);
  MlirValue offset = ir_operand(p->load, 0);
  const MlirNamedAttribute binding = ir_named(b.context, "binding", ir_get(p->load, "binding"));
  return ir_value_with(&b, LOAD, packed_type(a, p), 1, &offset, 1, &binding);
}

// --- found

// Which loop each dim of what is read is, if the operation moves elements and does nothing else.
static bool read_transpose(MlirOperation op, int rank, int64_t *loops) {
  if (!is_op(op, "linalg.generic") || mlirOperationGetNumOperands(op) != 2 || structured_reduces(op)) return false;
  MlirValue yielded = ir_operand(ir_terminator(ir_body(op, 0)), 0);
  MlirAffineMap read = tiling_map(op, 0);
  if (!mlirValueEqual(yielded, mlirBlockGetArgument(ir_body(op, 0), 0)) || mlirAffineMapGetNumResults(read) != rank ||
      mlirAffineMapGetNumDims(read) != rank || !mlirAffineMapIsIdentity(tiling_map(op, 1)))
    return false;
  for (int d = 0; d < rank; d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(read, d);
    if (!mlirAffineExprIsADim(e)) return false;
    loops[d] = mlirAffineDimExprGetPosition(e);
  }
  return true;
}

// The loop of the panels' last dim is right behind that of the dim that they cut.
static bool read_order(MlirType moved, MlirType whole, const int64_t *loops, panels *out) {
  const int64_t last = loops[out->rank];
  if (last < 1) return false;
  out->column = last - 1;
  out->width = mlirShapedTypeGetDimSize(moved, last);
  for (int k = 0; k < out->rank; k++) {
    const int64_t d = out->order[k] = loops[k] > last ? loops[k] - 1 : loops[k];
    if (mlirShapedTypeGetDimSize(whole, d) !=
        mlirShapedTypeGetDimSize(moved, loops[k]) * (d == out->column ? out->width : 1))
      return false;
  }
  return true;
}

// What the slice begins with; the value itself if it is no slice, null if it begins elsewhere.
static MlirValue before_slice(MlirValue v) {
  MlirOperation slice = ir_defining_op(v);
  if (!is_op(slice, SLICE)) return v;
  const bool begins = mlirOperationGetNumOperands(slice) == 1 && ir_has_one_use(v) &&
                      are_all(ir_get(slice, "static_offsets"), 0) && are_all(ir_get(slice, "static_strides"), 1);
  return begins ? ir_operand(slice, 0) : (MlirValue){NULL};
}

static bool find(MlirValue side, const target_description *target, panels *out) {
  MlirValue whole = before_slice(side);
  MlirOperation collapse = mlirValueIsNull(whole) ? (MlirOperation){NULL} : ir_defining_op(whole);
  int64_t loops[TILING_MAX_LOOPS] = {0};
  if (!is_op(collapse, "tensor.collapse_shape") || !ir_has_one_use(whole)) return false;
  MlirValue moved = ir_operand(collapse, 0);
  MlirOperation moves = ir_defining_op(moved);
  MlirType type = mlirValueGetType(side), large = mlirValueGetType(whole);
  out->rank = (int)mlirShapedTypeGetRank(large);
  if (out->rank + 1 > TILING_MAX_LOOPS || !read_transpose(moves, out->rank + 1, loops) || !ir_has_one_use(moved))
    return false;
  out->load = ir_defining_op(ir_operand(moves, 0));
  if (!is_op(out->load, LOAD) || !read_order(mlirValueGetType(moved), large, loops, out)) return false;
  for (int d = 0; d < out->rank; d++) {
    const int64_t left = mlirShapedTypeGetDimSize(large, d) - mlirShapedTypeGetDimSize(type, d);
    if (d == out->column ? left >= out->width : left != 0) return false;
  }
  return out->width ==
         panels_width(target, ir_bit_width(ir_element_type(type)), mlirShapedTypeGetDimSize(type, out->column));
}

static MlirValue load_of(ir_builder *b, const panels *p, MlirType type) {
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  MlirValue offset = ir_operand(p->load, 0);
  const MlirNamedAttribute attributes[] = {
      ir_named(b->context, "binding", ir_get(p->load, "binding")),
      ir_named(b->context, WIDTH, mlirIntegerAttrGet(i64, p->width)),
      ir_named(b->context, COLUMN, mlirIntegerAttrGet(i64, p->column)),
      ir_named(b->context, ORDER, mlirDenseI64ArrayGet(b->context, p->rank, p->order))};
  return ir_value_with(b, LOAD, type, 1, &offset, 4, attributes);
}

// --- read

// Adds where the slice begins. False if it has fewer dims than what it is a slice of, or steps.
static bool add_starts(MlirOperation slice, int rank, panels_start *at) {
  MlirAttribute offsets = ir_get(slice, "static_offsets");
  int next = 1;
  if (mlirShapedTypeGetRank(ir_result_type(slice, 0)) != rank || !are_all(ir_get(slice, "static_strides"), 1))
    return false;
  for (int d = 0; d < rank; d++) {
    const int64_t known = element_of(offsets, d);
    if (known != STRUCTURED_AT) at[d].known += known;
    else if (at[d].value_count == PANELS_MOST_SLICES) return false;
    else at[d].values[at[d].value_count++] = ir_operand(slice, next++);
  }
  return true;
}

typedef struct range {
  int64_t first, end, step;
} range;

// A bound of a loop over workgroups.
static bool read_bound(MlirOperation forall, const char *name, intptr_t number, int64_t *out) {
  MlirAttribute list = ir_get(forall, name);
  if (number >= mlirDenseArrayGetNumElements(list)) return false;
  *out = element_of(list, number);
  return *out != STRUCTURED_AT;
}

static bool read_range(MlirValue variable, range *out) {
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(variable));
  const intptr_t number = mlirBlockArgumentGetArgNumber(variable);
  if (ir_is(loop, "scf.for"))
    return number == 0 && ir_constant_value(ir_operand(loop, 0), &out->first) &&
           ir_constant_value(ir_operand(loop, 1), &out->end) && ir_constant_value(ir_operand(loop, 2), &out->step);
  return ir_is(loop, "scf.forall") && read_bound(loop, "staticLowerBound", number, &out->first) &&
         read_bound(loop, "staticUpperBound", number, &out->end) && read_bound(loop, "staticStep", number, &out->step);
}

// Whether the value is a multiple of so much whenever it is asked for: a constant, or a loop's variable.
static bool is_multiple(MlirValue v, int64_t of) {
  range r = {0};
  if (!mlirValueIsABlockArgument(v)) return ir_constant_value(v, &r.first) && r.first % of == 0;
  return read_range(v, &r) && r.first % of == 0 && (r.step % of == 0 || r.end - r.first <= r.step);
}

static bool begins_with_panel(const panels *p) {
  const panels_start *at = &p->at[p->column];
  bool all = at->known % p->width == 0;
  for (int k = 0; k < at->value_count; k++) all &= is_multiple(at->values[k], p->width);
  return all;
}

// What the operand is loaded by, through slices.
static bool read_operand(MlirValue v, panels *out) {
  *out = (panels){0};
  MlirOperation load = ir_defining_op(v);
  while (is_op(load, SLICE)) load = ir_defining_op(ir_operand(load, 0));
  if (!is_op(load, LOAD) || !panels_is(load) || !read_load(load, out)) return false;
  bool all = true;
  for (MlirOperation op = ir_defining_op(v); ir_is(op, SLICE); op = ir_defining_op(ir_operand(op, 0)))
    all = all && add_starts(op, out->rank, out->at);
  return all;
}

bool panels_read(const product_form *p, panels *out) {
  if (p->shares_columns || p->columns.plain < 0 || !read_operand(p->operands[p->columns.plain], out)) return false;
  MlirAffineMap map = p->maps[p->columns.plain];
  for (int d = 0; d < out->rank; d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    if (!mlirAffineExprIsADim(e) || (mlirAffineDimExprGetPosition(e) == p->column) != (d == out->column)) return false;
  }
  return begins_with_panel(out);
}

int64_t panels_width_of(const product_form *p) {
  panels found;
  return panels_read(p, &found) ? found.width : 0;
}

void panels_enter(panels *p, nest *n) {
  p->source = source_of(n->b.arena, p);
  for (int d = 0; d < p->rank; d++) {
    p->begins[d] = mlirAffineConstantExprGet(n->b.context, p->at[d].known);
    for (int k = 0; k < p->at[d].value_count; k++) {
      n->values[n->value_count] = p->at[d].values[k];
      MlirAffineExpr value = mlirAffineDimExprGet(n->b.context, n->value_count++);
      p->begins[d] = mlirAffineAddExprGet(p->begins[d], value);
    }
  }
}

nest_view panels_view(const panels *p, const product_form *product, const nest *n, uint32_t kept, int64_t columns) {
  nest_view v = {0};
  MlirAffineMap map = product->maps[product->columns.plain];
  MlirAffineExpr width = mlirAffineConstantExprGet(n->b.context, p->width);
  for (int k = 0; k < p->rank; k++) {
    const int64_t d = p->order[k];
    const int loop = (int)mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, d));
    const bool is_summed = product->is_reduction[loop];
    MlirAffineExpr at = mlirAffineAddExprGet(p->begins[d], n->at[loop]);
    if (d == p->column) nest_view_add(&v, mlirAffineFloorDivExprGet(at, width), -1, 1, 1);
    else nest_view_add(&v, at, is_summed && kept >> loop & 1U ? loop : -1, is_summed ? n->size[loop] : 1, 1);
  }
  nest_view_add(&v, mlirAffineModExprGet(n->at[product->column], width), product->column, columns, 1);
  return v;
}

// --- what nobody reads so

// The position along a dim of what is loaded, of a point of the slice.
static MlirValue position(ir_builder *body, const panels *p, int64_t d) {
  MlirValue at = structured_index(body, (int)d);
  if (p->at[d].known != 0) at = ir_binary(body, "arith.addi", at, ir_index(body, p->at[d].known));
  for (int k = 0; k < p->at[d].value_count; k++) at = ir_binary(body, "arith.addi", at, p->at[d].values[k]);
  return at;
}

static MlirOperation pick(ir_builder *b, const panels *p, MlirType type) {
  MlirValue empty = structured_empty(b, p->rank, ir_dims(b->arena, type), ir_element_type(type)), source;
  MlirAffineMap identity = structured_identity(b->context, p->rank);
  ir_builder body;
  source = source_of(b->arena, p);
  MlirOperation made = structured_begin(
      b, &(structured_op){.output_count = 1, .outputs = &empty, .maps = &identity, .loop_count = p->rank}, &body);
  MlirValue at[TILING_MAX_LOOPS + 2] = {source}, width = ir_index(&body, p->width);
  for (int k = 0; k < p->rank; k++) {
    at[1 + k] = position(&body, p, p->order[k]);
    if (p->order[k] == p->column) at[1 + k] = ir_binary(&body, "arith.divui", at[1 + k], width);
  }
  at[1 + p->rank] = ir_binary(&body, "arith.remui", position(&body, p, p->column), width);
  MlirValue element = ir_value(&body, "tensor.extract", ir_element_type(type), p->rank + 2, at);
  structured_yield(&body, 1, &element);
  return made;
}

heddle_status panels_spread(arena *a, MlirOperation op, ir_operations *added) {
  panels found;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++) {
    MlirValue v = ir_operand(op, k);
    if (ir_is_null(ir_defining_op(v)) || !read_operand(v, &found)) continue;
    ir_builder b = ir_builder_before(op, a);
    MlirOperation made = pick(&b, &found, mlirValueGetType(v));
    mlirOperationSetOperand(op, k, ir_result(made, 0));
    vec_push(a, added, made);
    TRY(markers_begin(made, MARKER_WORKGROUP));
  }
  return status_ok();
}

// --- the pass

static heddle_status run(pass_context *context, void *unit) {
  const lower_context *c = lower_context_of(context);
  const ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, NULL);
  product_form p;
  panels found;
  for (int k = 0; k < all.size; k++) {
    if (!tiling_is_structured(all.data[k]) || !product_form_of(all.data[k], &p) || p.columns.plain < 0) continue;
    MlirValue side = p.operands[p.columns.plain];
    if (!find(side, &c->options->target, &found)) continue;
    ir_builder b = ir_builder_before(found.load, c->scratch);
    mlirOperationSetOperand(all.data[k], p.columns.plain, load_of(&b, &found, mlirValueGetType(side)));
  }
  return lower_tidy(context, unit);
}

const pass tile_read_panels = {
    .name = "iree-codegen-read-panels",
    .summary = "right sides of products that lie in panels are loaded as they lie",
    .order_reason = "before fusion on tensors, which would take the moves into the product",
    .use = PASS_IMPROVES,
    .run = run,
};
