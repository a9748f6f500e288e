// Operations on quantized types.
#include "import/lowering_table.h"

heddle_status lower_quantized(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  (void)l;
  (void)operands;
  (void)results;
  return lowering_refuse(op, "its types are quantized");
}
