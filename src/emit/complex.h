// Arithmetic and functions of complex numbers, made of MLIR's complex and arith operations. One elementwise_emitter
// each (elemental.h); x are the operands' values, `i` gives attributes and element types.
#ifndef HEDDLE_EMIT_COMPLEX_H_
#define HEDDLE_EMIT_COMPLEX_H_

#include "emit/elemental.h"

MlirValue complex_abs(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_acos(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_acosh(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_add(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_asin(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_asinh(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_atan(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_atan2(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_atanh(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_cbrt(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_cos(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_cosh(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_divide(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_exp(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_expm1(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_imag(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_log(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_log1p(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_logistic(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_multiply(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_negate(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_power(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_real(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_rsqrt(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_sign(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_sin(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_sinh(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_sqrt(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_subtract(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_tan(ir_builder *b, const instruction *i, const MlirValue *x);
MlirValue complex_tanh(ir_builder *b, const instruction *i, const MlirValue *x);

// The parts of a product and sum, for dot.
MlirValue complex_product(ir_builder *b, MlirValue l, MlirValue r);
MlirValue complex_sum(ir_builder *b, MlirValue l, MlirValue r);

#endif
