// While-loop simplifier.
//
// Bodies are not changed but copied with other leaves, so that loops may share one; what that leaves behind is dead
// code. Callees come before callers, and a copy shares the computations that it calls: the work is linear. A loop with
// effects stays where it is, since they are ordered by their places.
#include "opt/passes.h"

#include "hlo/body_copy.h"
#include "opt/effects.h"
#include "opt/rewrite.h"
#include "opt/while_loop.h"
#include "opt/while_trip_count.h"

// A loop of few steps is written out while all copies together are no longer than this.
enum { UNROLLED_MAX = 64 };

typedef struct loop {
  arena *scratch;
  instruction *op;
  computation *condition, *body;
  int leaves;
  instruction **start;   // by leaf; null where the state is no tuple instruction
  instruction **inside;  // by leaf: the constant that stands for it in condition and body, of the loop's computation
  bool *is_live;
} loop;

static loop loop_of(arena *scratch, instruction *op) {
  loop l = {.scratch = scratch, .op = op, .condition = op->called[0], .body = op->called[1]};
  l.leaves = op->shape->tuple_size;
  l.start = op->operands[0]->operands;
  l.inside = arena_array(scratch, instruction *, l.leaves);
  l.is_live = arena_array(scratch, bool, l.leaves);
  return l;
}

// --- loops that are no loops

// The body's results with these as its state, in the loop's computation.
static heddle_status run_body_once(const loop *l, instruction **state) {
  ptr_map copies = {0};
  body_copy_put_elements(l->scratch, l->body, state, &copies);
  TRY(body_copy(l->scratch, l->body, l->op->parent, false, &copies));
  for (int k = 0; k < l->leaves; k++) {
    const instruction *next = l->body->root->operands[k];
    state[k] = ptr_map_get(&copies, next);
  }
  return status_ok();
}

static bool few_steps(const loop *l, int64_t *count) {
  int leaf;
  int64_t start, step;
  const instruction *root = l->condition->root;
  if (root->opcode == HLO_CONSTANT && literal_get_int(root->literal, 0) == 0) {
    *count = 0;
    return true;
  }
  if (!while_trip_count(l->op, &leaf, &start, &step, count)) return false;
  return *count <= 1 || *count <= UNROLLED_MAX / l->body->instructions.size;
}

static heddle_status write_out(loop *l, int64_t count) {
  const builder b = builder_for(l->op);
  instruction **state = arena_array(l->scratch, instruction *, l->leaves);
  for (int k = 0; k < l->leaves; k++) state[k] = l->start[k];
  for (int64_t step = 0; step < count; step++) TRY(run_body_once(l, state));
  instruction_replace_uses(l->op, builder_tuple(&b, l->leaves, state));
  return status_ok();
}

// --- leaves

// Whether the value may be written again anywhere: constants, and what is made of one without other operands.
static bool is_constant_like(const instruction *i) {
  if (i->opcode == HLO_BROADCAST) i = i->operands[0];
  return (i->opcode == HLO_CONSTANT || i->opcode == HLO_IOTA) && i->control_predecessors.size == 0;
}

// Users outside take what the leaf starts as.
static void bypass(pass_context *context, const loop *l) {
  for (int k = 0; k < l->op->users.size;) {
    instruction *user = l->op->users.data[k++];
    if (user->opcode != HLO_GET_TUPLE_ELEMENT || user->control_predecessors.size > 0) continue;
    const int leaf = (int)user->attributes->index;
    if (while_loop_keeps(l->op, leaf) && user->users.size + (user == user->parent->root) > 0)
      rewrite_uses(context, user, l->start[leaf]);
  }
}

static void mark_outside(const loop *l) {
  bool is_whole = l->op == l->op->parent->root;
  for (int k = 0; k < l->op->users.size; k++) {
    const instruction *user = l->op->users.data[k];
    if (user->opcode != HLO_GET_TUPLE_ELEMENT) is_whole = true;
    else if (user->users.size > 0 || user == user->parent->root) l->is_live[user->attributes->index] = true;
  }
  for (int k = 0; is_whole && k < l->leaves; k++) l->is_live[k] = true;
}

// Calls that may do more than they say, and what waits.
static bool must_stay(const instruction *i) { return i->opcode == HLO_CUSTOM_CALL || i->control_predecessors.size > 0; }

static void push(loop *l, ptr_map *seen, instruction_list *work, instruction *i) {
  if (ptr_map_has(seen, i)) return;
  ptr_map_put(l->scratch, seen, i, i);
  vec_push(l->scratch, work, i);
}

// What the leaves known to be live depend on, and so on.
static void mark_inside(loop *l) {
  ptr_map seen = {0};
  instruction_list work = {0};
  const instruction_list read = l->condition->parameters.data[0]->users;
  for (int k = 0; k < read.size; k++)
    if (read.data[k]->users.size > 0 || read.data[k] == l->condition->root)
      l->is_live[read.data[k]->attributes->index] = true;
  for (int k = 0; k < l->body->instructions.size; k++)
    if (must_stay(l->body->instructions.data[k])) push(l, &seen, &work, l->body->instructions.data[k]);
  for (int k = 0; k < l->leaves; k++)
    if (l->is_live[k]) push(l, &seen, &work, l->body->root->operands[k]);
  while (work.size > 0) {
    instruction *i = work.data[--work.size];
    for (int k = 0; k < i->control_predecessors.size; k++) push(l, &seen, &work, i->control_predecessors.data[k]);
    if (i->opcode != HLO_GET_TUPLE_ELEMENT || i->operands[0]->opcode != HLO_PARAMETER) {
      for (int k = 0; k < i->operand_count; k++) push(l, &seen, &work, i->operands[k]);
      continue;
    }
    const int leaf = (int)i->attributes->index;
    if (l->is_live[leaf]) continue;
    l->is_live[leaf] = true;
    push(l, &seen, &work, l->body->root->operands[leaf]);
  }
}

// --- the loop with fewer leaves

// A constant of the loop's computation, again in another.
static instruction *written_again(const builder *b, const instruction *i) {
  instruction *operand = i->opcode == HLO_BROADCAST ? written_again(b, i->operands[0]) : NULL;
  instruction *to = builder_add(b, i->opcode, i->shape, operand ? 1 : 0, &operand);
  to->attributes = attributes_copy(b->arena, i->attributes);
  to->literal = i->literal;
  to->where = i->where;
  return to;
}

// Any value for a leaf that nothing depends on. Its users are dead.
static instruction *placeholder(const builder *b, const shape *s) {
  if (shape_is_tuple(s)) {
    instruction **elements = arena_array(b->arena, instruction *, s->tuple_size);
    for (int k = 0; k < s->tuple_size; k++) elements[k] = placeholder(b, s->elements[k]);
    return builder_tuple(b, s->tuple_size, elements);
  }
  if (!shape_is_array(s)) return builder_add(b, HLO_AFTER_ALL, s, 0, NULL);
  instruction *zero = builder_scalar_int(b, s->dtype, 0);
  return s->rank == 0 ? zero : builder_broadcast(b, zero, s, 0, NULL);
}

// A copy of the condition or body that takes and gives the live leaves only.
static heddle_status narrow(const loop *l, const computation *from, const shape *state, computation **out) {
  computation *c = module_add_computation(from->module, from->name);
  const builder b = builder_in(c);
  instruction *parameter = computation_add_parameter(c, 0, from->parameters.data[0]->name, state);
  instruction **elements = arena_array(l->scratch, instruction *, l->leaves);
  for (int k = 0, position = 0; k < l->leaves; k++) {
    if (l->is_live[k]) elements[k] = builder_element(&b, parameter, position++);
    else if (l->inside[k]) elements[k] = written_again(&b, l->inside[k]);
    else elements[k] = placeholder(&b, l->op->shape->elements[k]);
  }
  ptr_map copies = {0};
  body_copy_put_elements(l->scratch, from, elements, &copies);
  TRY(body_copy(l->scratch, from, c, true, &copies));
  instruction *root = ptr_map_get(&copies, from->root);
  if (from == l->body) {
    instruction **results = arena_array(l->scratch, instruction *, state->tuple_size);
    for (int k = 0, position = 0; k < l->leaves; k++)
      if (l->is_live[k]) results[position++] = ptr_map_get(&copies, from->root->operands[k]);
    root = builder_tuple(&b, state->tuple_size, results);
  }
  computation_set_root(c, root);
  *out = c;
  return status_ok();
}

static heddle_status drop_leaves(loop *l) {
  const builder b = builder_for(l->op);
  instruction **start = arena_array(l->scratch, instruction *, l->leaves);
  instruction **results = arena_array(l->scratch, instruction *, l->leaves);
  int count = 0;
  for (int k = 0; k < l->leaves; k++)
    if (l->is_live[k]) start[count++] = l->start[k];
  instruction *state = builder_tuple(&b, count, start);
  computation *called[2];
  TRY(narrow(l, l->condition, state->shape, &called[0]));
  TRY(narrow(l, l->body, state->shape, &called[1]));
  instruction *op = builder_add(&b, HLO_WHILE, state->shape, 1, &state);
  op->attributes = attributes_copy(b.arena, l->op->attributes);
  instruction_set_called(op, 2, called);
  for (int k = 0, position = 0; k < l->leaves; k++)
    results[k] = l->is_live[k] ? builder_element(&b, op, position++) : l->start[k];
  instruction_replace_uses(l->op, builder_tuple(&b, l->leaves, results));
  return status_ok();
}

static heddle_status simplify(pass_context *context, instruction *op, bool *goes) {
  if (!while_loop_is_open(op)) return status_ok();
  loop l = loop_of(context->scratch, op);
  int64_t count;
  if (few_steps(&l, &count)) {
    *goes = true;
    return write_out(&l, count);
  }
  bypass(context, &l);
  mark_outside(&l);
  mark_inside(&l);
  bool all_live = true, any_live = false;
  for (int k = 0; k < l.leaves; k++) {
    if (while_loop_keeps(l.op, k) && is_constant_like(l.start[k])) {
      l.inside[k] = l.start[k];
      l.is_live[k] = false;
    }
    all_live &= l.is_live[k];
    any_live |= l.is_live[k];
  }
  if (all_live || !any_live) return status_ok();
  *goes = true;
  return drop_leaves(&l);
}

static heddle_status simplify_all(pass_context *context, computation *c, const ptr_map *with_side_effects) {
  arena *scratch = context->scratch;
  instruction_list loops = {0};
  ptr_map waited_for = {0};
  heddle_status s = status_ok();
  rewrite_find_waited_for(scratch, c, &waited_for);
  for (int i = 0; i < c->instructions.size; i++) {
    instruction *op = c->instructions.data[i];
    if (op->opcode == HLO_WHILE && op->control_predecessors.size == 0 && !ptr_map_has(&waited_for, op) &&
        !effects_has(with_side_effects, false, op))
      vec_push(scratch, &loops, op);
  }
  for (int i = 0; i < loops.size && status_is_ok(s); i++) {
    bool goes = false;
    s = simplify(context, loops.data[i], &goes);
    if (goes) computation_detach(c, loops.data[i]);
    context->changed |= goes;
  }
  computation_drop_detached(c);
  return s;
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  ptr_map with_side_effects = {0};
  TRY(effects_find(context->scratch, m, false, &with_side_effects));
  for (int c = 0, count = m->computations.size; c < count; c++)
    TRY(simplify_all(context, m->computations.data[c], &with_side_effects));
  return opt_tuple_simplifier.run(context, m);
}

const pass opt_while_loop_simplifier = {
    .name = "while-loop-simplifier",
    .summary = "loops lose leaves, or vanish that run once or never",
    .order_reason =
        "behind the tuple simplifier, as it needs states taken apart; constants "
        "move inside, where the algebra finds them",
    .use = PASS_IMPROVES,
    .run = run,
};
