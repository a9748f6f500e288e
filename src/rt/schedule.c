// Every thunk gets a level, one above the highest level of what it has to wait for; thunks of one level are independent
// of each other. Levels come from a tree over all byte ranges of the sequence that keeps, for each range, the highest
// level that has read and the highest that has written it: no pair of thunks is ever compared.
//
// Levels are counted anew in blocks of neighbouring thunks. A block without a wave worth waking a thread keeps the
// order of the program.
#include "rt/schedule.h"

#include <stdlib.h>

#include "base/vec.h"
#include "rt/cost.h"

enum { BLOCK = 128 };

// A wave is formed only of thunks that cost less than this (unless they have no use for threads anyway): splitting a
// large one wastes nothing and cannot leave a thread without work at the end.
#define WAVE_MEMBER_SECONDS (16 * COST_WAKE_SECONDS)

bool schedule_is_wide(const thunk *t) { return !t->is_serial && t->cost >= COST_PARALLEL_SECONDS; }

// --- levels by byte range

// Leaf i stands for the bytes from points[i] to points[i + 1]. Nodes lie as in a heap: node n covers what 2n and 2n + 1
// cover. `all` was reached by all of a node's bytes, `any` by some of them.
typedef struct level_tree {
  int leaf_count;  // a power of two
  int *all, *any;
} level_tree;

static void tree_create(arena *a, int points, level_tree *t) {
  t->leaf_count = 1;
  while (t->leaf_count < points) t->leaf_count *= 2;
  t->all = arena_array(a, int, 2 * (size_t)t->leaf_count);
  t->any = arena_array(a, int, 2 * (size_t)t->leaf_count);
}

static void raise_to(int *level, int to) {
  if (*level < to) *level = to;
}

static void tree_raise(level_tree *t, int begin, int end, int level) {
  int l = begin + t->leaf_count, r = end + t->leaf_count;
  for (; l < r; l /= 2, r /= 2) {
    if (l & 1) {
      raise_to(&t->all[l], level);
      raise_to(&t->any[l++], level);
    }
    if (r & 1) {
      raise_to(&t->all[--r], level);
      raise_to(&t->any[r], level);
    }
  }
  for (int n = (begin + t->leaf_count) / 2; n; n /= 2) raise_to(&t->any[n], level);
  for (int n = (end - 1 + t->leaf_count) / 2; n; n /= 2) raise_to(&t->any[n], level);
}

static int tree_highest(const level_tree *t, int begin, int end) {
  int level = 0;
  int l = begin + t->leaf_count, r = end + t->leaf_count;
  for (; l < r; l /= 2, r /= 2) {
    if (l & 1) raise_to(&level, t->any[l++]);
    if (r & 1) raise_to(&level, t->any[--r]);
  }
  for (int n = (begin + t->leaf_count) / 2; n; n /= 2) raise_to(&level, t->all[n]);
  for (int n = (end - 1 + t->leaf_count) / 2; n; n /= 2) raise_to(&level, t->all[n]);
  return level;
}

// --- byte ranges as ranges of leaves

typedef struct range {
  int begin, end;  // leaves
} range;

typedef VEC(int64_t) offsets;

typedef struct scheduling {
  arena *scratch;
  const program *program;
  int count;
  const thunk *thunks;
  int threads;
  int64_t *bases;  // of the allocations, side by side in one space of addresses
  offsets points;  // ends of ranges in that space, ascending, each once
  level_tree reads, writes;
  int effects;  // level of the last thunk with effects
  int *levels;
  schedule *out;
  VEC(schedule_step) steps;
} scheduling;

static int compare_offsets(const void *l, const void *r) {
  const int64_t x = *(const int64_t *)l, y = *(const int64_t *)r;
  return (x > y) - (x < y);
}

static void add_points(scheduling *s, int count, const int *slices) {
  for (int i = 0; i < count; i++) {
    const program_slice *slice = &s->program->slices[slices[i]];
    if (!slice->bytes) continue;
    const int64_t begin = s->bases[slice->allocation] + slice->offset;
    vec_push(s->scratch, &s->points, begin);
    vec_push(s->scratch, &s->points, begin + slice->bytes);
  }
}

static void find_points(scheduling *s) {
  const program *p = s->program;
  s->bases = arena_array(s->scratch, int64_t, p->allocation_count);
  for (int i = 1; i < p->allocation_count; i++) s->bases[i] = s->bases[i - 1] + p->allocations[i - 1].bytes;
  for (int i = 0; i < s->count; i++) {
    const program_thunk *from = s->thunks[i].from;
    add_points(s, from->read_count, from->reads);
    add_points(s, from->write_count, from->writes);
  }
  if (!s->points.size) return;
  qsort(s->points.data, (size_t)s->points.size, sizeof *s->points.data, compare_offsets);
  int kept = 1;
  for (int i = 1; i < s->points.size; i++)
    if (s->points.data[i] != s->points.data[kept - 1]) s->points.data[kept++] = s->points.data[i];
  s->points.size = kept;
}

static int leaf_of(const scheduling *s, int64_t point) {
  const int64_t *found =
      bsearch(&point, s->points.data, (size_t)s->points.size, sizeof *s->points.data, compare_offsets);
  return (int)(found - s->points.data);
}

// False for a slice of no bytes.
static bool range_of(const scheduling *s, int number, range *out) {
  const program_slice *slice = &s->program->slices[number];
  if (!slice->bytes) return false;
  const int64_t begin = s->bases[slice->allocation] + slice->offset;
  *out = (range){leaf_of(s, begin), leaf_of(s, begin + slice->bytes)};
  return true;
}

// --- blocks

static int level_after(const scheduling *s, const thunk *t) {
  const program_thunk *from = t->from;
  int last = t->has_effects ? s->effects : 0;
  range r;
  for (int i = 0; i < from->read_count; i++)
    if (range_of(s, from->reads[i], &r)) raise_to(&last, tree_highest(&s->writes, r.begin, r.end));
  for (int i = 0; i < from->write_count; i++) {
    if (!range_of(s, from->writes[i], &r)) continue;
    raise_to(&last, tree_highest(&s->writes, r.begin, r.end));
    raise_to(&last, tree_highest(&s->reads, r.begin, r.end));
  }
  return last + 1;
}

static void reach_level(scheduling *s, const thunk *t, int level) {
  const program_thunk *from = t->from;
  range r;
  if (t->has_effects) s->effects = level;
  for (int i = 0; i < from->read_count; i++)
    if (range_of(s, from->reads[i], &r)) tree_raise(&s->reads, r.begin, r.end, level);
  for (int i = 0; i < from->write_count; i++)
    if (range_of(s, from->writes[i], &r)) tree_raise(&s->writes, r.begin, r.end, level);
}

static bool may_join(const thunk *t) { return t->is_serial || t->cost < WAVE_MEMBER_SECONDS; }

// Whether order[begin … end - 1], those that may join of one level, are done sooner as a wave.
static bool is_worthwhile(const scheduling *s, int begin, int end) {
  double apart = 0, total = 0, longest = 0;
  for (int k = begin; k < end; k++) {
    const thunk *t = &s->thunks[s->out->order[k]];
    apart += schedule_is_wide(t) ? t->cost / s->threads + COST_WAKE_SECONDS : t->cost;
    total += t->cost;
    if (t->cost > longest) longest = t->cost;
  }
  const double even = total / s->threads;
  return s->threads > 1 && apart > (even > longest ? even : longest) + COST_WAKE_SECONDS;
}

static void push_apart(scheduling *s, int begin, int end) {
  for (int k = begin; k < end; k++) vec_push(s->scratch, &s->steps, ((schedule_step){k, k + 1, false}));
}

// order[begin … end - 1] are of one level; those that may join a wave are moved to the front.
static bool push_level(scheduling *s, int begin, int end) {
  int *order = s->out->order;
  int others[BLOCK], other_count = 0, members = begin;
  for (int k = begin; k < end; k++) {
    if (may_join(&s->thunks[order[k]])) order[members++] = order[k];
    else others[other_count++] = order[k];
  }
  memcpy(&order[members], others, (size_t)other_count * sizeof *order);
  const bool is_wave = members - begin > 1 && is_worthwhile(s, begin, members);
  if (is_wave) vec_push(s->scratch, &s->steps, ((schedule_step){begin, members, true}));
  else push_apart(s, begin, members);
  push_apart(s, members, end);
  return is_wave;
}

// Levels of thunks first … last - 1, all above `floor`; returns the highest.
static int find_levels(scheduling *s, int first, int last, int floor) {
  int highest = floor;
  for (int i = first; i < last; i++) {
    int level = level_after(s, &s->thunks[i]);
    raise_to(&level, floor + 1);
    reach_level(s, &s->thunks[i], level);
    raise_to(&highest, level);
    s->levels[i] = level;
  }
  return highest;
}

static int schedule_block(scheduling *s, int first, int last, int floor) {
  const int highest = find_levels(s, first, last, floor), before = s->steps.size;
  int starts[BLOCK + 1] = {0};  // of the levels' thunks in the block
  for (int i = first; i < last; i++) starts[s->levels[i] - floor]++;
  for (int l = 1; l <= highest - floor; l++) starts[l] += starts[l - 1];
  for (int i = first; i < last; i++) s->out->order[first + starts[s->levels[i] - floor - 1]++] = i;
  bool has_wave = false;
  for (int l = 0, begin = first; l < highest - floor; l++) {
    has_wave = push_level(s, begin, first + starts[l]) || has_wave;
    begin = first + starts[l];
  }
  if (has_wave) return highest;
  s->steps.size = before;
  for (int i = first; i < last; i++) s->out->order[i] = i;
  push_apart(s, first, last);
  return highest;
}

void schedule_make(arena *a, const program *p, int count, const thunk *thunks, int threads, schedule *out) {
  scheduling s = {
      .scratch = arena_create(), .program = p, .count = count, .thunks = thunks, .threads = threads, .out = out};
  out->order = arena_array(a, int, count);
  s.levels = arena_array(s.scratch, int, count);
  find_points(&s);
  tree_create(s.scratch, s.points.size, &s.reads);
  tree_create(s.scratch, s.points.size, &s.writes);
  for (int first = 0, floor = 0; first < count; first += BLOCK)
    floor = schedule_block(&s, first, count - first < BLOCK ? count : first + BLOCK, floor);
  out->step_count = s.steps.size;
  out->steps = arena_array(a, schedule_step, s.steps.size);
  if (s.steps.size) memcpy(out->steps, s.steps.data, (size_t)s.steps.size * sizeof *out->steps);
  arena_destroy(s.scratch);
}
