// Which loops of a product are rows, columns and terms of sums.
#include "tile/product_form.h"

#include "tile/nest.h"

// --- the body

static bool add_dependencies(MlirBlock block, MlirValue v, uint32_t *inputs, int depth) {
  if (mlirValueIsABlockArgument(v)) {
    if (mlirBlockEqual(mlirBlockArgumentGetOwner(v), block)) *inputs |= 1U << mlirBlockArgumentGetArgNumber(v);
    return true;
  }
  MlirOperation op = ir_defining_op(v);
  if (!mlirBlockEqual(mlirOperationGetBlock(op), block)) return true;
  if (depth > 64 || ir_is(op, "linalg.index") || mlirOperationGetNumRegions(op) > 0) return false;
  bool known = true;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++)
    known = known && add_dependencies(block, ir_operand(op, k), inputs, depth + 1);
  return known;
}

static bool is_argument(MlirValue v, MlirBlock block, int number) {
  return mlirValueIsABlockArgument(v) && mlirBlockEqual(mlirBlockArgumentGetOwner(v), block) &&
         mlirBlockArgumentGetArgNumber(v) == number;
}

static bool is_either(MlirOperation op, const char *name, const char *other) {
  return !ir_is_null(op) && (ir_is(op, name) || ir_is(op, other));
}

// sum + x * y, in either order.
static bool read_body(product_form *p, MlirValue factors[2]) {
  MlirBlock block = ir_body(p->op, 0);
  MlirOperation yield = ir_terminator(block);
  if (mlirOperationGetNumOperands(yield) != 1) return false;
  p->add = ir_defining_op(ir_operand(yield, 0));
  if (!is_either(p->add, "arith.addf", "arith.addi")) return false;
  for (int k = 0; k < 2; k++) {
    p->multiply = ir_defining_op(ir_operand(p->add, k));
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

static bool read_side(const product_form *p, MlirValue factor, product_side *side) {
  MlirBlock block = ir_body(p->op, 0);
  *side = (product_side){.factor = factor, .plain = -1, .minor = -1};
  if (!add_dependencies(block, factor, &side->inputs, 0) || side->inputs == 0 || side->inputs >> p->output & 1U)
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
    if (!lie_apart(p, &p->rows, k, p->row) || !lie_apart(p, &p->columns, k, p->column)) continue;
    p->depth = k;
    return true;
  }
  return false;
}

// The innermost dim of the result along which only one side's factors change is the columns', the next one along which
// only the other's do the rows'.
static bool choose_loops(product_form *p, product_side sides[2]) {
  MlirAffineMap written = tiling_map(p->op, p->output);
  p->row = p->column = -1;
  int columns = -1;
  for (int d = (int)mlirAffineMapGetNumResults(written) - 1; d >= 0; d--) {
    MlirAffineExpr e = mlirAffineMapGetResult(written, d);
    if (!mlirAffineExprIsADim(e)) return false;
    const unsigned loop = (unsigned)mlirAffineDimExprGetPosition(e);
    if (loop >= TILING_MAX_LOOPS || p->trips[loop] == 1) continue;
    const bool in_first = sides[0].loops >> loop & 1U, in_second = sides[1].loops >> loop & 1U;
    if (p->column < 0) {
      if (in_first == in_second) return false;
      p->column = (int)loop;
      columns = in_first ? 0 : 1;
    } else if (p->row < 0 && in_first != in_second && (in_first ? 0 : 1) != columns) {
      p->row = (int)loop;
    }
  }
  if (p->row < 0) return false;
  p->columns = sides[columns];
  p->rows = sides[1 - columns];
  return choose_depth(p);
}

bool product_form_of(MlirOperation op, product_form *out) {
  product_form p = {.op = op, .terms = 1};
  p.loop_count = tiling_loops(op, p.trips, p.is_reduction);
  if (p.loop_count < 0 || mlirOperationGetNumResults(op) != 1) return false;
  p.output = tiling_output(op, 0);
  if (p.output != mlirOperationGetNumOperands(op) - 1 || p.output > 31) return false;
  bool reduces = false;
  for (int k = 0; k < p.loop_count; k++) {
    if (p.trips[k] < 1) return false;
    reduces |= p.is_reduction[k];
    if (p.is_reduction[k]) p.terms *= p.trips[k];
  }
  MlirValue factors[2];
  product_side sides[2];
  if (!reduces || !read_body(&p, factors)) return false;
  for (int k = 0; k < 2; k++)
    if (!read_side(&p, factors[k], &sides[k])) return false;
  if (sides[0].inputs & sides[1].inputs || !choose_loops(&p, sides)) return false;
  *out = p;
  return true;
}
