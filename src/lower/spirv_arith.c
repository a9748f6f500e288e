// One row for each operation of arith and math; vectors go element by element.
//
// Integers of widths that SPIR-V lacks (i2, i4) are held in wider ones, whose upper bits say nothing: what asks for a
// value's sign or size normalizes it first. Booleans have operations of their own.
//
// Floats: every operation is decorated NoContraction, so that it is rounded as it stands and no identity that NaN,
// infinities or signed zeros break is applied to it.
#include "lower/spirv_arith.h"

#include <math.h>

// One scalar of an operation.
typedef struct scalar {
  spirv_build *s;
  MlirOperation op;
  MlirType from, to;  // element types of the first operand and of the result, in the source
  MlirValue x[3];
} scalar;

typedef struct row row;
typedef MlirValue translate_fn(const scalar *e, const row *r);

struct row {
  const char *op;
  translate_fn *translate;
  const char *name;     // of SPIR-V's operation
  const char *of_bool;  // the same on booleans
  bool is_signed;       // it asks for operands as signed numbers …
  bool is_unsigned;     // … or as unsigned ones
};

// --- integers

static int bits_of(MlirType t, const spirv_build *s) { return mlirTypeIsAIndex(t) ? s->index_bits : ir_bit_width(t); }

static bool is_bool(MlirType t) { return mlirTypeIsAInteger(t) && ir_bit_width(t) == 1; }

// The number that the lower bits of a wider integer hold.
static MlirValue normalized(spirv_build *s, MlirValue x, int bits, bool is_signed) {
  const MlirType type = mlirValueGetType(x);
  const int held = ir_bit_width(type);
  if (held == bits) return x;
  if (!is_signed)
    return spirv_build_binary(s, "spirv.BitwiseAnd", x, spirv_build_int(s, type, (int64_t)((1ULL << bits) - 1)));
  const MlirValue unused = spirv_build_int(s, type, held - bits);
  return spirv_build_binary(s, "spirv.ShiftRightArithmetic", spirv_build_binary(s, "spirv.ShiftLeftLogical", x, unused),
                            unused);
}

static MlirValue operand(const scalar *e, int number, bool is_signed) {
  return normalized(e->s, e->x[number], bits_of(e->from, e->s), is_signed);
}

static MlirValue integer_binary(const scalar *e, const row *r) {
  if (is_bool(e->to)) return spirv_build_binary(e->s, r->of_bool, e->x[0], e->x[1]);
  const bool asks = r->is_signed || r->is_unsigned;
  const MlirValue x = asks ? operand(e, 0, r->is_signed) : e->x[0];
  return spirv_build_binary(e->s, r->name, x, asks ? operand(e, 1, r->is_signed) : e->x[1]);
}

// The amount of a shift is never negative.
static MlirValue shift(const scalar *e, const row *r) {
  const MlirValue x = r->is_signed || r->is_unsigned ? operand(e, 0, r->is_signed) : e->x[0];
  return spirv_build_binary(e->s, r->name, x, operand(e, 1, false));
}

// A boolean as 0 and 1, or as 0 and -1.
static MlirValue bool_to_int(spirv_build *s, MlirValue x, MlirType to, bool is_signed) {
  return spirv_build_select(s, x, spirv_build_int(s, to, is_signed ? -1 : 1), spirv_build_int(s, to, 0));
}

static MlirValue int_to_bool(spirv_build *s, MlirValue x) {
  return spirv_build_compare(s, "spirv.INotEqual", x, spirv_build_int(s, mlirValueGetType(x), 0));
}

// By shifts: Mesa (22.3) takes comparisons of what was extended for ones without a sign.
static MlirValue extended_to_64(spirv_build *s, MlirValue x, MlirType to) {
  const MlirValue by = spirv_build_int(s, to, 32), wide = spirv_build_cast(s, "spirv.UConvert", to, x);
  return spirv_build_binary(s, "spirv.ShiftRightArithmetic", spirv_build_binary(s, "spirv.ShiftLeftLogical", wide, by),
                            by);
}

static MlirValue resized(spirv_build *s, MlirValue x, MlirType to, bool is_signed) {
  const MlirType from = mlirValueGetType(x);
  if (mlirTypeEqual(from, to)) return x;
  if (is_signed && ir_bit_width(from) == 32 && ir_bit_width(to) == 64) return extended_to_64(s, x, to);
  return spirv_build_cast(s, is_signed ? "spirv.SConvert" : "spirv.UConvert", to, x);
}

// Extensions, truncations and casts of indices.
static MlirValue resize(const scalar *e, const row *r) {
  const MlirType to = spirv_build_type(e->s, e->to);
  if (is_bool(e->from)) return is_bool(e->to) ? e->x[0] : bool_to_int(e->s, e->x[0], to, r->is_signed);
  if (is_bool(e->to)) {
    const MlirValue one = spirv_build_int(e->s, mlirValueGetType(e->x[0]), 1);
    return int_to_bool(e->s, spirv_build_binary(e->s, "spirv.BitwiseAnd", e->x[0], one));
  }
  return resized(e->s, operand(e, 0, r->is_signed), to, r->is_signed);
}

static int64_t predicate_of(MlirOperation op) { return mlirIntegerAttrGetValueInt(ir_get(op, "predicate")); }

static MlirValue compare_integers(const scalar *e, const row *r) {
  (void)r;
  static const char *const names[] = {"spirv.IEqual",           "spirv.INotEqual",      "spirv.SLessThan",
                                      "spirv.SLessThanEqual",   "spirv.SGreaterThan",   "spirv.SGreaterThanEqual",
                                      "spirv.ULessThan",        "spirv.ULessThanEqual", "spirv.UGreaterThan",
                                      "spirv.UGreaterThanEqual"};
  enum { EQUAL, NOT_EQUAL, FIRST_UNSIGNED = 6 };
  const int64_t predicate = predicate_of(e->op);
  const bool is_signed = predicate < FIRST_UNSIGNED;
  if (!is_bool(e->from))
    return spirv_build_compare(e->s, names[predicate], operand(e, 0, is_signed), operand(e, 1, is_signed));
  if (predicate == EQUAL) return spirv_build_binary(e->s, "spirv.LogicalEqual", e->x[0], e->x[1]);
  if (predicate == NOT_EQUAL) return spirv_build_binary(e->s, "spirv.LogicalNotEqual", e->x[0], e->x[1]);
  const MlirType i32 = spirv_build_int_type(e->s, 32);
  return spirv_build_compare(e->s, names[predicate], bool_to_int(e->s, e->x[0], i32, is_signed),
                             bool_to_int(e->s, e->x[1], i32, is_signed));
}

// Minimum and maximum: `name` says when the first operand is taken.
static MlirValue integer_extremum(const scalar *e, const row *r) {
  if (is_bool(e->to)) return spirv_build_binary(e->s, r->of_bool, e->x[0], e->x[1]);
  const MlirValue x = operand(e, 0, r->is_signed), y = operand(e, 1, r->is_signed);
  return spirv_build_select(e->s, spirv_build_compare(e->s, r->name, x, y), x, y);
}

static MlirValue absolute_integer(const scalar *e, const row *r) {
  (void)r;
  const MlirValue x = operand(e, 0, true), zero = spirv_build_int(e->s, mlirValueGetType(x), 0);
  return spirv_build_select(e->s, spirv_build_compare(e->s, "spirv.SLessThan", x, zero),
                            spirv_build_binary(e->s, "spirv.ISub", zero, x), x);
}

// --- bits of integers: SPIR-V counts in 32 bits only

typedef struct halves {
  MlirValue low, high;  // the latter is null for 32 bits and less
} halves;

static halves halves_of(spirv_build *s, MlirValue x) {
  const MlirType type = mlirValueGetType(x), i32 = spirv_build_int_type(s, 32);
  if (ir_bit_width(type) < 64) return (halves){resized(s, x, i32, false), {NULL}};
  const MlirValue by = spirv_build_int(s, type, 32);
  return (halves){resized(s, x, i32, false),
                  resized(s, spirv_build_binary(s, "spirv.ShiftRightLogical", x, by), i32, false)};
}

static MlirValue from_word(const scalar *e, MlirValue word) {
  return resized(e->s, word, spirv_build_type(e->s, e->to), false);
}

static MlirValue count_ones(const scalar *e, const row *r) {
  (void)r;
  const halves h = halves_of(e->s, operand(e, 0, false));
  MlirValue count = spirv_build_unary(e->s, "spirv.BitCount", h.low);
  if (h.high.ptr)
    count = spirv_build_binary(e->s, "spirv.IAdd", count, spirv_build_unary(e->s, "spirv.BitCount", h.high));
  return from_word(e, count);
}

// The number of the highest bit that is set, -1 if none is.
static MlirValue highest_bit(spirv_build *s, MlirValue x) {
  const halves h = halves_of(s, x);
  const MlirValue low = spirv_build_unary(s, "spirv.GL.FindUMsb", h.low);
  if (!h.high.ptr) return low;
  const MlirValue high = spirv_build_unary(s, "spirv.GL.FindUMsb", h.high);
  const MlirValue by = spirv_build_int(s, mlirValueGetType(low), 32);
  return spirv_build_select(s, int_to_bool(s, h.high), spirv_build_binary(s, "spirv.IAdd", high, by), low);
}

static MlirValue count_leading(const scalar *e, const row *r) {
  (void)r;
  const MlirValue bit = highest_bit(e->s, operand(e, 0, false));
  const MlirValue last = spirv_build_int(e->s, mlirValueGetType(bit), bits_of(e->from, e->s) - 1);
  return from_word(e, spirv_build_binary(e->s, "spirv.ISub", last, bit));
}

// The lowest bit alone is the highest one, too.
static MlirValue count_trailing(const scalar *e, const row *r) {
  (void)r;
  const MlirValue x = operand(e, 0, false), zero = spirv_build_int(e->s, mlirValueGetType(x), 0);
  const MlirValue lowest =
      spirv_build_binary(e->s, "spirv.BitwiseAnd", x, spirv_build_binary(e->s, "spirv.ISub", zero, x));
  const MlirValue bit = highest_bit(e->s, lowest);
  const MlirValue all = spirv_build_int(e->s, mlirValueGetType(bit), bits_of(e->from, e->s));
  return from_word(e, spirv_build_select(e->s, int_to_bool(e->s, x), bit, all));
}

// --- floats

static MlirType bits_type(spirv_build *s, MlirType type) { return spirv_build_int_type(s, ir_bit_width(type)); }

static bool is_zero(MlirValue x) {
  const MlirOperation op = mlirValueIsABlockArgument(x) ? (MlirOperation){NULL} : ir_defining_op(x);
  if (ir_is_null(op) || !ir_is(op, "spirv.Constant")) return false;
  const MlirAttribute value = ir_get(op, "value");
  return mlirAttributeIsAFloat(value) && mlirFloatAttrGetValueDouble(value) == 0;
}

// The same number, of which no compiler knows so. No address has its highest bit set.
static MlirValue hidden(spirv_build *s, MlirValue x) {
  const MlirType type = mlirValueGetType(x), bits = bits_type(s, type);
  const MlirValue address = spirv_build_pushed(s, 0), last = spirv_build_int(s, mlirValueGetType(address), 63);
  const MlirValue zero = resized(s, spirv_build_binary(s, "spirv.ShiftRightLogical", address, last), bits, false);
  return spirv_build_bitcast(s, type, spirv_build_binary(s, "spirv.BitwiseOr", spirv_build_bitcast(s, bits, x), zero));
}

// Mesa's software rasterizer takes x * 0 and x - x for 0, x + 0 for x and x / x for 1, whatever a module says of NaN,
// infinities and signed zeros.
static MlirValue float_operation(const scalar *e, const row *r) {
  MlirValue x = e->x[0], y = e->x[1];
  if (is_zero(x)) x = hidden(e->s, x);
  if (is_zero(y) || mlirValueEqual(e->x[0], y)) y = hidden(e->s, y);
  return spirv_build_exact(e->s, r->name, x, y);
}

static MlirValue function_of_floats(const scalar *e, const row *r) {
  const int count = (int)mlirOperationGetNumOperands(e->op);
  const MlirNamedAttribute exact = ir_named(e->s->b.context, "no_contraction", mlirUnitAttrGet(e->s->b.context));
  return ir_value_with(&e->s->b, r->name, mlirValueGetType(e->x[0]), count, e->x, 1, &exact);
}

static MlirValue is_nan(spirv_build *s, MlirValue x) {
  return spirv_build_compare(s, "spirv.IsNan", x, (MlirValue){NULL});
}

static MlirValue compare_floats(const scalar *e, const row *r) {
  (void)r;
  static const char *const names[] = {
      [1] = "spirv.FOrdEqual",       [2] = "spirv.FOrdGreaterThan",      [3] = "spirv.FOrdGreaterThanEqual",
      [4] = "spirv.FOrdLessThan",    [5] = "spirv.FOrdLessThanEqual",    [6] = "spirv.FOrdNotEqual",
      [8] = "spirv.FUnordEqual",     [9] = "spirv.FUnordGreaterThan",    [10] = "spirv.FUnordGreaterThanEqual",
      [11] = "spirv.FUnordLessThan", [12] = "spirv.FUnordLessThanEqual", [13] = "spirv.FUnordNotEqual"};
  enum { NEVER, ORDERED = 7, UNORDERED = 14, ALWAYS };
  const int64_t predicate = predicate_of(e->op);
  if (predicate == NEVER || predicate == ALWAYS) return spirv_build_bool(e->s, predicate == ALWAYS);
  if (predicate != ORDERED && predicate != UNORDERED)
    return spirv_build_compare(e->s, names[predicate], e->x[0], e->x[1]);
  const MlirValue any = spirv_build_binary(e->s, "spirv.LogicalOr", is_nan(e->s, e->x[0]), is_nan(e->s, e->x[1]));
  return predicate == UNORDERED ? any : spirv_build_unary(e->s, "spirv.LogicalNot", any);
}

static MlirValue sign_bit(spirv_build *s, MlirType bits) {
  return spirv_build_int(s, bits, ir_bit_width(bits) == 32 ? INT32_MIN : INT64_MIN);
}

// The magnitude of one with the sign of another.
static MlirValue with_sign_of(spirv_build *s, MlirValue magnitude, MlirValue sign) {
  const MlirType type = mlirValueGetType(magnitude), bits = bits_type(s, type);
  const MlirValue mask = sign_bit(s, bits);
  const MlirValue kept = spirv_build_binary(s, "spirv.BitwiseAnd", spirv_build_bitcast(s, bits, sign), mask);
  const MlirValue rest = spirv_build_binary(s, "spirv.BitwiseAnd", spirv_build_bitcast(s, bits, magnitude),
                                            spirv_build_unary(s, "spirv.Not", mask));
  return spirv_build_bitcast(s, type, spirv_build_binary(s, "spirv.BitwiseOr", kept, rest));
}

static MlirValue copy_sign(const scalar *e, const row *r) {
  (void)r;
  return with_sign_of(e->s, e->x[0], e->x[1]);
}

// By bits, as sign changes of NaN are no arithmetic.
static MlirValue negated(const scalar *e, const row *r) {
  (void)r;
  const MlirType type = mlirValueGetType(e->x[0]), bits = bits_type(e->s, type);
  const MlirValue turned =
      spirv_build_binary(e->s, "spirv.BitwiseXor", spirv_build_bitcast(e->s, bits, e->x[0]), sign_bit(e->s, bits));
  return spirv_build_bitcast(e->s, type, turned);
}

static MlirValue absolute(const scalar *e, const row *r) {
  (void)r;
  return with_sign_of(e->s, e->x[0], spirv_build_float(e->s, mlirValueGetType(e->x[0]), 0));
}

static MlirValue truncated(spirv_build *s, MlirValue x) {
  const MlirValue size = with_sign_of(s, x, spirv_build_float(s, mlirValueGetType(x), 0));
  return with_sign_of(s, spirv_build_unary(s, "spirv.GL.Floor", size), x);
}

static MlirValue truncate(const scalar *e, const row *r) {
  (void)r;
  return truncated(e->s, e->x[0]);
}

// To the nearest, halves away from zero. What an infinity leaves is NaN, which is no half.
static MlirValue round_away(const scalar *e, const row *r) {
  (void)r;
  const MlirValue x = e->x[0], whole = truncated(e->s, x);
  const MlirType type = mlirValueGetType(x);
  const MlirValue left = spirv_build_exact(e->s, "spirv.FSub", x, whole);
  const MlirValue size = with_sign_of(e->s, left, spirv_build_float(e->s, type, 0));
  const MlirValue is_half =
      spirv_build_compare(e->s, "spirv.FOrdGreaterThanEqual", size, spirv_build_float(e->s, type, 0.5));
  const MlirValue one = with_sign_of(e->s, spirv_build_float(e->s, type, 1), x);
  return spirv_build_select(e->s, is_half, spirv_build_exact(e->s, "spirv.FAdd", whole, one), whole);
}

// NaN comes through and -0 is less than +0: of equal ones, which differ in the sign at most, the bits are combined.
static MlirValue float_extremum(const scalar *e, const row *r) {
  const MlirValue x = e->x[0], y = e->x[1];
  const MlirType type = mlirValueGetType(x), bits = bits_type(e->s, type);
  const MlirValue both =
      spirv_build_binary(e->s, r->of_bool, spirv_build_bitcast(e->s, bits, x), spirv_build_bitcast(e->s, bits, y));
  MlirValue best = spirv_build_select(e->s, spirv_build_compare(e->s, r->name, x, y), x, y);
  best = spirv_build_select(e->s, spirv_build_compare(e->s, "spirv.FOrdEqual", x, y),
                            spirv_build_bitcast(e->s, type, both), best);
  best = spirv_build_select(e->s, is_nan(e->s, y), y, best);
  return spirv_build_select(e->s, is_nan(e->s, x), x, best);
}

// --- conversions

static MlirValue int_to_float(const scalar *e, const row *r) {
  const MlirType to = spirv_build_type(e->s, e->to);
  if (is_bool(e->from))
    return spirv_build_select(e->s, e->x[0], spirv_build_float(e->s, to, r->is_signed ? -1 : 1),
                              spirv_build_float(e->s, to, 0));
  return spirv_build_cast(e->s, r->name, to, operand(e, 0, r->is_signed));
}

// Narrow integers through wider ones: what does not fit is undefined anyway.
static MlirValue float_to_int(const scalar *e, const row *r) {
  const MlirType to = spirv_build_type(e->s, e->to);
  if (is_bool(e->to))
    return spirv_build_compare(e->s, "spirv.FUnordNotEqual", e->x[0],
                               spirv_build_float(e->s, mlirValueGetType(e->x[0]), 0));
  const MlirType wide = ir_bit_width(to) < 32 ? spirv_build_int_type(e->s, 32) : to;
  return resized(e->s, spirv_build_cast(e->s, r->name, wide, e->x[0]), to, r->is_signed);
}

static MlirValue convert_float(const scalar *e, const row *r) {
  (void)r;
  const MlirType to = spirv_build_type(e->s, e->to);
  return mlirTypeEqual(to, mlirValueGetType(e->x[0])) ? e->x[0] : spirv_build_cast(e->s, "spirv.FConvert", to, e->x[0]);
}

static MlirValue bitcast(const scalar *e, const row *r) {
  (void)r;
  return spirv_build_bitcast(e->s, spirv_build_type(e->s, e->to), e->x[0]);
}

static MlirValue choose(const scalar *e, const row *r) {
  (void)r;
  return spirv_build_select(e->s, e->x[0], e->x[1], e->x[2]);
}

// --- the table

static const row rows[] = {
    {"arith.addi", integer_binary, "spirv.IAdd", "spirv.LogicalNotEqual", false, false},
    {"arith.subi", integer_binary, "spirv.ISub", "spirv.LogicalNotEqual", false, false},
    {"arith.muli", integer_binary, "spirv.IMul", "spirv.LogicalAnd", false, false},
    {"arith.andi", integer_binary, "spirv.BitwiseAnd", "spirv.LogicalAnd", false, false},
    {"arith.ori", integer_binary, "spirv.BitwiseOr", "spirv.LogicalOr", false, false},
    {"arith.xori", integer_binary, "spirv.BitwiseXor", "spirv.LogicalNotEqual", false, false},
    {"arith.divsi", integer_binary, "spirv.SDiv", "spirv.LogicalAnd", true, false},
    {"arith.divui", integer_binary, "spirv.UDiv", "spirv.LogicalAnd", false, true},
    {"arith.remsi", integer_binary, "spirv.SRem", "spirv.LogicalAnd", true, false},
    {"arith.remui", integer_binary, "spirv.UMod", "spirv.LogicalAnd", false, true},
    {"arith.shli", shift, "spirv.ShiftLeftLogical", NULL, false, false},
    {"arith.shrui", shift, "spirv.ShiftRightLogical", NULL, false, true},
    {"arith.shrsi", shift, "spirv.ShiftRightArithmetic", NULL, true, false},
    {"arith.maxsi", integer_extremum, "spirv.SGreaterThan", "spirv.LogicalAnd", true, false},
    {"arith.minsi", integer_extremum, "spirv.SLessThan", "spirv.LogicalOr", true, false},
    {"arith.maxui", integer_extremum, "spirv.UGreaterThan", "spirv.LogicalOr", false, true},
    {"arith.minui", integer_extremum, "spirv.ULessThan", "spirv.LogicalAnd", false, true},
    {"arith.cmpi", compare_integers, NULL, NULL, false, false},
    {"arith.extui", resize, NULL, NULL, false, true},
    {"arith.extsi", resize, NULL, NULL, true, false},
    {"arith.trunci", resize, NULL, NULL, false, true},
    {"arith.index_cast", resize, NULL, NULL, true, false},
    {"arith.index_castui", resize, NULL, NULL, false, true},
    {"math.absi", absolute_integer, NULL, NULL, false, false},
    {"math.ctpop", count_ones, NULL, NULL, false, false},
    {"math.ctlz", count_leading, NULL, NULL, false, false},
    {"math.cttz", count_trailing, NULL, NULL, false, false},
    {"arith.addf", float_operation, "spirv.FAdd", NULL, false, false},
    {"arith.subf", float_operation, "spirv.FSub", NULL, false, false},
    {"arith.mulf", float_operation, "spirv.FMul", NULL, false, false},
    {"arith.divf", float_operation, "spirv.FDiv", NULL, false, false},
    {"arith.negf", negated, NULL, NULL, false, false},
    {"arith.cmpf", compare_floats, NULL, NULL, false, false},
    {"math.absf", absolute, NULL, NULL, false, false},
    {"math.copysign", copy_sign, NULL, NULL, false, false},
    {"math.fma", function_of_floats, "spirv.GL.Fma", NULL, false, false},
    {"math.sqrt", function_of_floats, "spirv.GL.Sqrt", NULL, false, false},
    {"math.floor", function_of_floats, "spirv.GL.Floor", NULL, false, false},
    {"math.ceil", function_of_floats, "spirv.GL.Ceil", NULL, false, false},
    {"math.roundeven", function_of_floats, "spirv.GL.RoundEven", NULL, false, false},
    {"math.trunc", truncate, NULL, NULL, false, false},
    {"math.round", round_away, NULL, NULL, false, false},
    {"llvm.intr.maximum", float_extremum, "spirv.FOrdGreaterThan", "spirv.BitwiseAnd", false, false},
    {"llvm.intr.minimum", float_extremum, "spirv.FOrdLessThan", "spirv.BitwiseOr", false, false},
    {"arith.sitofp", int_to_float, "spirv.ConvertSToF", NULL, true, false},
    {"arith.uitofp", int_to_float, "spirv.ConvertUToF", NULL, false, true},
    {"arith.fptosi", float_to_int, "spirv.ConvertFToS", NULL, true, false},
    {"arith.fptoui", float_to_int, "spirv.ConvertFToU", NULL, false, true},
    {"arith.extf", convert_float, NULL, NULL, false, false},
    {"arith.truncf", convert_float, NULL, NULL, false, false},
    {"arith.bitcast", bitcast, NULL, NULL, false, false},
    {"arith.select", choose, NULL, NULL, false, false},
};

static const row *row_of(MlirOperation op) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (ir_is(op, rows[i].op)) return &rows[i];
  return NULL;
}

// --- products of twice the width

static MlirValue half_of(spirv_build *s, MlirValue x, bool is_high) {
  const MlirType i64 = mlirValueGetType(x);
  if (is_high) return spirv_build_binary(s, "spirv.ShiftRightLogical", x, spirv_build_int(s, i64, 32));
  return spirv_build_binary(s, "spirv.BitwiseAnd", x, spirv_build_int(s, i64, UINT32_MAX));
}

static MlirValue sum(spirv_build *s, MlirValue x, MlirValue y) { return spirv_build_binary(s, "spirv.IAdd", x, y); }

static MlirValue product(spirv_build *s, MlirValue x, MlirValue y) { return spirv_build_binary(s, "spirv.IMul", x, y); }

// The upper 64 bits of a product of numbers without a sign, from those of their halves.
static MlirValue upper_product(spirv_build *s, MlirValue x, MlirValue y) {
  const MlirValue xl = half_of(s, x, false), xh = half_of(s, x, true);
  const MlirValue yl = half_of(s, y, false), yh = half_of(s, y, true);
  const MlirValue first = sum(s, product(s, xh, yl), half_of(s, product(s, xl, yl), true));
  const MlirValue second = sum(s, product(s, xl, yh), half_of(s, first, false));
  return sum(s, product(s, xh, yh), sum(s, half_of(s, first, true), half_of(s, second, true)));
}

// A negative number was taken for one that is 2^64 larger.
static MlirValue without_excess(spirv_build *s, MlirValue upper, MlirValue x, MlirValue y) {
  const MlirValue zero = spirv_build_int(s, mlirValueGetType(x), 0);
  const MlirValue excess = spirv_build_select(s, spirv_build_compare(s, "spirv.SLessThan", x, zero), y, zero);
  return spirv_build_binary(s, "spirv.ISub", upper, excess);
}

static void multiply_extended(spirv_build *s, MlirValue x, MlirValue y, int bits, bool is_signed, MlirValue out[2]) {
  const MlirType i64 = spirv_build_int_type(s, 64), type = mlirValueGetType(x);
  if (bits == 64) {
    out[0] = product(s, x, y);
    out[1] = upper_product(s, x, y);
    if (is_signed) out[1] = without_excess(s, without_excess(s, out[1], x, y), y, x);
    return;
  }
  x = resized(s, normalized(s, x, bits, is_signed), i64, is_signed);
  y = resized(s, normalized(s, y, bits, is_signed), i64, is_signed);
  const MlirValue whole = product(s, x, y);
  const MlirValue upper = spirv_build_binary(s, "spirv.ShiftRightArithmetic", whole, spirv_build_int(s, i64, bits));
  out[0] = resized(s, whole, type, false);
  out[1] = resized(s, upper, type, false);
}

static heddle_status translate_extended(spirv_code *c, MlirOperation op, bool is_signed) {
  const spirv_value *x, *y;
  TRY(spirv_values_operand(c, op, 0, &x));
  TRY(spirv_values_operand(c, op, 1, &y));
  MlirValue *parts = arena_array(c->s.b.arena, MlirValue, 2 * x->count);
  const int bits = bits_of(ir_element_type(ir_result_type(op, 0)), &c->s);
  for (int k = 0; k < x->count; k++) {
    MlirValue both[2];
    multiply_extended(&c->s, x->parts[k], y->parts[k], bits, is_signed, both);
    parts[k] = both[0];
    parts[x->count + k] = both[1];
  }
  for (int half = 0; half < 2; half++)
    spirv_values_put(c, ir_result(op, half), x->count, parts + (ptrdiff_t)half * x->count);
  return status_ok();
}

heddle_status spirv_arith_translate(spirv_code *c, MlirOperation op, bool *known) {
  const row *r = row_of(op);
  const bool is_signed = ir_is(op, "arith.mulsi_extended"),
             is_extended = is_signed || ir_is(op, "arith.mului_extended");
  *known = r || is_extended;
  if (is_extended) return translate_extended(c, op, is_signed);
  if (!r) return status_ok();
  spirv_types types = {0};
  TRY(spirv_values_types(c, ir_result_type(op, 0), &types));
  const int count = (int)mlirOperationGetNumOperands(op);
  const spirv_value *operands[3];
  for (int i = 0; i < count; i++) TRY(spirv_values_operand(c, op, i, &operands[i]));
  scalar e = {&c->s,
              op,
              ir_element_type(mlirValueGetType(ir_operand(op, 0))),
              ir_element_type(ir_result_type(op, 0)),
              {{NULL}}};
  MlirValue *results = arena_array(c->s.b.arena, MlirValue, types.size);
  // One condition may choose between vectors.
  for (int k = 0; k < types.size; k++) {
    for (int i = 0; i < count; i++) e.x[i] = operands[i]->parts[operands[i]->count == 1 ? 0 : k];
    results[k] = r->translate(&e, r);
  }
  spirv_values_put(c, ir_result(op, 0), types.size, results);
  return status_ok();
}
