// Arrays that enter a running program and leave it.
#include <string.h>

#include "rt/executable.h"
#include "rt/thunk_types.h"

static bool brings_in(const program_thunk *t) { return strcmp(t->target, "infeed") == 0; }

static heddle_status prepare(arena *a, const executable *e, const program_thunk *from, thunk *t) {
  (void)a;
  (void)e;
  const bool is_infeed = brings_in(from);
  if (!is_infeed && strcmp(from->target, "outfeed") != 0)
    return status_error(HEDDLE_INVALID, "there is no transfer \"%s\"", from->target);
  const int count = is_infeed ? from->result_count : from->operand_count;
  t->has_effects = true;
  t->is_serial = true;
  t->scratch_bytes = (count * (int64_t)sizeof(void *) + 64) / 64 * 64;  // never none
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const executable_feeds *feeds = &f->executable->feeds;
  const bool is_infeed = brings_in(t->from);
  const int count = is_infeed ? t->from->result_count : t->from->operand_count;
  const program_array *arrays = is_infeed ? t->from->results : t->from->operands;
  const feed_fn feed = is_infeed ? feeds->infeed : feeds->outfeed;
  if (is_infeed && !feed) return status_error(HEDDLE_INVALID, "an infeed finds nothing: the run was given none");
  if (!feed) return status_ok();
  void **data = (void **)(void *)(f->scratch + t->scratch_offset);
  for (int k = 0; k < count; k++) data[k] = thunk_slice(f, arrays[k].slice);
  return feed(feeds->user, f->device, count, arrays, data);
}

const thunk_type thunk_transfer = {"transfer", prepare, execute, NULL};
