#include "rt/moving_start.h"

#include <string.h>

#include "base/int64.h"

heddle_status moving_start_find(const program *p, const program_thunk *t, int operand, int place,
                                const program_ints *numbers, moving_start *out, int64_t *most) {
  const int64_t *x = numbers->data;
  const program_array *at = &t->operands[place];
  const bool fits = numbers->count == 4 && at->type == DTYPE_S32 && at->rank == 0 &&
                    p->slices[at->slice].bytes >= (int64_t)sizeof(int32_t) &&
                    dtypes[t->operands[operand].type].bits >= 8 && x[2] >= 0 && x[3] >= 0 &&
                    !__builtin_mul_overflow(x[2], x[3], most);
  if (!fits) return status_error(HEDDLE_INVALID, "the start of a library call's operand is malformed");
  *out = (moving_start){operand, at->slice, x, dtypes[t->operands[operand].type].bits / 8};
  return status_ok();
}

void moving_start_add(const moving_start *s, const run_frame *f, lib_array *operands) {
  uint32_t given;
  memcpy(&given, thunk_slice(f, s->slice), sizeof given);
  const int32_t at = (int32_t)(given * (uint32_t)s->numbers[0] + (uint32_t)s->numbers[1]);
  lib_array *x = &operands[s->operand];
  x->data = (char *)x->data + int64_clamp(0, at, s->numbers[2]) * s->numbers[3] * s->element_bytes;
}
