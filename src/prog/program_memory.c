// Liveness, backwards over the program. Memory is cut into segments wherever a slice of temporaries begins or ends; a
// segment lives from the thunk that writes it to the last one that reads what was written. Loops are gone through until
// nothing changes, which takes two rounds.
#include "prog/program_memory.h"

#include <stdlib.h>

#include "base/vec.h"

enum { MOST_LOOPS = 6 };

typedef struct segment {
  int allocation;
  int64_t begin, end;
} segment;

typedef struct liveness {
  arena *arena;
  const program *program;
  program_memory *out;
  int count;
  segment *segments;  // by place
  int *first, *last;  // by slice: its segments, last exclusive
  int words;          // of a set
  int loops;          // around what is walked
} liveness;

typedef uint64_t *segment_set;

// --- segments

static bool is_temporary(const program *p, const program_slice *s) {
  return p->allocations[s->allocation].kind == PROGRAM_TEMPORARY || s->is_temporary;
}

typedef struct boundary {
  int allocation;
  int64_t at;
} boundary;

static int compare_boundaries(const void *l, const void *r) {
  const boundary *x = l, *y = r;
  if (x->allocation != y->allocation) return x->allocation < y->allocation ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

static int first_at(const liveness *v, int allocation, int64_t at) {
  int low = 0, high = v->count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const segment *s = &v->segments[middle];
    if (s->allocation < allocation || (s->allocation == allocation && s->begin < at)) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void find_segments(liveness *v) {
  const program *p = v->program;
  boundary *all = arena_array(v->arena, boundary, 2 * p->slice_count);
  int count = 0;
  for (int k = 0; k < p->slice_count; k++) {
    const program_slice *s = &p->slices[k];
    if (!is_temporary(p, s) || s->bytes == 0) continue;
    all[count++] = (boundary){s->allocation, s->offset};
    all[count++] = (boundary){s->allocation, s->offset + s->bytes};
  }
  if (count) qsort(all, (size_t)count, sizeof *all, compare_boundaries);
  v->segments = arena_array(v->arena, segment, count);
  for (int k = 0; k + 1 < count; k++)
    if (all[k].allocation == all[k + 1].allocation && all[k].at < all[k + 1].at)
      v->segments[v->count++] = (segment){all[k].allocation, all[k].at, all[k + 1].at};
  v->words = (v->count + 63) / 64;
  v->first = arena_array(v->arena, int, p->slice_count);
  v->last = arena_array(v->arena, int, p->slice_count);
  for (int k = 0; k < p->slice_count; k++) {
    const program_slice *s = &p->slices[k];
    if (!is_temporary(p, s)) continue;
    v->first[k] = first_at(v, s->allocation, s->offset);
    v->last[k] = first_at(v, s->allocation, s->offset + s->bytes);
  }
}

// --- sets

static segment_set new_set(const liveness *v) { return arena_array(v->arena, uint64_t, v->words); }

static void put(const liveness *v, segment_set set, int slice) {
  for (int k = v->first[slice]; k < v->last[slice]; k++) set[k / 64] |= (uint64_t)1 << (k % 64);
}

static void take(const liveness *v, segment_set set, int slice) {
  for (int k = v->first[slice]; k < v->last[slice]; k++) set[k / 64] &= ~((uint64_t)1 << (k % 64));
}

static bool add_all(const liveness *v, segment_set to, const uint64_t *from) {
  bool changed = false;
  for (int k = 0; k < v->words; k++) {
    changed |= (from[k] & ~to[k]) != 0;
    to[k] |= from[k];
  }
  return changed;
}

static int64_t bytes_of(const liveness *v, const uint64_t *set) {
  int64_t bytes = 0;
  for (int k = 0; k < v->count; k++)
    if (set[k / 64] >> (k % 64) & 1) bytes += v->segments[k].end - v->segments[k].begin;
  return bytes;
}

// --- thunks

static void walk(liveness *v, const program_sequence *s, segment_set live);

static void note(const liveness *v, const program_thunk *t, const uint64_t *live) {
  int64_t *known = ptr_map_get(&v->out->live, t);
  const int64_t bytes = bytes_of(v, live);
  if (!known) {
    known = arena_new(v->arena, int64_t);
    ptr_map_put(v->arena, &v->out->live, t, known);
  }
  if (bytes > *known) *known = bytes;
}

static void walk_leaf(const liveness *v, const program_thunk *t, segment_set live) {
  for (int k = 0; k < t->write_count; k++) put(v, live, t->writes[k]);
  for (int k = 0; k < t->read_count; k++) put(v, live, t->reads[k]);
  note(v, t, live);
  for (int k = 0; k < t->write_count; k++) take(v, live, t->writes[k]);
  for (int k = 0; k < t->read_count; k++) put(v, live, t->reads[k]);
}

// What the first turn reads, every turn before leaves.
static void walk_loop(liveness *v, const program_thunk *t, segment_set live) {
  segment_set before = new_set(v);
  // Deep inside all that any turn reads is taken to live from one to the next, since rounds multiply.
  for (int k = 0; v->loops >= MOST_LOOPS && k < t->read_count; k++) put(v, live, t->reads[k]);
  v->loops++;
  do {
    add_all(v, before, live);
    memcpy(live, before, (size_t)v->words * sizeof *live);
    if (t->kind == THUNK_WHILE) {
      walk(v, &t->sequences[1], live);
      put(v, live, t->control.slice);
      add_all(v, live, before);
    }
    walk(v, &t->sequences[0], live);
  } while (add_all(v, before, live) && v->loops <= MOST_LOOPS);
  v->loops--;
}

static void walk_branches(liveness *v, const program_thunk *t, segment_set live) {
  segment_set behind = new_set(v), branch = new_set(v);
  memcpy(behind, live, (size_t)v->words * sizeof *live);
  for (int k = 0; k < t->sequence_count; k++) {
    memcpy(branch, behind, (size_t)v->words * sizeof *live);
    walk(v, &t->sequences[k], branch);
    if (k == 0) memcpy(live, branch, (size_t)v->words * sizeof *live);
    else add_all(v, live, branch);
  }
  if (t->kind == THUNK_CONDITIONAL) put(v, live, t->control.slice);
}

static void walk(liveness *v, const program_sequence *s, segment_set live) {
  for (int k = s->count; k-- > 0;) {
    const program_thunk *t = s->thunks[k];
    const bool is_leaf = t->sequence_count == 0 || (t->sequence_count == 1 && t->sequences[0].count == 0);
    if (is_leaf) walk_leaf(v, t, live);
    else if (t->kind == THUNK_FOR || t->kind == THUNK_WHILE) walk_loop(v, t, live);
    else walk_branches(v, t, live);
  }
}

void program_memory_find(arena *a, const program *p, program_memory *out) {
  *out = (program_memory){0};
  liveness v = {.arena = a, .program = p, .out = out};
  find_segments(&v);
  walk(&v, &p->entry, new_set(&v));
}

int64_t program_memory_of(const program_memory *m, const program_thunk *t) {
  const int64_t *live = ptr_map_get(&m->live, t);
  return live ? *live + t->resident_bytes : 0;
}
