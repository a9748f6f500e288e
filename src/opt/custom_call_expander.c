// Custom-call expander: custom calls that stand for operations of HLO become these. What a target's name means is asked
// of the interpreter (eval/custom_call_meaning.h), so that both agree.
#include "opt/passes.h"

#include "eval/custom_call_meaning.h"
#include "hlo/call_attributes.h"
#include "opt/rewrite.h"

static const shape *result_shape(const instruction *i, int k) {
  return shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
}

// --- operands and zeros

static instruction *operands_of(const builder *b, instruction *i) {
  if (i->operand_count == 1 && shape_compatible(i->operands[0]->shape, i->shape)) return i->operands[0];
  if (!shape_is_tuple(i->shape) || (i->shape->tuple_size != i->operand_count && i->shape->tuple_size != 0)) return NULL;
  for (int k = 0; k < i->shape->tuple_size; k++)
    if (!shape_compatible(i->operands[k]->shape, i->shape->elements[k])) return NULL;
  return builder_tuple(b, i->shape->tuple_size, i->operands);
}

static instruction *zeros(const builder *b, const shape *s) {
  if (!shape_is_array(s) || !shape_is_static(s)) return NULL;
  instruction *zero = builder_scalar_int(b, s->dtype, 0);
  return s->rank == 0 ? zero : builder_broadcast(b, zero, s, 0, NULL);
}

// --- one operation

static instruction *operation(const builder *b, instruction *i, hlo_opcode opcode) {
  if (i->operand_count != hlo_ops[opcode].arity || !shape_is_array(i->shape)) return NULL;
  for (int k = 0; k < i->operand_count; k++)
    if (!shape_compatible(i->operands[k]->shape, i->shape)) return NULL;
  return builder_add(b, opcode, i->shape, i->operand_count, i->operands);
}

// --- approximate top-k: operands and initial values; the comparator sees pairs of each

static bool is_top_k(const instruction *i) {
  const str target = i->attributes->custom_call_target;
  return str_is(target, "ApproxTopK") || str_is(target, "PartialReduce");
}

static bool top_k_fits(const instruction *i, int count, int64_t along) {
  const shape *s = i->operands[0]->shape;
  if (i->called_count != 1 || i->called[0]->parameters.size != 2 * count || along < 0 || along >= s->rank) return false;
  if (shape_is_tuple(i->shape) ? i->shape->tuple_size != count : count != 1) return false;
  for (int k = 0; k < count; k++) {
    const shape *from = i->operands[k]->shape, *to = result_shape(i, k), *initial = i->operands[count + k]->shape;
    if (!shape_is_array(from) || !shape_is_array(to) || !shape_is_static(from) || !shape_is_static(to)) return false;
    if (!shape_same_dims(from, s) || from->dtype != to->dtype || from->rank != to->rank) return false;
    if (!shape_is_scalar(initial) || initial->dtype != from->dtype) return false;
    for (int j = 0; j < 2; j++) {
      const shape *parameter = i->called[0]->parameters.data[2 * k + j]->shape;
      if (!shape_is_scalar(parameter) || parameter->dtype != from->dtype) return false;
    }
    for (int d = 0; d < to->rank; d++)
      if (d == along ? to->dims[d] != result_shape(i, 0)->dims[d] : to->dims[d] != from->dims[d]) return false;
  }
  return true;
}

// The first ones along the dim, or initial values behind all.
static instruction *take_first(const builder *b, instruction *sorted, instruction *initial, int64_t along,
                               int64_t size) {
  slice_dim kept[SHAPE_MAX_RANK];
  padding_dim more[SHAPE_MAX_RANK] = {0};
  const int64_t found = sorted->shape->dims[along];
  for (int d = 0; d < sorted->shape->rank; d++) kept[d] = (slice_dim){0, sorted->shape->dims[d], 1};
  if (size <= found) {
    kept[along].limit = size;
    return builder_slice(b, sorted, kept);
  }
  more[along].high = size - found;
  return builder_pad(b, sorted, initial, more);
}

static instruction *top_k(const builder *b, instruction *i) {
  const int count = i->operand_count / 2;
  if (count == 0 || i->operand_count % 2 || !shape_is_array(i->operands[0]->shape)) return NULL;
  int64_t along = i->operands[0]->shape->rank - 1;
  call_attribute_int(i->attributes->backend_config, "reduction_dim", &along);
  if (along < 0) along += i->operands[0]->shape->rank;
  if (!top_k_fits(i, count, along)) return NULL;
  instruction **results = arena_array(b->arena, instruction *, count);
  const shape **shapes = arena_array(b->arena, const shape *, count);
  for (int k = 0; k < count; k++) {
    const shape *s = i->operands[k]->shape;
    shapes[k] = shape_array(b->arena, s->dtype, s->rank, s->dims);
  }
  const shape *s = count == 1 ? shapes[0] : shape_tuple(b->arena, count, shapes);
  instruction *sort = builder_add(b, HLO_SORT, s, count, i->operands);
  builder_set_dimensions(b, sort, 1, &along);
  sort->attributes->is_stable = true;
  attributes_mark(sort->attributes, HLO_ATTRIBUTE_IS_STABLE);
  instruction_set_called(sort, 1, i->called);
  for (int k = 0; k < count; k++) {
    instruction *sorted = count == 1 ? sort : builder_element(b, sort, k);
    results[k] = take_first(b, sorted, i->operands[count + k], along, result_shape(i, k)->dims[along]);
  }
  return shape_is_tuple(i->shape) ? builder_tuple(b, count, results) : results[0];
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  hlo_opcode opcode;
  if (is_top_k(i)) return top_k(&b, i);
  switch (eval_custom_call_means(i->attributes->custom_call_target, &opcode)) {
    case EVAL_CUSTOM_CALL_OPERANDS: return operands_of(&b, i);
    case EVAL_CUSTOM_CALL_ZEROS: return zeros(&b, i->shape);
    case EVAL_CUSTOM_CALL_OPCODE: return operation(&b, i, opcode);
    default: return NULL;
  }
}

static bool is_custom_call(const instruction *i) { return i->opcode == HLO_CUSTOM_CALL; }

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each(context, unit, is_custom_call, expand);
}

const pass opt_custom_call_expander = {
    .name = "custom-call-expander",
    .summary = "custom calls that are HLO under another name become that",
    .order_reason = "before the call inliner, as what it makes may call computations",
    .use = PASS_NEEDED,
    .run = run,
};
