// Fills a slice with a pattern of four bytes.
#include "rt/memory.h"
#include "rt/thunk_types.h"

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  (void)a;
  (void)context;
  (void)t;
  if (from->write_count != 1) return status_error(HEDDLE_INVALID, "a memset wants one slice to write");
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const int to = t->from->writes[0];
  memory_fill(thunk_slice(f, to), t->from->pattern, f->context->program->slices[to].bytes, f->threads);
  return status_ok();
}

const thunk_type thunk_memset = {prepare, execute, NULL};
