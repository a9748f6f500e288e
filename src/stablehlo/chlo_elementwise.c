// CHLO's elementwise functions. Types narrower than f32 are computed in f32 and rounded once.
#include "stablehlo/chlo.h"

#include <math.h>

#include "stablehlo/build.h"
#include "stablehlo/chlo_math.h"

// Functions that HLO has too.
static const hlo_opcode same[IR_OP_COUNT] = {
    [IR_OP_CHLO_ACOS] = HLO_ACOS,   [IR_OP_CHLO_ACOSH] = HLO_ACOSH, [IR_OP_CHLO_ASIN] = HLO_ASIN,
    [IR_OP_CHLO_ASINH] = HLO_ASINH, [IR_OP_CHLO_ATAN] = HLO_ATAN,   [IR_OP_CHLO_ATANH] = HLO_ATANH,
    [IR_OP_CHLO_COSH] = HLO_COSH,   [IR_OP_CHLO_ERF] = HLO_ERF,     [IR_OP_CHLO_MULHI] = HLO_MULHI,
    [IR_OP_CHLO_SINH] = HLO_SINH,   [IR_OP_CHLO_TAN] = HLO_TAN,
};

typedef instruction *chlo_function(lowering *l, instruction *const *x);

static instruction *erf_inv(lowering *l, instruction *const *x) { return chlo_erf_inv(l, x[0]); }
static instruction *erf_complement(lowering *l, instruction *const *x) { return chlo_erfc(l, x[0]); }
static instruction *log_gamma(lowering *l, instruction *const *x) { return chlo_lgamma(l, x[0]); }
static instruction *psi(lowering *l, instruction *const *x) { return chlo_digamma(l, x[0]); }
static instruction *bessel_i1e(lowering *l, instruction *const *x) { return chlo_bessel_i1e(l, x[0]); }
static instruction *zeta(lowering *l, instruction *const *x) { return chlo_zeta(l, x[0], x[1]); }
static instruction *polygamma(lowering *l, instruction *const *x) { return chlo_polygamma(l, x[0], x[1]); }

// Functions made of arithmetic on real f32 or f64.
static chlo_function *const composed[IR_OP_COUNT] = {
    [IR_OP_CHLO_BESSEL_I1E] = bessel_i1e,
    [IR_OP_CHLO_DIGAMMA] = psi,
    [IR_OP_CHLO_ERF_INV] = erf_inv,
    [IR_OP_CHLO_ERFC] = erf_complement,
    [IR_OP_CHLO_LGAMMA] = log_gamma,
    [IR_OP_CHLO_POLYGAMMA] = polygamma,
    [IR_OP_CHLO_ZETA] = zeta,
};

static instruction *next_after(lowering *l, instruction *const *x) { return chlo_next_after(l, x[0], x[1]); }

static instruction *conj_of(lowering *l, instruction *const *x) {
  if (!dtype_is_complex(x[0]->shape->dtype)) return x[0];
  instruction *real = build_unary(l, HLO_REAL, x[0]);
  instruction *imag = build_unary(l, HLO_NEGATE, build_unary(l, HLO_IMAG, x[0]));
  return build_binary(l, HLO_COMPLEX, real, imag);
}

// (x + iy)² as (x - y)(x + y) + 2xyi: no overflow that the result does not have, and exactly 0 where |x| = |y|.
static instruction *square(lowering *l, instruction *const *z) {
  if (!dtype_is_complex(z[0]->shape->dtype)) return build_binary(l, HLO_MULTIPLY, z[0], z[0]);
  instruction *x = build_unary(l, HLO_REAL, z[0]), *y = build_unary(l, HLO_IMAG, z[0]);
  instruction *difference = build_binary(l, HLO_SUBTRACT, x, y);
  instruction *product = build_binary(l, HLO_MULTIPLY, difference, build_binary(l, HLO_ADD, x, y));
  instruction *x_size = build_unary(l, HLO_ABS, x), *y_size = build_unary(l, HLO_ABS, y);
  instruction *is_equal = build_compare(l, x_size, y_size, COMPARE_EQ);
  instruction *cancels = build_binary(l, HLO_AND, build_unary(l, HLO_IS_FINITE, x), is_equal);
  instruction *real = build_select(l, cancels, build_like(l, x, 0), product);
  instruction *imag = build_binary(l, HLO_MULTIPLY, build_like(l, x, 2), build_binary(l, HLO_MULTIPLY, x, y));
  return build_binary(l, HLO_COMPLEX, real, imag);
}

// Types without infinities would read the constant as something else.
static instruction *equals(lowering *l, instruction *x, double value) {
  if (dtypes[x->shape->dtype].is_narrow_float) x = build_convert(l, x, DTYPE_F32);
  return build_compare(l, x, build_like(l, x, value), COMPARE_EQ);
}

static instruction *is_inf(lowering *l, instruction *const *x) {
  return equals(l, build_unary(l, HLO_ABS, x[0]), INFINITY);
}
static instruction *is_positive_inf(lowering *l, instruction *const *x) { return equals(l, x[0], INFINITY); }
static instruction *is_negative_inf(lowering *l, instruction *const *x) { return equals(l, x[0], -INFINITY); }

// The number w with asin(z) = atan2(Re z, Re w) + i sign(Im z) Im w: Im w is |Im asin z|, and Re w, which is
// cos(Re asin z) cosh(Im asin z), is |Im z| / tanh(Im w) or, on the real line, sqrt(1 - z²).
static instruction *asin_acos_kernel(lowering *l, instruction *const *z) {
  instruction *size = build_unary(l, HLO_ABS, build_unary(l, HLO_IMAG, build_unary(l, HLO_ASIN, z[0])));
  instruction *x = build_unary(l, HLO_REAL, z[0]), *y = build_unary(l, HLO_ABS, build_unary(l, HLO_IMAG, z[0]));
  instruction *one = build_like(l, x, 1);
  instruction *below = build_binary(l, HLO_SUBTRACT, one, x);
  instruction *above = build_binary(l, HLO_ADD, one, x);
  instruction *on_line = build_unary(l, HLO_SQRT, build_binary(l, HLO_MULTIPLY, below, above));
  instruction *beside = build_binary(l, HLO_DIVIDE, y, build_unary(l, HLO_TANH, size));
  instruction *is_on_line = build_compare(l, size, build_like(l, size, 0), COMPARE_EQ);
  return build_binary(l, HLO_COMPLEX, build_select(l, is_on_line, on_line, beside), size);
}

// Functions of more element types than f32 and f64.
static const struct general_function {
  chlo_function *make;
  unsigned classes;
} general[IR_OP_COUNT] = {
    [IR_OP_CHLO_ASIN_ACOS_KERNEL] = {asin_acos_kernel, CLASS_COMPLEX},
    [IR_OP_CHLO_CONJ] = {conj_of, CLASS_NUMBER},
    [IR_OP_CHLO_IS_INF] = {is_inf, CLASS_FLOAT},
    [IR_OP_CHLO_IS_NEG_INF] = {is_negative_inf, CLASS_FLOAT},
    [IR_OP_CHLO_IS_POS_INF] = {is_positive_inf, CLASS_FLOAT},
    [IR_OP_CHLO_NEXT_AFTER] = {next_after, CLASS_FLOAT},
    [IR_OP_CHLO_SQUARE] = {square, CLASS_NUMBER},
};

// FNUZ types have NaN where the others have -0.
static bool lacks_negative_zero(dtype t) {
  return t == DTYPE_F8E4M3B11FNUZ || t == DTYPE_F8E5M2FNUZ || t == DTYPE_F8E4M3FNUZ;
}

static dtype bits_type(dtype t) {
  switch (dtypes[t].bits) {
    case 4: return DTYPE_U4;
    case 8: return DTYPE_U8;
    case 16: return DTYPE_U16;
    case 32: return DTYPE_U32;
    default: return DTYPE_U64;
  }
}

static instruction *bitcast(lowering *l, instruction *x, dtype to) {
  return build_add(l, HLO_BITCAST_CONVERT, shape_with_dtype(l->arena, x->shape, to), 1, &x);
}

typedef struct sign_and_size {
  instruction *bits, *sign, *size;
} sign_and_size;

static sign_and_size take_apart(lowering *l, instruction *x, int64_t sign_bit) {
  sign_and_size p = {.bits = bitcast(l, x, bits_type(x->shape->dtype))};
  p.sign = build_binary(l, HLO_AND, p.bits, build_like_int(l, p.bits, sign_bit));
  p.size = build_binary(l, HLO_AND, p.bits, build_like_int(l, p.bits, ~sign_bit));
  return p;
}

// Bits of floats of one sign are ordered as their sizes are, so the neighbour is one more or less; zero's neighbour is
// the smallest number with y's sign.
static instruction *neighbour_bits(lowering *l, instruction *x, instruction *y) {
  dtype t = x->shape->dtype;
  bool is_unsigned = t == DTYPE_F8E8M0FNU;
  int64_t sign_bit = is_unsigned ? 0 : (int64_t)((uint64_t)1 << (dtypes[t].bits - 1));
  sign_and_size from = take_apart(l, x, sign_bit), to = take_apart(l, y, sign_bit);
  instruction *zero = build_like_int(l, from.bits, 0), *one = build_like_int(l, from.bits, 1);
  instruction *is_larger = build_compare(l, from.size, to.size, COMPARE_GT);
  instruction *crosses = build_compare(l, from.sign, to.sign, COMPARE_NE);
  instruction *shrinks = build_binary(l, HLO_OR, is_larger, crosses);
  instruction *smaller = build_binary(l, HLO_SUBTRACT, from.bits, one);
  if (lacks_negative_zero(t)) {
    instruction *is_least = build_compare(l, from.size, one, COMPARE_EQ);
    smaller = build_select(l, is_least, zero, smaller);
  }
  instruction *moved = build_select(l, shrinks, smaller, build_binary(l, HLO_ADD, from.bits, one));
  instruction *is_zero = build_compare(l, from.size, zero, COMPARE_EQ);
  moved = build_select(l, is_zero, build_binary(l, HLO_OR, to.sign, one), moved);
  return build_select(l, build_compare(l, x, y, COMPARE_EQ), to.bits, moved);
}

instruction *chlo_next_after(lowering *l, instruction *x, instruction *y) {
  instruction *moved = bitcast(l, neighbour_bits(l, x, y), x->shape->dtype);
  instruction *x_is_nan = build_compare(l, x, x, COMPARE_NE);
  instruction *y_is_nan = build_compare(l, y, y, COMPARE_NE);
  instruction *with_y = build_select(l, y_is_nan, y, moved);
  return build_select(l, x_is_nan, x, with_y);
}

static heddle_status wants_operands(lowering *l, const ir_operation *op, instruction *const *operands, int count,
                                    unsigned classes) {
  if (op->operand_count != count || op->result_count != 1)
    return lowering_invalid(op, "found %d operands and %d results, wanted %d and one", op->operand_count,
                            op->result_count, count);
  for (int k = 0; k < count; k++) {
    const shape *s = operands[k]->shape;
    if (!(dtypes[s->dtype].class & classes))
      return lowering_invalid(op, "it is not defined for %s", shape_text(l->arena, s));
    if (s->dtype != operands[0]->shape->dtype || !shape_same_dims(s, operands[0]->shape))
      return lowering_invalid(op, "found operands %s and %s, wanted the same shape",
                              shape_text(l->arena, operands[0]->shape), shape_text(l->arena, s));
  }
  return status_ok();
}

static bool is_binary(ir_opcode op) {
  return op == IR_OP_CHLO_MULHI || op == IR_OP_CHLO_NEXT_AFTER || op == IR_OP_CHLO_ZETA || op == IR_OP_CHLO_POLYGAMMA;
}

static instruction *make_composed(lowering *l, const ir_operation *op, instruction *const *operands, int count) {
  dtype t = operands[0]->shape->dtype;
  if (!dtypes[t].is_narrow_float) return composed[op->op](l, operands);
  instruction *wide[2];
  for (int k = 0; k < count; k++) wide[k] = build_convert(l, operands[k], DTYPE_F32);
  return build_convert(l, composed[op->op](l, wide), t);
}

heddle_status lower_chlo_function(lowering *l, const ir_operation *op, instruction *const *operands,
                                  instruction **results) {
  int count = is_binary(op->op) ? 2 : 1;
  unsigned classes = CLASS_FLOAT;
  if (general[op->op].make) classes = general[op->op].classes;
  if (same[op->op]) classes = hlo_ops[same[op->op]].classes;
  TRY(wants_operands(l, op, operands, count, classes));
  if (same[op->op]) {
    results[0] = build_add(l, same[op->op], operands[0]->shape, count, operands);
    return build_infer(l, results[0]);
  }
  if (composed[op->op]) results[0] = make_composed(l, op, operands, count);
  else if (general[op->op].make) results[0] = general[op->op].make(l, operands);
  else return lowering_refuse(op, "it is no function of CHLO's");
  return status_ok();
}

heddle_status lower_chlo_constant(lowering *l, const ir_operation *op, instruction *const *operands,
                                  instruction **results) {
  (void)operands;
  const ir_attribute *value = ir_find(op, "value");
  if (!value || value->kind != IR_ATTR_ELEMENTS || !value->elements || op->result_count != 1)
    return lowering_invalid(op, "wanted one result and an elements attribute `value`");
  results[0] = build_elements(l, value);
  return status_ok();
}

// The value's type is the result's; only the shape is the operand's.
heddle_status lower_chlo_constant_like(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  const ir_attribute *value = ir_find(op, "value");
  const shape *like = op->operand_count == 1 ? operands[0]->shape : NULL;
  dtype t = op->result_count == 1 ? ir_type_dtype(op->results[0]->type) : DTYPE_INVALID;
  if (!like || !shape_is_array(like) || !dtype_is_array(t))
    return lowering_invalid(op, "wanted an array and one result that is an array");
  literal *scalar;
  TRY(literal_create(l->arena, shape_scalar(l->arena, t), &scalar));
  bool is_integer = value && (value->kind == IR_ATTR_INTEGER || value->kind == IR_ATTR_BOOL);
  if (!is_integer && (!value || value->kind != IR_ATTR_FLOAT))
    return lowering_invalid(op, "wanted a number as attribute `value`");
  if (is_integer) literal_set_int(scalar, 0, value->integer);
  else literal_set_double(scalar, 0, value->number);
  results[0] = build_constant(l, scalar);
  if (like->rank) results[0] = build_broadcast(l, results[0], like, 0, NULL);
  return status_ok();
}
