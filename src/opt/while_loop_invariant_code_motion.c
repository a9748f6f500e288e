// While-loop-invariant code motion.
//
// A value that has moved costs memory while the loop runs and is read in every step, so that what is cheap to make of
// little, like a broadcast, stays inside: fusion makes it where it is used. Moves alone (slices, reshapes) stay too.
#include "opt/passes.h"

#include "hlo/body_copy.h"
#include "opt/effects.h"
#include "opt/rewrite.h"
#include "opt/while_loop.h"

// Most leaves added to a loop; bytes that anything may have; growth that is allowed to what costs more than a read.
enum { MOVED_MAX = 64, SMALL_BYTES = 4096, HEAVY_GROWTH = 16 };

typedef struct motion {
  arena *scratch;
  const ptr_map *with_side_effects;
  instruction *op;
  computation *body;
  int leaves;
  instruction_list order;  // of the body
  ptr_map facts;           // instruction of the body -> fact
  instruction_list moved;  // whose values the body takes as new leaves
} motion;

typedef struct fact {
  bool is_invariant;
  bool computes;       // more than a move of elements
  bool is_heavy;       // or something in front of it
  bool is_needed;      // by what stays inside
  bool is_moved;       // made in front of the loop
  int64_t leaf_bytes;  // of the leaves it is made of
} fact;

static fact *fact_of(const motion *x, const instruction *i) { return ptr_map_get(&x->facts, i); }

static bool is_heavy(const instruction *i) {
  if (hlo_op_has(i->opcode, TRAIT_EXPENSIVE)) return true;
  switch (i->opcode) {
    case HLO_CONSTANT:
    case HLO_IOTA:
    case HLO_TUPLE:
    case HLO_GET_TUPLE_ELEMENT: return false;
    default: return !hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && !hlo_op_has(i->opcode, TRAIT_INDEX_ONLY);
  }
}

static bool computes(const instruction *i) {
  switch (i->opcode) {
    case HLO_TRANSPOSE:
    case HLO_REVERSE:
    case HLO_CONCATENATE:
    case HLO_PAD:
    case HLO_GATHER: return true;
    default: return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || is_heavy(i);
  }
}

static bool can_move(const motion *x, const instruction *i) {
  if (i->opcode == HLO_PARAMETER || i->control_predecessors.size > 0) return false;
  return !(hlo_ops[i->opcode].traits & (TRAIT_CONTROL | TRAIT_ASYNC)) && !effects_has(x->with_side_effects, false, i) &&
         (shape_is_tuple(i->shape) || (shape_is_array(i->shape) && shape_is_static(i->shape)));
}

static void find_fact(motion *x, const instruction *i) {
  fact *f = arena_new(x->scratch, fact);
  ptr_map_put(x->scratch, &x->facts, i, f);
  if (i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER) {
    f->is_invariant = while_loop_keeps(x->op, (int)i->attributes->index) && shape_is_array(i->shape);
    f->leaf_bytes = shape_byte_size(i->shape);
    return;
  }
  f->is_invariant = can_move(x, i);
  f->computes = computes(i);
  f->is_heavy = is_heavy(i);
  for (int k = 0; k < i->operand_count; k++) {
    const fact *of = fact_of(x, i->operands[k]);
    f->is_invariant &= of->is_invariant;
    f->computes |= of->computes;
    f->is_heavy |= of->is_heavy;
    if (__builtin_add_overflow(f->leaf_bytes, of->leaf_bytes, &f->leaf_bytes)) f->leaf_bytes = INT64_MAX;
  }
}

static bool is_worth_it(const motion *x, const instruction *i, const fact *f) {
  const int64_t bytes = shape_byte_size(i->shape);
  if (!f->is_invariant || !f->computes || !shape_is_array(i->shape) || i->operand_count == 0) return false;
  if (i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER) return false;
  if (x->moved.size >= MOVED_MAX) return false;
  if (bytes <= f->leaf_bytes) return true;
  return f->is_heavy && (bytes <= SMALL_BYTES || bytes / HEAVY_GROWTH <= f->leaf_bytes);
}

// From users to operands: what stays inside needs its operands; of these, what is worth it moves.
static void choose(motion *x) {
  for (int k = x->order.size; k-- > 0;) {
    instruction *i = x->order.data[k];
    fact *f = fact_of(x, i);
    const bool is_used = f->is_needed || i == x->body->root || !f->is_invariant;
    if (is_used && is_worth_it(x, i, f)) {
      vec_push(x->scratch, &x->moved, i);
      f->is_moved = true;
    } else if (is_used) {
      for (int j = 0; j < i->operand_count; j++) fact_of(x, i->operands[j])->is_needed = true;
    }
  }
}

// Puts the moved values in front of the loop.
static void make_in_front(motion *x, instruction **values) {
  ptr_map copies = {0}, wanted = {0};
  instruction_list work = {0};
  body_copy_put_elements(x->scratch, x->body, x->op->operands[0]->operands, &copies);
  for (int k = 0; k < x->moved.size; k++) {
    ptr_map_put(x->scratch, &wanted, x->moved.data[k], x);
    vec_push(x->scratch, &work, x->moved.data[k]);
  }
  while (work.size > 0) {
    const instruction *i = work.data[--work.size];
    for (int k = 0; k < i->operand_count; k++) {
      instruction *of = i->operands[k];
      if (ptr_map_has(&copies, of) || ptr_map_has(&wanted, of)) continue;
      ptr_map_put(x->scratch, &wanted, of, x);
      vec_push(x->scratch, &work, of);
    }
  }
  for (int k = 0; k < x->order.size; k++)
    if (ptr_map_has(&wanted, x->order.data[k]))
      body_copy_one(x->scratch, x->order.data[k], x->op->parent, false, &copies);
  for (int k = 0; k < x->moved.size; k++) values[k] = ptr_map_get(&copies, x->moved.data[k]);
}

// A copy of the condition or body that takes the new leaves too.
static heddle_status widen(const motion *x, const computation *from, const shape *state, computation **out) {
  computation *c = module_add_computation(from->module, from->name);
  const builder b = builder_in(c);
  instruction *parameter = computation_add_parameter(c, 0, from->parameters.data[0]->name, state);
  instruction **elements = arena_array(x->scratch, instruction *, state->tuple_size);
  ptr_map copies = {0};
  for (int k = 0; k < state->tuple_size; k++) elements[k] = builder_element(&b, parameter, k);
  body_copy_put_elements(x->scratch, from, elements, &copies);
  for (int k = 0; k < x->moved.size; k++) ptr_map_put(x->scratch, &copies, x->moved.data[k], elements[x->leaves + k]);
  TRY(body_copy(x->scratch, from, c, true, &copies));
  instruction *root = ptr_map_get(&copies, from->root);
  if (from == x->body) {
    for (int k = 0; k < x->leaves; k++) elements[k] = ptr_map_get(&copies, from->root->operands[k]);
    root = builder_tuple(&b, state->tuple_size, elements);
  }
  computation_set_root(c, root);
  *out = c;
  return status_ok();
}

// The loop changes in place: its effects keep their place.
static heddle_status move_out(motion *x) {
  const builder b = builder_for(x->op);
  const int count = x->leaves + x->moved.size;
  instruction **start = arena_array(x->scratch, instruction *, count);
  for (int k = 0; k < x->leaves; k++) start[k] = x->op->operands[0]->operands[k];
  make_in_front(x, start + x->leaves);
  instruction *state = builder_tuple(&b, count, start);
  computation *called[2];
  TRY(widen(x, x->op->called[0], state->shape, &called[0]));
  TRY(widen(x, x->body, state->shape, &called[1]));
  instruction_set_operand(x->op, 0, state);
  instruction_set_called(x->op, 2, called);
  x->op->shape = state->shape;
  return status_ok();
}

// Users of the whole state would see another shape.
static bool is_taken_apart(const instruction *op) {
  for (int k = 0; k < op->users.size; k++)
    if (op->users.data[k]->opcode != HLO_GET_TUPLE_ELEMENT) return false;
  return op != op->parent->root;
}

static heddle_status improve(arena *scratch, const ptr_map *with_side_effects, instruction *op, bool *changed) {
  if (!while_loop_is_open(op) || !is_taken_apart(op)) return status_ok();
  motion x = {.scratch = scratch,
              .with_side_effects = with_side_effects,
              .op = op,
              .body = op->called[1],
              .leaves = op->shape->tuple_size};
  TRY(computation_post_order(scratch, x.body, &x.order));
  for (int k = 0; k < x.order.size; k++) find_fact(&x, x.order.data[k]);
  choose(&x);
  if (x.moved.size == 0) return status_ok();
  *changed = true;
  return move_out(&x);
}

// Inner loops first: what moves out of one may move on.
static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  arena *scratch = context->scratch;
  ptr_map with_side_effects = {0};
  bool changed = false;
  TRY(effects_find(scratch, m, false, &with_side_effects));
  for (int c = 0, count = m->computations.size; c < count; c++) {
    instruction_list loops = {0};
    computation *at = m->computations.data[c];
    for (int i = 0; i < at->instructions.size; i++)
      if (at->instructions.data[i]->opcode == HLO_WHILE) vec_push(scratch, &loops, at->instructions.data[i]);
    for (int i = 0; i < loops.size; i++) TRY(improve(scratch, &with_side_effects, loops.data[i], &changed));
  }
  context->changed |= changed;
  return changed ? opt_while_loop_simplifier.run(context, m) : status_ok();
}

const pass opt_while_loop_invariant_code_motion = {
    .name = "while-loop-invariant-code-motion",
    .summary = "what a loop computes alike in every step moves in front of it",
    .order_reason = "behind the first cse, so that nothing moves twice",
    .use = PASS_IMPROVES,
    .run = run,
};
