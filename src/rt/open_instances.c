// A few are kept, those used last; making one costs what preparing its thunks costs.
#include "rt/open_instances.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/lock.h"
#include "prog/program_sizes.h"

enum { KEPT = 16 };

// A size that a thread makes the program for, while others that want it wait.
typedef struct making_size {
  int64_t symbols[PROGRAM_MOST_SYMBOLS];
  pid_t process;         // in a child of fork nobody makes it
  pthread_mutex_t done;  // held by who makes it
  int users;
  bool has_ended;  // others may still be about to leave
  struct making_size *next;
} making_size;

struct open_instances {
  open_instances_source source;
  open_special specials[OPEN_INSTANCES_MOST_SPECIALS];
  uint64_t uses;
  open_instance *kept[KEPT];
  making_size *making;
};

// Of all programs: locks live as long as the process.
static lock of_all = LOCK_INITIALIZER;

open_instances *open_instances_create(const open_instances_source *source) {
  open_instances *all = calloc(1, sizeof *all);
  if (!all) return NULL;
  all->source = *source;
  all->source.specials = all->specials;
  for (int k = 0; k < source->special_count; k++) all->specials[k] = source->specials[k];
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
  // Of threads that a fork has left in the parent.
  for (making_size *m = all ? all->making : NULL, *next; m; m = next) {
    next = m->next;
    free(m);
  }
  free(all);
}

// --- making one

typedef struct making {
  const open_instances_source *source;
  const int64_t *const *dims;  // of the parameters
  open_instance *instance;
} making;

// Callers have read what the program for all sizes says of its arrays. `x` may say of a dim that it is open.
static bool is_same_value(const program_value *x, const program_value *y) {
  bool is_same =
      x->shape.type == y->shape.type && x->shape.rank == y->shape.rank && x->donated_parameter == y->donated_parameter;
  for (int d = 0; is_same && d < x->shape.rank; d++)
    is_same = (x->shape.dims[d] < 0 || x->shape.dims[d] == y->shape.dims[d]) &&
              x->shape.minor_to_major[d] == y->shape.minor_to_major[d];
  return is_same;
}

static bool has_same_signature(const program *x, const program *y) {
  bool is_same = x->parameter_count == y->parameter_count && x->result_count == y->result_count &&
                 x->given_result_count == y->given_result_count && x->dynamic_count == 0 && y->dynamic_count == 0 &&
                 x->device_count == y->device_count;
  for (int k = 0; is_same && k < x->parameter_count; k++) is_same = is_same_value(&x->parameters[k], &y->parameters[k]);
  for (int k = 0; is_same && k < x->result_count; k++) is_same = is_same_value(&x->results[k], &y->results[k]);
  return is_same;
}

static bool has_as_many_dims(const program *x, const program *y) {
  bool is_same = x->parameter_count == y->parameter_count;
  for (int k = 0; is_same && k < x->parameter_count; k++)
    is_same = x->parameters[k].shape.rank == y->parameters[k].shape.rank;
  return is_same;
}

// The program for the sizes by one that is for them alone, if there is one that is like `general`.
static const program *find_special(arena *a, const open_instances_source *from, const int64_t *const *dims,
                                   const program *general, const kernel_fn **entries) {
  int64_t symbols[PROGRAM_MOST_SYMBOLS];
  for (int k = 0; k < from->special_count; k++) {
    const program *p = from->specials[k].program;
    if (!has_as_many_dims(p, general)) continue;
    heddle_status s = program_sizes_solve(p, dims, symbols);
    const bool fits = status_is_ok(s);
    heddle_status_free(s);
    const program *made = fits && p->sizes.symbol_count ? program_sizes_fill(a, p, symbols) : p;
    if (!fits || !has_same_signature(general, made)) continue;
    *entries = from->specials[k].entries;
    return made;
  }
  return NULL;
}

static heddle_status refuse_sizes(const program_sizes *s, const int64_t *symbols) {
  text sizes = {0};
  program_sizes_print_given(&sizes, s, symbols);
  heddle_status status =
      status_error(HEDDLE_INVALID, "the program has code for the sizes alone that it was saved for, which %s is not",
                   text_cstr(&sizes));
  text_free(&sizes);
  return status;
}

static const int64_t *copy_dims(arena *a, const program *p, const int64_t *const *dims) {
  int count = 0;
  for (int i = 0; i < p->parameter_count; i++) count += p->parameters[i].shape.rank;
  int64_t *copy = arena_array(a, int64_t, count);
  for (int i = 0, k = 0; i < p->parameter_count; i++)
    for (int d = 0; d < p->parameters[i].shape.rank; d++) copy[k++] = dims[i][d];
  return copy;
}

static heddle_status fill(void *argument) {
  const making *m = argument;
  open_instance *x = m->instance;
  const open_instances_source *from = m->source;
  x->arena = arena_create();
  x->dims = copy_dims(x->arena, from->program, m->dims);
  if (from->make) return from->make(from->user, x->symbols, x);
  const bool has_specials_alone = from->program->sizes.is_for_given;
  const program *general = has_specials_alone ? program_sizes_show(x->arena, from->program)
                                              : program_sizes_fill(x->arena, from->program, x->symbols);
  const kernel_fn *entries = from->entries;
  const program *special = find_special(x->arena, from, m->dims, general, &entries);
  if (!special && has_specials_alone) return refuse_sizes(&from->program->sizes, x->symbols);
  x->callable.program = special ? special : general;
  x->callable.buffers = from->buffers;
  return executable_create(x->callable.program, entries, &from->options, &x->callable.executable);
}

static void drop(void *argument, bool is_torn) {
  (void)is_torn;
  const making *m = argument;
  m->instance->arena = NULL;  // the guard's
}

static heddle_status make(const open_instances_source *source, const int64_t *const *dims, const int64_t *symbols,
                          open_instance **out) {
  open_instance *x = calloc(1, sizeof *x);
  *out = NULL;
  if (!x) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program's sizes");
  memcpy(x->symbols, symbols, sizeof x->symbols);
  making m = {source, dims, x};
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

static bool has_dims(const open_instance *x, const program *p, const int64_t *const *dims) {
  const int64_t *own = x->dims;
  for (int i = 0; i < p->parameter_count; i++)
    for (int d = 0; d < p->parameters[i].shape.rank; d++)
      if (*own++ != dims[i][d]) return false;
  return true;
}

// One that is there, for one more user, or null: by the dims of a run, so that nothing needs to be worked out. The lock
// is held.
static open_instance *find(open_instances *all, const int64_t *const *dims) {
  for (int k = 0; k < KEPT; k++) {
    open_instance *x = all->kept[k];
    if (!x || !has_dims(x, all->source.program, dims)) continue;
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

// --- one thread makes it

// What the size is being made by, for one more user, or null. The lock is held.
static making_size *find_making(open_instances *all, const int64_t *symbols) {
  for (making_size *m = all->making; m; m = m->next) {
    if (m->has_ended || m->process != getpid() || memcmp(m->symbols, symbols, sizeof m->symbols) != 0) continue;
    m->users++;
    return m;
  }
  return NULL;
}

// The lock is held.
static void add_making(open_instances *all, making_size *m, const int64_t *symbols) {
  memcpy(m->symbols, symbols, sizeof m->symbols);
  m->process = getpid();
  m->users = 1;
  m->next = all->making;
  all->making = m;
}

// The last user frees it. The lock is held.
static void leave_making(open_instances *all, making_size *m) {
  if (--m->users > 0) return;
  making_size **at = &all->making;
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  pthread_mutex_destroy(&m->done);
  free(m);
}

static making_size *new_making(void) {
  making_size *m = calloc(1, sizeof *m);
  if (m) pthread_mutex_init(&m->done, NULL);
  if (m) pthread_mutex_lock(&m->done);
  return m;
}

static void drop_making(making_size *m) {
  pthread_mutex_unlock(&m->done);
  pthread_mutex_destroy(&m->done);
  free(m);
}

// The instance that is there, null where the caller makes it: *own is to be left then. Waits for who makes it now.
static heddle_status find_or_begin(open_instances *all, const int64_t *const *dims, const int64_t *symbols,
                                   making_size **own, open_instance **out) {
  making_size *mine = new_making();
  if (!mine) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program's sizes");
  for (;;) {
    lock_take(&of_all);
    *out = find(all, dims);
    making_size *other = *out ? NULL : find_making(all, symbols);
    *own = *out || other ? NULL : mine;
    if (*own) add_making(all, mine, symbols);
    lock_give(&of_all);
    if (!*own && !other) drop_making(mine);
    if (!other) return status_ok();
    pthread_mutex_lock(&other->done);
    pthread_mutex_unlock(&other->done);
    lock_take(&of_all);
    leave_making(all, other);
    lock_give(&of_all);
  }
}

static heddle_status make_and_keep(open_instances *all, const int64_t *const *dims, const int64_t *symbols,
                                   making_size *own, open_instance **out) {
  open_instance *old = NULL;
  heddle_status s = make(&all->source, dims, symbols, out);
  lock_take(&of_all);
  if (*out) {
    (*out)->last_used = ++all->uses;
    old = keep(all, *out);
  }
  own->has_ended = true;
  pthread_mutex_unlock(&own->done);
  leave_making(all, own);
  lock_give(&of_all);
  destroy(&all->source, old);
  return s;
}

// Null where *why says why.
static open_instance *take(open_instances *all, const int64_t *const *dims, heddle_status *why) {
  lock_take(&of_all);
  open_instance *x = find(all, dims);
  lock_give(&of_all);
  if (x) return x;
  int64_t symbols[PROGRAM_MOST_SYMBOLS] = {0};
  *why = program_sizes_solve(all->source.program, dims, symbols);
  if (!status_is_ok(*why)) return NULL;
  making_size *own = NULL;
  *why = find_or_begin(all, dims, symbols, &own, &x);
  if (own) *why = make_and_keep(all, dims, symbols, own, &x);
  return x;
}

heddle_status open_instances_take(open_instances *all, const int64_t *const *dims, open_instance **out) {
  heddle_status why = status_ok();
  *out = take(all, dims, &why);
  return why;
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

// What watches the instance, if anything does, once the watch has begun. In a child of fork nobody ends what another
// thread of its parent was beginning: it begins anew.
static bool has_begun(open_watch *w, const open_instance *instance, profile **out) {
  lock_take(&of_all);
  if (w->process != getpid()) {
    w->process = getpid();
    w->starting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  }
  const bool begun = w->watching;
  *out = w->instance == instance ? w->watching : NULL;
  lock_give(&of_all);
  return begun;
}

static heddle_status begin(open_watch *w, open_instances *all, open_instance *instance) {
  profile *made;
  TRY(profile_start(instance->callable.program, instance->callable.executable, &w->options, &made));
  lock_take(&of_all);
  w->watching = made;
  w->all = all;
  w->instance = instance;
  instance->users++;
  lock_give(&of_all);
  return status_ok();
}

// What watches a run on the instance, if the watch is for its sizes. Every run comes through here before it starts, so
// that no other one goes on where the first of them begins to be watched; runs of other programs go on while this one's
// watch begins, which may measure the machine.
static heddle_status follow(open_watch *w, open_instances *all, open_instance *instance, profile **out) {
  heddle_status s = status_ok();
  if (has_begun(w, instance, out)) return s;
  pthread_mutex_lock(&w->starting);
  if (!has_begun(w, instance, out)) {
    s = begin(w, all, instance);
    *out = w->watching;
  }
  pthread_mutex_unlock(&w->starting);
  return s;
}

void open_watch_begin(open_watch *w, const profile_options *options) {
  *w = (open_watch){.options = *options, .process = getpid()};
  pthread_mutex_init(&w->starting, NULL);
}

void open_watch_end(open_watch *w) {
  profile_end(w->watching);
  if (w->instance) open_instances_give(w->all, w->instance);
  w->watching = NULL;
  w->instance = NULL;
  pthread_mutex_destroy(&w->starting);
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
  heddle_status s = status_ok();
  profile *watching = NULL;
  open_instance *instance = take(all, input_dims, &s);
  if (!instance) return s;
  if (of->watch) s = follow(of->watch, all, instance, &watching);
  if (status_is_ok(s)) s = run_on(instance, watching, of, inputs, outputs, dims);
  open_instances_give(all, instance);
  return s;
}

heddle_status open_instances_result_dims(open_instances *all, const int64_t *const *input_dims, int number,
                                         int64_t *dims) {
  heddle_status why = status_ok();
  open_instance *instance = take(all, input_dims, &why);
  if (!instance) return why;
  const program_shape *s = &instance->callable.program->results[number].shape;
  for (int d = 0; d < s->rank; d++) dims[d] = s->dims[d];
  open_instances_give(all, instance);
  return status_ok();
}
