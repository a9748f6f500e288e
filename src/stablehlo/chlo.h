// CHLO, the client's HLO: special functions, implicit broadcasting, and a few operations HLO has under other names.
//
// Everything becomes plain HLO, so that whatever compiles HLO needs to know none of it. A function that HLO has an
// opcode for (acos, erf, tan, ...) becomes that opcode.
#ifndef HEDDLE_STABLEHLO_CHLO_H_
#define HEDDLE_STABLEHLO_CHLO_H_

#include "stablehlo/lowering.h"

// Slots of lowerings[]; see lowering_fn.
typedef heddle_status chlo_lowering(lowering *l, const ir_operation *op, instruction *const *operands,
                                    instruction **results);

// chlo_elementwise.c: functions of one or two arrays of one shape, by op->op.
chlo_lowering lower_chlo_function, lower_chlo_constant, lower_chlo_constant_like;
// chlo_broadcast.c: operands are brought to one shape first, as in NumPy.
chlo_lowering lower_chlo_broadcast;
// chlo_structure.c
chlo_lowering lower_chlo_top_k, lower_chlo_dynamic_reshape;
// HLO's topk of operand 0, for an operation with two results; HEDDLE_INVALID for more than its last dim has.
heddle_status chlo_top_k(lowering *l, const ir_operation *op, instruction *const *operands, int64_t k, bool is_largest,
                         instruction **results);
// chlo_ragged_dot.c
chlo_lowering lower_chlo_ragged_dot;
// chlo_scan.c
chlo_lowering lower_chlo_scan;

#endif
