// 64-bit numbers as pairs of 32-bit ones, as a compiler for a machine without them leaves them behind: integers by
// their halves, floats as the nearest f32 and the rest.
#include "lib/halves.h"

#include <math.h>

// The 32-bit type of the halves of `t`; DTYPE_INVALID if there is none.
static dtype half_of(dtype t) {
  if (t == DTYPE_F64) return DTYPE_F32;
  return t == DTYPE_S64 || t == DTYPE_U64 ? DTYPE_U32 : DTYPE_INVALID;
}

static bool is_half_of(const lib_array *half, const lib_array *whole) {
  const dtype wanted = half_of(whole->type);
  const bool is_half = half->type == wanted || (dtype_is_integer(half->type) && dtypes[half->type].bits == 32);
  if (!is_half || (wanted == DTYPE_F32) != (half->type == DTYPE_F32) || wanted == DTYPE_INVALID) return false;
  if (half->rank != whole->rank) return false;
  for (int d = 0; d < half->rank; d++)
    if (half->dims[d] != whole->dims[d]) return false;
  return true;
}

static heddle_status check(const lib_call *call, int operands, int whole_operand) {
  if (call->operand_count != operands || call->result_count != 1)
    return status_error(HEDDLE_INVALID, "found %d operands, wanted %d", call->operand_count, operands);
  const lib_array *whole = whole_operand < 0 ? &call->results[0] : &call->operands[whole_operand];
  bool fits = whole_operand < 0 || is_half_of(&call->results[0], whole);
  for (int k = 0; k < operands; k++) fits = fits && (k == whole_operand || is_half_of(&call->operands[k], whole));
  if (fits) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED, "types other than a 64-bit number and its 32-bit halves");
}

heddle_status halves_combine(const lib_call *call) {
  TRY(check(call, 2, -1));
  const lib_array *result = &call->results[0];
  const void *low = call->operands[0].data, *high = call->operands[1].data;
  const int64_t count = lib_element_count(result);
  for (int64_t k = 0; k < count; k++) {
    if (result->type == DTYPE_F64)
      ((double *)result->data)[k] = (double)((const float *)high)[k] + (double)((const float *)low)[k];
    else ((uint64_t *)result->data)[k] = (uint64_t)((const uint32_t *)high)[k] << 32 | ((const uint32_t *)low)[k];
  }
  return status_ok();
}

static heddle_status split(const lib_call *call, bool is_high) {
  TRY(check(call, 1, 0));
  const lib_array *whole = &call->operands[0];
  void *to = call->results[0].data;
  const int64_t count = lib_element_count(whole);
  for (int64_t k = 0; k < count; k++) {
    if (whole->type == DTYPE_F64) {
      const double x = ((const double *)whole->data)[k];
      const float near = (float)x;
      // Behind an infinity or NaN there is no rest: their difference would be NaN.
      const float rest = isfinite(near) ? (float)(x - (double)near) : 0;
      ((float *)to)[k] = is_high ? near : rest;
    } else {
      const uint64_t x = ((const uint64_t *)whole->data)[k];
      ((uint32_t *)to)[k] = (uint32_t)(is_high ? x >> 32 : x);
    }
  }
  return status_ok();
}

heddle_status halves_low(const lib_call *call) { return split(call, false); }

heddle_status halves_high(const lib_call *call) { return split(call, true); }
