// Integers, predicates, and ops that serve all element classes.
//
// HLO defines what C and LLVM leave undefined: division by zero, INT_MIN / -1, shifts past the width. Each is made
// total by a select on a harmless operand, never by a branch, so that loops still vectorize.
#include "emit/elementwise.h"

static dtype operand_dtype(const instruction *i, int k) { return i->operands[k]->shape->dtype; }
static bool is_unsigned(dtype t) { return dtypes[t].class != CLASS_SIGNED; }  // pred compares like an unsigned number

static MlirValue like(ir_builder *b, MlirValue x, int64_t v) { return ir_int(b, mlirValueGetType(x), v); }

MlirValue elementwise_first(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)b, (void)i;
  return x[0];
}

MlirValue elementwise_not_pred(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return ir_binary(b, "arith.xori", x[0], like(b, x[0], 1));
}

MlirValue elementwise_not(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return ir_binary(b, "arith.xori", x[0], like(b, x[0], -1));
}

MlirValue elementwise_negate_integer(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return ir_binary(b, "arith.subi", like(b, x[0], 0), x[0]);
}

MlirValue elementwise_sign_signed(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  MlirValue zero = like(b, x[0], 0), last = like(b, x[0], ir_bit_width(mlirValueGetType(x[0])) - 1);
  MlirValue sign = ir_binary(b, "arith.shrsi", x[0], last);
  MlirValue nonzero = ir_binary(b, "arith.ori", sign, like(b, x[0], 1));
  return ir_select(b, ir_cmpi(b, "eq", x[0], zero), zero, nonzero);
}

MlirValue elementwise_sign_unsigned(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return ir_binary(b, "arith.minui", x[0], like(b, x[0], 1));
}

// --- division

// INT_MIN of the type, as the sign-extended number ir_int takes.
static int64_t least_value(MlirValue x) { return INT64_MIN >> (64 - ir_bit_width(mlirValueGetType(x))); }

static MlirValue is_zero(ir_builder *b, MlirValue y) { return ir_cmpi(b, "eq", y, like(b, y, 0)); }

// y, or 1 where x / y has no value.
static MlirValue safe_divisor(ir_builder *b, MlirValue x, MlirValue y, bool is_signed) {
  MlirValue unsafe = is_zero(b, y);
  if (is_signed) {
    MlirValue least = ir_cmpi(b, "eq", x, like(b, x, least_value(x))), minus_one = ir_cmpi(b, "eq", y, like(b, y, -1));
    unsafe = ir_binary(b, "arith.ori", unsafe, ir_binary(b, "arith.andi", least, minus_one));
  }
  return ir_select(b, unsafe, like(b, y, 1), y);
}

static MlirValue divide(ir_builder *b, const char *op, const MlirValue *x, bool is_signed) {
  MlirValue quotient = ir_binary(b, op, x[0], safe_divisor(b, x[0], x[1], is_signed));
  MlirValue by_zero = is_zero(b, x[1]);
  return ir_select(b, by_zero, like(b, x[0], -1), quotient);
}

static MlirValue remainder_of(ir_builder *b, const char *op, const MlirValue *x, bool is_signed) {
  MlirValue remainder = ir_binary(b, op, x[0], safe_divisor(b, x[0], x[1], is_signed));
  return ir_select(b, is_zero(b, x[1]), x[0], remainder);
}

MlirValue elementwise_divide_signed(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return divide(b, "arith.divsi", x, true);
}

MlirValue elementwise_divide_unsigned(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return divide(b, "arith.divui", x, false);
}

MlirValue elementwise_remainder_signed(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return remainder_of(b, "arith.remsi", x, true);
}

MlirValue elementwise_remainder_unsigned(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return remainder_of(b, "arith.remui", x, false);
}

// --- shifts

static MlirValue fits(ir_builder *b, MlirValue amount) {
  return ir_cmpi(b, "ult", amount, like(b, amount, ir_bit_width(mlirValueGetType(amount))));
}

static MlirValue shift(ir_builder *b, const char *op, const MlirValue *x) {
  MlirValue zero = like(b, x[0], 0), in_range = fits(b, x[1]);
  return ir_select(b, in_range, ir_binary(b, op, x[0], ir_select(b, in_range, x[1], zero)), zero);
}

MlirValue elementwise_shift_left(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return shift(b, "arith.shli", x);
}

MlirValue elementwise_shift_right_logical(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return shift(b, "arith.shrui", x);
}

MlirValue elementwise_shift_right_arithmetic(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  MlirValue most = like(b, x[1], ir_bit_width(mlirValueGetType(x[1])) - 1);
  return ir_binary(b, "arith.shrsi", x[0], ir_select(b, fits(b, x[1]), x[1], most));
}

// --- powers and high products

// Square and multiply over all bits of the exponent; the product wraps.
static MlirValue unsigned_power(ir_builder *b, MlirValue base, MlirValue exponent) {
  MlirType t = mlirValueGetType(base);
  MlirValue one = ir_int(b, t, 1);
  MlirValue lower = ir_index(b, 0), upper = ir_index(b, ir_bit_width(t));
  MlirOperation loop = ir_for(b, lower, upper, ir_index(b, 1), 3, (MlirValue[]){one, base, exponent});
  MlirBlock body = ir_body(loop, 0);
  ir_builder in = ir_builder_at_end(b->context, body, b->arena);
  MlirValue product = mlirBlockGetArgument(body, 1), square = mlirBlockGetArgument(body, 2);
  MlirValue rest = mlirBlockGetArgument(body, 3), in_one = ir_int(&in, t, 1);
  MlirValue last_bit = ir_binary(&in, "arith.andi", rest, in_one);
  MlirValue odd = ir_cmpi(&in, "ne", last_bit, ir_int(&in, t, 0));
  MlirValue next = ir_select(&in, odd, ir_binary(&in, "arith.muli", product, square), product);
  square = ir_binary(&in, "arith.muli", square, square);
  rest = ir_binary(&in, "arith.shrui", rest, in_one);
  ir_yield(&in, 3, (MlirValue[]){next, square, rest});
  return ir_result(loop, 0);
}

MlirValue elementwise_power_unsigned(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return unsigned_power(b, x[0], x[1]);
}

// A negative exponent gives 1 for base 1, ±1 for base -1 by parity, else 0.
MlirValue elementwise_power_signed(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  MlirValue zero = like(b, x[0], 0), one = like(b, x[0], 1), minus_one = like(b, x[0], -1);
  MlirValue odd = ir_cmpi(b, "ne", ir_binary(b, "arith.andi", x[1], one), zero);
  MlirValue of_minus_one = ir_select(b, odd, minus_one, one);
  MlirValue reciprocal = ir_select(b, ir_cmpi(b, "eq", x[0], minus_one), of_minus_one, zero);
  reciprocal = ir_select(b, ir_cmpi(b, "eq", x[0], one), one, reciprocal);
  MlirValue is_negative = ir_cmpi(b, "slt", x[1], zero);
  return ir_select(b, is_negative, reciprocal, unsigned_power(b, x[0], x[1]));
}

static MlirValue high_product(ir_builder *b, const char *extend, const MlirValue *x) {
  MlirType t = mlirValueGetType(x[0]);
  int width = ir_bit_width(t);
  MlirType wide = ir_like(t, mlirIntegerTypeGet(b->context, (unsigned)width * 2));
  MlirValue l = ir_cast(b, extend, wide, x[0]), r = ir_cast(b, extend, wide, x[1]);
  MlirValue product = ir_binary(b, "arith.muli", l, r);
  return ir_cast(b, "arith.trunci", t, ir_binary(b, "arith.shrui", product, ir_int(b, wide, width)));
}

MlirValue elementwise_mulhi_signed(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return high_product(b, "arith.extsi", x);
}

MlirValue elementwise_mulhi_unsigned(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return high_product(b, "arith.extui", x);
}

// --- comparing and choosing

typedef struct predicate_row {
  const char *of_float, *of_signed, *of_unsigned;
} predicate_row;

static const predicate_row predicates[] = {
    [COMPARE_EQ] = {"oeq", "eq", "eq"},   [COMPARE_NE] = {"une", "ne", "ne"},   [COMPARE_GE] = {"oge", "sge", "uge"},
    [COMPARE_GT] = {"ogt", "sgt", "ugt"}, [COMPARE_LE] = {"ole", "sle", "ule"}, [COMPARE_LT] = {"olt", "slt", "ult"},
};

static MlirValue part(ir_builder *b, const char *op, MlirValue z) {
  return ir_cast(b, op, emit_real_type(mlirValueGetType(z)), z);
}

// Only equality is defined on complex numbers; the verifier has seen to it.
static MlirValue compare_complex(ir_builder *b, const char *predicate, bool equal, const MlirValue *x) {
  MlirValue l_re = part(b, "complex.re", x[0]), r_re = part(b, "complex.re", x[1]);
  MlirValue re = ir_cmpf(b, predicate, l_re, r_re);
  MlirValue l_im = part(b, "complex.im", x[0]), r_im = part(b, "complex.im", x[1]);
  MlirValue im = ir_cmpf(b, predicate, l_im, r_im);
  return ir_binary(b, equal ? "arith.andi" : "arith.ori", re, im);
}

MlirValue elementwise_compare(ir_builder *b, const instruction *i, const MlirValue *x) {
  dtype t = operand_dtype(i, 0);
  const predicate_row *row = &predicates[i->attributes->direction];
  if (dtype_is_complex(t)) return compare_complex(b, row->of_float, i->attributes->direction == COMPARE_EQ, x);
  if (dtype_is_float(t)) {
    bool total = i->attributes->compare_type == COMPARISON_TOTAL_ORDER;
    return total ? elementwise_compare_total(b, row->of_signed, t, x[0], x[1]) : ir_cmpf(b, row->of_float, x[0], x[1]);
  }
  return ir_cmpi(b, is_unsigned(t) ? row->of_unsigned : row->of_signed, x[0], x[1]);
}

// min(max(lo, x), hi); so a NaN anywhere comes through.
MlirValue elementwise_clamp(ir_builder *b, const instruction *i, const MlirValue *x) {
  dtype t = i->shape->dtype;
  const char *max = dtype_is_float(t) ? "arith.maximumf" : is_unsigned(t) ? "arith.maxui" : "arith.maxsi";
  const char *min = dtype_is_float(t) ? "arith.minimumf" : is_unsigned(t) ? "arith.minui" : "arith.minsi";
  return ir_binary(b, min, ir_binary(b, max, x[0], x[1]), x[2]);
}

MlirValue elementwise_select(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return ir_select(b, x[0], x[1], x[2]);
}

MlirValue elementwise_convert(ir_builder *b, const instruction *i, const MlirValue *x) {
  return emit_convert(b, x[0], operand_dtype(i, 0), i->shape->dtype);
}
