// Zero-sized tensors: f32[0,3] and the like, which other front ends produce, never reach code generation.
//
// An array without elements has one value, so whatever makes it is a constant. Operations that take one and give
// elements all the same are the identity of what they do: a reduction gives its initial value, a padded nothing the
// padding, a product over an empty dimension zero, and a concatenation goes without it.
#include "opt/passes.h"

#include "hlo/builder.h"

static bool is_empty(const shape *s) { return shape_is_array(s) && shape_element_count(s) == 0; }

static bool is_kept(const instruction *i) {
  return i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT || i->attributes->custom_call_has_side_effect ||
         hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT) || hlo_op_has(i->opcode, TRAIT_COLLECTIVE) ||
         hlo_op_has(i->opcode, TRAIT_ASYNC) || hlo_op_has(i->opcode, TRAIT_CONTROL) || i->opcode == HLO_CUSTOM_CALL ||
         i->opcode == HLO_GET_TUPLE_ELEMENT || i->control_predecessors.size > 0;
}

static heddle_status empty_constant(const builder *b, const shape *s, instruction **out) {
  literal *value;
  TRY(literal_create(b->arena, shape_array(b->arena, s->dtype, s->rank, s->dims), &value));
  *out = builder_constant(b, value);
  return status_ok();
}

static instruction *spread(const builder *b, const instruction *like, instruction *scalar) {
  return builder_broadcast(b, scalar, like->shape, 0, NULL);
}

// The operands with elements; one of them alone is the result.
static instruction *concatenation(const builder *b, arena *scratch, const instruction *i) {
  instruction_list rest = {0};
  for (int k = 0; k < i->operand_count; k++)
    if (!is_empty(i->operands[k]->shape)) vec_push(scratch, &rest, i->operands[k]);
  if (rest.size == 1) return rest.data[0];
  return builder_concatenate(b, rest.size, rest.data, i->attributes->dimensions.data[0]);
}

// Initial values of a reduction over nothing; several results make a tuple.
static instruction *initial_values(const builder *b, arena *scratch, const instruction *i) {
  int count = i->operand_count / 2;
  instruction **results = arena_array(scratch, instruction *, count);
  for (int k = 0; k < count; k++) {
    const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
    results[k] = builder_broadcast(b, i->operands[count + k], s, 0, NULL);
  }
  return shape_is_tuple(i->shape) ? builder_tuple(b, count, results) : results[0];
}

static bool has_empty_operand(const instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    if (is_empty(i->operands[k]->shape)) return true;
  return false;
}

// What `i` gives though an operand is empty; null where that says nothing.
static instruction *result_of_nothing(const builder *b, arena *scratch, const instruction *i) {
  switch (i->opcode) {
    case HLO_CONCATENATE: return concatenation(b, scratch, i);
    case HLO_PAD: return spread(b, i, i->operands[1]);
    case HLO_REDUCE: return initial_values(b, scratch, i);
    case HLO_DOT:
    case HLO_CONVOLUTION: return spread(b, i, builder_scalar(b, i->shape->dtype, 0));
    // Index vectors without entries are no elements, but there is an update for each.
    case HLO_SCATTER: return i->operand_count == 3 && is_empty(i->operands[2]->shape) ? i->operands[0] : NULL;
    case HLO_DYNAMIC_UPDATE_SLICE: return i->operands[0];
    default: return NULL;
  }
}

static heddle_status remove_empty(pass_context *context, instruction *i) {
  if (is_kept(i)) return status_ok();
  const builder b = builder_for(i);
  instruction *by = NULL;
  if (is_empty(i->shape)) TRY(empty_constant(&b, i->shape, &by));
  else if (has_empty_operand(i)) by = result_of_nothing(&b, context->scratch, i);
  if (!by) return status_ok();
  context->changed = true;
  if (by->users.size == 0 && shape_is_array(by->shape)) by->shape = i->shape;  // the layout too
  instruction_replace_uses(i, by);
  computation_remove(i->parent, i);
  return status_ok();
}

static heddle_status clean(pass_context *context, computation *c) {
  instruction_list order = {0};
  TRY(computation_post_order(context->scratch, c, &order));
  for (int i = 0; i < order.size; i++) TRY(remove_empty(context, order.data[i]));
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  for (int c = 0; c < m->computations.size; c++) TRY(clean(context, m->computations.data[c]));
  return status_ok();
}

const pass opt_zero_sized = {
    .name = "zero-sized",
    .summary = "arrays without elements become constants",
    .order_reason = "before the algebra, whose rules need not think of them",
    .use = PASS_NEEDED,
    .run = run,
};
