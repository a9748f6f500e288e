// Copies bytes from one slice to another of the same size.
#include "rt/memory.h"
#include "rt/thunk_types.h"

static int64_t bytes_of(const run_context *context, int slice) { return context->program->slices[slice].bytes; }

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  (void)a;
  (void)t;
  if (from->read_count != 1 || from->write_count != 1 ||
      bytes_of(context, from->reads[0]) != bytes_of(context, from->writes[0]))
    return status_error(HEDDLE_INVALID, "a copy wants one slice to read and one of the same size to write");
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const int to = t->from->writes[0];
  memory_copy(thunk_slice(f, to), thunk_slice(f, t->from->reads[0]), bytes_of(f->context, to), f->threads);
  return status_ok();
}

const thunk_type thunk_copy = {prepare, execute, NULL};
