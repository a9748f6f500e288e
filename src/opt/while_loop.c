// Asks the questions that passes have about a loop before they change it.
#include "opt/while_loop.h"

#include "hlo/body_copy.h"

bool while_loop_is_open(const instruction *op) {
  const computation *condition = op->called[0], *body = op->called[1];
  const instruction *state = condition->parameters.data[0];
  return shape_is_tuple(op->shape) && op->operands[0]->opcode == HLO_TUPLE && body->root->opcode == HLO_TUPLE &&
         body_copy_takes_elements(body) && condition->root != state &&
         (body_copy_takes_elements(condition) || state->users.size == 0);
}

bool while_loop_keeps(const instruction *op, int leaf) {
  const computation *body = op->called[1];
  const instruction *next = body->root->operands[leaf];
  return next->opcode == HLO_GET_TUPLE_ELEMENT && next->operands[0] == body->parameters.data[0] &&
         next->attributes->index == leaf;
}
