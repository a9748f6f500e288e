// Executes one of several branches, chosen by a number in memory.
#include <string.h>

#include "rt/nested.h"
#include "rt/thunk_types.h"

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  return nested_prepare(a, context, from, t, 1.0 / from->sequence_count);
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const program_thunk *from = t->from;
  const void *control;
  int32_t branch;
  TRY(nested_control(t, f, &control));
  if (from->control.is_pred) branch = *(const unsigned char *)control ? 0 : 1;
  else memcpy(&branch, control, sizeof branch);
  if (branch < 0 || branch >= from->sequence_count) branch = from->sequence_count - 1;
  return nested_execute(t, branch, f);
}

const thunk_type thunk_conditional = {prepare, execute, nested_release};
