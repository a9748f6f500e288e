// Runs a rewrite over a module: some instructions, each replaced by another one.
#include "opt/rewrite.h"

static void replace(instruction *i, instruction *by) {
  if (by->users.size == 0 && by->opcode != HLO_PARAMETER && shape_is_array(by->shape) && shape_is_array(i->shape) &&
      shape_same_dims(by->shape, i->shape))
    by->shape = i->shape;
  // What stood there before, like an operand, must not wait for something behind it: the users wait instead.
  const bool is_new = by->users.size == 0;
  for (int k = 0; k < i->control_predecessors.size; k++) {
    instruction *before = i->control_predecessors.data[k];
    if (is_new) vec_push(i->parent->module->arena, &by->control_predecessors, before);
    for (int j = 0; !is_new && j < i->users.size; j++)
      vec_push(i->parent->module->arena, &i->users.data[j]->control_predecessors, before);
  }
  instruction_replace_uses(i, by);
}

// Whoever waits for a replaced instruction waits for what stands in its place.
static void redirect_waits(computation *c, const ptr_map *replaced) {
  for (int i = 0; i < c->instructions.size; i++) {
    instruction_list *before = &c->instructions.data[i]->control_predecessors;
    for (int k = 0; k < before->size; k++) {
      instruction *by = ptr_map_get(replaced, before->data[k]);
      if (by) before->data[k] = by;
    }
  }
}

// What waits for `before` waits for, with everything that is gone followed to what stayed.
static void follow_gone(arena *scratch, const ptr_map *gone, instruction *before, ptr_map *seen,
                        instruction_list *out) {
  instruction_list work = {0};
  vec_push(scratch, &work, before);
  while (work.size > 0) {
    instruction *i = work.data[--work.size];
    if (ptr_map_has(seen, i)) continue;
    ptr_map_put(scratch, seen, i, i);
    const instruction_list *instead = ptr_map_get(gone, i);
    if (!instead) vec_push(scratch, out, i);
    for (int k = 0; instead && k < instead->size; k++) vec_push(scratch, &work, instead->data[k]);
  }
}

void rewrite_pass_on_waits(arena *scratch, computation *c, const ptr_map *gone) {
  for (int k = 0; k < c->instructions.size; k++) {
    instruction_list *before = &c->instructions.data[k]->control_predecessors;
    bool any = false;
    for (int j = 0; j < before->size; j++) any |= ptr_map_has(gone, before->data[j]);
    if (!any) continue;
    instruction_list left = {0};
    ptr_map seen = {0};
    for (int j = 0; j < before->size; j++) follow_gone(scratch, gone, before->data[j], &seen, &left);
    before->size = 0;
    for (int j = 0; j < left.size; j++) vec_push(c->module->arena, before, left.data[j]);
  }
}

void rewrite_find_waited_for(arena *scratch, const computation *c, ptr_map *out) {
  for (int k = 0; k < c->instructions.size; k++) {
    const instruction_list *before = &c->instructions.data[k]->control_predecessors;
    for (int j = 0; j < before->size; j++) ptr_map_put(scratch, out, before->data[j], before->data[j]);
  }
}

heddle_status rewrite_each_given(pass_context *context, module *m, bool (*matches)(const instruction *i),
                                 instruction *(*make)(instruction *i, void *argument), void *argument) {
  arena *scratch = context->scratch;
  for (int c = 0, count = m->computations.size; c < count; c++) {
    computation *at = m->computations.data[c];
    instruction_list found = {0};
    ptr_map replaced = {0};
    for (int i = 0; i < at->instructions.size; i++)
      if (matches(at->instructions.data[i])) vec_push(scratch, &found, at->instructions.data[i]);
    for (int i = 0; i < found.size; i++) {
      instruction *by = make(found.data[i], argument);
      if (!by) continue;
      replace(found.data[i], by);
      context->changed = true;
      ptr_map_put(scratch, &replaced, found.data[i], by);
    }
    redirect_waits(at, &replaced);
    for (int i = 0; i < found.size; i++)
      if (ptr_map_has(&replaced, found.data[i])) computation_detach(at, found.data[i]);
    computation_drop_detached(at);
  }
  return status_ok();
}

typedef struct maker {
  instruction *(*make)(instruction *i);
} maker;

static instruction *make_alone(instruction *i, void *argument) { return ((const maker *)argument)->make(i); }

heddle_status rewrite_each(pass_context *context, module *m, bool (*matches)(const instruction *i),
                           instruction *(*make)(instruction *i)) {
  maker alone = {make};
  return rewrite_each_given(context, m, matches, make_alone, &alone);
}

void rewrite_uses(pass_context *context, instruction *i, instruction *by) {
  context->changed |= i->users.size > 0 || i == i->parent->root;
  instruction_replace_uses(i, by);
}

instruction *rewrite_widen(const builder *b, instruction *x) {
  return builder_convert(b, x, dtype_accumulator(x->shape->dtype));
}

instruction *rewrite_with(const builder *b, const instruction *i, const shape *s, instruction *const *operands) {
  instruction *to = builder_add(b, i->opcode, s, i->operand_count, operands);
  to->attributes = attributes_copy(b->arena, i->attributes);
  if (i->called_count) instruction_set_called(to, i->called_count, i->called);
  return to;
}
