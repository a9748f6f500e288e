// Executes a loop whose condition is a sequence of its own, run before every iteration.
#include "rt/nested.h"
#include "rt/thunk_types.h"

// Turns that a loop is taken to have, to tell whether it is worth a thread.
enum { GUESSED_TURNS = 16 };

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  TRY(nested_prepare(a, context, from, t, GUESSED_TURNS));
  nested_add_tape(a, context, t);
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  heddle_status s;
  if (nested_play(t, f, &s)) return s;
  for (;;) {
    const void *goes_on;
    TRY(nested_execute(t, 0, f));
    TRY(nested_control(t, f, &goes_on));
    if (!*(const unsigned char *)goes_on) return status_ok();
    TRY(nested_execute(t, 1, f));
  }
}

const thunk_type thunk_while = {prepare, execute, nested_release};
