// Listens to the runtime's profiler and keeps one row per thunk.
#include "tools/profile.h"

#include <stdlib.h>

static void listen(void *user, const profile_event *event) {
  profile *p = user;
  pthread_mutex_lock(&p->lock);
  int number = (int)(intptr_t)ptr_map_get(&p->numbers, event->thunk);
  if (number == 0) {
    vec_push(p->arena, &p->rows, ((profile_row){.thunk = event->thunk, .kind = event->kind}));
    number = p->rows.size;
    ptr_map_put(p->arena, &p->numbers, event->thunk, (void *)(intptr_t)number);
  }
  profile_row *row = &p->rows.data[number - 1];
  row->seconds += event->end - event->begin;
  row->bytes += event->bytes;
  row->count++;
  row->has_thunks |= event->has_thunks;
  pthread_mutex_unlock(&p->lock);
}

void profile_start(profile *p, arena *a, executable *e) {
  *p = (profile){.arena = a};
  pthread_mutex_init(&p->lock, NULL);
  executable_set_profiler(e, listen, p);
}

static int costliest_first(const void *l, const void *r) {
  double a = ((const profile_row *)l)->seconds, b = ((const profile_row *)r)->seconds;
  return (a < b) - (a > b);
}

void profile_print(FILE *out, profile *p, int most) {
  qsort(p->rows.data, (size_t)p->rows.size, sizeof *p->rows.data, costliest_first);
  double sum = 0;
  fprintf(out, "  %10s %6s %9s  %-12s %s\n", "ms", "times", "GB/s", "kind", "operation");
  for (int i = 0; i < p->rows.size; i++) {
    const profile_row *row = &p->rows.data[i];
    if (!row->has_thunks) sum += row->seconds;
    if (i >= most) continue;
    fprintf(out, "  %10.3f %6lld %9.1f  %-12s %s%s%s\n", row->seconds * 1e3, (long long)row->count,
            row->seconds > 0 ? (double)row->bytes / row->seconds * 1e-9 : 0, row->kind, row->thunk->name,
            row->thunk->origin[0] ? "  " : "", row->thunk->origin);
  }
  fprintf(out, "  %10.3f %6s %9s  %d operations\n", sum * 1e3, "", "", p->rows.size);
  pthread_mutex_destroy(&p->lock);
}
