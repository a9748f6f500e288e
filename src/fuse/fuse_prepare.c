// Brings a computation into the form that clusters are found in; what it computes stays the same.
#include "fuse/fuse_prepare.h"

#include "fuse/cluster.h"
#include "fuse/fusion_cost.h"

// Whoever wants all values of a variadic operation takes a tuple of them: so every value is an array.
static void split_results(computation *c, instruction *i) {
  arena *a = c->module->arena;
  bool is_whole = c->root == i;
  for (int k = 0; k < i->users.size; k++) is_whole |= i->users.data[k]->opcode != HLO_GET_TUPLE_ELEMENT;
  if (!is_whole && i->opcode != HLO_SCATTER) return;
  int count = i->shape->tuple_size;
  instruction **elements = arena_array(a, instruction *, count);
  instruction_list users = {0};
  for (int k = 0; k < i->users.size; k++)
    if (i->users.data[k]->opcode != HLO_GET_TUPLE_ELEMENT) vec_push(a, &users, i->users.data[k]);
  for (int k = 0; k < count; k++) {
    elements[k] = computation_add(c, HLO_GET_TUPLE_ELEMENT, (str){0}, i->shape->elements[k], 1, &i);
    elements[k]->attributes->index = k;
    attributes_mark(elements[k]->attributes, HLO_ATTRIBUTE_INDEX);
    elements[k]->where = i->where;
  }
  if (!is_whole) return;
  instruction *tuple = computation_add(c, HLO_TUPLE, (str){0}, i->shape, count, elements);
  tuple->where = i->where;
  for (int k = 0; k < users.size; k++)
    for (int o = 0; o < users.data[k]->operand_count; o++)
      if (users.data[k]->operands[o] == i) instruction_set_operand(users.data[k], o, tuple);
  if (c->root == i) computation_set_root(c, tuple);
}

static bool is_row_major(const instruction *i) {
  return shape_layout_is_default(i->shape) && shape_layout_is_default(i->operands[0]->shape);
}

// Same bytes in the same order, seen with other dims.
static void make_bitcast(instruction *i) {
  i->opcode = HLO_BITCAST;
  hlo_attributes *bare = attributes_create(i->parent->module->arena);
  const str *metadata = attributes_raw(i->attributes, "metadata");
  if (metadata) attributes_add_raw(i->parent->module->arena, bare, STR("metadata"), *metadata);
  i->attributes = bare;
}

static const instruction *viewed(const instruction *i) {
  while (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE) i = i->operands[0];
  return i;
}

// Whether a kernel that computes `i` might read the array, through what kernels compute for themselves.
static bool may_read(const instruction *i, const instruction *array, int *steps) {
  i = viewed(i);
  if (i == array || --*steps < 0) return true;
  if (!hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->opcode != HLO_BROADCAST && i->opcode != HLO_SLICE) return false;
  bool reads = false;
  for (int k = 0; k < i->operand_count && !reads; k++) reads = may_read(i->operands[k], array, steps);
  return reads;
}

static bool is_read_beside(const instruction *scatter, const instruction *target) {
  int steps = FUSION_DUPLICATED_OPERATIONS * 2;
  bool reads = false;
  for (int k = cluster_target_count(scatter); k < scatter->operand_count && !reads; k++)
    reads = may_read(scatter->operands[k], target, &steps);
  return reads;
}

static bool is_earlier_target(const instruction *i, int number, const instruction *array) {
  for (int k = 0; k < number; k++)
    if (viewed(i->operands[k]) == array) return true;
  return false;
}

// What is written in place is an array of its own, neither a view that others compute for themselves nor one that the
// kernel reads as well, nor the same one twice.
static void copy_targets(computation *c, instruction *i) {
  for (int k = 0; k < cluster_target_count(i); k++) {
    instruction *target = i->operands[k];
    const instruction *from = viewed(target);
    bool is_view = from->opcode == HLO_BROADCAST || from->opcode == HLO_IOTA || from->opcode == HLO_SLICE;
    const bool is_read = i->opcode == HLO_SCATTER && is_read_beside(i, from);
    if (!is_view && !is_read && !is_earlier_target(i, k, from)) continue;
    instruction *copy = computation_add(c, HLO_COPY, (str){0}, target->shape, 1, &target);
    copy->where = i->where;
    instruction_set_operand(i, k, copy);
  }
}

void fuse_prepare(computation *c) {
  for (int k = 0, count = c->instructions.size; k < count; k++) {
    instruction *i = c->instructions.data[k];
    copy_targets(c, i);
    if (i->opcode == HLO_RESHAPE && is_row_major(i)) make_bitcast(i);
    bool is_variadic =
        shape_is_tuple(i->shape) && i->opcode != HLO_TUPLE && hlo_ops[i->opcode].index_rule != INDEX_RULE_NONE;
    if (is_variadic && i->opcode != HLO_PARAMETER && i->opcode != HLO_GET_TUPLE_ELEMENT) split_results(c, i);
  }
}
