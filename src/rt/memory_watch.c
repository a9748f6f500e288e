// Counts at every thunk that has run.
#include "rt/memory_watch.h"

static void listen(void *user, const profile_event *event) {
  memory_watch *w = user;
  const int64_t bytes = program_memory_of(&w->memory, event->thunk);
  int64_t peak = atomic_load(&w->peak);
  while (bytes > peak && !atomic_compare_exchange_weak(&w->peak, &peak, bytes)) continue;
}

void memory_watch_start(memory_watch *w, arena *a, executable *e) {
  atomic_init(&w->peak, 0);
  w->scratch_bytes = e->frames.scratch_bytes;
  program_memory_find(a, e->context.program, &w->memory);
  executable_set_profiler(e, listen, w);
}
