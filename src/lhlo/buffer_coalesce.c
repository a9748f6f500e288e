// Register allocators call this coalescing. Lives have holes (what a loop carries is dead between its last reader in
// the body and the copy at the body's end, and exactly there lies the value that is copied), so they are lists of
// segments.
//
// Where one life ends at the very event that begins the other, the event must allow it: a copy does, a kernel does that
// reads the operand at the element it writes; everything else reads and writes in an order nobody promises.
#include "lhlo/buffer_coalesce.h"

#include <stdlib.h>

typedef struct candidate {
  int event, result, operand;
  bool is_copy;
  int depth;
  int64_t bytes;
} candidate;

typedef struct coalescer {
  arena *arena;
  buffer_values *values;
  live_range *lives;
  int *fixed;  // by buffer: a value with a fixed allocation, or -1
  VEC(candidate) candidates;
} coalescer;

// --- lives

static live_segment segment_of(const buffer_values *v, int value) {
  const buffer_value *x = &v->values.data[value];
  int64_t begin = 2 * (int64_t)x->written + 1, end = 2 * (int64_t)x->read + 1;
  return (live_segment){begin, end > begin ? end : begin + 1, value, value};
}

// Appends, or joins with the last segment when they touch.
static void append(arena *a, live_range *range, live_segment s) {
  live_segment *last = range->data ? &vec_last(range) : NULL;
  if (!last || last->end < s.begin) {
    vec_push(a, range, s);  // NOLINT(clang-analyzer-core.NullDereference): empty ranges have no capacity
  } else if (s.end > last->end) {
    last->end = s.end;
    last->last = s.last;
  }
}

// Values come in the order in which they are written, but for those that are there from the start.
static void find_lives(coalescer *c) {
  buffer_values *v = c->values;
  c->lives = arena_array(c->arena, live_range, v->values.size);
  c->fixed = arena_array(c->arena, int, v->values.size);
  for (int k = 0; k < v->values.size; k++) c->fixed[k] = -1;
  for (int k = 0; k < v->values.size; k++) {
    int buffer = buffer_representative(v, k);
    if (v->values.data[k].is_fixed) c->fixed[buffer] = k;
    if (!v->values.data[k].is_fixed || v->values.data[k].kind == LHLO_RESULT)
      append(c->arena, &c->lives[buffer], segment_of(v, k));
  }
}

// The first segment that ends at or behind `time`.
static int segment_at(const live_range *range, int64_t time) {
  int low = 0, high = range->size;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (range->data[middle].end < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// --- what events allow

static int operands_at(coalescer *c, const buffer_event *e, int buffer) {
  int count = 0;
  for (int k = 0; k < e->operand_count; k++) count += buffer_representative(c->values, e->operands[k]) == buffer;
  return count;
}

// `from` is read for the last time by the event that writes `to`.
static bool may_follow(coalescer *c, int from, int to) {
  const buffer_value *x = &c->values->values.data[to];
  if (c->values->values.data[from].read != x->written) return false;
  const buffer_event *e = c->values->events.data[x->written];
  if (e->kind == BUFFER_COPIES) return e->operands[x->result] == from;
  if (e->kind != BUFFER_OPERATION || e->operation != LHLO_FUSION) return false;
  for (int k = 0; k < e->share_count; k++) {
    if (e->shares[k].result != x->result || e->operands[e->shares[k].operand] != from) continue;
    return operands_at(c, e, buffer_representative(c->values, from)) == 1;
  }
  return false;
}

static bool segments_agree(coalescer *c, const live_segment *l, const live_segment *r) {
  if (l->end < r->begin || r->end < l->begin) return true;
  if (l->end == r->begin) return may_follow(c, l->last, r->first);
  if (r->end == l->begin) return may_follow(c, r->last, l->first);
  return false;
}

static bool lives_agree(coalescer *c, const live_range *few, const live_range *many) {
  for (int k = 0; k < few->size; k++) {
    const live_segment *s = &few->data[k];
    for (int j = segment_at(many, s->begin); j < many->size && many->data[j].begin <= s->end; j++)
      if (!segments_agree(c, s, &many->data[j])) return false;
  }
  return true;
}

// --- buffers

static bool is_read_only(const coalescer *c, int buffer) {
  return c->fixed[buffer] >= 0 && c->values->values.data[c->fixed[buffer]].kind != LHLO_RESULT;
}

static void insert(arena *a, live_range *range, live_segment s) {
  int first = segment_at(range, s.begin), end = first;
  for (; end < range->size && range->data[end].begin <= s.end; end++) {
    const live_segment *other = &range->data[end];
    if (other->begin < s.begin) s.begin = other->begin, s.first = other->first;
    if (other->end > s.end) s.end = other->end, s.last = other->last;
  }
  if (end == first) vec_push(a, range, s);
  int moved = range->size - (end == first) - end;
  memmove(range->data + first + 1, range->data + end, (size_t)moved * sizeof *range->data);
  range->data[first] = s;
  if (end > first) range->size -= end - first - 1;
}

static void merge(coalescer *c, int left, int right) {
  int few = c->lives[left].size < c->lives[right].size ? left : right, many = few == left ? right : left;
  live_range merged = c->lives[many];
  for (int k = 0; k < c->lives[few].size; k++) insert(c->arena, &merged, c->lives[few].data[k]);
  int fixed = c->fixed[left] >= 0 ? c->fixed[left] : c->fixed[right];
  buffer_unite(c->values, left, right);
  int buffer = buffer_representative(c->values, left);
  c->lives[buffer] = merged;
  c->fixed[buffer] = fixed;
}

static void try_candidate(coalescer *c, const candidate *x) {
  const buffer_event *e = c->values->events.data[x->event];
  int left = buffer_representative(c->values, e->operands[x->operand]),
      right = buffer_representative(c->values, e->results[x->result]);
  if (left == right || is_read_only(c, left) || is_read_only(c, right)) return;
  if (c->fixed[left] >= 0 && c->fixed[right] >= 0) return;
  const live_range *l = &c->lives[left], *r = &c->lives[right];
  if (l->size < r->size ? lives_agree(c, l, r) : lives_agree(c, r, l)) merge(c, left, right);
}

// --- candidates

static void find_candidates(coalescer *c) {
  const buffer_values *v = c->values;
  int *depths = arena_array(c->arena, int, v->loops.size);
  for (int k = 1; k < v->loops.size; k++) depths[k] = depths[v->loops.data[k].parent] + 1;
  for (int k = 0; k < v->events.size; k++) {
    const buffer_event *e = v->events.data[k];
    bool is_copy = e->kind == BUFFER_COPIES;
    int count = is_copy ? e->result_count : e->share_count;
    for (int j = 0; j < count; j++) {
      candidate x = {.event = k, .result = j, .operand = j, .is_copy = is_copy, .depth = depths[e->loop]};
      if (!is_copy) x.result = e->shares[j].result, x.operand = e->shares[j].operand;
      x.bytes = v->values.data[e->results[x.result]].bytes;
      vec_push(c->arena, &c->candidates, x);
    }
  }
}

static int compare_candidates(const void *l, const void *r) {
  const candidate *x = l, *y = r;
  if (x->is_copy != y->is_copy) return x->is_copy ? -1 : 1;
  if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  if (x->event != y->event) return x->event < y->event ? -1 : 1;
  if (x->result != y->result) return x->result < y->result ? -1 : 1;
  return (x->operand > y->operand) - (x->operand < y->operand);
}

void buffer_coalesce(arena *a, buffer_values *v, live_range **lives) {
  coalescer c = {.arena = a, .values = v};
  find_lives(&c);
  find_candidates(&c);
  if (c.candidates.size)
    qsort(c.candidates.data, (size_t)c.candidates.size, sizeof *c.candidates.data, compare_candidates);
  for (int k = 0; k < c.candidates.size; k++) try_candidate(&c, &c.candidates.data[k]);
  *lives = c.lives;
}
