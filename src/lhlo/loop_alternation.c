// A loop of n rounds, known beforehand:
//
//   s = body(s)  (where n is odd)
//   while, n / 2 times: s = body(body(s))
//
// and one that stops when its condition says so:
//
//   while (condition(s)):
//     t = body(s)
//     s = condition(t) ? body(t) : t
//
// where the last round, if it is an odd one, copies what it made, once. Nothing else is to be done: what is between two
// rounds is a value like others, which has a buffer of its own, and what ends the second lies where the first begins,
// since nobody reads that any more (lhlo/buffer_coalesce.c). So this needs no form of its own in LHLO. Kernels with
// equal bodies are one (lhlo/kernel_sharing.c): no code is made twice.
//
// Which loops are worth it is seen where buffers are assigned, so they are assigned to look, and again to see whether
// it helped: a body that has to copy for other reasons is left alone.
#include "lhlo/loop_alternation.h"

#include "fuse/leaves.h"
#include "fuse/trip_count.h"
#include "hlo/body_copy.h"
#include "hlo/builder.h"
#include "lhlo/buffer_assignment.h"
#include "lhlo/forwarding.h"
#include "opt/effects.h"
#include "opt/passes.h"

enum {
  MUCH_BYTES = 32 << 10,  // copied a round, above which a second body is worth it
  LARGE_BODY = 2000,      // instructions of a body that is not repeated
};

// How much more memory a program may need for it.
#define MOST_GROWTH 1.125

// --- what rounds copy

typedef struct copying_loop {
  instruction *loop;
  int64_t bytes;  // copied back after each round
} copying_loop;

typedef struct copying_loops {
  VEC(copying_loop) list;
  double memory_bytes;  // of the program: parameters, results, the arena
} copying_loops;

typedef struct surveyor {
  arena *arena;
  buffer_values values;
  buffer_assignment assignment;
  ptr_map seen;  // bodies
} surveyor;

static int64_t copied_bytes(surveyor *s, const buffer_event *e) {
  int64_t bytes = 0;
  for (int k = 0; k < e->operand_count; k++) {
    const lhlo_slice from = buffer_assignment_slice(&s->assignment, e->operands[k], e->operand_shapes[k]);
    const lhlo_slice to = buffer_assignment_slice(&s->assignment, e->results[k], e->result_shapes[k]);
    if (from.allocation != to.allocation || from.offset != to.offset) bytes += kernel_buffer_bytes(from.shape);
  }
  return bytes;
}

static bool only_copies(const surveyor *s, const buffer_body *b) {
  for (int k = 0; k < b->events.size; k++)
    if (s->values.events.data[b->events.data[k]]->kind != BUFFER_COPIES) return false;
  return true;
}

// Copies of a round, those of loops inside apart: what branches copy that do something, too, but a branch that does
// nothing else is one that seldom runs.
static int64_t round_bytes(surveyor *s, const buffer_body *body) {
  int64_t bytes = 0;
  for (int k = 0; k < body->events.size; k++) {
    const buffer_event *e = s->values.events.data[body->events.data[k]];
    if (e->kind == BUFFER_COPIES) bytes += copied_bytes(s, e);
    if (e->kind != BUFFER_OPERATION || e->operation == LHLO_WHILE) continue;
    for (int j = 0; j < e->body_count; j++)
      if (e->operation == LHLO_CALL || !only_copies(s, &e->bodies[j])) bytes += round_bytes(s, &e->bodies[j]);
  }
  return bytes;
}

// Loops inside come behind those around them; loops with one body count once.
static heddle_status survey(arena *scratch, const module *m, const target_description *target, copying_loops *out) {
  surveyor s = {.arena = scratch};
  *out = (copying_loops){0};
  TRY(buffer_values_find(scratch, m, target, &s.values));
  TRY(buffer_assignment_find(scratch, &s.values, &s.assignment));
  for (int k = 0; k < s.assignment.allocation_count; k++)
    out->memory_bytes += (double)s.assignment.allocations[k].bytes;
  for (int k = 0; k < s.values.events.size; k++) {
    const buffer_event *e = s.values.events.data[k];
    if (e->kind != BUFFER_OPERATION || e->operation != LHLO_WHILE || ptr_map_has(&s.seen, e->source->called[1]))
      continue;
    ptr_map_put(scratch, &s.seen, e->source->called[1], &s);
    const int64_t bytes = round_bytes(&s, &e->bodies[1]);
    if (bytes > 0) vec_push(scratch, &out->list, ((copying_loop){(instruction *)e->source, bytes}));
  }
  return status_ok();
}

static bool has_loops(const module *m) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++)
      if (all->data[k]->opcode == HLO_WHILE) return true;
  }
  return false;
}

// --- two rounds

// The root of a copy of `c` behind the instructions of `into`, applied to `state`.
static heddle_status apply(arena *scratch, const computation *c, computation *into, instruction *state,
                           instruction **out) {
  ptr_map copies = {0};
  ptr_map_put(scratch, &copies, c->parameters.data[0], state);
  TRY(body_copy(scratch, c, into, false, &copies));
  *out = ptr_map_get(&copies, c->root);
  return status_ok();
}

static instruction *leaf_of(const builder *b, instruction *state, int leaf) {
  return state->opcode == HLO_TUPLE ? state->operands[leaf] : builder_element(b, state, leaf);
}

typedef struct alternation {
  arena *scratch;
  instruction *loop;
  int count;  // leaves that a round changes
  const int *leaves;
} alternation;

static instruction *changed_leaves(const alternation *x, const builder *b, instruction *state) {
  instruction **leaves = arena_array(x->scratch, instruction *, x->count);
  for (int k = 0; k < x->count; k++) leaves[k] = leaf_of(b, state, x->leaves[k]);
  return builder_tuple(b, x->count, leaves);
}

// A branch that makes of the whole state the leaves that change: after another round, or as they are.
static heddle_status branch(const alternation *x, bool goes_on, computation **out) {
  const computation *body = x->loop->called[1];
  computation *c = *out = module_add_computation(body->module, goes_on ? STR("goes_on") : STR("ends"));
  const builder b = builder_in(c);
  instruction *state = computation_add_parameter(c, 0, STR("state"), x->loop->shape);
  if (goes_on) TRY(apply(x->scratch, body, c, state, &state));
  computation_set_root(c, changed_leaves(x, &b, state));
  return status_ok();
}

// The state after a second round, or as it is where the loop ends behind the first.
static heddle_status second_if_asked(const alternation *x, const builder *b, instruction *first, instruction **out) {
  instruction *goes_on;
  TRY(apply(x->scratch, x->loop->called[0], b->computation, first, &goes_on));
  computation *branches[2];
  TRY(branch(x, true, &branches[0]));
  TRY(branch(x, false, &branches[1]));
  instruction *operands[] = {goes_on, first, first};
  instruction *choice = builder_add(b, HLO_CONDITIONAL, branches[0]->root->shape, 3, operands);
  instruction_set_called(choice, 2, branches);
  const int count = x->loop->shape->tuple_size;
  instruction **leaves = arena_array(x->scratch, instruction *, count);
  for (int k = 0; k < count; k++) leaves[k] = leaf_of(b, first, k);
  for (int k = 0; k < x->count; k++) leaves[x->leaves[k]] = builder_element(b, choice, k);
  *out = builder_tuple(b, count, leaves);
  return status_ok();
}

static heddle_status alternate(const alternation *x) {
  instruction *loop = x->loop;
  const computation *body = loop->called[1];
  computation *twice = module_add_computation(body->module, body->name);
  const builder b = builder_in(twice);
  instruction *state = computation_add_parameter(twice, 0, STR("state"), loop->shape), *first, *second;
  TRY(apply(x->scratch, body, twice, state, &first));
  const int64_t count = trip_count_of(loop);
  if (count >= 0) TRY(apply(x->scratch, body, twice, first, &second));
  else TRY(second_if_asked(x, &b, first, &second));
  computation_set_root(twice, second);
  if (count >= 0 && count % 2) {
    instruction *after;
    TRY(apply(x->scratch, body, loop->parent, loop->operands[0], &after));
    instruction_set_operand(loop, 0, after);
  }
  if (count >= 0) trip_count_set(loop, count / 2);
  computation *called[] = {loop->called[0], twice};
  instruction_set_called(loop, 2, called);
  return status_ok();
}

// --- which loops

static bool may_alternate(const instruction *loop, const ptr_map *with_side_effects) {
  const computation *body = loop->called[1];
  const int64_t count = trip_count_of(loop);
  return shape_is_tuple(loop->shape) && leaves_count(loop->shape) == loop->shape->tuple_size &&
         body->instructions.size <= LARGE_BODY && (count < 0 || count > 1) &&
         !effects_has(with_side_effects, true, loop) && loop->control_predecessors.size == 0;
}

static heddle_status alternate_all(arena *scratch, module *m, const copying_loops *loops, ptr_map *changed) {
  ptr_map with_side_effects = {0}, forwardings = {0};
  TRY(effects_find(scratch, m, true, &with_side_effects));
  TRY(forwarding_find(scratch, m, &forwardings));
  for (int k = loops->list.size - 1; k >= 0; k--) {
    instruction *loop = loops->list.data[k].loop;
    if (loops->list.data[k].bytes < MUCH_BYTES || !may_alternate(loop, &with_side_effects)) continue;
    const forwarding *f = ptr_map_get(&forwardings, loop->called[1]);
    int *leaves = arena_array(scratch, int, f->count);
    alternation x = {.scratch = scratch, .loop = loop, .leaves = leaves};
    for (int n = 0; n < f->count; n++)
      if (f->sources[n] != n) leaves[x.count++] = n;
    TRY(alternate(&x));
    ptr_map_put(scratch, changed, loop->called[1], loop);
  }
  TRY(pass_apply(&opt_dead_code, m));
  return opt_sort(scratch, m);
}

// Bytes a round of all loops, of two rounds where a loop takes two.
static double bytes_of(const copying_loops *loops, const ptr_map *changed) {
  double bytes = 0;
  for (int k = 0; k < loops->list.size; k++)
    bytes += (double)loops->list.data[k].bytes / (ptr_map_has(changed, loops->list.data[k].loop->called[1]) ? 2 : 1);
  return bytes;
}

static bool copies_much(const copying_loops *loops) {
  for (int k = 0; k < loops->list.size; k++)
    if (loops->list.data[k].bytes >= MUCH_BYTES) return true;
  return false;
}

// What is won is no reason to need much more memory.
static bool is_better(const copying_loops *before, const copying_loops *after, const ptr_map *changed) {
  const ptr_map none = {0};
  return bytes_of(after, changed) < bytes_of(before, &none) &&
         after->memory_bytes <= before->memory_bytes * MOST_GROWTH + MUCH_BYTES;
}

static heddle_status run(arena *a, arena *scratch, const module *m, const target_description *target,
                         const module **out) {
  copying_loops before, after;
  TRY(survey(scratch, m, target, &before));
  if (!copies_much(&before)) return status_ok();
  module *copy = module_clone(a, m);
  ptr_map changed = {0};
  TRY(survey(scratch, copy, target, &before));
  TRY(alternate_all(scratch, copy, &before, &changed));
  TRY(survey(scratch, copy, target, &after));
  if (is_better(&before, &after, &changed)) *out = copy;
  return status_ok();
}

// On every target: loops and branches are the program's, and kernels with equal bodies are shared on GPUs, too.
heddle_status loop_alternation_run(arena *a, const module *m, const target_description *target, const module **out) {
  *out = m;
  if (!has_loops(m)) return status_ok();
  arena *scratch = arena_create();
  heddle_status s = run(a, scratch, m, target, out);
  arena_destroy(scratch);
  return s;
}
