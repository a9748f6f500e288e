// Which function lowers which operation, and what is the same for all of them.
#include "import/lowering.h"

const lowering_fn lowerings[IR_OP_COUNT] = {0};

heddle_status lowering_apply(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  if (!lowerings[op->op]) return lowering_refuse(op, "HLO has no way to say this operation");
  return lowerings[op->op](l, op, operands, results);
}
