// When the host has no memory, the heap (heap.c) ends the guarded function and frees what it took. The error that the
// caller gets is made here, after that, since an error needs memory itself.
#include "base/guard.h"

#include <stdio.h>

#include "base/ambient.h"
#include "base/log.h"

#define ROOM ((size_t)64 << 20)  // LLVM's passes take less for one kernel, all at once

// Asking takes the host as long as a short pass takes, a thirtieth of a small kernel's compilation: an answer holds for
// so many seconds, in which a thread writes a few megabytes at the most.
#define HOLDS 0.0005

static _Thread_local double had_room;  // when it had; 0: not asked since a guard began

// A library's last words, while guards end. They are kept where no memory is needed.
static _Thread_local bool library_failed;
static _Thread_local char last_words[512];

static heddle_status why_ended(void) {
  if (!library_failed) return status_no_memory();
  library_failed = false;
  return status_error(HEDDLE_INTERNAL, "a library gave up: %s", last_words);
}

heddle_status guard_run(heap_guarded_fn fn, heap_release_fn release, void *argument) {
  heddle_status s;
  ambient outer;
  had_room = 0;
  ambient_enter(&outer);
  const bool has_ended = heap_run(fn, release, argument, false, &s);
  ambient_leave(&outer);
  return has_ended ? s : why_ended();
}

heddle_status guard_clean_up(heap_guarded_fn fn, heap_release_fn release, void *argument) {
  heddle_status s;
  return heap_run(fn, release, argument, true, &s) ? s : why_ended();
}

void guard_library_failed(const char *message) {
  if (!heap_is_guarded()) return;
  snprintf(last_words, sizeof last_words, "%s", message);
  library_failed = true;
  heap_end(true);
}

heddle_status guard_check_room(void) {
  const double now = log_seconds();
  if (had_room > 0 && now - had_room < HOLDS) return status_ok();
  had_room = now;
  if (heap_has_room(ROOM)) return status_ok();
  had_room = 0;
  return status_error(HEDDLE_OUT_OF_MEMORY, "less than %zu MB are left, too little to go on compiling", ROOM >> 20);
}
