// Algebraic rules of conversions: convert(convert(x)) where the first one keeps every value, and conversions to the
// type that is there.
#include "opt/algebraic_rules.h"

// What a real type holds exactly: integers of so many bits, floats with so many bits of significand (the leading one
// included) and binary exponents in a range.
typedef struct precision {
  int significand, least_exponent, greatest_exponent;
} precision;

// Of the floats that IEEE's rules describe; the kinds without infinity or negative zero are left out.
static const precision precisions[DTYPE_COUNT] = {
    [DTYPE_F8E5M2] = {3, -16, 15},   [DTYPE_F8E4M3] = {4, -9, 7},   [DTYPE_F8E3M4] = {5, -6, 3},
    [DTYPE_F16] = {11, -24, 15},     [DTYPE_BF16] = {8, -133, 127}, [DTYPE_F32] = {24, -149, 127},
    [DTYPE_F64] = {53, -1074, 1023},
};

static bool is_integer(dtype t) { return dtype_is_integer(t) || t == DTYPE_PRED; }
static int value_bits(dtype t) { return t == DTYPE_PRED ? 1 : dtypes[t].bits - dtype_is_signed(t); }

// Whether every value of `from` is one of `to`.
static bool holds(dtype to, dtype from) {
  const precision *p = &precisions[to], *q = &precisions[from];
  if (is_integer(from) && is_integer(to))
    return to != DTYPE_PRED && (dtype_is_signed(to) || !dtype_is_signed(from)) && value_bits(to) >= value_bits(from);
  if (is_integer(from)) return p->significand >= value_bits(from) + 1 && p->greatest_exponent >= dtypes[from].bits;
  return q->significand > 0 && p->significand >= q->significand && p->least_exponent <= q->least_exponent &&
         p->greatest_exponent >= q->greatest_exponent;
}

// Floats become the nearest integers there are, integers of other types wrap.
static bool saturates(dtype from, dtype through, dtype to) {
  return is_integer(from) && is_integer(to) && !is_integer(through) && !holds(to, from);
}

// Integers keep their low bits on every way through integers.
static bool keeps_low_bits(dtype from, dtype through, dtype to) {
  return dtype_is_integer(from) && dtype_is_integer(through) && dtype_is_integer(to) &&
         dtypes[to].bits <= dtypes[through].bits;
}

// Whether an iota of either type counts without rounding or wrapping.
static bool counts_as_far(const instruction *convert) {
  const instruction *iota = convert->operands[0];
  const dtype types[] = {convert->shape->dtype, iota->shape->dtype};
  const int64_t count = iota->shape->dims[iota->attributes->iota_dimension];
  for (int k = 0; k < 2; k++) {
    const int bits = dtype_is_integer(types[k]) ? value_bits(types[k]) : precisions[types[k]].significand;
    if (types[k] == DTYPE_PRED || bits == 0 || (bits < 62 && count > (int64_t)1 << bits)) return false;
    if (!dtype_is_integer(types[k]) && bits > precisions[types[k]].greatest_exponent) return false;
  }
  return true;
}

instruction *algebraic_convert(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  const dtype to = i->shape->dtype;
  if (x->shape->dtype == to) return x;
  if (x->opcode == HLO_IOTA && counts_as_far(i))
    return builder_iota(b, to, i->shape->rank, i->shape->dims, x->attributes->iota_dimension);
  if (x->opcode != HLO_CONVERT) return NULL;
  const dtype from = x->operands[0]->shape->dtype, through = x->shape->dtype;
  if (!holds(through, from) && !keeps_low_bits(from, through, to)) return NULL;
  if (saturates(from, through, to)) return NULL;
  return builder_convert(b, x->operands[0], to);
}

// Bits that keep their width element by element. Predicates are made 0 or 1 on the way.
instruction *algebraic_bitcast_convert(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  if (x->shape->dtype == i->shape->dtype) return x;
  if (x->opcode != HLO_BITCAST_CONVERT || x->shape->dtype == DTYPE_PRED) return NULL;
  if (x->operands[0]->shape->rank != i->shape->rank || x->shape->rank != i->shape->rank) return NULL;
  if (x->operands[0]->shape->dtype == i->shape->dtype) return x->operands[0];
  return builder_add(b, HLO_BITCAST_CONVERT, i->shape, 1, &x->operands[0]);
}

instruction *algebraic_reduce_precision(const builder *b, instruction *i) {
  static const struct {
    int exponent_bits, mantissa_bits;
  } whole[DTYPE_COUNT] = {[DTYPE_F16] = {5, 10}, [DTYPE_BF16] = {8, 7}, [DTYPE_F32] = {8, 23}, [DTYPE_F64] = {11, 52}};
  const dtype t = i->shape->dtype;
  (void)b;
  if (whole[t].exponent_bits == 0) return NULL;
  return i->attributes->exponent_bits >= whole[t].exponent_bits &&
                 i->attributes->mantissa_bits >= whole[t].mantissa_bits
             ? i->operands[0]
             : NULL;
}
