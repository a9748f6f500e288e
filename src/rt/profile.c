// Rows are made before anything runs, one for each thunk, and found by a table of addresses, so that an event takes no
// memory but for a list of executions, which grows by pieces.
#include "rt/profile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/log.h"
#include "base/map.h"
#include "base/pool.h"
#include "rt/thunk_work.h"

_Static_assert((int)PROFILE_COUNTERS == (int)HARDWARE_COUNTER_COUNT, "an event holds one of each");

enum { MOST_EVENTS = 1000000, PIECE = 4096, MOST_THREADS = 2048 };

struct profile {
  const program *program;
  executable *executable;
  profile_options options;
  arena *arena;  // of the rows
  int row_count;
  profile_row *rows;
  ptr_map numbers;  // of rows by their thunks, plus one
  machine_limits limits;
  hardware_counters *counters;
  char no_counters[256];
  double start;

  pthread_mutex_t lock;  // of all below
  int runs, going_on;
  double run_start, seconds;
  profile_execution **pieces;
  int64_t execution_count, lost;
  int thread_count;
  pid_t threads[MOST_THREADS];
};

// --- events

static int thread_number(profile *p) {
  const pid_t own = (pid_t)syscall(SYS_gettid);
  for (int i = 0; i < p->thread_count; i++)
    if (p->threads[i] == own) return i;
  if (p->thread_count == MOST_THREADS) return MOST_THREADS - 1;
  p->threads[p->thread_count] = own;
  return p->thread_count++;
}

static void keep_execution(profile *p, const profile_event *event, int row) {
  const int64_t at = p->execution_count, piece = at / PIECE;
  if (at < p->options.most_events && !p->pieces[piece]) p->pieces[piece] = malloc(PIECE * sizeof **p->pieces);
  if (at >= p->options.most_events || !p->pieces[piece]) {
    p->lost++;
    return;
  }
  p->pieces[piece][at % PIECE] = (profile_execution){.row = row,
                                                     .device = event->device,
                                                     .thread = thread_number(p),
                                                     .stream = (int16_t)event->stream,
                                                     .threads = (int16_t)event->threads,
                                                     .begin = event->begin - p->start,
                                                     .end = event->end - p->start};
  p->execution_count++;
}

static void see_begin(void *user, profile_event *event) {
  const profile *p = user;
  if (p->counters) hardware_counters_read(p->counters, event->threads > 1, event->counters);
}

static void see_end(void *user, const profile_event *event) {
  profile *p = user;
  uint64_t counters[HARDWARE_COUNTER_COUNT] = {0};
  if (p->counters) hardware_counters_read(p->counters, event->threads > 1, counters);
  const int number = (int)(intptr_t)ptr_map_get(&p->numbers, event->thunk) - 1;
  if (number < 0) return;
  const double seconds = event->end - event->begin;
  pthread_mutex_lock(&p->lock);
  profile_row *row = &p->rows[number];
  row->seconds += seconds;
  if (row->calls == 0 || seconds < row->least_seconds) row->least_seconds = seconds;
  if (seconds > row->most_seconds) row->most_seconds = seconds;
  row->calls++;
  for (int k = 0; p->counters && k < HARDWARE_COUNTER_COUNT; k++) row->counters[k] += counters[k] - event->counters[k];
  if (p->options.keeps_events) keep_execution(p, event, number);
  pthread_mutex_unlock(&p->lock);
}

void profile_begin_run(profile *p) {
  pthread_mutex_lock(&p->lock);
  if (p->going_on++ == 0) p->run_start = log_seconds();
  pthread_mutex_unlock(&p->lock);
}

// Runs that overlap count the time in which one went on once.
void profile_end_run(profile *p) {
  pthread_mutex_lock(&p->lock);
  p->runs++;
  if (--p->going_on == 0) p->seconds += log_seconds() - p->run_start;
  pthread_mutex_unlock(&p->lock);
}

// --- made once

// Sequences nest no deeper than the program's check allows.
static int count_thunks(const program_sequence *s) {
  int count = s->count;
  for (int i = 0; i < s->count; i++)
    for (int k = 0; k < s->thunks[i]->sequence_count; k++) count += count_thunks(&s->thunks[i]->sequences[k]);
  return count;
}

static void add_row(profile *p, const program_thunk *t, int depth) {
  p->rows[p->row_count++] = (profile_row){.thunk = t,
                                          .kind = program_thunk_kind_name(t->kind),
                                          .depth = depth,
                                          .holds = t->sequence_count > 0,
                                          .bytes = thunk_work_bytes(p->program, t),
                                          .operations = thunk_work_operations(p->program, t)};
  ptr_map_put(p->arena, &p->numbers, t, (void *)(intptr_t)p->row_count);
}

static void add_rows(profile *p, const program_sequence *s, int depth) {
  for (int i = 0; i < s->count; i++) {
    const program_thunk *t = s->thunks[i];
    if (!t->is_hidden) add_row(p, t, depth);
    for (int k = 0; k < t->sequence_count; k++) add_rows(p, &t->sequences[k], depth + 1);
  }
}

static void wake(void *argument, int64_t begin, int64_t end) {
  (void)argument;
  (void)begin;
  (void)end;
}

// Only threads that are there are counted: those of the pool must have begun.
static void open_counters(profile *p) {
  pool_run(p->executable->context.threads, p->executable->context.threads, wake, NULL);
  heddle_status s = hardware_counters_open(&p->counters);
  if (status_is_ok(s)) return;
  snprintf(p->no_counters, sizeof p->no_counters, "%s", status_brief(s));
  heddle_status_free(s);
}

static heddle_status prepare(void *argument) {
  profile *p = argument;
  p->arena = arena_create();
  p->rows = arena_array(p->arena, profile_row, count_thunks(&p->program->entry));
  add_rows(p, &p->program->entry, 0);
  if (p->options.keeps_events)
    p->pieces = arena_array(p->arena, profile_execution *, p->options.most_events / PIECE + 1);
  if (!p->options.no_limits) p->limits = machine_limits_get(p->executable->context.threads);
  if (p->options.counters) open_counters(p);
  return status_ok();
}

static void forget(void *argument, bool is_torn) {
  (void)is_torn;
  ((profile *)argument)->arena = NULL;  // the guard's
}

heddle_status profile_start(const program *p, executable *e, const profile_options *options, profile **out) {
  *out = NULL;
  profile *made = calloc(1, sizeof *made);
  if (!made) return status_no_memory();
  made->program = p;
  made->executable = e;
  made->options = *options;
  if (made->options.most_events <= 0) made->options.most_events = MOST_EVENTS;
  pthread_mutex_init(&made->lock, NULL);
  heddle_status s = guard_run(prepare, forget, made);
  if (!status_is_ok(s)) {
    profile_end(made);
    return s;
  }
  made->start = log_seconds();
  executable_set_profiler(e, see_end, made);
  executable_set_profiler_start(e, see_begin);
  *out = made;
  return s;
}

void profile_end(profile *p) {
  if (!p) return;
  executable_set_profiler(p->executable, NULL, NULL);
  executable_set_profiler_start(p->executable, NULL);
  for (int64_t k = 0; p->pieces && k * PIECE < p->execution_count; k++) free(p->pieces[k]);
  hardware_counters_close(p->counters);
  arena_destroy(p->arena);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

// --- asked

int profile_row_count(const profile *p) { return p->row_count; }
const profile_row *profile_row_at(const profile *p, int number) { return &p->rows[number]; }
int profile_runs(const profile *p) { return p->runs; }
double profile_seconds(const profile *p) { return p->seconds; }
const machine_limits *profile_limits(const profile *p) { return p->options.no_limits ? NULL : &p->limits; }
const char *profile_no_counters(const profile *p) { return p->no_counters; }
bool profile_has_counters(const profile *p) { return p->counters; }
int64_t profile_execution_count(const profile *p) { return p->execution_count; }
int64_t profile_lost_executions(const profile *p) { return p->lost; }
const program *profile_program(const profile *p) { return p->program; }

const profile_execution *profile_execution_at(const profile *p, int64_t number) {
  return &p->pieces[number / PIECE][number % PIECE];
}

double profile_share(const profile *p, const profile_row *row) {
  if (p->options.no_limits || row->seconds <= 0 || row->holds) return 0;
  const double each = row->seconds / (double)row->calls;
  const double moved = p->limits.bytes_per_second > 0 ? (double)row->bytes / p->limits.bytes_per_second : 0;
  const double computed = p->limits.flops > 0 ? row->operations / p->limits.flops : 0;
  return (moved > computed ? moved : computed) / each;
}
