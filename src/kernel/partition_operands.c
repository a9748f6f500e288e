// Which scope an operand is evaluated in, and through which map.
//
// Elementwise instructions skip the map machinery: most of any program is elementwise, and "the same indices" needs no
// map.
#include "kernel/partition_operands.h"

const shape *partition_index_shape(const instruction *i) {
  return shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
}

// Which operands an instruction evaluates in scopes of their own.
typedef enum branching {
  BRANCH_NONE,
  BRANCH_ALL,     // all of them in one: a loop's body
  BRANCH_INPUTS,  // the first half, in one: a loop's body; the initial values come before it
  BRANCH_FIRST,   // the first one: its indices need the values of the others, or it may not be read at all
  BRANCH_UPDATE,  // the first two: the window or what is around it
  BRANCH_EACH,    // all of them, each in one of its own
} branching;

static const branching branchings[HLO_OPCODE_COUNT] = {
    [HLO_DOT] = BRANCH_ALL,          [HLO_CONVOLUTION] = BRANCH_ALL,
    [HLO_REDUCE] = BRANCH_INPUTS,    [HLO_REDUCE_WINDOW] = BRANCH_INPUTS,
    [HLO_PAD] = BRANCH_FIRST,        [HLO_DYNAMIC_SLICE] = BRANCH_FIRST,
    [HLO_GATHER] = BRANCH_FIRST,     [HLO_DYNAMIC_UPDATE_SLICE] = BRANCH_UPDATE,
    [HLO_CONCATENATE] = BRANCH_EACH,
};

int partition_branch_count(const instruction *i) {
  switch (branchings[i->opcode]) {
    case BRANCH_NONE: return 0;
    case BRANCH_UPDATE: return 2;
    case BRANCH_EACH: return i->operand_count;
    default: return 1;
  }
}

int partition_operand_branch(const instruction *i, int k) {
  switch (branchings[i->opcode]) {
    case BRANCH_ALL: return 0;
    case BRANCH_INPUTS: return k < i->operand_count / 2 ? 0 : -1;
    case BRANCH_FIRST: return k == 0 ? 0 : -1;
    case BRANCH_UPDATE: return k == 0 ? 1 : k == 1 ? 0 : -1;
    case BRANCH_EACH: return k;
    default: return -1;
  }
}

bool partition_evaluates_often(const instruction *i, int k) {
  return i->opcode == HLO_BITCAST_CONVERT && i->operands[k]->shape->rank > i->shape->rank;
}

static bool is_identity(const instruction *i) {
  hlo_index_rule rule = hlo_ops[i->opcode].index_rule;
  if (rule != INDEX_RULE_ELEMENTWISE && rule != INDEX_RULE_GET_TUPLE_ELEMENT) return false;
  for (int k = 0; k < i->operand_count; k++) {
    if (!shape_same_dims(partition_index_shape(i->operands[k]), partition_index_shape(i))) return false;
  }
  return true;
}

heddle_status partition_find_operands(arena *a, const instruction *i, const partition_operand **out) {
  partition_operand *operands = arena_array(a, partition_operand, i->operand_count);
  *out = operands;
  if (is_identity(i)) {
    for (int k = 0; k < i->operand_count; k++) operands[k].is_needed = true;
    return status_ok();
  }
  hlo_indexing indexing = {0};
  TRY(hlo_indexing_output_to_input(a, i, 0, &indexing));
  for (int k = 0; k < i->operand_count; k++) {
    const operand_maps *maps = &indexing.operands[k];
    if (maps->count > 1 || maps->unknown) {
      return status_at(HEDDLE_INTERNAL, i->where, "operand %d of %s is read through %d maps", k, hlo_op_text(i->opcode),
                       maps->count);
    }
    if (maps->count == 0 || maps->maps[0].map->is_empty) continue;
    operands[k].is_needed = true;
    operands[k].map = maps->maps[0].map;
    operands[k].rts = maps->maps[0].rts;
  }
  for (int k = 0; k < i->operand_count; k++) {
    for (int r = 0; operands[k].map && r < operands[k].map->rt_count; r++) {
      operands[operands[k].rts[r].operand].is_offset = true;
    }
  }
  // Windows as large as the operand can start nowhere but at 0, whatever the indices say.
  if (i->opcode == HLO_GATHER) operands[1].is_needed &= operands[1].is_offset;
  return status_ok();
}
