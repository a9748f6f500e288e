// What a reduction's computation does.
#include "opt/reducer.h"

hlo_opcode reducer_opcode(const computation *c) {
  const instruction *root = c->root;
  if (c->parameters.size != 2 || root->operand_count != 2 || !hlo_op_has(root->opcode, TRAIT_ELEMENTWISE))
    return HLO_OPCODE_COUNT;
  const instruction *x = c->parameters.data[0], *y = c->parameters.data[1];
  const bool is_in_order = root->operands[0] == x && root->operands[1] == y;
  const bool is_swapped = root->operands[0] == y && root->operands[1] == x;
  if (!is_in_order && !(is_swapped && hlo_op_has(root->opcode, TRAIT_COMMUTES))) return HLO_OPCODE_COUNT;
  const dtype t = root->shape->dtype;
  return root->opcode != HLO_COMPARE && x->shape->dtype == t && y->shape->dtype == t && root->shape->rank == 0
             ? root->opcode
             : HLO_OPCODE_COUNT;
}
