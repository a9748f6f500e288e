// The tensor is followed to the structured operations that it is made by, and their bodies are computed once more, on
// intervals in place of numbers: a few scalar operations for a tile, where the tile itself would be thousands. What an
// interval holds is known in two ways, by the values that the tile's offsets give it, and while compiling, for all
// tiles: the second shows that nothing wraps around, so that the first are true. What is not followed may be anything.
#include "tile/position_bounds.h"

#include <mlir-c/AffineExpr.h>

#include "base/int64.h"
#include "dialect/tiling.h"
#include "hlo/shape.h"
#include "tile/structured.h"

// What is followed at the most: masks are small, and what is read twice is followed twice.
enum { STEPS_MAX = 128, BODY_MAX = 32 };

// What a value may be: a number between two others (index values), true or false, or anything.
typedef struct bounds {
  bool is_truth, is_unknown;
  MlirValue low, high;
  int64_t least, most;
  position_truth truth;
} bounds;

typedef struct follower {
  ir_builder *b;
  int steps;
} follower;

// What the operations of a body gave so far.
typedef struct body_bounds {
  follower *of;
  MlirOperation op;
  position_range loops[TILING_MAX_LOOPS];
  int count;
  MlirValue values[BODY_MAX];
  bounds known[BODY_MAX];
} body_bounds;

static bool of_tensor(follower *w, MlirValue tensor, const position_range *dims, bounds *out);

// --- numbers and truths

static MlirType bit_of(const follower *w) { return mlirIntegerTypeGet(w->b->context, 1); }

static bounds number(follower *w, int64_t value) {
  MlirValue v = ir_index(w->b, value);
  return (bounds){.low = v, .high = v, .least = value, .most = value};
}

static bounds truth(follower *w, bool value) {
  const position_truth t = {ir_int(w->b, bit_of(w), value), ir_int(w->b, bit_of(w), !value)};
  return (bounds){.is_truth = true, .truth = t};
}

static bounds of_range(const position_range *r) {
  return (bounds){.low = r->first, .high = r->last, .least = r->least, .most = r->most};
}

static bounds unknown(MlirType type) {
  const bool is_truth = mlirTypeIsAInteger(type) && ir_bit_width(type) == 1;
  return (bounds){.is_truth = is_truth, .is_unknown = !is_truth};
}

// Whether all that it may be is a number of such a type, taken with a sign.
static bool fits(const bounds *x, MlirType type) {
  const int bits = mlirTypeIsAIndex(type) ? 64 : ir_bit_width(type);
  if (bits >= 64) return true;
  const int64_t limit = (int64_t)1 << (bits - 1);
  return x->least >= -limit && x->most < limit;
}

// A null condition holds always.
static MlirValue both(follower *w, MlirValue x, MlirValue y) {
  return !x.ptr ? y : !y.ptr ? x : ir_binary(w->b, "arith.andi", x, y);
}

static MlirValue either(follower *w, MlirValue x, MlirValue y) {
  return x.ptr && y.ptr ? ir_binary(w->b, "arith.ori", x, y) : (MlirValue){NULL};
}

// --- operations of a body

static bool of_constant(follower *w, MlirAttribute value, bounds *out) {
  if (mlirAttributeIsADenseElements(value)) {
    if (!mlirDenseElementsAttrIsSplat(value)) return false;
    value = mlirDenseElementsAttrGetSplatValue(value);
  }
  if (!mlirAttributeIsAInteger(value)) return false;
  MlirType type = mlirAttributeGetType(value);
  const int64_t v = mlirIntegerAttrGetValueInt(value);
  *out = mlirTypeIsAInteger(type) && ir_bit_width(type) == 1 ? truth(w, v != 0) : number(w, v);
  return true;
}

static bool sum(follower *w, const bounds *x, const bounds *y, bounds *out) {
  bool wraps = __builtin_add_overflow(x->least, y->least, &out->least);
  wraps |= __builtin_add_overflow(x->most, y->most, &out->most);
  out->low = ir_binary(w->b, "arith.addi", x->low, y->low);
  out->high = ir_binary(w->b, "arith.addi", x->high, y->high);
  return !wraps;
}

static bool difference(follower *w, const bounds *x, const bounds *y, bounds *out) {
  bool wraps = __builtin_sub_overflow(x->least, y->most, &out->least);
  wraps |= __builtin_sub_overflow(x->most, y->least, &out->most);
  out->low = ir_binary(w->b, "arith.subi", x->low, y->high);
  out->high = ir_binary(w->b, "arith.subi", x->high, y->low);
  return !wraps;
}

// By a constant.
static bool product(follower *w, const bounds *x, const bounds *y, bounds *out) {
  if (x->least == x->most) {
    const bounds *swapped = x;
    x = y;
    y = swapped;
  }
  if (y->least != y->most) return false;
  const bool turns = y->least < 0;
  bool wraps = __builtin_mul_overflow(turns ? x->most : x->least, y->least, &out->least);
  wraps |= __builtin_mul_overflow(turns ? x->least : x->most, y->least, &out->most);
  out->low = ir_binary(w->b, "arith.muli", turns ? x->high : x->low, y->low);
  out->high = ir_binary(w->b, "arith.muli", turns ? x->low : x->high, y->low);
  return !wraps;
}

static bool extreme(follower *w, bool is_least, const bounds *x, const bounds *y, bounds *out) {
  const char *name = is_least ? "arith.minsi" : "arith.maxsi";
  out->low = ir_binary(w->b, name, x->low, y->low);
  out->high = ir_binary(w->b, name, x->high, y->high);
  out->least = is_least ? int64_min(x->least, y->least) : int64_max(x->least, y->least);
  out->most = is_least ? int64_min(x->most, y->most) : int64_max(x->most, y->most);
  return true;
}

static bool of_numbers(follower *w, MlirOperation op, const bounds *x, const bounds *y, bounds *out) {
  *out = (bounds){0};
  bool is_known = false;
  if (ir_is(op, "arith.addi")) is_known = sum(w, x, y, out);
  if (ir_is(op, "arith.subi")) is_known = difference(w, x, y, out);
  if (ir_is(op, "arith.muli")) is_known = product(w, x, y, out);
  if (ir_is(op, "arith.minsi")) is_known = extreme(w, true, x, y, out);
  if (ir_is(op, "arith.maxsi")) is_known = extreme(w, false, x, y, out);
  return is_known && fits(out, ir_result_type(op, 0));
}

static bool of_truths(follower *w, MlirOperation op, const position_truth *x, const position_truth *y, bounds *out) {
  *out = (bounds){.is_truth = true};
  if (ir_is(op, "arith.andi")) {
    out->truth = (position_truth){both(w, x->may_be_true, y->may_be_true), either(w, x->may_be_false, y->may_be_false)};
    return true;
  }
  if (ir_is(op, "arith.ori")) {
    out->truth = (position_truth){either(w, x->may_be_true, y->may_be_true), both(w, x->may_be_false, y->may_be_false)};
    return true;
  }
  if (!ir_is(op, "arith.xori")) return false;
  out->truth.may_be_true =
      either(w, both(w, x->may_be_true, y->may_be_false), both(w, x->may_be_false, y->may_be_true));
  out->truth.may_be_false =
      either(w, both(w, x->may_be_true, y->may_be_true), both(w, x->may_be_false, y->may_be_false));
  return true;
}

// Whether x < y (or x <= y) may be, and may not be.
static position_truth is_less(follower *w, const bounds *x, const bounds *y, bool or_equal) {
  return (position_truth){ir_cmpi(w->b, or_equal ? "sle" : "slt", x->low, y->high),
                          ir_cmpi(w->b, or_equal ? "sgt" : "sge", x->high, y->low)};
}

static position_truth is_equal(follower *w, const bounds *x, const bounds *y) {
  MlirValue overlap = both(w, ir_cmpi(w->b, "sle", x->low, y->high), ir_cmpi(w->b, "sle", y->low, x->high));
  MlirValue differ = either(w, ir_cmpi(w->b, "ne", x->low, y->high), ir_cmpi(w->b, "ne", x->high, y->low));
  return (position_truth){overlap, differ};
}

// arith.cmpi's predicates: eq, ne, slt, sle, sgt, sge and the last four without signs.
static bool of_comparison(follower *w, MlirOperation op, const bounds *x, const bounds *y, bounds *out) {
  enum { EQ, NE, SLT, SLE, SGT, SGE, ULT };
  int64_t predicate = mlirIntegerAttrGetValueInt(ir_get(op, "predicate"));
  if (predicate >= ULT && (x->least < 0 || y->least < 0)) return false;
  if (predicate >= ULT) predicate -= ULT - SLT;
  *out = (bounds){.is_truth = true};
  if (predicate == EQ || predicate == NE) {
    const position_truth t = is_equal(w, x, y);
    out->truth = predicate == EQ ? t : (position_truth){t.may_be_false, t.may_be_true};
  } else {
    const bool turns = predicate == SGT || predicate == SGE;
    out->truth = is_less(w, turns ? y : x, turns ? x : y, predicate == SLE || predicate == SGE);
  }
  return true;
}

// A pred is a byte in memory.
static bool of_cast(follower *w, MlirOperation op, const bounds *x, bounds *out) {
  MlirType to = ir_result_type(op, 0);
  const bool to_bit = mlirTypeIsAInteger(to) && ir_bit_width(to) == 1;
  const bool is_unsigned = ir_is(op, "arith.extui") || ir_is(op, "arith.index_castui");
  *out = *x;
  if (x->is_truth) return is_unsigned || (ir_is(op, "arith.trunci") && to_bit);
  if (to_bit) {
    if (x->least != x->most || x->least < 0 || x->least > 1) return false;
    *out = truth(w, x->least != 0);
    return true;
  }
  return fits(x, to) && (!is_unsigned || x->least >= 0);
}

// Constants may stand outside of the body.
static bool of_value(const body_bounds *body, MlirValue v, bounds *out) {
  for (int k = 0; k < body->count; k++) {
    if (!mlirValueEqual(body->values[k], v)) continue;
    *out = body->known[k];
    return true;
  }
  MlirOperation made = ir_defining_op(v);
  return !ir_is_null(made) && ir_is(made, "arith.constant") && of_constant(body->of, ir_get(made, "value"), out);
}

// False of what is not followed.
static bool of_operation(body_bounds *body, MlirOperation op, bounds *out) {
  static const char *const casts[] = {"arith.index_cast", "arith.index_castui", "arith.trunci", "arith.extui",
                                      "arith.extsi"};
  follower *w = body->of;
  if (ir_is(op, "arith.constant")) return of_constant(w, ir_get(op, "value"), out);
  if (ir_is(op, "linalg.index")) {
    *out = of_range(&body->loops[mlirIntegerAttrGetValueInt(ir_get(op, "dim"))]);
    return true;
  }
  bounds x, y;
  const int count = (int)mlirOperationGetNumOperands(op);
  if (count < 1 || !of_value(body, ir_operand(op, 0), &x) || x.is_unknown) return false;
  for (size_t k = 0; k < sizeof casts / sizeof *casts; k++)
    if (ir_is(op, casts[k])) return of_cast(w, op, &x, out);
  if (count != 2 || !of_value(body, ir_operand(op, 1), &y) || y.is_unknown || x.is_truth != y.is_truth) return false;
  if (x.is_truth) return of_truths(w, op, &x.truth, &y.truth, out);
  return ir_is(op, "arith.cmpi") ? of_comparison(w, op, &x, &y, out) : of_numbers(w, op, &x, &y, out);
}

// --- tensors

// The element that an input has at the tile's points.
static bool of_input(body_bounds *body, int operand, bounds *out) {
  MlirAffineMap map = tiling_map(body->op, operand);
  const int rank = (int)mlirAffineMapGetNumResults(map);
  position_range dims[SHAPE_MAX_RANK];
  if (rank > SHAPE_MAX_RANK) return false;
  for (int d = 0; d < rank; d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    if (mlirAffineExprIsADim(e)) {
      dims[d] = body->loops[mlirAffineDimExprGetPosition(e)];
    } else if (mlirAffineExprIsAConstant(e)) {
      const int64_t at = mlirAffineConstantExprGetValue(e);
      MlirValue v = ir_index(body->of->b, at);
      dims[d] = (position_range){v, v, at, at};
    } else {
      return false;
    }
  }
  return of_tensor(body->of, ir_operand(body->op, operand), dims, out);
}

static bool append(body_bounds *body, MlirValue v, const bounds *x) {
  if (body->count == BODY_MAX) return false;
  body->values[body->count] = v;
  body->known[body->count++] = *x;
  return true;
}

// Loops that the result does not have are unknown: reductions are not followed.
static bool find_loops(body_bounds *body, const position_range *dims) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  const int loops = tiling_loops(body->op, trips, is_reduction), output = tiling_output(body->op, 0);
  for (int k = 0; k < loops; k++)
    if (is_reduction[k]) return false;
  MlirAffineMap map = tiling_map(body->op, output);
  for (int d = 0; d < (int)mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    if (!mlirAffineExprIsADim(e)) return false;
    body->loops[mlirAffineDimExprGetPosition(e)] = dims[d];
  }
  return loops == (int)mlirAffineMapGetNumResults(map);
}

static bool of_structured(follower *w, MlirOperation op, const position_range *dims, bounds *out) {
  body_bounds body = {.of = w, .op = op};
  const int output = tiling_output(op, 0);
  if (output != (int)mlirOperationGetNumOperands(op) - 1 || !find_loops(&body, dims)) return false;
  MlirBlock block = ir_body(op, 0);
  for (int k = 0; k < output; k++) {
    bounds x;
    MlirValue argument = mlirBlockGetArgument(block, k);
    if (!of_input(&body, k, &x)) x = unknown(mlirValueGetType(argument));
    if (!append(&body, argument, &x)) return false;
  }
  MlirOperation end = ir_terminator(block);
  for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationEqual(inner, end);
       inner = mlirOperationGetNextInBlock(inner)) {
    bounds x;
    if (mlirOperationGetNumResults(inner) != 1) return false;
    if (!of_operation(&body, inner, &x)) x = unknown(ir_result_type(inner, 0));
    if (!append(&body, ir_result(inner, 0), &x)) return false;
  }
  return of_value(&body, ir_operand(end, 0), out);
}

static bool of_tensor(follower *w, MlirValue tensor, const position_range *dims, bounds *out) {
  MlirOperation op = ir_defining_op(tensor);
  if (ir_is_null(op) || ++w->steps > STEPS_MAX) return false;
  if (ir_is(op, "arith.constant")) return of_constant(w, ir_get(op, "value"), out);
  return tiling_is_structured(op) && mlirOperationGetNumResults(op) == 1 && of_structured(w, op, dims, out);
}

bool position_bounds(ir_builder *b, MlirValue tensor, const position_range *dims, position_truth *out) {
  follower w = {.b = b};
  bounds found;
  if (!of_tensor(&w, tensor, dims, &found) || found.is_unknown) return false;
  if (!found.is_truth) {
    if (found.least != found.most || found.least < 0 || found.least > 1) return false;
    found = truth(&w, found.least != 0);
  }
  *out = found.truth;
  return out->may_be_true.ptr || out->may_be_false.ptr;
}
