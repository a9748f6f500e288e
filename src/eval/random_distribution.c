// Random numbers without a state of the program's own: rng and rng-get-and-update-state; and stochastic-convert, which
// rounds by random bits that it is given.
//
// The numbers are drawn by the library (lib/draw.h) from a state that the run keeps.
#include <math.h>

#include "eval/elementwise.h"
#include "eval/parallel.h"
#include "lib/draw.h"

static heddle_status run_draw(interpreter *in, const instruction *i, const char *target, value *const *operands,
                              value *result) {
  lib_array arrays[3];
  for (int k = 0; k <= i->operand_count; k++) {
    const value *v = k < i->operand_count ? operands[k] : result;
    arrays[k] = (lib_array){.type = v->shape->dtype, .rank = v->shape->rank, .dims = v->shape->dims, .data = v->data};
  }
  const named_attribute delta = {.name = "delta", .kind = NAMED_INTS, .count = 1, .ints = &i->attributes->delta};
  const lib_call call = {.operand_count = i->operand_count,
                         .operands = arrays,
                         .result_count = 1,
                         .results = &arrays[i->operand_count],
                         .attribute_count = 1,
                         .attributes = &delta,
                         .threads = 1};
  heddle_status status = draw_check(target, &call);
  if (!status_is_ok(status)) {
    heddle_status refused = interpreter_refuse(i, status_brief(status));
    heddle_status_free(status);
    return refused;
  }
  draw_stream stream = {.seed = in->seed + (uint64_t)in->process->id, .count = in->random_count};
  memcpy(stream.state, in->random_state, sizeof stream.state);
  draw_execute(target, &call, &stream);
  in->random_count = stream.count;
  memcpy(in->random_state, stream.state, sizeof stream.state);
  return status_ok();
}

static heddle_status draw_all(interpreter *in, const instruction *i, const char *target, value *const *operands,
                              value **out) {
  TRY(value_create(&in->pool, i->shape, i->where, out));
  heddle_status status = run_draw(in, i, target, operands, *out);
  if (!status_is_ok(status)) value_release(*out);
  return status;
}

heddle_status eval_rng(interpreter *in, const instruction *i, value *const *operands, value **out) {
  if (i->operand_count != 2) return interpreter_refuse(i, "other than two parameters");
  const bool is_normal = i->attributes->distribution == RANDOM_NORMAL;
  return draw_all(in, i, is_normal ? "heddle.rng_normal" : "heddle.rng_uniform", operands, out);
}

heddle_status eval_rng_get_and_update_state(interpreter *in, const instruction *i, value *const *operands,
                                            value **out) {
  if (i->operand_count) return interpreter_refuse(i, "operands");
  return draw_all(in, i, "heddle.rng_get_and_update_state", operands, out);
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
  compute_round(to, &rounded, 1);
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
  compute_block x, random, block;
  for (int64_t at = 0; at < total; at += COMPUTE_LANES) {
    const int64_t count = total - at < COMPUTE_LANES ? total - at : COMPUTE_LANES;
    compute_load(from, operands[0]->data, at, count, &x);
    compute_load(with, operands[1]->data, at, count, &random);
    for (int64_t k = 0; k < count; k++) {
      const uint64_t bits = (uint64_t)compute_wrap(random.ints[k], dtypes[with].bits, false);
      if (dtype_is_float(to)) block.floats[k] = convert_to_float(x.floats[k], to, bits, dtypes[with].bits);
      else block.ints[k] = convert_to_integer(x.floats[k], to, bits, dtypes[with].bits);
    }
    compute_store(to, result->data, at, count, &block);
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
