// Conversions between f32 and the narrow floats as integer arithmetic on bits; scalars and vectors.
//
// Results agree bit for bit with float_encode and float_decode of base/float.h. Formats that MLIR has types for stay
// floats until lowering expands their conversions; elements of the others are their codes from emission on.
#ifndef HEDDLE_EMIT_NARROW_FLOATS_H_
#define HEDDLE_EMIT_NARROW_FLOATS_H_

#include "base/float.h"
#include "emit/ir_builder.h"

// code: an integer (or a vector of them) that holds the format's bits in its lowest; result: f32, exact.
MlirValue narrow_floats_decode_code(ir_builder *b, float_kind kind, MlirValue code);
// x: f32 or f64; result: `code`, an integer type (or a vector), rounded once, to nearest, ties to even.
MlirValue narrow_floats_encode_code(ir_builder *b, float_kind kind, MlirType code, MlirValue x);

// Which of float.h's formats an MLIR float type is; false for f32 and wider.
bool narrow_floats_kind(MlirType element, float_kind *out);

// x: f32 (or a vector of it); result: `narrow` (or a vector), rounded to nearest, ties to even.
MlirValue narrow_floats_encode(ir_builder *b, MlirType narrow, MlirValue x);
// x rounded to bf16 but kept in f32. keeps_nan promises that no NaN in x has a bit set in its lower half, so that
// rounding cannot carry it into infinity.
MlirValue narrow_floats_round_bf16(ir_builder *b, MlirValue x, bool keeps_nan);
// The bf16 whose value x has; x must be one (a result of narrow_floats_round_bf16).
MlirValue narrow_floats_upper_half(ir_builder *b, MlirType bf16, MlirValue x);
// x of a narrow type; result: f32, exact.
MlirValue narrow_floats_decode(ir_builder *b, MlirValue x);

// f64 -> f32 such that rounding the result once more, to a format with at most 21 bits of mantissa, gives what rounding
// x once would ("round to odd": an inexact result has its last bit set).
MlirValue narrow_floats_from_f64(ir_builder *b, MlirValue x);

#endif
