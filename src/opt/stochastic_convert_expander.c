// Stochastic-convert expander.
//
// The value lies between two neighbours of the type wanted. Which of them it becomes is a comparison of the random bits
// with the part of the step that lies behind the one nearer to zero, as so many bits. All of that is exact in f64.
#include "opt/passes.h"

#include <math.h>

#include "opt/rewrite.h"

typedef struct expansion {
  builder b;
  const instruction *original;
  dtype to;
  instruction *x;       // f64
  instruction *random;  // u64
} expansion;

static instruction *binary(const expansion *e, hlo_opcode opcode, instruction *l, instruction *r) {
  return builder_binary(&e->b, opcode, l, r);
}

static instruction *number(const expansion *e, double value) { return builder_like(&e->b, e->x, value); }

static instruction *compare(const expansion *e, instruction *l, comparison_direction direction, instruction *r) {
  return builder_compare(&e->b, l, r, direction);
}

static dtype unsigned_of(int bits) {
  return bits == 8 ? DTYPE_U8 : bits == 16 ? DTYPE_U16 : bits == 32 ? DTYPE_U32 : DTYPE_U64;
}

static instruction *cast_bits(const expansion *e, instruction *x, dtype to) {
  if (x->shape->dtype == to) return x;
  return builder_add(&e->b, HLO_BITCAST_CONVERT, shape_with_dtype(e->b.arena, x->shape, to), 1, &x);
}

// Whether the part that is cut off, `fraction` of the step to the next value, is more than the random bits say.
static instruction *rounds_up(const expansion *e, instruction *fraction) {
  const int bits = dtypes[e->original->operands[1]->shape->dtype].bits;
  instruction *scaled = binary(e, HLO_MULTIPLY, fraction, number(e, ldexp(1, bits)));
  instruction *always = compare(e, scaled, COMPARE_GE, number(e, 0x1p64));
  instruction *steps = builder_convert(&e->b, scaled, DTYPE_U64);
  return binary(e, HLO_OR, always, compare(e, e->random, COMPARE_LT, steps));
}

// --- to integers

// Towards zero, then up by one with the probability of what was cut off; in the low bits of u64.
static instruction *integer_near(const expansion *e) {
  instruction *magnitude = builder_unary(&e->b, HLO_ABS, e->x);
  instruction *whole = builder_unary(&e->b, HLO_FLOOR, magnitude);
  instruction *up = rounds_up(e, binary(e, HLO_SUBTRACT, magnitude, whole));
  instruction *low = builder_convert(&e->b, whole, DTYPE_U64);
  instruction *result = binary(e, HLO_ADD, low, builder_convert(&e->b, up, DTYPE_U64));
  instruction *is_negative = compare(e, e->x, COMPARE_LT, number(e, 0));
  return builder_select(&e->b, is_negative, builder_unary(&e->b, HLO_NEGATE, result), result);
}

// Beyond the limits the result saturates, and NaN becomes 0.
static instruction *expand_to_integer(const expansion *e) {
  const bool is_signed = dtype_is_signed(e->to);
  const uint64_t top = UINT64_MAX >> (64 - dtypes[e->to].bits + (is_signed ? 1 : 0));
  const int64_t largest = (int64_t)top, smallest = is_signed ? -largest - 1 : 0;
  instruction *near = builder_convert(&e->b, integer_near(e), e->to);
  instruction *is_large = compare(e, e->x, COMPARE_GE, number(e, (double)top));
  instruction *is_small = compare(e, e->x, COMPARE_LE, number(e, (double)smallest));
  instruction *is_nan = compare(e, e->x, COMPARE_NE, e->x);
  instruction *below = builder_select(&e->b, is_large, builder_like_int(&e->b, near, largest), near);
  instruction *within = builder_select(&e->b, is_small, builder_like_int(&e->b, near, smallest), below);
  return builder_select(&e->b, is_nan, builder_like_int(&e->b, near, 0), within);
}

// --- to floats

static instruction *expand_to_float(const expansion *e) {
  const dtype unsigned_type = unsigned_of(dtypes[e->to].bits);
  instruction *rounded = builder_convert(&e->b, e->original->operands[0], e->to);
  instruction *wide = builder_convert(&e->b, rounded, DTYPE_F64);
  instruction *bits = cast_bits(e, rounded, unsigned_type);
  instruction *one = builder_like_int(&e->b, bits, 1);
  // Of both signs the bits count up from zero.
  instruction *rounded_size = builder_unary(&e->b, HLO_ABS, wide);
  instruction *is_far = compare(e, rounded_size, COMPARE_GT, builder_unary(&e->b, HLO_ABS, e->x));
  instruction *low_bits = builder_select(&e->b, is_far, binary(e, HLO_SUBTRACT, bits, one), bits);
  instruction *low = cast_bits(e, low_bits, e->to);
  instruction *high = cast_bits(e, binary(e, HLO_ADD, low_bits, one), e->to);
  instruction *wide_low = builder_convert(&e->b, low, DTYPE_F64);
  instruction *wide_high = builder_convert(&e->b, high, DTYPE_F64);
  instruction *part = binary(e, HLO_SUBTRACT, e->x, wide_low), *step = binary(e, HLO_SUBTRACT, wide_high, wide_low);
  instruction *up = rounds_up(e, binary(e, HLO_DIVIDE, part, step));
  instruction *takes_high = binary(e, HLO_AND, up, builder_unary(&e->b, HLO_IS_FINITE, wide_high));
  instruction *chosen = builder_select(&e->b, takes_high, high, low);
  instruction *is_number = builder_unary(&e->b, HLO_IS_FINITE, e->x);
  instruction *both = binary(e, HLO_AND, is_number, builder_unary(&e->b, HLO_IS_FINITE, wide));
  instruction *is_between = binary(e, HLO_AND, both, compare(e, wide, COMPARE_NE, e->x));
  return builder_select(&e->b, is_between, chosen, rounded);
}

static instruction *expand(instruction *i) {
  expansion e = {.b = builder_for(i), .original = i, .to = i->shape->dtype};
  instruction *bits = i->operands[1];
  e.x = builder_convert(&e.b, i->operands[0], DTYPE_F64);
  bits = cast_bits(&e, bits, unsigned_of(dtypes[bits->shape->dtype].bits));
  e.random = builder_convert(&e.b, bits, DTYPE_U64);
  return dtype_is_float(e.to) ? expand_to_float(&e) : expand_to_integer(&e);
}

static bool can_expand(const instruction *i) {
  if (i->opcode != HLO_STOCHASTIC_CONVERT) return false;
  const dtype from = i->operands[0]->shape->dtype, with = i->operands[1]->shape->dtype, to = i->shape->dtype;
  return dtype_is_float(from) && dtype_is_integer(with) && (dtype_is_float(to) || dtype_is_integer(to)) &&
         dtypes[with].bits >= 8 && dtypes[to].bits >= 8 && to != DTYPE_F8E8M0FNU &&
         shape_same_dims(i->operands[0]->shape, i->operands[1]->shape);
}

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, can_expand, expand); }

const pass opt_stochastic_convert_expander = {
    .name = "stochastic-convert-expander",
    .summary = "stochastic converts become arithmetic",
    .order_reason = "before the algebra, which simplifies what it leaves",
    .use = PASS_NEEDED,
    .run = run,
};
