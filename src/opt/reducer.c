// What a reduction's computation does.
#include "opt/reducer.h"

#include "opt/uniform.h"

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

bool reducer_is_neutral(hlo_opcode opcode, const instruction *init) {
  switch (opcode) {
    case HLO_MAXIMUM:
    case HLO_MINIMUM:
    case HLO_AND:
    case HLO_OR: return true;
    case HLO_ADD:
    case HLO_MULTIPLY:
    case HLO_XOR: break;
    default: return false;
  }
  if (init->opcode == HLO_CONVERT && init->operands[0]->opcode == HLO_CONSTANT) init = init->operands[0];
  const literal *constant = uniform_value(init);
  if (!constant || init->shape->dtype == DTYPE_PRED) return false;
  const double complex value = literal_get_complex(constant, 0);
  const double wanted = opcode == HLO_MULTIPLY ? 1 : 0;
  return __real__ value == wanted && __imag__ value == 0;  // NOLINT: exactly
}
