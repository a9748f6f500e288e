// A turn's values are compared with those of one turn before it, which is replaced by the present one in turns 1, 2, 4,
// 8, …: so a cycle is found in time linear in its length, and in the memory of one state (Brent's algorithm).
#include "eval/loop_watch.h"

#include "base/heap.h"

// Larger parts of a state are not kept: who counts on them is not watched.
enum { MAX_BYTES_SEEN = 1 << 16 };

// Which elements of the state a computation of the loop needs for some of its results.
typedef struct dependence {
  arena *scratch;
  bool *needed;  // by element of the state
  bool is_known;
} dependence;

// Whether what the computation gives follows from its arguments alone: the same each time.
static bool is_repeatable(const computation *c, int depth);

static bool gives_the_same(const instruction *i, int depth) {
  if (i->opcode == HLO_CUSTOM_CALL || hlo_op_has(i->opcode, TRAIT_RANDOM)) return false;
  if (hlo_op_has(i->opcode, TRAIT_COLLECTIVE)) return false;
  if (hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT) && i->opcode != HLO_OUTFEED) return false;
  for (int k = 0; k < i->called_count; k++)
    if (!is_repeatable(i->called[k], depth + 1)) return false;
  return true;
}

static bool is_repeatable(const computation *c, int depth) {
  if (depth > INTERPRETER_MAX_DEPTH) return false;
  for (int k = 0; k < c->instructions.size; k++)
    if (!gives_the_same(c->instructions.data[k], depth)) return false;
  return true;
}

static bool is_element_of_state(const instruction *i) {
  return i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER;
}

// Marks what `from` is made of.
static void trace(dependence *d, const instruction *from, int elements) {
  ptr_map done = {0};
  VEC(const instruction *) work = {0};
  vec_push(d->scratch, &work, from);
  while (work.size && d->is_known) {
    const instruction *i = vec_pop(&work);
    if (ptr_map_has(&done, i)) continue;
    ptr_map_put(d->scratch, &done, i, (void *)i);
    if (is_element_of_state(i)) {
      d->needed[i->attributes->index] = true;
      continue;
    }
    if (i->opcode == HLO_PARAMETER)
      for (int k = 0; k < elements; k++) d->needed[k] = true;
    d->is_known = gives_the_same(i, 0);
    for (int k = 0; k < i->operand_count; k++) vec_push(d->scratch, &work, i->operands[k]);
  }
}

static int element_count(const instruction *loop) { return shape_is_tuple(loop->shape) ? loop->shape->tuple_size : 1; }

// What the condition needs, then what the body needs for that, until nothing is added.
static void find_needed(dependence *d, const instruction *loop) {
  const int count = element_count(loop);
  const instruction *next = loop->called[1]->root;
  bool *traced = arena_array(d->scratch, bool, count);
  const bool is_apart = shape_is_tuple(loop->shape) && next->opcode == HLO_TUPLE;
  trace(d, loop->called[0]->root, count);
  for (bool is_new = true; is_new && d->is_known;) {
    is_new = false;
    for (int k = 0; k < count && d->is_known; k++) {
      if (!d->needed[k] || traced[k]) continue;
      traced[k] = is_new = true;
      trace(d, is_apart ? next->operands[k] : next, count);
    }
  }
}

static int64_t bytes_of(const shape *s) {
  int64_t bytes = shape_is_array(s) ? shape_byte_size(s) : 0;
  for (int k = 0; k < s->tuple_size && bytes <= MAX_BYTES_SEEN; k++) bytes += bytes_of(s->elements[k]);
  return bytes;
}

// Null if what decides is not known, or large.
static const int_list *find_deciding(interpreter *in, const instruction *loop) {
  const int count = element_count(loop);
  int_list *deciding = NULL;
  arena *scratch = arena_create();
  dependence d = {.scratch = scratch, .needed = arena_array(scratch, bool, count), .is_known = true};
  find_needed(&d, loop);
  int64_t bytes = 0;
  for (int k = 0; k < count && bytes <= MAX_BYTES_SEEN; k++)
    if (d.needed[k]) bytes += bytes_of(shape_is_tuple(loop->shape) ? loop->shape->elements[k] : loop->shape);
  if (d.is_known && bytes <= MAX_BYTES_SEEN) {
    deciding = arena_new(in->arena, int_list);
    int64_t *elements = arena_array(in->arena, int64_t, count);
    for (int k = 0; k < count; k++)
      if (d.needed[k]) elements[deciding->size++] = k;
    deciding->data = elements;
  }
  arena_destroy(scratch);
  return deciding;
}

static const int_list *deciding_of(interpreter *in, const instruction *loop) {
  static const int_list unknown;
  const int_list *known = ptr_map_get(&in->deciding, loop);
  if (!known) {
    known = find_deciding(in, loop);
    ptr_map_put(in->arena, &in->deciding, loop, known ? (void *)known : (void *)&unknown);
  }
  return known == &unknown ? NULL : known;
}

void loop_watch_start(interpreter *in, const instruction *loop, loop_watch *out) {
  *out = (loop_watch){.loop = loop};
  if (in->noise.state) return;
  const int_list *deciding = deciding_of(in, loop);
  out->seen = deciding ? heap_try_allocate((size_t)(deciding->size + 1) * sizeof *out->seen) : NULL;
  if (out->seen) out->deciding = deciding;
}

static bool is_same(const value *x, const value *y) {
  if (x == y) return true;
  if (x->element_count != y->element_count || x->shape->dtype != y->shape->dtype) return false;
  for (int k = 0; k < x->element_count; k++)
    if (!is_same(x->elements[k], y->elements[k])) return false;
  if (!shape_is_array(x->shape)) return true;
  return shape_same_dims(x->shape, y->shape) && memcmp(x->data, y->data, (size_t)shape_byte_size(x->shape)) == 0;
}

static value *element_of(const loop_watch *w, const value *state, int k) {
  return shape_is_tuple(w->loop->shape) ? state->elements[w->deciding->data[k]] : (value *)state;
}

static void forget(loop_watch *w) {
  for (int k = 0; k < w->deciding->size && w->seen_turn; k++) value_release(w->seen[k]);
  w->seen_turn = 0;
}

heddle_status loop_watch_turn(loop_watch *w, const value *state) {
  if (!w->deciding) return status_ok();
  const int count = w->deciding->size;
  bool came_back = w->turn++ > 0;
  for (int k = 0; k < count && came_back; k++) came_back = is_same(w->seen[k], element_of(w, state, k));
  if (came_back)
    return status_at(HEDDLE_INVALID, w->loop->where,
                     "the loop never ends: what its condition hangs on is in turn %lld as it was in turn %lld",
                     (long long)w->turn, (long long)w->seen_turn);
  if (w->turn & (w->turn - 1)) return status_ok();
  forget(w);
  for (int k = 0; k < count; k++) w->seen[k] = value_retain(element_of(w, state, k));
  w->seen_turn = w->turn;
  return status_ok();
}

void loop_watch_finish(loop_watch *w) {
  if (!w->deciding) return;
  forget(w);
  heap_free(w->seen);
}
