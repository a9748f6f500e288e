// Lays a library call's arrays, and then the routine's own memory, out in a thunk's scratch memory, each from a cache
// line on.
#include "rt/routine.h"

enum { LINE = 64 };

static int64_t aligned(int64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static int64_t arrays_bytes(const lib_call *made) {
  return aligned((int64_t)(made->operand_count + made->result_count) * (int64_t)sizeof(lib_array));
}

void routine_reserve(thunk *t, const lib_call *made, int64_t bytes) {
  t->scratch_bytes = arrays_bytes(made) + aligned(bytes);
  if (!t->scratch_bytes) t->scratch_bytes = LINE;  // a call of no arrays still has an address to reckon with
}

lib_call routine_call_in_scratch(const lib_call *made, const thunk *t, const run_frame *f) {
  char *scratch = f->scratch + t->scratch_offset;
  lib_call call = routine_call_of_run(made, t, f, (lib_array *)(void *)scratch);
  call.scratch = scratch + arrays_bytes(made);
  return call;
}
