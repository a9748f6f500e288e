// Which loops of a product are rows, columns and terms of sums.
#include "tile/product_form.h"

#include "tile/nest.h"
#include "tile/panels.h"

// --- the body

// Adds bits of the arguments that the value depends on; false if it depends on something else, or, unless it may, on
// where the point is.
static bool add_dependencies(MlirBlock block, MlirValue v, uint32_t *inputs, bool may_ask, int depth) {
  if (mlirValueIsABlockArgument(v)) {
    if (mlirBlockEqual(mlirBlockArgumentGetOwner(v), block)) *inputs |= 1U << mlirBlockArgumentGetArgNumber(v);
    return true;
  }
  MlirOperation op = ir_defining_op(v);
  if (!mlirBlockEqual(mlirOperationGetBlock(op), block)) return true;
  if (depth > 64 || (!may_ask && ir_is(op, "linalg.index")) || mlirOperationGetNumRegions(op) > 0) return false;
  bool known = true;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++)
    known = known && add_dependencies(block, ir_operand(op, k), inputs, may_ask, depth + 1);
  return known;
}

static bool is_argument(MlirValue v, MlirBlock block, int number) {
  return mlirValueIsABlockArgument(v) && mlirBlockEqual(mlirBlockArgumentGetOwner(v), block) &&
         mlirBlockArgumentGetArgNumber(v) == number;
}

static bool is_either(MlirOperation op, const char *name, const char *other) {
  return !ir_is_null(op) && (ir_is(op, name) || ir_is(op, other));
}

static bool is_zero(MlirValue v) {
  if (mlirValueIsABlockArgument(v) || !ir_is(ir_defining_op(v), "arith.constant")) return false;
  MlirAttribute value = ir_get(ir_defining_op(v), "value");
  return mlirAttributeIsAFloat(value) && mlirFloatAttrGetValueDouble(value) == 0;
}

// The product that is added, or that zero stands for where there is no term.
static MlirOperation read_term(product_form *p, MlirValue term) {
  MlirOperation op = mlirValueIsABlockArgument(term) ? (MlirOperation){NULL} : ir_defining_op(term);
  p->adds.ptr = NULL;
  if (ir_is_null(op) || !ir_is(op, "arith.select") || !is_zero(ir_operand(op, 2))) return op;
  p->adds = ir_operand(op, 0);
  MlirValue product = ir_operand(op, 1);
  return mlirValueIsABlockArgument(product) ? (MlirOperation){NULL} : ir_defining_op(product);
}

// sum + x * y, in either order.
static bool read_body(product_form *p, MlirValue factors[2]) {
  MlirBlock block = ir_body(p->op, 0);
  MlirOperation yield = ir_terminator(block);
  if (mlirOperationGetNumOperands(yield) != 1) return false;
  p->add = ir_defining_op(ir_operand(yield, 0));
  if (!is_either(p->add, "arith.addf", "arith.addi")) return false;
  for (int k = 0; k < 2; k++) {
    p->multiply = read_term(p, ir_operand(p->add, k));
    if (!is_either(p->multiply, "arith.mulf", "arith.muli")) continue;
    if (!is_argument(ir_operand(p->add, 1 - k), block, p->output)) continue;
    factors[0] = ir_operand(p->multiply, 0);
    factors[1] = ir_operand(p->multiply, 1);
    p->type = mlirValueGetType(factors[0]);
    return true;
  }
  return false;
}

// --- sides

// Along dims of one element nothing lies.
static int minor_loop(MlirOperation op, int operand) {
  MlirAffineMap map = tiling_map(op, operand);
  MlirType type = mlirValueGetType(ir_operand(op, operand));
  for (int d = (int)mlirAffineMapGetNumResults(map) - 1; d >= 0; d--) {
    if (mlirShapedTypeGetDimSize(type, d) == 1) continue;
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    return mlirAffineExprIsADim(e) ? (int)mlirAffineDimExprGetPosition(e) : -1;
  }
  return -1;
}

static bool is_extended_byte(MlirValue factor, MlirBlock block, int number) {
  MlirOperation op = mlirValueIsABlockArgument(factor) ? (MlirOperation){NULL} : ir_defining_op(factor);
  if (!is_either(op, "arith.extsi", "arith.extui") || !is_argument(ir_operand(op, 0), block, number)) return false;
  return ir_bit_width(mlirValueGetType(ir_operand(op, 0))) <= 8;
}

static bool read_side(const product_form *p, MlirValue factor, product_side *side) {
  MlirBlock block = ir_body(p->op, 0);
  *side = (product_side){.factor = factor, .plain = -1, .minor = -1};
  if (!add_dependencies(block, factor, &side->inputs, false, 0) || side->inputs == 0 ||
      side->inputs & 1U << (unsigned)p->output)
    return false;
  for (int k = 0; k < p->output; k++) {
    if (!(side->inputs >> k & 1U)) continue;
    MlirAffineMap map = tiling_map(p->op, k);
    for (int d = 0; d < mlirAffineMapGetNumResults(map); d++) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, d);
      if (!nest_is_linear(e)) return false;
      for (int loop = 0; loop < p->loop_count; loop++)
        if (nest_coefficient(e, loop) != 0) side->loops |= 1U << loop;
    }
    if (is_argument(factor, block, k)) side->plain = k;
    side->is_narrow |= is_extended_byte(factor, block, k);
    side->is_unsigned = side->is_narrow && ir_is(ir_defining_op(factor), "arith.extui");
    if (side->minor < 0) side->minor = minor_loop(p->op, k);
  }
  return true;
}

// --- loops

// Whether no dim of an input of the side depends on both loops, and the first has a dim.
static bool lie_apart(const product_form *p, const product_side *side, int loop, int other) {
  for (int k = 0; k < p->output; k++) {
    if (!(side->inputs >> k & 1U)) continue;
    MlirAffineMap map = tiling_map(p->op, k);
    int dims = 0;
    for (int d = 0; d < mlirAffineMapGetNumResults(map); d++) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, d);
      if (nest_coefficient(e, loop) < 0 || nest_coefficient(e, other) < 0) return false;
      if (nest_coefficient(e, loop) != 0 && nest_coefficient(e, other) != 0) return false;
      dims += nest_coefficient(e, loop) != 0;
    }
    if (dims > 1) return false;
  }
  return true;
}

static bool choose_depth(product_form *p) {
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k] && p->trips[k] > 1 && !(p->rows.loops & p->columns.loops & 1U << k)) return false;
  for (int k = TILING_MAX_LOOPS - 1; k >= 0; k--) {
    if (k >= p->loop_count || !p->is_reduction[k]) continue;
    if (!(p->rows.loops >> k & 1U) || !(p->columns.loops >> k & 1U)) continue;
    if ((p->row >= 0 && !lie_apart(p, &p->rows, k, p->row)) || !lie_apart(p, &p->columns, k, p->column)) continue;
    p->depth = k;
    return true;
  }
  return false;
}

// The innermost dim of the result is the columns'; the next one along which only the other side's factors change is the
// rows'.
static bool choose_loops(product_form *p, product_side sides[2]) {
  MlirAffineMap written = tiling_map(p->op, p->output);
  p->row = p->column = p->depth = -1;
  int columns = -1;
  for (int d = (int)mlirAffineMapGetNumResults(written) - 1; d >= 0; d--) {
    MlirAffineExpr e = mlirAffineMapGetResult(written, d);
    if (!mlirAffineExprIsADim(e)) return false;
    const unsigned loop = (unsigned)mlirAffineDimExprGetPosition(e);
    if (loop >= TILING_MAX_LOOPS || p->trips[loop] == 1) continue;
    const bool in_first = sides[0].loops >> loop & 1U, in_second = sides[1].loops >> loop & 1U;
    if (p->column < 0) {
      if (!in_first && !in_second) return false;
      p->column = (int)loop;
      p->shares_columns = in_first == in_second;
      columns = in_first ? 0 : 1;
    } else if (p->row < 0 && (p->shares_columns || (in_first != in_second && (in_first ? 0 : 1) != columns))) {
      p->row = (int)loop;
    }
  }
  if (p->column < 0) return false;
  p->columns = sides[columns];
  p->rows = sides[1 - columns];
  if (!p->shares_columns) return choose_depth(p);
  return p->row < 0 || (lie_apart(p, &p->rows, p->row, p->column) && lie_apart(p, &p->columns, p->row, p->column));
}

MlirValue product_form_begin(const product_form *p) {
  MlirOperation before = ir_defining_op(p->operands[p->output]);
  while (!ir_is_null(before) && ir_is(before, "tensor.collapse_shape")) before = ir_defining_op(ir_operand(before, 0));
  return !ir_is_null(before) && ir_is(before, "linalg.fill") ? ir_operand(before, 0) : (MlirValue){NULL};
}

// Whether positions alone tell which terms there are, and sums begin with a constant, so that they can be made again.
static bool leaves_terms_out(const product_form *p) {
  uint32_t inputs = 0;
  return add_dependencies(ir_body(p->op, 0), p->adds, &inputs, true, 0) && inputs == 0 &&
         !mlirValueIsNull(product_form_begin(p));
}

bool product_form_of(MlirOperation op, product_form *out) {
  product_form p = {.op = op, .terms = 1};
  p.loop_count = tiling_loops(op, p.trips, p.is_reduction);
  if (p.loop_count < 0 || mlirOperationGetNumResults(op) != 1) return false;
  p.output = tiling_output(op, 0);
  if (p.output != mlirOperationGetNumOperands(op) - 1 || p.output > 31) return false;
  for (int k = 0; k <= p.output; k++) {
    p.operands[k] = ir_operand(op, k);
    p.maps[k] = tiling_map(op, k);
  }
  bool reduces = false;
  for (int k = 0; k < p.loop_count; k++) {
    if (p.trips[k] < 1) return false;
    reduces |= p.is_reduction[k];
    if (p.is_reduction[k]) p.terms *= p.trips[k];
  }
  MlirValue factors[2];
  product_side sides[2];
  if (!reduces || !read_body(&p, factors)) return false;
  if (!mlirValueIsNull(p.adds) && !leaves_terms_out(&p)) return false;
  for (int k = 0; k < 2; k++)
    if (!read_side(&p, factors[k], &sides[k])) return false;
  if (sides[0].inputs & sides[1].inputs || !choose_loops(&p, sides)) return false;
  *out = p;
  return true;
}

// `positions` may be null if nothing asks for them.
static MlirValue clone_value(MlirBlock from, ir_builder *body, MlirValue v, const MlirValue *arguments,
                             const MlirValue *positions) {
  if (mlirValueIsABlockArgument(v))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(v), from) ? arguments[mlirBlockArgumentGetArgNumber(v)] : v;
  MlirOperation op = ir_defining_op(v);
  if (!mlirBlockEqual(mlirOperationGetBlock(op), from)) return v;
  if (positions && ir_is(op, "linalg.index")) return positions[mlirIntegerAttrGetValueInt(ir_get(op, "dim"))];
  const int count = (int)mlirOperationGetNumOperands(op);
  MlirValue *operands = arena_array(body->arena, MlirValue, count);
  for (int k = 0; k < count; k++) operands[k] = clone_value(from, body, ir_operand(op, k), arguments, positions);
  MlirOperation copy = mlirOperationClone(op);
  for (int k = 0; k < count; k++) mlirOperationSetOperand(copy, k, operands[k]);
  mlirBlockAppendOwnedOperation(body->block, copy);
  return ir_result(copy, (int)mlirOpResultGetResultNumber(v));
}

MlirValue product_form_factor(const product_form *p, ir_builder *body, const product_side *side,
                              const MlirValue *arguments) {
  return clone_value(ir_body(p->op, 0), body, side->factor, arguments, NULL);
}

MlirValue product_form_adds(const product_form *p, ir_builder *body, const MlirValue *arguments,
                            const MlirValue *positions) {
  return clone_value(ir_body(p->op, 0), body, p->adds, arguments, positions);
}

bool product_form_is_outer_row(const product_form *p, int loop) {
  return !p->is_reduction[loop] && loop != p->row && loop != p->column && p->trips[loop] > 1 &&
         !(p->columns.loops >> loop & 1U);
}

int64_t product_form_rows(const product_form *p) {
  int64_t rows = p->row < 0 ? 1 : p->trips[p->row];
  for (int k = 0; k < p->loop_count && p->row >= 0; k++)
    if (product_form_is_outer_row(p, k)) rows *= p->trips[k];
  return rows;
}

// --- shapes

// How many dims are left without those of one element at the end.
static int squeezed_rank(MlirType type) {
  int rank = (int)mlirShapedTypeGetRank(type);
  while (rank > 1 && mlirShapedTypeGetDimSize(type, rank - 1) == 1) rank--;
  return rank;
}

// Each dim by itself, the last one with those behind it.
static MlirNamedAttribute reassociation(const ir_builder *b, int from, int to) {
  MlirAttribute groups[TILING_MAX_LOOPS + 2], dims[TILING_MAX_LOOPS + 2];
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  for (int d = 0; d < to; d++) {
    int count = 0;
    for (int k = d; k < (d == to - 1 ? from : d + 1); k++) dims[count++] = mlirIntegerAttrGet(i64, k);
    groups[d] = mlirArrayAttrGet(b->context, count, dims);
  }
  return ir_named(b->context, "reassociation", mlirArrayAttrGet(b->context, to, groups));
}

void product_form_squeeze(product_form *p, ir_builder *b) {
  for (int k = 0; k <= p->output; k++) {
    MlirType type = mlirValueGetType(p->operands[k]);
    if (!mlirTypeIsARankedTensor(type) || (k == p->columns.plain && panels_width_of(p) > 0)) continue;
    const int from = (int)mlirShapedTypeGetRank(type), to = squeezed_rank(type);
    if (from == to || from > TILING_MAX_LOOPS) continue;
    MlirType squeezed =
        mlirRankedTensorTypeGet(to, ir_dims(b->arena, type), ir_element_type(type), mlirAttributeGetNull());
    MlirNamedAttribute how = reassociation(b, from, to);
    p->operands[k] = ir_value_with(b, "tensor.collapse_shape", squeezed, 1, &p->operands[k], 1, &how);
    MlirAffineExpr kept[TILING_MAX_LOOPS];
    for (int d = 0; d < to; d++) kept[d] = mlirAffineMapGetResult(p->maps[k], d);
    p->maps[k] = mlirAffineMapGet(b->context, p->loop_count, 0, to, kept);
  }
}

void product_form_replace(const product_form *p, ir_builder *b, MlirValue sums) {
  MlirType type = ir_result_type(p->op, 0);
  if (!mlirTypeEqual(type, mlirValueGetType(sums))) {
    const int rank = (int)mlirShapedTypeGetRank(type);
    MlirNamedAttribute attributes[] = {
        reassociation(b, rank, squeezed_rank(type)),
        ir_named(b->context, "static_output_shape", mlirDenseI64ArrayGet(b->context, rank, ir_dims(b->arena, type)))};
    sums = ir_value_with(b, "tensor.expand_shape", type, 1, &sums, 2, attributes);
  }
  ir_replace(p->op, &sums);
}
