// The number is an attribute, and attributes are among the numbers that a program for open sizes has polynomials for.
#include "lib/open_size.h"

heddle_status open_size_execute(const lib_call *call) {
  const bool fits = call->operand_count == 0 && call->result_count == 1 && call->results[0].type == DTYPE_S32 &&
                    call->results[0].rank == 0;
  if (!fits) return status_error(HEDDLE_INVALID, "an open size is one s32 without dimensions");
  const int64_t value = lib_int(call, "value", -1);
  if (value < 0 || value > INT32_MAX)
    return status_error(HEDDLE_INVALID, "the size %lld is beyond s32", (long long)value);
  *(int32_t *)call->results[0].data = (int32_t)value;
  return status_ok();
}
