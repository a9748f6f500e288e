// 64-bit numbers as pairs of 32-bit ones, as a compiler for a machine without them leaves them behind: integers by
// their halves, floats as the nearest f32 and the rest.
#include "eval/custom_call.h"
#include "eval/wide.h"

// The 32-bit type of the halves of `t`; DTYPE_INVALID if there is none.
static dtype half_of(dtype t) {
  if (t == DTYPE_F64) return DTYPE_F32;
  return t == DTYPE_S64 || t == DTYPE_U64 ? DTYPE_U32 : DTYPE_INVALID;
}

static heddle_status check_halves(const instruction *i, const shape *half, const shape *whole) {
  const bool is_half =
      half->dtype == half_of(whole->dtype) ||
      (dtype_is_integer(half->dtype) && dtypes[half->dtype].bits == 32 && half_of(whole->dtype) == DTYPE_U32);
  if (is_half && shape_same_dims(half, whole)) return status_ok();
  return interpreter_refuse(i, "types other than a 64-bit number and its 32-bit halves");
}

heddle_status custom_call_x64_combine(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(custom_call_wants_arrays(i, 2));
  for (int k = 0; k < 2; k++) TRY(check_halves(i, operands[k]->shape, i->shape));
  TRY(value_create(&in->pool, i->shape, i->where, out));
  for (int64_t k = 0; k < shape_element_count(i->shape); k++) {
    if (i->shape->dtype == DTYPE_F64) {
      const float *low = operands[0]->data, *high = operands[1]->data;
      ((double *)(*out)->data)[k] = (double)high[k] + (double)low[k];
    } else {
      const uint32_t *low = operands[0]->data, *high = operands[1]->data;
      ((uint64_t *)(*out)->data)[k] = (uint64_t)high[k] << 32 | low[k];
    }
  }
  return status_ok();
}

static heddle_status split(interpreter *in, const instruction *i, value *const *operands, bool high, value **out) {
  TRY(custom_call_wants_arrays(i, 1));
  TRY(check_halves(i, i->shape, operands[0]->shape));
  TRY(value_create(&in->pool, i->shape, i->where, out));
  for (int64_t k = 0; k < shape_element_count(i->shape); k++) {
    if (i->shape->dtype == DTYPE_F32) {
      const double whole = ((const double *)operands[0]->data)[k];
      const float near = (float)whole;
      ((float *)(*out)->data)[k] = high ? near : (float)(whole - (double)near);
    } else {
      const uint64_t whole = ((const uint64_t *)operands[0]->data)[k];
      ((uint32_t *)(*out)->data)[k] = (uint32_t)(high ? whole >> 32 : whole);
    }
  }
  return status_ok();
}

heddle_status custom_call_x64_split_low(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return split(in, i, operands, false, out);
}

heddle_status custom_call_x64_split_high(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return split(in, i, operands, true, out);
}
