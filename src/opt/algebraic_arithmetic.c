// Algebraic rules of arithmetic that hold for every value: NaN, infinities, both zeros, and integers that wrap.
//
// x + 0 is x for integers only (-0 + 0 is 0), x + -0 and x - 0 for floats too. Nothing is known of 0 * x, x - x or
// x / x of floats. Complex products and quotients are left alone: their formulas make NaN of infinities.
#include <math.h>
#include <stdlib.h>

#include "hlo/combiner.h"
#include "opt/algebraic_rules.h"
#include "opt/uniform.h"

static bool is_discrete(const instruction *i) {
  return dtype_is_integer(i->shape->dtype) || i->shape->dtype == DTYPE_PRED;
}

static bool is_integer(const instruction *i) { return dtype_is_integer(i->shape->dtype); }

static bool is_real(const instruction *i) { return is_integer(i) || dtype_is_float(i->shape->dtype); }

// The value that added to x gives x: -0 of floats.
static bool is_neutral_of_add(const instruction *i) {
  return is_discrete(i) ? uniform_is_int(i, 0) : uniform_is_float(i, -0.0);
}

// y of negate(y). Null where there are no negative numbers: the negation is NaN.
static instruction *negated(const instruction *i) {
  return i->opcode == HLO_NEGATE && i->shape->dtype != DTYPE_F8E8M0FNU ? i->operands[0] : NULL;
}

// The same where nobody else needs it. Negated constants are for constant folding.
static instruction *negated_once(const instruction *i) {
  if (!negated(i) || i->users.size != 1 || uniform_value(i->operands[0])) return NULL;
  return i->operands[0];
}

// (x op c1) op c2 -> x op (c1 op c2), of integers, whose sums and products wrap whatever the order.
static instruction *gather_constants(const builder *b, instruction *i) {
  instruction *inner = i->operands[0], *c2 = i->operands[1];
  if (!is_integer(i) || inner->opcode != i->opcode || !uniform_value(c2) || !uniform_value(inner->operands[1]))
    return NULL;
  if (uniform_value(inner->operands[0])) return NULL;
  return builder_binary(b, i->opcode, inner->operands[0], builder_binary(b, i->opcode, inner->operands[1], c2));
}

// c op x -> x op c, so that the rules look for constants on the right.
static instruction *constant_last(const builder *b, instruction *i) {
  if (!uniform_value(i->operands[0]) || uniform_value(i->operands[1])) return NULL;
  return builder_binary(b, i->opcode, i->operands[1], i->operands[0]);
}

// Whether no element is -0, so that adding 0 changes nothing. A sum that starts from 0 is exact where it is near 0.
static bool is_never_negative_zero(const instruction *i) {
  switch (i->opcode) {
    case HLO_ABS:
    case HLO_EXPONENTIAL:
    case HLO_IOTA: return true;
    case HLO_MULTIPLY: return i->operands[0] == i->operands[1];
    case HLO_CONVERT: return is_discrete(i->operands[0]);
    case HLO_ADD: return uniform_is_float(i->operands[0], 0) || uniform_is_float(i->operands[1], 0);
    case HLO_REDUCE:
      return i->operand_count == 2 && combiner_opcode(i->called[0]) == HLO_ADD && uniform_is_float(i->operands[1], 0);
    default: return false;
  }
}

static bool adds_nothing(const instruction *x, const instruction *y) {
  return is_neutral_of_add(y) ||
         (dtype_is_float(x->shape->dtype) && uniform_is_float(y, 0) && is_never_negative_zero(x));
}

instruction *algebraic_add(const builder *b, instruction *i) {
  instruction *x = i->operands[0], *y = i->operands[1], *once;
  if (adds_nothing(x, y)) return x;
  if (adds_nothing(y, x)) return y;
  if (is_real(i) && (once = negated_once(y))) return builder_binary(b, HLO_SUBTRACT, x, once);
  if (is_real(i) && (once = negated_once(x))) return builder_binary(b, HLO_SUBTRACT, y, once);
  instruction *swapped = constant_last(b, i);
  return swapped ? swapped : gather_constants(b, i);
}

instruction *algebraic_subtract(const builder *b, instruction *i) {
  instruction *x = i->operands[0], *y = i->operands[1], *once;
  if (!is_real(i) && !dtype_is_complex(i->shape->dtype)) return NULL;
  if (uniform_is(y, 0)) return x;
  if (is_neutral_of_add(x)) return builder_unary(b, HLO_NEGATE, y);
  if (is_integer(i) && x == y) return builder_like_int(b, i, 0);
  if (is_real(i) && (once = negated_once(y))) return builder_binary(b, HLO_ADD, x, once);
  // x - c -> x + -c: sums of integers gather their constants.
  if (is_integer(i) && uniform_value(y) && !uniform_value(x))
    return builder_binary(b, HLO_ADD, x, builder_unary(b, HLO_NEGATE, y));
  return NULL;
}

instruction *algebraic_multiply(const builder *b, instruction *i) {
  instruction *x = i->operands[0], *y = i->operands[1];
  if (!is_real(i) && !is_discrete(i)) return NULL;
  if (uniform_is(y, 1)) return x;
  if (uniform_is(x, 1)) return y;
  if (uniform_is_int(y, 0)) return y;
  if (uniform_is_int(x, 0)) return x;
  if (is_real(i) && uniform_is(y, -1)) return builder_unary(b, HLO_NEGATE, x);
  instruction *swapped = constant_last(b, i);
  return swapped ? swapped : gather_constants(b, i);
}

// A power of two whose inverse is a normal number of the type.
static bool reciprocal_is_exact(dtype t, double value) {
  int exponent;
  if (!isfinite(value) || fabs(frexp(value, &exponent)) != 0.5) return false;  // NOLINT: exactly a power of two
  const int room = t == DTYPE_F64 ? 1020 : t == DTYPE_F16 ? 12 : t == DTYPE_F32 || t == DTYPE_BF16 ? 124 : -1;
  return abs(exponent) <= room;
}

instruction *algebraic_divide(const builder *b, instruction *i) {
  instruction *x = i->operands[0], *y = i->operands[1];
  if (!is_real(i)) return NULL;
  if (uniform_is(y, 1)) return x;
  const literal *c = dtype_is_float(i->shape->dtype) ? uniform_value(y) : NULL;
  if (!c || !reciprocal_is_exact(i->shape->dtype, literal_get_double(c, 0))) return NULL;
  // Both are the one exact quotient, rounded once.
  return builder_binary(b, HLO_MULTIPLY, x, builder_like(b, i, 1 / literal_get_double(c, 0)));
}

instruction *algebraic_remainder(const builder *b, instruction *i) {
  return is_integer(i) && uniform_is_int(i->operands[1], 1) ? builder_like_int(b, i, 0) : NULL;
}

instruction *algebraic_power(const builder *b, instruction *i) {
  instruction *x = i->operands[0], *y = i->operands[1];
  if (!is_real(i)) return NULL;
  if (uniform_is(y, 1)) return x;
  if (uniform_is(y, 0)) return is_integer(i) ? builder_like_int(b, i, 1) : builder_like(b, i, 1);
  if (uniform_is(y, 2)) return builder_binary(b, HLO_MULTIPLY, x, x);
  if (dtype_is_float(i->shape->dtype) && uniform_is(y, -1))
    return builder_binary(b, HLO_DIVIDE, builder_like(b, i, 1), x);
  return NULL;
}

static instruction *extremum(instruction *i, bool (*is_neutral)(const instruction *),
                             bool (*is_absorbing)(const instruction *)) {
  instruction *x = i->operands[0], *y = i->operands[1];
  if (x == y || is_neutral(y)) return x;
  if (is_neutral(x)) return y;
  // NaN wins against any number, so that nothing absorbs floats.
  if (is_discrete(i) && is_absorbing(y)) return y;
  return is_discrete(i) && is_absorbing(x) ? x : NULL;
}

instruction *algebraic_maximum(const builder *b, instruction *i) {
  (void)b;
  return extremum(i, uniform_is_lowest, uniform_is_highest);
}

instruction *algebraic_minimum(const builder *b, instruction *i) {
  (void)b;
  return extremum(i, uniform_is_highest, uniform_is_lowest);
}

instruction *algebraic_negate(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  if (negated(x)) return negated(x);
  if (is_integer(i) && x->opcode == HLO_SUBTRACT && x->users.size == 1)
    return builder_binary(b, HLO_SUBTRACT, x->operands[1], x->operands[0]);
  return NULL;
}

instruction *algebraic_abs(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  if (dtypes[x->shape->dtype].class == CLASS_UNSIGNED) return x;
  if (x->opcode == HLO_ABS) return x;
  if (negated(x)) return builder_unary(b, HLO_ABS, negated(x));
  return NULL;
}

// What is whole stays as it is.
instruction *algebraic_round(const builder *b, instruction *i) {
  (void)b;
  switch (i->operands[0]->opcode) {
    case HLO_CEIL:
    case HLO_FLOOR:
    case HLO_ROUND_NEAREST_AFZ:
    case HLO_ROUND_NEAREST_EVEN: return i->operands[0];
    default: return NULL;
  }
}

instruction *algebraic_real(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  (void)b;
  if (!dtype_is_complex(x->shape->dtype)) return x;
  return x->opcode == HLO_COMPLEX ? x->operands[0] : NULL;
}

instruction *algebraic_imag(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  if (!dtype_is_complex(x->shape->dtype)) return builder_like(b, i, 0);
  return x->opcode == HLO_COMPLEX ? x->operands[1] : NULL;
}

instruction *algebraic_complex(const builder *b, instruction *i) {
  const instruction *re = i->operands[0], *im = i->operands[1];
  (void)b;
  if (re->opcode != HLO_REAL || im->opcode != HLO_IMAG || re->operands[0] != im->operands[0]) return NULL;
  return re->operands[0];
}
