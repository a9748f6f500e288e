// Random numbers without a state of the program's own: rng and rng-get-and-update-state; and stochastic-convert, which
// rounds by random bits that it is given.
//
// HLO promises of rng only the distribution. Here the numbers follow from the seed and from how many were drawn before,
// so that a run can be repeated.
#include <math.h>

#include "eval/elementwise.h"
#include "eval/parallel.h"

// A word with all bits well mixed, from a counter (the finalizer of SplitMix64).
static uint64_t draw(interpreter *in) {
  uint64_t x = (in->seed + (uint64_t)in->process->id) * 0xd1342543de82ef95 + ++in->random_count * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// In [0, 1), in steps of 2^-53.
static double draw_unit(interpreter *in) { return (double)(draw(in) >> 11) * 0x1p-53; }

// In (0, 1], for a logarithm: the polar form of a pair of normal variables, of which one is used.
static double draw_normal(interpreter *in) {
  const double radius = sqrt(-2 * log(1 - draw_unit(in)));
  return radius * cos(2 * 3.14159265358979323846 * draw_unit(in));
}

// Below the upper bound also after rounding to the type.
static double draw_between(interpreter *in, dtype t, double low, double high) {
  for (int attempt = 0; attempt < 64; attempt++) {
    double v = low + (high - low) * draw_unit(in);
    wide_round(t, &v, 1);
    if (v < high) return v;
  }
  return low;
}

static int64_t draw_integer(interpreter *in, dtype t, int64_t low, int64_t high) {
  const uint64_t range = (uint64_t)high - (uint64_t)low;
  const bool is_empty = dtype_is_signed(t) ? high <= low : (uint64_t)high <= (uint64_t)low;
  if (is_empty) return low;
  return (int64_t)((uint64_t)low + (uint64_t)((unsigned __int128)draw(in) * range >> 64));
}

heddle_status eval_rng(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const dtype t = i->shape->dtype;
  const bool is_normal = i->attributes->distribution == RANDOM_NORMAL;
  if (dtype_is_complex(t) || (is_normal && !dtype_is_float(t))) return interpreter_refuse(i, dtype_name(t));
  if (i->operand_count != 2) return interpreter_refuse(i, "other than two parameters");
  TRY(value_create(&in->pool, i->shape, i->where, out));
  wide_block first, second, block;
  wide_load(t, operands[0]->data, 0, 1, &first);
  wide_load(t, operands[1]->data, 0, 1, &second);
  const int64_t total = shape_element_count(i->shape);
  for (int64_t at = 0; at < total; at += WIDE_LANES) {
    const int64_t count = total - at < WIDE_LANES ? total - at : WIDE_LANES;
    for (int64_t k = 0; k < count; k++) {
      if (is_normal) block.floats[k] = first.floats[0] + second.floats[0] * draw_normal(in);
      else if (dtype_is_float(t)) block.floats[k] = draw_between(in, t, first.floats[0], second.floats[0]);
      else block.ints[k] = draw_integer(in, t, first.ints[0], second.ints[0]);
    }
    wide_store(t, (*out)->data, at, count, &block);
  }
  return status_ok();
}

// A number of 128 bits, handed out before `delta` is added to it.
heddle_status eval_rng_get_and_update_state(interpreter *in, const instruction *i, value *const *operands,
                                            value **out) {
  (void)operands;
  if (i->shape->dtype != DTYPE_U64 || i->shape->rank != 1 || i->shape->dims[0] != 2)
    return interpreter_refuse(i, "a state other than u64[2]");
  TRY(value_create(&in->pool, i->shape, i->where, out));
  memcpy((*out)->data, in->random_state, sizeof in->random_state);
  const uint64_t delta = (uint64_t)i->attributes->delta;
  in->random_state[0] += delta;
  in->random_state[1] += in->random_state[0] < delta;
  return status_ok();
}

// Whether the part that is cut off, `fraction` of the step to the next value, is more than the random bits say. `bits`
// is their number.
static bool rounds_up(double fraction, uint64_t random, int bits) {
  const double scaled = ldexp(fraction, bits);
  return scaled >= 0x1p64 || random < (uint64_t)scaled;
}

// Towards zero, then up by one with the probability of what was cut off. Beyond the limits the result saturates, and
// NaN becomes 0.
static int64_t convert_to_integer(double x, dtype to, uint64_t random, int bits) {
  const int64_t largest = (int64_t)(UINT64_MAX >> (64 - dtypes[to].bits + (dtype_is_signed(to) ? 1 : 0)));
  const int64_t smallest = dtype_is_signed(to) ? -largest - 1 : 0;
  if (isnan(x)) return 0;
  if (x >= (dtype_is_signed(to) ? (double)largest : (double)(uint64_t)largest)) return largest;
  if (x <= (double)smallest) return smallest;
  const double magnitude = fabs(x), whole = floor(magnitude);
  uint64_t result = (uint64_t)whole;
  if (rounds_up(magnitude - whole, random, bits)) result++;
  return x < 0 ? (int64_t)(0 - result) : (int64_t)result;
}

// The float of type `t` next to `x` (which is one) away from zero.
static double next_away(dtype t, double x) {
  if (t == DTYPE_F64) return nextafter(x, copysign(INFINITY, x));
  if (t == DTYPE_F32) return nextafterf((float)x, copysignf(INFINITY, (float)x));
  const float_kind kind = dtypes[t].narrow;
  return copysign(float_decode(kind, float_encode(kind, fabs(x)) + 1), x);
}

static double next_to_zero(dtype t, double x) {
  if (t == DTYPE_F64) return nextafter(x, 0);
  if (t == DTYPE_F32) return nextafterf((float)x, 0);
  const float_kind kind = dtypes[t].narrow;
  return copysign(float_decode(kind, float_encode(kind, fabs(x)) - 1), x);
}

// One of the two values around x, the farther from zero with the probability that it deserves.
static double convert_to_float(double x, dtype to, uint64_t random, int bits) {
  double rounded = x;
  wide_round(to, &rounded, 1);
  if (!isfinite(x) || !isfinite(rounded) || rounded == x) return rounded;
  const double low = fabs(rounded) > fabs(x) ? next_to_zero(to, rounded) : rounded;
  const double high = next_away(to, low);
  if (!isfinite(high)) return low;
  return rounds_up((x - low) / (high - low), random, bits) ? high : low;
}

static heddle_status convert_all(interpreter *in, const instruction *i, value *const *operands, value *result) {
  (void)in;
  const dtype from = operands[0]->shape->dtype, to = i->shape->dtype, with = operands[1]->shape->dtype;
  const int64_t total = shape_element_count(i->shape);
  wide_block x, random, block;
  for (int64_t at = 0; at < total; at += WIDE_LANES) {
    const int64_t count = total - at < WIDE_LANES ? total - at : WIDE_LANES;
    wide_load(from, operands[0]->data, at, count, &x);
    wide_load(with, operands[1]->data, at, count, &random);
    for (int64_t k = 0; k < count; k++) {
      const uint64_t bits = (uint64_t)wide_wrap(random.ints[k], dtypes[with].bits, false);
      if (dtype_is_float(to)) block.floats[k] = convert_to_float(x.floats[k], to, bits, dtypes[with].bits);
      else block.ints[k] = convert_to_integer(x.floats[k], to, bits, dtypes[with].bits);
    }
    wide_store(to, result->data, at, count, &block);
  }
  return status_ok();
}

heddle_status eval_stochastic_convert(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const dtype from = operands[0]->shape->dtype, to = i->shape->dtype, with = operands[1]->shape->dtype;
  if (!dtype_is_float(from) || !dtype_is_integer(with))
    return interpreter_refuse(i, "operands other than floats and bits");
  if (!dtype_is_float(to) && !dtype_is_integer(to)) return interpreter_refuse(i, dtype_name(to));
  if (!shape_same_dims(operands[0]->shape, operands[1]->shape)) return interpreter_refuse(i, "bits of another shape");
  TRY(value_create(&in->pool, i->shape, i->where, out));
  return convert_all(in, i, operands, *out);
}
