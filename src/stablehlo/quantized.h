// Quantized values on their way to HLO: a value of a quantized type is an instruction of the storage type.
#ifndef HEDDLE_STABLEHLO_QUANTIZED_H_
#define HEDDLE_STABLEHLO_QUANTIZED_H_

#include "stablehlo/lowering.h"

// real = scale * (storage - zero point), in the expressed type.
heddle_status quantized_to_real(lowering *l, instruction *x, const ir_quantization *q, instruction **out);
// storage = real / scale + zero point, clamped to what is stored and rounded to the nearest (even) integer.
heddle_status quantized_from_real(lowering *l, instruction *x, const ir_quantization *q, instruction **out);

// The zero points as an array of x's shape, of integer type `t`; null if all are zero.
heddle_status quantized_zero_points(lowering *l, const shape *s, const ir_quantization *q, dtype t, instruction **out);
// The same for the scales, times `factor`, of float type `t`.
heddle_status quantized_scales(lowering *l, const shape *s, const ir_quantization *q, dtype t, double factor,
                               instruction **out);

// quantized_product.c: dot_general and convolution of two quantized operands as real numbers, computed in integers
// where they allow it; *out is null where they do not.
heddle_status quantized_product(lowering *l, const ir_operation *op, instruction *const *operands, instruction **out);

#endif
