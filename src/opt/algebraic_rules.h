// The rules of the algebraic simplifier, one per opcode, by idea in files algebraic_*.c. Each is a worklist_rule.
#ifndef HEDDLE_OPT_ALGEBRAIC_RULES_H_
#define HEDDLE_OPT_ALGEBRAIC_RULES_H_

#include "opt/worklist.h"

// algebraic_arithmetic.c
instruction *algebraic_abs(const builder *b, instruction *i);
instruction *algebraic_add(const builder *b, instruction *i);
instruction *algebraic_complex(const builder *b, instruction *i);
instruction *algebraic_divide(const builder *b, instruction *i);
instruction *algebraic_imag(const builder *b, instruction *i);
instruction *algebraic_maximum(const builder *b, instruction *i);
instruction *algebraic_minimum(const builder *b, instruction *i);
instruction *algebraic_multiply(const builder *b, instruction *i);
instruction *algebraic_negate(const builder *b, instruction *i);
instruction *algebraic_power(const builder *b, instruction *i);
instruction *algebraic_real(const builder *b, instruction *i);
instruction *algebraic_remainder(const builder *b, instruction *i);
instruction *algebraic_round(const builder *b, instruction *i);  // floor, ceil and the roundings
instruction *algebraic_subtract(const builder *b, instruction *i);
// algebraic_logic.c
instruction *algebraic_and(const builder *b, instruction *i);
instruction *algebraic_clamp(const builder *b, instruction *i);
instruction *algebraic_compare(const builder *b, instruction *i);
instruction *algebraic_not(const builder *b, instruction *i);
instruction *algebraic_or(const builder *b, instruction *i);
instruction *algebraic_select(const builder *b, instruction *i);
instruction *algebraic_shift(const builder *b, instruction *i);
instruction *algebraic_xor(const builder *b, instruction *i);
// algebraic_converts.c
instruction *algebraic_bitcast_convert(const builder *b, instruction *i);
instruction *algebraic_convert(const builder *b, instruction *i);
instruction *algebraic_reduce_precision(const builder *b, instruction *i);
// algebraic_moves.c
instruction *algebraic_broadcast(const builder *b, instruction *i);
instruction *algebraic_constant(const builder *b, instruction *i);
instruction *algebraic_copy(const builder *b, instruction *i);
instruction *algebraic_elementwise(const builder *b, instruction *i);  // tried on every elementwise opcode
instruction *algebraic_get_tuple_element(const builder *b, instruction *i);
instruction *algebraic_reshape(const builder *b, instruction *i);
instruction *algebraic_reverse(const builder *b, instruction *i);
instruction *algebraic_transpose(const builder *b, instruction *i);
// algebraic_slices.c
instruction *algebraic_concatenate(const builder *b, instruction *i);
instruction *algebraic_pad(const builder *b, instruction *i);
instruction *algebraic_slice(const builder *b, instruction *i);
// algebraic_dynamic_slices.c
instruction *algebraic_dynamic_slice(const builder *b, instruction *i);
instruction *algebraic_dynamic_update_slice(const builder *b, instruction *i);
instruction *algebraic_gather(const builder *b, instruction *i);
// algebraic_reductions.c
instruction *algebraic_reduce(const builder *b, instruction *i);
instruction *algebraic_reduce_window(const builder *b, instruction *i);
// algebraic_dots.c
instruction *algebraic_dot(const builder *b, instruction *i);

#endif
