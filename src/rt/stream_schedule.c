// List scheduling: launches are taken as the program lists them, but before all that the host does and they need not
// wait for, and each goes to the stream on which it can begin soonest. Times are counted in bytes: what a device moves
// meanwhile.
//
// A stream has at most one open batch, which grows by each launch that comes to it. It is closed when somebody else has
// to wait for it, when what comes next to the stream has to wait for somebody else, and before the host does something,
// so that the device is not idle meanwhile. The order in which batches are closed is that of the schedule.
//
// Who waits for a batch has waited for all earlier ones of its stream, so that the latest one is enough. Launches are
// compared within a window of neighbouring thunks; at its end all streams wait for each other.
#include "rt/stream_schedule.h"

#include "base/int64.h"
#include "base/vec.h"
#include "rt/conflicts.h"

enum { WINDOW = 256, NONE = -1 };

// What a device moves while it begins a launch, and while one stream waits for another: 2 and 8 microseconds at 500
// GB/s.
static const int64_t launch_bytes = 1000000, event_bytes = 4000000;

typedef struct open_batch {
  VEC(int) thunks;
  VEC(int) waits;  // numbers in the order of opening
  int number;      // in that order; NONE: the stream has no open batch
} open_batch;

typedef struct scheduling {
  arena *arena, *scratch;
  const program *program;
  const program_sequence *of;
  int streams;
  bool *is_launch;  // of each thunk: the device does it
  int *order;       // numbers of thunks
  // Of each thunk: its stream, and of launches the batch, by the order of opening, and when it ends.
  int *stream, *batch;
  int64_t *end;
  open_batch open[PROGRAM_MOST_STREAMS];
  int64_t free_at[PROGRAM_MOST_STREAMS];
  int last[PROGRAM_MOST_STREAMS];                        // batch of each stream, open or closed
  int floor[PROGRAM_MOST_STREAMS];                       // that all have to wait for, from the window's begin on
  int seen[PROGRAM_MOST_STREAMS][PROGRAM_MOST_STREAMS];  // [s][t]: the latest batch of t that s has waited for
  int host_seen[PROGRAM_MOST_STREAMS];                   // that the host has waited for
  VEC(int) place;                                        // of each batch, by the order of opening, in the schedule
  VEC(stream_batch) closed;
} scheduling;

// What one thunk has to wait for.
typedef struct needs {
  int batch[PROGRAM_MOST_STREAMS];    // the latest of each stream, or NONE
  int64_t end[PROGRAM_MOST_STREAMS];  // when that part of it ends
} needs;

static int64_t bytes_of(const program *p, int count, const int *slices) {
  int64_t sum = 0;
  for (int k = 0; k < count; k++) sum = int64_saturating_add(sum, p->slices[slices[k]].bytes);
  return sum;
}

static int64_t cost_of(const program *p, const program_thunk *t) {
  const int64_t moved =
      int64_saturating_add(bytes_of(p, t->read_count, t->reads), bytes_of(p, t->write_count, t->writes));
  return int64_saturating_add(launch_bytes, moved);
}

// --- what waits for what

static bool has_to_wait(const program *p, const program_thunk *later, const program_thunk *earlier) {
  const touched now = touched_by(later), before = touched_by(earlier);
  return conflicts_between(p, &now, &before);
}

// Of the thunk at a place of the order; those from `first` on are looked at.
static needs find_needs(const scheduling *s, int place, int first) {
  needs found = {0};
  for (int t = 0; t < PROGRAM_MOST_STREAMS; t++) found.batch[t] = t < s->streams ? s->floor[t] : NONE;
  for (int t = 0; t < s->streams; t++) found.end[t] = s->floor[t] == NONE ? 0 : s->free_at[t];
  for (int at = place - 1; at >= first; at--) {
    const int k = s->order[at], t = s->stream[k];
    if (t == STREAM_HOST || found.batch[t] >= s->batch[k]) continue;
    if (!has_to_wait(s->program, s->of->thunks[s->order[place]], s->of->thunks[k])) continue;
    found.batch[t] = s->batch[k];
    found.end[t] = s->end[k];
  }
  return found;
}

// --- the order

// How many of the host's thunks in the window come before each of the window's: of a launch those that it waits for and
// those that what it waits for waits for.
static int find_turns(const scheduling *s, int first, int last, int *turns) {
  int host_count = 0;
  for (int i = first; i < last; i++) {
    int turn = s->is_launch[i] ? 0 : host_count++;
    for (int k = i - 1; k >= first && s->is_launch[i]; k--) {
      const int least = turns[k - first] + !s->is_launch[k];
      if (least > turn && has_to_wait(s->program, s->of->thunks[i], s->of->thunks[k])) turn = least;
    }
    turns[i - first] = turn;
  }
  return host_count;
}

// Launches of a turn come before what the host does in it.
static void order_window(scheduling *s, int first, int last) {
  int turns[WINDOW], at = first;
  const int host_count = find_turns(s, first, last, turns);
  for (int turn = 0; turn <= host_count; turn++)
    for (int is_host = 0; is_host < 2; is_host++)
      for (int i = first; i < last; i++)
        if (turns[i - first] == turn && s->is_launch[i] == !is_host) s->order[at++] = i;
}

// --- batches

static void close_batch(scheduling *s, int stream) {
  open_batch *b = &s->open[stream];
  if (b->number == NONE) return;
  int *thunks = arena_array(s->arena, int, b->thunks.size), *waits = arena_array(s->arena, int, b->waits.size);
  for (int k = 0; k < b->thunks.size; k++) thunks[k] = b->thunks.data[k];
  for (int k = 0; k < b->waits.size; k++) waits[k] = s->place.data[b->waits.data[k]];
  s->place.data[b->number] = s->closed.size;
  vec_push(s->arena, &s->closed, ((stream_batch){stream, b->thunks.size, thunks, b->waits.size, waits}));
  b->number = NONE;
}

static void open_next(scheduling *s, int stream) {
  open_batch *b = &s->open[stream];
  b->number = s->last[stream] = s->place.size;
  b->thunks.size = b->waits.size = 0;
  vec_push(s->scratch, &s->place, NONE);
}

static bool knows(const scheduling *s, int stream, int other, const needs *n) {
  return other == stream || n->batch[other] <= s->seen[stream][other];
}

static bool knows_all(const scheduling *s, int stream, const needs *n) {
  bool all = true;
  for (int t = 0; t < s->streams; t++) all = all && knows(s, stream, t, n);
  return all;
}

static void add_launch(scheduling *s, int number, int stream, const needs *n) {
  open_batch *b = &s->open[stream];
  if (!knows_all(s, stream, n)) close_batch(s, stream);
  if (b->number == NONE) open_next(s, stream);
  for (int t = 0; t < s->streams; t++) {
    if (knows(s, stream, t, n)) continue;
    if (s->open[t].number == n->batch[t]) close_batch(s, t);
    vec_push(s->scratch, &b->waits, n->batch[t]);
    s->seen[stream][t] = n->batch[t];
  }
  vec_push(s->scratch, &b->thunks, number);
  s->stream[number] = stream;
  s->batch[number] = b->number;
}

// --- who does what

static int64_t begin_on(const scheduling *s, int stream, const needs *n) {
  int64_t begin = s->free_at[stream];
  for (int t = 0; t < s->streams; t++) {
    const int64_t end = n->batch[t] == NONE ? 0 : n->end[t];
    begin = int64_max(begin, knows(s, stream, t, n) ? end : int64_saturating_add(end, event_bytes));
  }
  return begin;
}

static void launch(scheduling *s, int number, const needs *n) {
  int best = 0;
  for (int t = 1; t < s->streams; t++)
    if (begin_on(s, t, n) < begin_on(s, best, n)) best = t;
  s->end[number] = int64_saturating_add(begin_on(s, best, n), cost_of(s->program, s->of->thunks[number]));
  s->free_at[best] = s->end[number];
  add_launch(s, number, best, n);
}

// What is submitted behind it begins behind what the host has waited for.
static void execute_on_host(scheduling *s, int number, const needs *n) {
  int *thunk = arena_new(s->arena, int), *waits = arena_array(s->arena, int, s->streams), count = 0;
  *thunk = number;
  s->stream[number] = STREAM_HOST;
  for (int t = 0; t < s->streams; t++) close_batch(s, t);
  for (int t = 0; t < s->streams; t++) {
    if (n->batch[t] <= s->host_seen[t]) continue;
    waits[count++] = s->place.data[n->batch[t]];
    s->host_seen[t] = n->batch[t];
    for (int k = 0; k < s->streams; k++) {
      if (s->seen[k][t] < n->batch[t]) s->seen[k][t] = n->batch[t];
      s->free_at[k] = int64_max(s->free_at[k], n->end[t]);
    }
  }
  vec_push(s->arena, &s->closed, ((stream_batch){STREAM_HOST, 1, thunk, count, waits}));
}

static void end_window(scheduling *s) {
  for (int t = 0; t < s->streams; t++) {
    close_batch(s, t);
    s->floor[t] = s->last[t];
  }
}

static void schedule_window(scheduling *s, int first, int last) {
  order_window(s, first, last);
  for (int at = first; at < last; at++) {
    const int number = s->order[at];
    const needs n = find_needs(s, at, first);
    if (s->is_launch[number]) launch(s, number, &n);
    else execute_on_host(s, number, &n);
  }
  end_window(s);
}

// --- whose a thunk is

// Launches that a conditional may have, so that not all of a large program is recorded for what may never be done.
enum { MOST_NESTED = 64 };

static bool is_apart(const program *p, const program_thunk *t) {
  const touched from = {.read_count = t->read_count, .reads = t->reads},
                to = {.write_count = t->write_count, .writes = t->writes};
  return t->read_count == 1 && t->write_count == 1 && p->slices[t->reads[0]].bytes == p->slices[t->writes[0]].bytes &&
         !conflicts_between(p, &from, &to);
}

static int count_nested(const program *p, const program_thunk *t, bool has_predicates, int count);

// Counts the launches; more than there may be where the host is needed.
static int count_launches(const program *p, const program_thunk *t, bool has_predicates) {
  if (t->kind == THUNK_KERNEL || (t->kind == THUNK_COPY && is_apart(p, t))) return 1;
  // A number is read as a word.
  const bool is_chosen = t->kind == THUNK_CONDITIONAL && has_predicates &&
                         (t->control.is_pred || p->slices[t->control.slice].offset % (int64_t)sizeof(int32_t) == 0);
  if (!is_chosen && t->kind != THUNK_SEQUENCE && t->kind != THUNK_CALL) return MOST_NESTED + 1;
  return count_nested(p, t, has_predicates, is_chosen);
}

// Those of the thunk's sequences and `count` more.
static int count_nested(const program *p, const program_thunk *t, bool has_predicates, int count) {
  for (int k = 0; k < t->sequence_count; k++)
    for (int i = 0; i < t->sequences[k].count && count <= MOST_NESTED; i++)
      count += count_launches(p, t->sequences[k].thunks[i], has_predicates);
  return count;
}

bool stream_schedule_is_for_device(const program *p, const program_thunk *t, bool has_predicates) {
  return count_launches(p, t, has_predicates) <= MOST_NESTED;
}

// Turns behind the last one cost as much as a launch that does nothing, one that the host waits for far more.
int stream_schedule_turns(const program *p, const program_thunk *t) {
  enum { MOST_TURNS = 8, MOST_TOGETHER = 256 };
  const int count = count_nested(p, t, true, 1);  // with the choice
  const int turns = MOST_TOGETHER / count;
  return count > MOST_NESTED ? 0 : turns < MOST_TURNS ? turns : MOST_TURNS;
}

void stream_schedule_make(arena *a, const program *p, const program_sequence *of, const device_abilities *on,
                          stream_schedule *out) {
  arena *scratch = arena_create();
  scheduling *s = arena_new(scratch, scheduling);
  *s = (scheduling){.arena = a, .scratch = scratch, .program = p, .of = of, .streams = on->streams};
  s->is_launch = arena_array(scratch, bool, of->count);
  s->order = arena_array(scratch, int, of->count);
  s->stream = arena_array(scratch, int, of->count);
  s->batch = arena_array(scratch, int, of->count);
  s->end = arena_array(scratch, int64_t, of->count);
  for (int i = 0; i < of->count; i++)
    s->is_launch[i] = stream_schedule_is_for_device(p, of->thunks[i], on->has_predicates);
  for (int t = 0; t < s->streams; t++) {
    s->open[t].number = s->last[t] = s->floor[t] = s->host_seen[t] = NONE;
    for (int k = 0; k < s->streams; k++) s->seen[k][t] = NONE;
  }
  for (int first = 0; first < of->count; first += WINDOW)
    schedule_window(s, first, of->count - first < WINDOW ? of->count : first + WINDOW);
  *out = (stream_schedule){s->closed.size, s->closed.data};
  arena_destroy(scratch);
}
