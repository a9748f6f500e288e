// Executes a call: the body is a computation that stands once in the program and runs on its own slices.
#include "rt/nested.h"
#include "rt/thunk_types.h"

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  return nested_prepare(a, context, from, t, 1);
}

static heddle_status execute(const thunk *t, const run_frame *f) { return nested_execute(t, 0, f); }

const thunk_type thunk_call = {prepare, execute, nested_release};
