// Every thunk gets a level, one above the highest level of the thunks that it has to wait for; thunks of one level are
// independent of each other.
//
// Levels are counted anew in blocks of neighbouring thunks, so that pairs of thunks are compared within a block only: a
// thousand products are scheduled in 0.8 ms. A block without a parallel step worth waking a thread keeps the order of
// the program.
#include "rt/thunk_schedule.h"

#include <stdlib.h>

#include "base/vec.h"
#include "rt/conflicts.h"
#include "rt/cost.h"

enum { BLOCK = 128 };

// A parallel step is formed only of thunks that cost less than this (unless they have no use for threads anyway):
// splitting a large one wastes nothing and cannot leave a thread without work at the end.
#define MEMBER_SECONDS (16 * COST_WAKE_SECONDS)

bool thunk_schedule_uses_threads(const thunk *t) { return !t->is_serial && t->cost >= COST_PARALLEL_SECONDS; }

typedef struct scheduling {
  arena *scratch;
  const program *program;
  int count;
  const thunk *thunks;
  int threads;
  int *levels;
  thunk_schedule *out;
  VEC(thunk_schedule_step) steps;
} scheduling;

// --- what waits for what

// Whether they touch the same bytes, or both have effects.
static bool has_to_wait(const scheduling *s, const thunk *later, const thunk *earlier) {
  const touched now = touched_by(later->from), before = touched_by(earlier->from);
  return (later->has_effects && earlier->has_effects) || conflicts_between(s->program, &now, &before);
}

// --- blocks

static bool may_join(const thunk *t) { return t->is_serial || t->cost < MEMBER_SECONDS; }

// Whether order[begin … end - 1], those that may join of one level, are done sooner as a parallel step.
static bool is_worthwhile(const scheduling *s, int begin, int end) {
  double apart = 0, total = 0, longest = 0;
  for (int k = begin; k < end; k++) {
    const thunk *t = &s->thunks[s->out->order[k]];
    apart += thunk_schedule_uses_threads(t) ? t->cost / s->threads + COST_WAKE_SECONDS : t->cost;
    total += t->cost;
    if (t->cost > longest) longest = t->cost;
  }
  const double even = total / s->threads;
  return s->threads > 1 && apart > (even > longest ? even : longest) + COST_WAKE_SECONDS;
}

static void push_apart(scheduling *s, int begin, int end) {
  for (int k = begin; k < end; k++) vec_push(s->scratch, &s->steps, ((thunk_schedule_step){k, k + 1, false}));
}

// order[begin … end - 1] are of one level; those that may join a parallel step are moved to the front.
static bool push_level(scheduling *s, int begin, int end) {
  int *order = s->out->order;
  int others[BLOCK], other_count = 0, members = begin;
  for (int k = begin; k < end; k++) {
    if (may_join(&s->thunks[order[k]])) order[members++] = order[k];
    else others[other_count++] = order[k];
  }
  memcpy(&order[members], others, (size_t)other_count * sizeof *order);
  const bool is_parallel = members - begin > 1 && is_worthwhile(s, begin, members);
  if (is_parallel) vec_push(s->scratch, &s->steps, ((thunk_schedule_step){begin, members, true}));
  else push_apart(s, begin, members);
  push_apart(s, members, end);
  return is_parallel;
}

// Levels of thunks first … last - 1, all above `floor`; returns the highest. Who waits for a higher level need not be
// compared with those of lower ones.
static int find_levels(scheduling *s, int first, int last, int floor) {
  int highest = floor;
  for (int i = first; i < last; i++) {
    int below = floor;
    for (int k = i - 1; k >= first; k--)
      if (s->levels[k] > below && has_to_wait(s, &s->thunks[i], &s->thunks[k])) below = s->levels[k];
    s->levels[i] = below + 1;
    if (highest < s->levels[i]) highest = s->levels[i];
  }
  return highest;
}

static int schedule_block(scheduling *s, int first, int last, int floor) {
  const int highest = find_levels(s, first, last, floor), before = s->steps.size;
  int starts[BLOCK + 1] = {0};  // of the levels' thunks in the block
  for (int i = first; i < last; i++) starts[s->levels[i] - floor]++;
  for (int l = 1; l <= highest - floor; l++) starts[l] += starts[l - 1];
  for (int i = first; i < last; i++) s->out->order[first + starts[s->levels[i] - floor - 1]++] = i;
  bool has_parallel = false;
  for (int l = 0, begin = first; l < highest - floor; l++) {
    has_parallel = push_level(s, begin, first + starts[l]) || has_parallel;
    begin = first + starts[l];
  }
  if (has_parallel) return highest;
  s->steps.size = before;
  for (int i = first; i < last; i++) s->out->order[i] = i;
  push_apart(s, first, last);
  return highest;
}

void thunk_schedule_make(arena *a, const program *p, int count, const thunk *thunks, int threads, thunk_schedule *out) {
  scheduling s = {
      .scratch = arena_create(), .program = p, .count = count, .thunks = thunks, .threads = threads, .out = out};
  out->order = arena_array(a, int, count);
  s.levels = arena_array(s.scratch, int, count);
  for (int first = 0, floor = 0; first < count; first += BLOCK)
    floor = schedule_block(&s, first, count - first < BLOCK ? count : first + BLOCK, floor);
  out->step_count = s.steps.size;
  out->steps = arena_array(a, thunk_schedule_step, s.steps.size);
  if (s.steps.size) memcpy(out->steps, s.steps.data, (size_t)s.steps.size * sizeof *out->steps);
  arena_destroy(s.scratch);
}
