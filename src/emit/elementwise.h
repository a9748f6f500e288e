// Straight-line arithmetic that no single MLIR op expresses with HLO's meaning. One elementwise_emitter each
// (elemental.h); x are the operands' values, `i` gives attributes and element types.
#ifndef HEDDLE_EMIT_ELEMENTWISE_H_
#define HEDDLE_EMIT_ELEMENTWISE_H_

#include "emit/elemental.h"

// elementwise.c: integers, predicates, and ops of all classes
MlirValue elementwise_first(ir_builder *b, const instruction *i, const MlirValue *x);  // the operand itself
MlirValue elementwise_not_pred(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_not(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_negate_integer(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_sign_signed(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_sign_unsigned(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_divide_signed(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_divide_unsigned(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_remainder_signed(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_remainder_unsigned(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_shift_left(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_shift_right_arithmetic(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_shift_right_logical(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_power_signed(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_power_unsigned(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_mulhi_signed(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_mulhi_unsigned(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_compare(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_clamp(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_select(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_convert(ir_builder *b, const instruction *i, const MlirValue *x);

// elementwise_float.c
MlirValue elementwise_is_finite(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_sign_float(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_logistic(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_zero(ir_builder *b, const instruction *i, const MlirValue *x);  // imag of a real number
MlirValue elementwise_make_complex(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_cut_precision(ir_builder *b, const instruction *i, const MlirValue *x);
// atan2 of two numbers. MLIR folds math.atan2 of two zeros to NaN, so that they never reach it: (±0, ±0) has the angle
// of (±1, ±0).
MlirValue elementwise_angle(ir_builder *b, MlirValue y, MlirValue x);
MlirValue elementwise_atan2(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue elementwise_compare_total(ir_builder *b, const char *predicate, dtype type, MlirValue l, MlirValue r);

#endif
