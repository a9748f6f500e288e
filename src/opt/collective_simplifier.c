// Collective simplifier: what a single member of a group exchanges with itself.
#include "opt/collective_simplifier.h"

#include "opt/rewrite.h"

// Of a module attribute; 1 where it is missing, 0 where it is no number.
static int64_t module_number(const module *m, const char *name) {
  for (int k = 0; k < m->attributes.size; k++) {
    if (!str_is(m->attributes.data[k].name, name)) continue;
    const str value = m->attributes.data[k].value;
    return value.size == 1 && value.data[0] >= '0' && value.data[0] <= '9' ? value.data[0] - '0' : 0;
  }
  return 1;
}

static bool runs_in_parallel(const instruction *i) {
  return i->opcode == HLO_CUSTOM_CALL && str_is(i->attributes->custom_call_target, "interpreter.run_parallel");
}

// Whether all of the module runs on one device.
static bool has_one_device(const module *m) {
  if (module_number(m, "replica_count") != 1 || module_number(m, "num_partitions") != 1) return false;
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++)
      if (runs_in_parallel(m->computations.data[c]->instructions.data[k])) return false;
  return true;
}

// Whether the process is alone in its group, wherever it runs or (if there is one device) there.
static bool is_alone(const instruction *i, bool one_device) {
  const hlo_attributes *x = i->attributes;
  const group_list *groups = &x->replica_groups;
  const bool is_everyone = groups->size == 0 || (groups->size == 1 && groups->groups[0].size == 0);
  if (is_everyone) return one_device && groups->text.size == 0;
  // Across replicas and partitions at once a group's number stands for several processes.
  if (!one_device && x->channel_id > 0 && !x->use_global_device_ids) return false;
  for (int k = 0; k < groups->size; k++)
    if (groups->groups[k].size != 1 || (one_device && groups->groups[k].data[0] != 0)) return false;
  return true;
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

static bool is_identity(const instruction *i) { return gives_operands(i) && is_alone(i, false) && fits(i); }

static bool is_identity_on_one_device(const instruction *i) {
  switch (i->opcode) {
    case HLO_SHUFFLE:
    case HLO_PARTITION_ID:
    case HLO_REPLICA_ID: return true;
    case HLO_COLLECTIVE_PERMUTE: {
      const group_list *pairs = &i->attributes->source_target_pairs;
      if (attributes_has(i->attributes, HLO_ATTRIBUTE_SLICE_SIZES_OF_TRANSFERS) ||
          (pairs->size == 0 && pairs->text.size))
        return false;
      for (int k = 0; k < pairs->size; k++)
        if (pairs->groups[k].size != 2 || pairs->groups[k].data[0] != 0 || pairs->groups[k].data[1] != 0) return false;
      return fits(i);
    }
    default: return gives_operands(i) && is_alone(i, true) && fits(i);
  }
}

// What a process gets that nobody sends to.
static instruction *zeros_of(const instruction *i) {
  const builder b = builder_for(i);
  instruction **elements = arena_array(b.arena, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) elements[k] = builder_like_int(&b, i->operands[k], 0);
  return shape_is_tuple(i->shape) ? builder_tuple(&b, i->operand_count, elements) : elements[0];
}

static instruction *simplify(instruction *i) {
  const builder b = builder_for(i);
  switch (i->opcode) {
    case HLO_PARTITION_ID:
    case HLO_REPLICA_ID: return builder_scalar_int(&b, i->shape->dtype, 0);
    case HLO_COLLECTIVE_PERMUTE: return i->attributes->source_target_pairs.size == 0 ? zeros_of(i) : operands_of(i);
    default: return operands_of(i);
  }
}

heddle_status collective_simplifier_run(module *m) {
  return rewrite_each(m, has_one_device(m) ? is_identity_on_one_device : is_identity, simplify);
}
