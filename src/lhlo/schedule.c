// The order in which instructions run decides how much memory is live at once. Three orders are made and the one with
// the lowest peak is taken, of equal ones the one whose values live shortest: as the text has it, from the root down,
// and the greedy one, which always runs what frees most (less what it allocates) of all that could run.
//
// What has effects (feeds, messages, collectives) keeps the order of the text in all three.
//
// What an instruction frees is known by counting: when a value has one reader left, that reader will free it. The
// readers left are kept as an exclusive or of their numbers, so that the last one needs no search.
#include "lhlo/schedule.h"

#include "fuse/leaf_flow.h"
#include "fuse/leaves.h"
#include "fuse/library.h"
#include "fuse/tile_loops.h"
#include "hlo/program_order.h"
#include "kernel/in_place.h"
#include "lhlo/donation.h"
#include "lhlo/lhlo.h"
#include "opt/effects.h"

// A value with memory: a leaf of an instruction that does work.
typedef struct scheduled_value {
  int64_t bytes;
  bool is_room;   // what is written there last is its value
  int readers;    // that have not run; distinct
  int reader_or;  // their numbers, exclusive or
} scheduled_value;

typedef struct scheduled_instruction {
  instruction *instruction;
  int waiting;        // operands, control predecessors and an earlier effect that have not run
  int earlier;        // for an instruction with effects: the last one before it, else -1
  bool is_name;       // does no work
  int64_t allocated;  // bytes of its results
  int64_t inside;     // most bytes live in what it calls
  int64_t freed;      // bytes of values that nobody else is left to read
  int first_value;    // its leaves
  int value_count;
  VEC(int) read;        // values, each once
  VEC(int) updated;     // those that it writes over, after a copy if others have yet to read them
  VEC(int) updating;    // by those: which of its results lies there
  VEC(int) successors;  // once for each edge
  VEC(int) behind;      // readers of what it writes over, which run before it
} scheduled_instruction;

typedef VEC(int) number_list;

// Of one computation: the most bytes of its values that live at one time.
typedef struct scheduled_peak {
  int64_t bytes;
} scheduled_peak;

typedef struct scheduler {
  arena *arena;
  int count;
  scheduled_instruction *instructions;  // in the order of the text
  VEC(scheduled_value) values;
  const ptr_map *peaks;              // by computation: a scheduled_peak
  const ptr_map *with_side_effects;  // computations that have effects
  int root;                          // number of the instruction that the computation ends with
} scheduler;

// --- what reads and writes what

static bool has_own_memory(const instruction *i) { return i->opcode != HLO_PARAMETER && i->opcode != HLO_CONSTANT; }

static leaf_numbers add_values(scheduler *s, int number, const instruction *i) {
  scheduled_instruction *x = &s->instructions[number];
  shape_list leaves = {0};
  leaves_of_shape(s->arena, i->shape, &leaves);
  leaf_numbers v = {.count = leaves.size, .numbers = arena_array(s->arena, int, leaves.size)};
  x->first_value = s->values.size;
  x->value_count = leaves.size;
  for (int k = 0; k < leaves.size; k++) {
    int64_t bytes = has_own_memory(i) ? kernel_buffer_bytes(leaves.data[k]) : 0;
    v.numbers[k] = s->values.size;
    x->allocated += bytes;
    vec_push(s->arena, &s->values, ((scheduled_value){.bytes = bytes}));
  }
  return v;
}

static void add_reads(scheduler *s, int number, const leaf_numbers *operands) {
  scheduled_instruction *x = &s->instructions[number];
  ptr_map seen = {0};
  for (int k = 0; k < operands->count; k++) {
    int value = operands->numbers[k];
    if (ptr_map_has(&seen, s->values.data + value)) continue;
    ptr_map_put(s->arena, &seen, s->values.data + value, s);
    vec_push(s->arena, &x->read, value);
    s->values.data[value].readers++;
    s->values.data[value].reader_or ^= number;
  }
}

// Operands of fusions are arrays, so that each is one leaf.
static heddle_status add_updates(scheduler *s, int number, const leaf_numbers *operands) {
  scheduled_instruction *x = &s->instructions[number];
  in_place_pairs pairs = {0};
  if (x->instruction->opcode != HLO_FUSION || library_kind_of(x->instruction) != LIBRARY_NONE) return status_ok();
  TRY(in_place_updates(s->arena, x->instruction->called[0], &pairs));
  for (int k = 0; k < pairs.size; k++) {
    if (pairs.data[k].operand >= operands->count) continue;
    vec_push(s->arena, &x->updated, operands->numbers[pairs.data[k].operand]);
    vec_push(s->arena, &x->updating, pairs.data[k].result);
  }
  return status_ok();
}

static void add_edges(scheduler *s, int number) {
  instruction *i = s->instructions[number].instruction;
  for (int k = 0; k < i->operand_count; k++)
    vec_push(s->arena, &s->instructions[i->operands[k]->mark].successors, number);
  for (int k = 0; k < i->control_predecessors.size; k++)
    vec_push(s->arena, &s->instructions[i->control_predecessors.data[k]->mark].successors, number);
}

static void add_effect(scheduler *s, int number, int *last) {
  scheduled_instruction *x = &s->instructions[number];
  x->earlier = -1;
  if (!effects_has(s->with_side_effects, false, x->instruction)) return;
  x->earlier = *last;
  if (*last >= 0) vec_push(s->arena, &s->instructions[*last].successors, number);
  *last = number;
}

static int64_t peak_inside(const scheduler *s, const instruction *i) {
  int64_t most = 0;
  if (!hlo_op_has(i->opcode, TRAIT_CONTROL)) return 0;
  for (int k = 0; k < i->called_count; k++) {
    const scheduled_peak *p = ptr_map_get(s->peaks, i->called[k]);
    if (p && p->bytes > most) most = p->bytes;
  }
  return most;
}

// A loop over tiles writes its results into memory that is there before, and passes on the rest of its state.
static bool lies_where_operands_lie(const instruction *i) { return i->opcode == HLO_WHILE && tile_loops_has(i); }

// Memory that such loops fill for the caller takes none of the program's.
static void forget_given(scheduler *s) {
  for (int k = 0; k < s->count; k++) {
    scheduled_instruction *x = &s->instructions[k];
    const instruction *i = x->instruction;
    if (i->opcode != HLO_CUSTOM_CALL || i->parent != i->parent->module->entry) continue;
    if (!str_is(i->attributes->custom_call_target, LHLO_ALLOCATE_BUFFER)) continue;
    for (int v = x->first_value; v < x->first_value + x->value_count; v++) {
      if (s->values.data[v].readers <= s->count) continue;
      x->allocated -= s->values.data[v].bytes;
      s->values.data[v].bytes = 0;
    }
  }
}

// Room that is made for results, or a loop's state: what is updated there is no value of its own.
static bool is_room(const instruction *i) {
  if (i->opcode == HLO_PARAMETER) return i->parent != i->parent->module->entry;
  return i->opcode == HLO_CUSTOM_CALL && i->operand_count == 0 &&
         str_is(i->attributes->custom_call_target, LHLO_ALLOCATE_BUFFER);
}

static leaf_numbers add_results(scheduler *s, int number, const instruction *i) {
  const leaf_numbers v = add_values(s, number, i);
  scheduled_instruction *x = &s->instructions[number];
  if (!s->values.data) return v;
  for (int k = 0; k < v.count; k++) s->values.data[v.numbers[k]].is_room = is_room(i);
  for (int k = 0; k < x->updated.size; k++) {
    int *result = &v.numbers[x->updating.data[k]];
    if (!s->values.data[x->updated.data[k]].is_room) continue;
    x->allocated -= s->values.data[*result].bytes;
    s->values.data[*result].bytes = 0;
    *result = x->updated.data[k];
  }
  return v;
}

// --- what writes over what others read

// Whether the loop's body gives another value for element `k` of its state than it was given.
static bool is_written(const instruction *loop, int k) {
  const computation *body = loop->called[1];
  const instruction *root = body->root, *x = root->opcode == HLO_TUPLE ? root->operands[k] : NULL;
  const bool is_passed = x && x->opcode == HLO_GET_TUPLE_ELEMENT && x->operands[0] == body->parameters.data[0];
  return !is_passed || x->attributes->index != k;
}

// Marks all that waits for the instruction, itself included.
static void mark_waiting(const scheduler *s, int number, bool *waits) {
  number_list work = {0};
  waits[number] = true;
  vec_push(s->arena, &work, number);
  while (work.size > 0) {
    const scheduled_instruction *x = &s->instructions[vec_pop(&work)];
    for (int j = 0; j < x->successors.size; j++) {
      const int next = x->successors.data[j];
      if (!waits[next]) vec_push(s->arena, &work, next);
      waits[next] = true;
    }
  }
}

static bool reads_value(const scheduled_instruction *x, int value) {
  for (int j = 0; j < x->read.size; j++)
    if (x->read.data[j] == value) return true;
  return false;
}

static void put_behind_readers(scheduler *s, int number, int value) {
  bool *waits = NULL;
  scheduled_instruction *writer = &s->instructions[number];
  for (int k = 0; k < s->count; k++) {
    if (k == number || !reads_value(&s->instructions[k], value)) continue;
    if (!waits) {
      waits = arena_array(s->arena, bool, s->count);
      mark_waiting(s, number, waits);
    }
    if (waits[k]) continue;
    vec_push(s->arena, &s->instructions[k].successors, number);
    vec_push(s->arena, &writer->behind, k);
  }
}

static bool has_tile_loops(const scheduler *s) {
  for (int k = 0; k < s->count; k++)
    if (lies_where_operands_lie(s->instructions[k].instruction)) return true;
  return false;
}

// The number of the instruction that gives the value; -1: none.
static int giver_of(const scheduler *s, int value) {
  for (int k = 0; k < s->count; k++) {
    const scheduled_instruction *x = &s->instructions[k];
    if (x->first_value <= value && value < x->first_value + x->value_count) return k;
  }
  return -1;
}

// Results that take a parameter's memory over run behind all others that read it.
static heddle_status put_results_behind_readers(scheduler *s, const leaf_flow *flow, const computation *c) {
  int *donated, leaf = 0;
  const leaf_numbers *results = &flow->values[c->root->mark];
  TRY(donation_find(s->arena, c->module, &donated));
  for (int p = 0; p < c->parameters.size; p++) {
    const leaf_numbers *given = &flow->values[c->parameters.data[p]->mark];
    for (int e = 0; e < given->count; e++, leaf++) {
      for (int r = 0; r < results->count; r++) {
        const int giver = donated[r] == leaf ? giver_of(s, results->numbers[r]) : -1;
        if (giver >= 0) put_behind_readers(s, giver, given->numbers[e]);
      }
    }
  }
  return status_ok();
}

// What counts turns is written where it lay before, by a step behind all others that read it. Values that take more are
// left to the order: to have them live for long may cost more than a copy.
enum { COUNTER_BYTES = 16 };

static void put_counters_behind_readers(scheduler *s, const leaf_flow *flow, const computation *c) {
  if (c == c->module->entry || c->parameters.size != 1) return;
  const leaf_numbers *results = &flow->values[c->root->mark];
  const leaf_numbers *given = &flow->values[c->parameters.data[0]->mark];
  for (int k = 0; k < given->count && results->count == given->count; k++) {
    const int value = given->numbers[k], giver = giver_of(s, results->numbers[k]);
    if (giver < 0 || s->instructions[giver].value_count != 1) continue;
    const scheduled_instruction *x = &s->instructions[giver];
    if (reads_value(x, value) && x->allocated > 0 && x->allocated <= COUNTER_BYTES) put_behind_readers(s, giver, value);
  }
}

// A loop over tiles that writes over an array runs behind all others that read it, so that nobody has to copy it. Where
// such loops are, memory is short, and so does whatever else is written over what others read.
static heddle_status put_writers_behind_readers(scheduler *s, leaf_flow *flow, const computation *c) {
  if (!has_tile_loops(s) || !s->values.data) return status_ok();
  for (int k = 0; k < s->count; k++) {
    const instruction *i = s->instructions[k].instruction;
    if (!lies_where_operands_lie(i)) continue;
    const leaf_numbers state = leaf_flow_operands(flow, i, 0);
    for (int e = 0; e < state.count && state.count == i->shape->tuple_size; e++)
      if (s->values.data[state.numbers[e]].readers > 1 && is_written(i, e)) put_behind_readers(s, k, state.numbers[e]);
  }
  for (int k = 0; k < s->count; k++) {
    const scheduled_instruction *x = &s->instructions[k];
    for (int j = 0; j < x->updated.size; j++)
      if (s->values.data[x->updated.data[j]].readers > 1) put_behind_readers(s, k, x->updated.data[j]);
  }
  return c == c->module->entry ? put_results_behind_readers(s, flow, c) : status_ok();
}

// Results of the root are read by nobody: they stay.
static heddle_status analyse(scheduler *s, const instruction_list *in_text) {
  leaf_flow flow = {s->arena, arena_array(s->arena, leaf_numbers, in_text->size)};
  s->count = in_text->size;
  s->instructions = arena_array(s->arena, scheduled_instruction, in_text->size);
  int last_effect = -1;
  for (int k = 0; k < in_text->size; k++) {
    instruction *i = in_text->data[k];
    i->mark = (uint64_t)k;
    s->instructions[k].instruction = i;
    s->instructions[k].inside = peak_inside(s, i);
    s->instructions[k].is_name = leaf_flow_name(&flow, i, &flow.values[k]);
    if (!s->instructions[k].is_name) {
      leaf_numbers operands = leaf_flow_operands(&flow, i, 0);
      add_reads(s, k, &operands);
      TRY(add_updates(s, k, &operands));
      flow.values[k] = lies_where_operands_lie(i) ? operands : add_results(s, k, i);
    }
    add_edges(s, k);
    add_effect(s, k, &last_effect);
  }
  const instruction *root = in_text->data[0]->parent->root;
  TRY(put_writers_behind_readers(s, &flow, root->parent));
  put_counters_behind_readers(s, &flow, root->parent);
  const leaf_numbers *kept = &flow.values[root->mark];
  s->root = (int)root->mark;
  for (int k = 0; k < kept->count && s->values.data; k++) s->values.data[kept->numbers[k]].readers = INT32_MAX / 2;
  forget_given(s);
  return status_ok();
}

static void start_counts(scheduler *s) {
  for (int k = 0; k < s->count; k++) s->instructions[k].freed = s->instructions[k].waiting = 0;
  for (int k = 0; k < s->count; k++)
    for (int j = 0; j < s->instructions[k].successors.size; j++)
      s->instructions[s->instructions[k].successors.data[j]].waiting++;
}

// --- the greedy order

typedef struct ready {
  int64_t score;
  int number;
} ready;

typedef struct ready_heap {
  arena *arena;
  VEC(ready) entries;
} ready_heap;

// Names first, then by score, then as the text has them.
static bool goes_before(const ready *l, const ready *r) {
  if (l->score != r->score) return l->score > r->score;
  return l->number < r->number;
}

static void push_ready(ready_heap *h, ready x) {
  vec_push(h->arena, &h->entries, x);
  int at = h->entries.size - 1;
  for (; at > 0 && goes_before(&x, &h->entries.data[(at - 1) / 2]); at = (at - 1) / 2)
    h->entries.data[at] = h->entries.data[(at - 1) / 2];
  h->entries.data[at] = x;
}

static ready pop_ready(ready_heap *h) {
  ready top = h->entries.data[0], moved = vec_pop(&h->entries);
  int at = 0, size = h->entries.size;
  if (size == 0) return top;
  for (;;) {
    int child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && goes_before(&h->entries.data[child + 1], &h->entries.data[child])) child++;
    if (!goes_before(&h->entries.data[child], &moved)) break;
    h->entries.data[at] = h->entries.data[child];
    at = child;
  }
  h->entries.data[at] = moved;
  return top;
}

static int64_t score_of(const scheduler *s, const scheduled_instruction *x) {
  if (x->is_name || !has_own_memory(x->instruction)) return INT64_MAX;
  int64_t score = x->freed - x->allocated - x->inside;
  for (int k = 0; k < x->updated.size; k++) {
    const scheduled_value *v = &s->values.data[x->updated.data[k]];
    if (v->readers > 1 && !v->is_room) score -= v->bytes;
  }
  return score;
}

static void offer(scheduler *s, ready_heap *heap, int number) {
  push_ready(heap, (ready){score_of(s, &s->instructions[number]), number});
}

// A value that has one reader left: its score rises.
static void count_reader(scheduler *s, ready_heap *heap, int value, int reader) {
  if (!s->values.data) return;
  scheduled_value *v = &s->values.data[value];
  v->readers--;
  v->reader_or ^= reader;
  if (v->readers != 1) return;
  scheduled_instruction *last = &s->instructions[v->reader_or];
  last->freed += v->bytes;
  if (last->waiting == 0 && v->bytes > 0) offer(s, heap, v->reader_or);
}

static void order_greedily(scheduler *s, number_list *out) {
  ready_heap heap = {.arena = s->arena};
  start_counts(s);
  bool *done = arena_array(s->arena, bool, s->count);
  for (int v = 0; v < s->values.size; v++)
    if (s->values.data[v].readers == 1) s->instructions[s->values.data[v].reader_or].freed += s->values.data[v].bytes;
  for (int k = 0; k < s->count; k++)
    if (s->instructions[k].waiting == 0) offer(s, &heap, k);
  while (heap.entries.size > 0) {
    ready next = pop_ready(&heap);
    scheduled_instruction *x = &s->instructions[next.number];
    if (done[next.number] || next.score != score_of(s, x)) continue;
    done[next.number] = true;
    vec_push(s->arena, out, next.number);
    for (int j = 0; j < x->read.size; j++) count_reader(s, &heap, x->read.data[j], next.number);
    for (int j = 0; j < x->successors.size; j++)
      if (--s->instructions[x->successors.data[j]].waiting == 0) offer(s, &heap, x->successors.data[j]);
  }
}

// --- from the root down

typedef struct descent {
  int number, next;
} descent;

static int next_needed(const scheduler *s, descent *d) {
  const instruction *i = s->instructions[d->number].instruction;
  const int earlier = s->instructions[d->number].earlier;
  if (d->next == 0 && earlier >= 0) {
    d->next = 1;
    return earlier;
  }
  if (d->next == 0) d->next = 1;
  int k = d->next++ - 1, controls = i->control_predecessors.size;
  if (k < controls) return (int)i->control_predecessors.data[k]->mark;
  k -= controls;
  if (k < i->operand_count) return (int)i->operands[k]->mark;
  k -= i->operand_count;
  const scheduled_instruction *x = &s->instructions[d->number];
  return k < x->behind.size ? x->behind.data[k] : -1;
}

static void descend_from(scheduler *s, int start, bool *entered, number_list *out) {
  VEC(descent) stack = {0};
  if (entered[start]) return;
  entered[start] = true;
  vec_push(s->arena, &stack, ((descent){start, 0}));
  while (stack.size > 0) {
    int next = next_needed(s, &vec_last(&stack));
    if (next < 0) {
      int number = vec_pop(&stack).number;
      vec_push(s->arena, out, number);
    } else if (!entered[next]) {
      entered[next] = true;
      vec_push(s->arena, &stack, ((descent){next, 0}));
    }
  }
}

static void order_from_root(scheduler *s, number_list *out) {
  bool *entered = arena_array(s->arena, bool, s->count);
  descend_from(s, s->root, entered, out);
  for (int k = 0; k < s->count; k++) descend_from(s, k, entered, out);
}

// --- what only makes room

// Room for the results of a loop over tiles, and the tuple that the loop takes, are nothing before the loop runs.
static bool makes_room(const scheduler *s, int number) {
  const instruction *i = s->instructions[number].instruction;
  if (i->users.size == 0 || i->control_predecessors.size > 0) return false;
  return i->opcode == HLO_TUPLE || (i->opcode == HLO_CUSTOM_CALL && i->operand_count == 0 &&
                                    str_is(i->attributes->custom_call_target, LHLO_ALLOCATE_BUFFER));
}

// The number of the `k`-th instruction that `i` waits for.
static int before(const instruction *i, int k) {
  return (int)(k < i->operand_count ? i->operands[k] : i->control_predecessors.data[k - i->operand_count])->mark;
}

// Puts an instruction in front of all that is there, and in front of it what makes room for it alone.
static void put_in_front(scheduler *s, int number, int *waiting, number_list *backwards) {
  number_list work = {0};
  vec_push(s->arena, &work, number);
  while (work.size > 0) {
    const int x = vec_pop(&work);
    const instruction *i = s->instructions[x].instruction;
    vec_push(s->arena, backwards, x);
    for (int k = 0; k < i->operand_count + i->control_predecessors.size; k++) {
      const int of = before(i, k);
      if (makes_room(s, of) && --waiting[of] == 0) vec_push(s->arena, &work, of);
    }
  }
}

// Room is made right before who uses it first.
static void make_room_late(scheduler *s, number_list *order) {
  int *waiting = arena_array(s->arena, int, s->count);
  number_list backwards = {0};
  for (int k = 0; k < s->count; k++) {
    const instruction *i = s->instructions[k].instruction;
    for (int o = 0; o < i->operand_count + i->control_predecessors.size; o++) waiting[before(i, o)]++;
  }
  for (int k = order->size; k-- > 0;)
    if (!makes_room(s, order->data[k])) put_in_front(s, order->data[k], waiting, &backwards);
  for (int k = 0; k < backwards.size; k++) order->data[k] = backwards.data[backwards.size - 1 - k];
}

// --- the best one

// What an order takes when every value lives from its instruction to its last reader. An order is better by the first
// of these that differs.
typedef struct order_cost {
  int64_t peak;    // most bytes live at a time
  int64_t copied;  // bytes, since they are written over while others have yet to read them
  double held;     // bytes live behind each instruction that do not stay, added up: what is short-lived leaves its
                   // place to others
} order_cost;

// Orders that come first are those that people have seen: they are not given up for a little.
static bool is_better(const order_cost *a, const order_cost *b) {
  if (a->peak != b->peak) return a->peak < b->peak;
  return a->copied != b->copied ? a->copied < b->copied : a->held < 0.9 * b->held;
}

static int64_t copied_by(const scheduler *s, const scheduled_instruction *x, const int *readers) {
  int64_t bytes = 0;
  for (int k = 0; k < x->updated.size; k++) {
    const scheduled_value *v = &s->values.data[x->updated.data[k]];
    if (!v->is_room && readers[x->updated.data[k]] > 1) bytes += v->bytes;
  }
  return bytes;
}

static order_cost cost_of(scheduler *s, const number_list *order) {
  order_cost cost = {0};
  int64_t live = 0, staying = 0;
  const scheduled_value *values = s->values.data;
  int *readers = arena_array(s->arena, int, s->values.size);
  if (!values) return cost;
  for (int k = 0; k < s->count; k++)
    for (int j = 0; j < s->instructions[k].read.size; j++) readers[s->instructions[k].read.data[j]]++;
  for (int k = 0; k < order->size; k++) {
    const scheduled_instruction *x = &s->instructions[order->data[k]];
    live += x->allocated;
    cost.copied += copied_by(s, x, readers);
    if (live + x->inside > cost.peak) cost.peak = live + x->inside;
    for (int j = 0; j < x->read.size; j++) {
      int value = x->read.data[j];
      bool is_kept = values[value].readers > s->count;
      if (--readers[value] == 0 && !is_kept) live -= values[value].bytes;
    }
    for (int j = x->first_value; j < x->first_value + x->value_count; j++) {
      const bool is_kept = values[j].readers > s->count;
      if (is_kept) staying += values[j].bytes;
      else if (readers[j] == 0) live -= values[j].bytes;
    }
    cost.held += (double)(live - staying);
  }
  return cost;
}

// But for what runs behind readers.
static void order_of_text(scheduler *s, number_list *out) {
  bool *entered = arena_array(s->arena, bool, s->count);
  for (int k = 0; k < s->count; k++) descend_from(s, k, entered, out);
}

// Returns the most bytes live at a time in the best order.
static int64_t best_order(scheduler *s, number_list *best) {
  static void (*const ways[])(scheduler *, number_list *) = {order_of_text, order_from_root, order_greedily};
  order_cost least = {.peak = INT64_MAX};
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
    number_list order = {0};
    ways[k](s, &order);
    make_room_late(s, &order);
    const order_cost cost = cost_of(s, &order);
    if (k > 0 && !is_better(&cost, &least)) continue;
    *best = order;
    least = cost;
  }
  return least.peak;
}

static heddle_status schedule_one(arena *a, arena *scratch, const computation *c, const ptr_map *with_side_effects,
                                  ptr_map *peaks, instruction_list *out) {
  instruction_list in_text;
  TRY(computation_post_order(scratch, c, &in_text));
  scheduler s = {.arena = scratch, .peaks = peaks, .with_side_effects = with_side_effects};
  TRY(analyse(&s, &in_text));
  number_list order = {0};
  scheduled_peak *p = arena_new(a, scheduled_peak);
  p->bytes = best_order(&s, &order);
  ptr_map_put(a, peaks, c, p);
  for (int k = 0; k < order.size; k++) {
    instruction *i = in_text.data[order.data[k]];
    i->mark = (uint64_t)k;
    vec_push(a, out, i);
  }
  return status_ok();
}

heddle_status schedule_module(arena *a, const module *m, ptr_map *orders) {
  arena *scratch = arena_create(), *inner = arena_create();
  program_list programs = {0};
  ptr_map peaks = {0}, with_side_effects = {0};
  heddle_status s = program_order(scratch, m, &programs);
  if (status_is_ok(s)) s = effects_find(scratch, m, false, &with_side_effects);
  for (int k = 0; k < programs.size && status_is_ok(s); k++) {
    instruction_list *order = arena_new(a, instruction_list);
    s = schedule_one(a, inner, programs.data[k], &with_side_effects, &peaks, order);
    ptr_map_put(a, orders, programs.data[k], order);
    arena_reset(inner);
  }
  arena_destroy(inner);
  arena_destroy(scratch);
  return s;
}
