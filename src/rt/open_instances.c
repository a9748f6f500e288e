// A few are kept, those used last; making one costs what preparing its thunks costs.
#include "rt/open_instances.h"

#include <stdlib.h>

#include "base/guard.h"
#include "base/lock.h"
#include "prog/program_sizes.h"

enum { KEPT = 16 };

struct open_instances {
  open_instances_source source;
  uint64_t uses;
  open_instance *kept[KEPT];
};

// Of all programs: locks live as long as the process.
static lock of_all = LOCK_INITIALIZER;

open_instances *open_instances_create(const open_instances_source *source) {
  open_instances *all = calloc(1, sizeof *all);
  if (all) all->source = *source;
  return all;
}

static void destroy(const open_instances_source *source, open_instance *x) {
  if (!x) return;
  if (source->drop) source->drop(x);
  else executable_destroy(x->callable.executable);
  arena_destroy(x->arena);
  free(x);
}

void open_instances_destroy(open_instances *all) {
  for (int k = 0; all && k < KEPT; k++) destroy(&all->source, all->kept[k]);
  free(all);
}

// --- making one

typedef struct making {
  const open_instances_source *source;
  open_instance *instance;
} making;

static heddle_status fill(void *argument) {
  const making *m = argument;
  open_instance *x = m->instance;
  const open_instances_source *from = m->source;
  x->arena = arena_create();
  if (from->make) return from->make(from->user, x->symbols, x);
  x->callable.program = program_sizes_fill(x->arena, from->program, x->symbols);
  x->callable.buffers = from->buffers;
  return executable_create(x->callable.program, from->entries, from->threads, &x->callable.executable);
}

static void drop(void *argument, bool is_torn) {
  (void)is_torn;
  const making *m = argument;
  m->instance->arena = NULL;  // the guard's
}

static heddle_status make(const open_instances_source *source, const int64_t *symbols, open_instance **out) {
  open_instance *x = calloc(1, sizeof *x);
  *out = NULL;
  if (!x) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program's sizes");
  memcpy(x->symbols, symbols, sizeof x->symbols);
  making m = {source, x};
  heddle_status s = guard_run(fill, drop, &m);
  if (status_is_ok(s)) {
    x->users = 1;
    *out = x;
  } else {
    destroy(source, x);
  }
  return s;
}

// --- keeping

// One that is there, or null. The lock is held.
static open_instance *find(open_instances *all, const int64_t *symbols) {
  for (int k = 0; k < KEPT; k++) {
    open_instance *x = all->kept[k];
    if (!x || memcmp(x->symbols, symbols, sizeof x->symbols) != 0) continue;
    x->users++;
    x->last_used = ++all->uses;
    return x;
  }
  return NULL;
}

// In the place of the one that was used longest ago, if nobody uses that now; it is the caller's to destroy then. The
// lock is held.
static open_instance *keep(open_instances *all, open_instance *x) {
  int place = -1;
  for (int k = 0; k < KEPT; k++) {
    const open_instance *old = all->kept[k];
    if (old && old->users > 0) continue;
    if (place < 0 || !old || (all->kept[place] && old->last_used < all->kept[place]->last_used)) place = k;
  }
  if (place < 0) return NULL;
  open_instance *old = all->kept[place];
  all->kept[place] = x;
  return old;
}

heddle_status open_instances_take(open_instances *all, const int64_t *const *dims, open_instance **out) {
  int64_t symbols[PROGRAM_MOST_SYMBOLS] = {0};
  TRY(program_sizes_solve(all->source.program, dims, symbols));
  lock_take(&of_all);
  *out = find(all, symbols);
  lock_give(&of_all);
  if (*out) return status_ok();
  open_instance *made = NULL;
  TRY(make(&all->source, symbols, &made));
  if (!made) return status_error(HEDDLE_INTERNAL, "a program's sizes were not made");
  *out = made;
  lock_take(&of_all);
  made->last_used = ++all->uses;
  open_instance *old = keep(all, made);
  lock_give(&of_all);
  destroy(&all->source, old);
  return status_ok();
}

void open_instances_give(open_instances *all, open_instance *instance) {
  lock_take(&of_all);
  bool is_kept = false;
  for (int k = 0; k < KEPT; k++) is_kept |= all->kept[k] == instance;
  const bool is_last = --instance->users == 0 && !is_kept;
  lock_give(&of_all);
  if (is_last) destroy(&all->source, instance);
}

// --- watching

// What watches a run on the instance, if the watch is for its sizes. Every run comes through here before it starts, so
// that no other one goes on where the first of them begins to be watched.
static heddle_status follow(open_watch *w, open_instances *all, open_instance *instance, profile **out) {
  heddle_status s = status_ok();
  lock_take(&of_all);
  if (!w->watching) {
    s = profile_start(instance->callable.program, instance->callable.executable, &w->options, &w->watching);
    if (status_is_ok(s)) {
      w->all = all;
      w->instance = instance;
      instance->users++;
    }
  }
  if (w->instance == instance) *out = w->watching;
  lock_give(&of_all);
  return s;
}

void open_watch_end(open_watch *w) {
  profile_end(w->watching);
  if (w->instance) open_instances_give(w->all, w->instance);
  w->watching = NULL;
  w->instance = NULL;
}

// --- runs

static heddle_status run_on(const open_instance *instance, profile *watching, const heddle_program *of,
                            const void *const *const *inputs, void *const *const *outputs,
                            int64_t *const *const *dims) {
  heddle_program at_sizes = {.callable = instance->callable,
                             .is_direct = of->is_direct,
                             .heirs = of->heirs,
                             .shown = instance->callable.program};
  if (watching) profile_begin_run(watching);
  heddle_status s = program_call_given(&at_sizes, inputs, outputs, dims);
  if (watching) profile_end_run(watching);
  return s;
}

heddle_status open_instances_run(open_instances *all, const heddle_program *of, const int64_t *const *input_dims,
                                 const void *const *const *inputs, void *const *const *outputs,
                                 int64_t *const *const *dims) {
  open_instance *instance;
  profile *watching = NULL;
  TRY(open_instances_take(all, input_dims, &instance));
  heddle_status s = of->watch ? follow(of->watch, all, instance, &watching) : status_ok();
  if (status_is_ok(s)) s = run_on(instance, watching, of, inputs, outputs, dims);
  open_instances_give(all, instance);
  return s;
}

heddle_status open_instances_result_dims(open_instances *all, const int64_t *const *input_dims, int number,
                                         int64_t *dims) {
  open_instance *instance;
  TRY(open_instances_take(all, input_dims, &instance));
  const program_shape *s = &instance->callable.program->results[number].shape;
  for (int d = 0; d < s->rank; d++) dims[d] = s->dims[d];
  open_instances_give(all, instance);
  return status_ok();
}
