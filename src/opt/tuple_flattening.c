// Tuple flattening: (a, (b, (c))) becomes (a, b, c) wherever a computation is called with it or returns it.
//
// Code generation keeps one buffer for each leaf, so nesting is only in the way there. Both sides are rewritten alike:
// inside, the nested value is put together again from the flat parameter, and the result taken apart; outside the other
// way round. The tuples this leaves behind cancel in the tuple simplifier.
#include "opt/passes.h"

#include "hlo/builder.h"

static bool is_nested(const shape *s) {
  for (int k = 0; k < s->tuple_size; k++)
    if (shape_is_tuple(s->elements[k])) return true;
  return false;
}

typedef VEC(const shape *) shape_list;

// Tuples nest at most SHAPE_MAX_NESTING deep, here and below.
static void list_leaves(arena *a, const shape *s, shape_list *out) {
  for (int k = 0; k < s->tuple_size; k++) list_leaves(a, s->elements[k], out);
  if (!shape_is_tuple(s)) vec_push(a, out, s);
}

static const shape *flat_shape(arena *a, const shape *s) {
  shape_list leaves = {0};
  list_leaves(a, s, &leaves);
  return shape_tuple(a, leaves.size, leaves.data);
}

static void take_apart(const builder *b, arena *scratch, instruction *x, instruction_list *leaves) {
  for (int k = 0; k < x->shape->tuple_size; k++) take_apart(b, scratch, builder_element(b, x, k), leaves);
  if (!shape_is_tuple(x->shape)) vec_push(scratch, leaves, x);
}

static instruction *flatten(const builder *b, arena *scratch, instruction *x) {
  instruction_list leaves = {0};
  take_apart(b, scratch, x, &leaves);
  return builder_tuple(b, leaves.size, leaves.data);
}

// The value of nested shape `s` from the elements of `flat` that start at *next.
static instruction *put_together(const builder *b, arena *scratch, const shape *s, instruction *flat, int *next) {
  if (!shape_is_tuple(s)) return builder_element(b, flat, (*next)++);
  instruction **elements = arena_array(scratch, instruction *, s->tuple_size);
  for (int k = 0; k < s->tuple_size; k++) elements[k] = put_together(b, scratch, s->elements[k], flat, next);
  return builder_tuple(b, s->tuple_size, elements);
}

// Gives a parameter or a caller a flat shape; those who used it take the nested value, put together again. True if it
// was nested.
static bool flatten_value(arena *scratch, instruction *i) {
  if (!is_nested(i->shape)) return false;
  const builder b = builder_for(i);
  const shape *nested = i->shape;
  instruction_list users = {0};
  for (int k = 0; k < i->users.size; k++) vec_push(scratch, &users, i->users.data[k]);
  bool is_root = i->parent->root == i;
  i->shape = flat_shape(b.arena, nested);
  int next = 0;
  instruction *whole = put_together(&b, scratch, nested, i, &next);
  for (int k = 0; k < users.size; k++)
    for (int j = 0; j < users.data[k]->operand_count; j++)
      if (users.data[k]->operands[j] == i) instruction_set_operand(users.data[k], j, whole);
  if (is_root) computation_set_root(i->parent, whole);
  return true;
}

static bool flatten_signature(arena *scratch, computation *c) {
  bool any = false;
  for (int k = 0; k < c->parameters.size; k++) any |= flatten_value(scratch, c->parameters.data[k]);
  if (!is_nested(c->root->shape)) return any;
  const builder b = builder_for(c->root);
  computation_set_root(c, flatten(&b, scratch, c->root));
  return true;
}

static bool flatten_caller(arena *scratch, instruction *caller) {
  const builder b = builder_for(caller);
  bool any = false;
  for (int k = 0; k < caller->operand_count; k++) {
    if (!is_nested(caller->operands[k]->shape)) continue;
    instruction_set_operand(caller, k, flatten(&b, scratch, caller->operands[k]));
    any = true;
  }
  return flatten_value(scratch, caller) || any;
}

static bool can_flatten(const instruction *caller) {
  return caller->opcode == HLO_CALL || caller->opcode == HLO_WHILE || caller->opcode == HLO_CONDITIONAL;
}

static bool any_kept(const ptr_map *kept, const instruction *i) {
  for (int k = 0; k < i->called_count; k++)
    if (ptr_map_has(kept, i->called[k])) return true;
  return false;
}

// Computations that keep their signature: the entry, what other operations call, and what is called together with one
// of these.
static void find_kept(arena *scratch, const module *m, ptr_map *kept) {
  ptr_map_put(scratch, kept, m->entry, m->entry);
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (int c = 0; c < m->computations.size; c++)
      for (int i = 0; i < m->computations.data[c]->instructions.size; i++) {
        const instruction *caller = m->computations.data[c]->instructions.data[i];
        if (can_flatten(caller) && !any_kept(kept, caller)) continue;
        for (int k = 0; k < caller->called_count; k++) {
          is_new |= !ptr_map_has(kept, caller->called[k]);
          ptr_map_put(scratch, kept, caller->called[k], caller->called[k]);
        }
      }
  }
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  arena *scratch = context->scratch;
  ptr_map kept = {0};
  find_kept(scratch, m, &kept);
  for (int c = 0; c < m->computations.size; c++) {
    // The list grows while callers are rewritten; what is added calls nothing.
    instruction_list all = {0};
    for (int i = 0; i < m->computations.data[c]->instructions.size; i++)
      vec_push(scratch, &all, m->computations.data[c]->instructions.data[i]);
    for (int i = 0; i < all.size; i++)
      if (can_flatten(all.data[i]) && !any_kept(&kept, all.data[i]))
        context->changed |= flatten_caller(scratch, all.data[i]);
  }
  for (int c = 0; c < m->computations.size; c++)
    if (!ptr_map_has(&kept, m->computations.data[c]))
      context->changed |= flatten_signature(scratch, m->computations.data[c]);
  return status_ok();
}

const pass opt_tuple_flattening = {
    .name = "tuple-flattening",
    .summary = "called computations take and give tuples one level deep",
    .order_reason =
        "behind all passes that make loops, and before the tuple simplifier, where the tuples it leaves cancel",
    .use = PASS_NEEDED,
    .run = run,
};
