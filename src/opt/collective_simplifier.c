// Collective simplifier: what a single member of a group exchanges with itself.
#include "opt/passes.h"

#include "hlo/device_groups.h"
#include "opt/rewrite.h"

static bool runs_in_parallel(const instruction *i) {
  return i->opcode == HLO_CUSTOM_CALL && str_is(i->attributes->custom_call_target, "interpreter.run_parallel");
}

// Whether the module's devices run its computations, and nobody else does.
static bool runs_alone(const module *m) {
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++)
      if (runs_in_parallel(m->computations.data[c]->instructions.data[k])) return false;
  return true;
}

static bool has_one_device(const module *m) {
  return device_groups_replicas(m) == 1 && device_groups_partitions(m) == 1;
}

// Whether every device is alone in its group. Those that no group names do not get what they bring.
static bool is_alone(arena *scratch, const instruction *i) {
  const module *m = i->parent->module;
  const int devices = device_groups_replicas(m) * device_groups_partitions(m);
  int size;
  device_list members;
  heddle_status s = device_groups_of(scratch, i, &size, &members);
  const bool is_everyone = size == 0;  // in one group
  const bool fits = status_is_ok(s) && (is_everyone ? devices == 1 : size == 1 && members.size == devices);
  heddle_status_free(s);
  return fits;
}

static bool gives_operands(const instruction *i) {
  switch (i->opcode) {
    case HLO_ALL_GATHER:
    case HLO_ALL_REDUCE:
    case HLO_COLLECTIVE_BROADCAST:
    case HLO_COLLECTIVE_REDUCE:
    case HLO_REDUCE_SCATTER: return true;
    case HLO_ALL_TO_ALL: return attributes_has(i->attributes, HLO_ATTRIBUTE_DIMENSIONS) || i->operand_count == 1;
    default: return false;
  }
}

static bool fits(const instruction *i) {
  const int count = shape_is_tuple(i->shape) ? i->shape->tuple_size : 1;
  if (count != i->operand_count) return false;
  for (int k = 0; k < count; k++)
    if (!shape_compatible(i->operands[k]->shape, shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape))
      return false;
  return true;
}

static instruction *operands_of(instruction *i) {
  if (!shape_is_tuple(i->shape)) return i->operands[0];
  const builder b = builder_for(i);
  return builder_tuple(&b, i->operand_count, i->operands);
}

// If its groups are of one device.
static bool may_be_identity(const instruction *i) { return gives_operands(i) && fits(i); }

static bool may_be_identity_on_one_device(const instruction *i) {
  switch (i->opcode) {
    case HLO_SHUFFLE:
    case HLO_PARTITION_ID:
    case HLO_REPLICA_ID: return true;
    case HLO_COLLECTIVE_PERMUTE: {
      const group_list *pairs = &i->attributes->source_target_pairs;
      if (pairs->size == 0 && pairs->text.size) return false;
      for (int k = 0; k < pairs->size; k++)
        if (pairs->groups[k].size != 2 || pairs->groups[k].data[0] != 0 || pairs->groups[k].data[1] != 0) return false;
      return fits(i);
    }
    default: return may_be_identity(i);
  }
}

// What a process gets that nobody sends to.
static instruction *zeros_of(const instruction *i) {
  const builder b = builder_for(i);
  instruction **elements = arena_array(b.arena, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) elements[k] = builder_like_int(&b, i->operands[k], 0);
  return shape_is_tuple(i->shape) ? builder_tuple(&b, i->operand_count, elements) : elements[0];
}

static instruction *simplify(instruction *i, void *scratch) {
  const builder b = builder_for(i);
  switch (i->opcode) {
    case HLO_PARTITION_ID:
    case HLO_REPLICA_ID: return builder_scalar_int(&b, i->shape->dtype, 0);
    case HLO_COLLECTIVE_PERMUTE: return i->attributes->source_target_pairs.size == 0 ? zeros_of(i) : operands_of(i);
    case HLO_SHUFFLE: return operands_of(i);
    default: return is_alone(scratch, i) ? operands_of(i) : NULL;
  }
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  if (!runs_alone(m)) return status_ok();
  bool (*const matches)(const instruction *i) = has_one_device(m) ? may_be_identity_on_one_device : may_be_identity;
  return rewrite_each_given(context, m, matches, simplify, context->scratch);
}

const pass opt_collective_simplifier = {
    .name = "collective-simplifier",
    .summary = "collectives of one device become their operands",
    .order_reason = "once pairs are operations, and before anything is spent on what nobody exchanges",
    .use = PASS_NEEDED,
    .run = run,
};
