// From slice to slice: what one is moved through has slices of its operands, which may be moved further.
#include "supertile/pushed_slices.h"

#include "opt/pass.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

typedef struct pushing {
  instruction_list slices;  // those to come included
  ptr_map gone;             // what nobody needs any more
} pushing;

static bool is_read_by_alone(const pushing *p, const instruction *x, const instruction *slice) {
  for (int u = 0; u < x->users.size; u++)
    if (x->users.data[u] != slice && !ptr_map_has(&p->gone, x->users.data[u])) return false;
  return x != x->parent->root;
}

static bool may_move_through(const instruction *slice, const instruction *x) {
  if (x->control_predecessors.size > 0 || slice->control_predecessors.size > 0 || x->called_count > 0) return false;
  if (x->opcode == HLO_BROADCAST) return true;
  if (!hlo_op_has(x->opcode, TRAIT_ELEMENTWISE) || hlo_op_has(x->opcode, TRAIT_SIDE_EFFECT)) return false;
  for (int k = 0; k < x->operand_count; k++) {
    const shape *s = x->operands[k]->shape;
    if (!shape_is_array(s) || (!shape_is_scalar(s) && !shape_same_dims(s, x->shape))) return false;
  }
  return x->operand_count > 0;
}

static const shape *sized(const builder *b, dtype t, const instruction *slice) {
  return shape_array(b->arena, t, slice->shape->rank, slice->shape->dims);
}

static bool is_same(const instruction *slice, instruction *const *operands, const int64_t *sizes) {
  for (int k = 0; k < slice->operand_count; k++)
    if (slice->operands[k] != operands[k]) return false;
  for (int d = 0; d < slice->shape->rank; d++)
    if (slice->shape->dims[d] != sizes[d]) return false;
  return true;
}

// The slice of an operand of `x` that `slice` takes of x: along dims[d] of it, or all of them. One that is there
// already serves again.
static instruction *slice_of(pushing *p, const builder *b, const instruction *slice, instruction *operand,
                             const int64_t *dims) {
  const int rank = operand->shape->rank;
  instruction *operands[SHAPE_MAX_RANK + 1] = {operand};
  int64_t *sizes = arena_array(b->arena, int64_t, rank);
  for (int d = 0; d < rank; d++) {
    const int64_t from = dims ? dims[d] : d;
    operands[d + 1] = slice->operands[from + 1];
    sizes[d] = slice->shape->dims[from];
  }
  for (int k = 0; k < operand->users.size; k++) {
    instruction *user = operand->users.data[k];
    const bool is_there = user->opcode == HLO_DYNAMIC_SLICE && !ptr_map_has(&p->gone, user);
    if (is_there && is_same(user, operands, sizes)) return user;
  }
  instruction *i =
      builder_add(b, HLO_DYNAMIC_SLICE, shape_array(b->arena, operand->shape->dtype, rank, sizes), rank + 1, operands);
  i->attributes->dynamic_slice_sizes = (int_list){sizes, rank};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  vec_push(b->arena, &p->slices, i);
  return i;
}

static instruction *move(pushing *p, const instruction *slice, const instruction *x) {
  const builder b = builder_for(x);
  instruction **operands = arena_array(b.arena, instruction *, x->operand_count);
  const int64_t *dims = x->opcode == HLO_BROADCAST ? x->attributes->dimensions.data : NULL;
  for (int k = 0; k < x->operand_count; k++) {
    operands[k] = x->operands[k];
    if (shape_is_scalar(operands[k]->shape)) continue;
    operands[k] = slice_of(p, &b, slice, operands[k], dims);
  }
  return rewrite_with(&b, x, sized(&b, x->shape->dtype, slice), operands);
}

static void push_all(computation *c) {
  arena *a = c->module->arena;
  pushing p = {0};
  for (int k = 0; k < c->instructions.size; k++)
    if (c->instructions.data[k]->opcode == HLO_DYNAMIC_SLICE) vec_push(a, &p.slices, c->instructions.data[k]);
  for (int k = 0; k < p.slices.size; k++) {
    instruction *slice = p.slices.data[k], *x = slice->operands[0];
    if (!is_read_by_alone(&p, x, slice) || !may_move_through(slice, x)) continue;
    const builder b = builder_for(slice);
    instruction *moved = move(&p, slice, x);
    builder_replace_values(&b, slice, &moved);
    ptr_map_put(a, &p.gone, slice, c);
    ptr_map_put(a, &p.gone, x, c);
  }
}

heddle_status pushed_slices_run(module *m) {
  arena *scratch = arena_create();
  for (int k = 0; k < m->computations.size; k++) push_all(m->computations.data[k]);
  heddle_status s = pass_apply(&opt_dead_code, m);
  if (status_is_ok(s)) s = opt_sort(scratch, m);
  arena_destroy(scratch);
  return s;
}
