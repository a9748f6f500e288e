// Executes a loop whose trip count the compiler found.
#include "rt/nested.h"
#include "rt/thunk_types.h"

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  TRY(nested_prepare(a, context, from, t, (double)from->trip_count));
  nested_add_tape(a, context, t);
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  heddle_status s;
  if (nested_play(t, f, &s)) return s;
  for (int64_t turn = 0; turn < t->from->trip_count; turn++) TRY(nested_execute(t, 0, f));
  return status_ok();
}

const thunk_type thunk_for = {prepare, execute, nested_release};
