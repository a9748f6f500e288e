// A stream is a counter whose values a mixing function makes into words: no state beside the count, and the n-th word
// is the same whatever was made of those before it. Elements are drawn in their order by one thread, since some of them
// take more than one word.
#include "lib/draw.h"

#include <math.h>
#include <string.h>

#include "lib/work.h"

// The state that rng-get-and-update-state starts from, plus the seed.
enum { FIRST_STATE = 0x7012395 };

// Elements drawn before they are stored.
enum { BLOCK = 64 };

static const char uniform[] = "heddle.rng_uniform", normal[] = "heddle.rng_normal",
                  update_state[] = "heddle.rng_get_and_update_state";

void draw_stream_start(draw_stream *s, uint64_t seed, int device) {
  s->seed = seed + (uint64_t)device;
  s->count = 0;
  s->state[0] = FIRST_STATE + seed;
  s->state[1] = 0;
}

// A word with all bits well mixed, from a counter (the finalizer of SplitMix64).
static uint64_t draw(draw_stream *s) {
  uint64_t x = s->seed * 0xd1342543de82ef95 + ++s->count * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// In [0, 1), in steps of 2^-53.
static double draw_unit(draw_stream *s) { return (double)(draw(s) >> 11) * 0x1p-53; }

// In (0, 1], for a logarithm: the polar form of a pair of normal variables, of which one is used.
static double draw_normal(draw_stream *s) {
  const double radius = sqrt(-2 * log(1 - draw_unit(s)));
  return radius * cos(2 * 3.14159265358979323846 * draw_unit(s));
}

static double rounded(dtype t, double v) {
  if (t == DTYPE_F64) return v;
  return t == DTYPE_F32 ? (double)(float)v : float_decode(dtypes[t].narrow, float_encode(dtypes[t].narrow, v));
}

// Below the upper bound also after rounding to the type.
static double draw_between(draw_stream *s, dtype t, double low, double high) {
  for (int attempt = 0; attempt < 64; attempt++) {
    const double v = rounded(t, low + (high - low) * draw_unit(s));
    if (v < high) return v;
  }
  return low;
}

static uint64_t draw_integer(draw_stream *s, dtype t, uint64_t low, uint64_t high) {
  const bool is_empty = dtype_is_signed(t) ? (int64_t)high <= (int64_t)low : high <= low;
  if (is_empty) return low;
  return low + (uint64_t)((unsigned __int128)draw(s) * (high - low) >> 64);
}

// An element before it takes its type.
typedef union drawn {
  double number;
  uint64_t whole;
} drawn;

static drawn draw_element(draw_stream *s, dtype t, bool is_normal, drawn first, drawn second) {
  if (!dtype_is_float(t)) return (drawn){.whole = draw_integer(s, t, first.whole, second.whole)};
  if (is_normal) return (drawn){.number = first.number + second.number * draw_normal(s)};
  return (drawn){.number = draw_between(s, t, first.number, second.number)};
}

static void draw_elements(draw_stream *s, const lib_call *call, bool is_normal) {
  const lib_array *to = &call->results[0];
  const work_type type = dtype_is_float(to->type) ? WORK_F64 : WORK_U64;
  const int64_t total = lib_element_count(to);
  drawn first, second, block[BLOCK];
  work_load(type, &call->operands[0], 0, 1, &first);
  work_load(type, &call->operands[1], 0, 1, &second);
  for (int64_t at = 0; at < total; at += BLOCK) {
    const int64_t count = total - at < BLOCK ? total - at : BLOCK;
    for (int64_t k = 0; k < count; k++) block[k] = draw_element(s, to->type, is_normal, first, second);
    work_store(type, block, to, at, count);
  }
}

// A number of 128 bits, handed out before `delta` is added to it.
static void give_state(draw_stream *s, const lib_call *call) {
  const uint64_t delta = (uint64_t)lib_int(call, "delta", 0);
  memcpy(call->results[0].data, s->state, sizeof s->state);
  s->state[0] += delta;
  s->state[1] += s->state[0] < delta;
}

bool draw_is_target(const char *target) {
  return strcmp(target, uniform) == 0 || strcmp(target, normal) == 0 || strcmp(target, update_state) == 0;
}

heddle_status draw_check(const char *target, const lib_call *call) {
  if (call->result_count != 1) return status_error(HEDDLE_INVALID, "random numbers: one result is wanted");
  const lib_array *to = &call->results[0];
  if (strcmp(target, update_state) == 0) {
    const bool fits = to->type == DTYPE_U64 && to->rank == 1 && to->dims[0] == 2;
    return fits ? status_ok() : status_error(HEDDLE_UNIMPLEMENTED, "random numbers: a state other than u64[2]");
  }
  if (dtype_is_complex(to->type) || (strcmp(target, normal) == 0 && !dtype_is_float(to->type)))
    return status_error(HEDDLE_UNIMPLEMENTED, "random numbers of %s", dtype_name(to->type));
  bool fits = call->operand_count == 2;
  for (int k = 0; fits && k < 2; k++)
    fits = call->operands[k].type == to->type && lib_element_count(&call->operands[k]) == 1;
  return fits ? status_ok() : status_error(HEDDLE_INVALID, "random numbers: two scalar parameters are wanted");
}

void draw_execute(const char *target, const lib_call *call, draw_stream *stream) {
  if (strcmp(target, update_state) == 0) give_state(stream, call);
  else draw_elements(stream, call, strcmp(target, normal) == 0);
}
