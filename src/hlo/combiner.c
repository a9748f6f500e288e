// Recognizes a computation whose result is one operation of its two parameters, in either order if the operation
// commutes.
#include "hlo/combiner.h"

static hlo_opcode opcode_of(const instruction *result, const instruction *x, const instruction *y) {
  if (result->operand_count != 2 || !hlo_op_has(result->opcode, TRAIT_ELEMENTWISE)) return HLO_OPCODE_COUNT;
  const bool is_in_order = result->operands[0] == x && result->operands[1] == y;
  const bool is_swapped = result->operands[0] == y && result->operands[1] == x;
  if (!is_in_order && !(is_swapped && hlo_op_has(result->opcode, TRAIT_COMMUTES))) return HLO_OPCODE_COUNT;
  const dtype t = result->shape->dtype;
  return result->opcode != HLO_COMPARE && x->shape->dtype == t && y->shape->dtype == t && result->shape->rank == 0
             ? result->opcode
             : HLO_OPCODE_COUNT;
}

hlo_opcode combiner_opcode(const computation *c) {
  return shape_is_tuple(c->root->shape) ? HLO_OPCODE_COUNT : combiner_opcode_of_value(c, 0, 1);
}

hlo_opcode combiner_opcode_of_value(const computation *c, int value, int count) {
  const instruction *root = c->root;
  const bool is_tuple = root->opcode == HLO_TUPLE;
  if (c->parameters.size != 2 * count || (is_tuple ? root->operand_count != count : count != 1))
    return HLO_OPCODE_COUNT;
  return opcode_of(is_tuple ? root->operands[value] : root, c->parameters.data[value],
                   c->parameters.data[count + value]);
}
