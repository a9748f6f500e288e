// Floats that MLIR has no type for: f4e2m1fn, f6e2m3fn, f6e3m2fn, f8e3m4, f8e8m0fnu.
//
// Their elements are integers everywhere in a kernel (i4, else i8), as buffers hold them, so that whatever moves
// elements need not know. Arithmetic decodes its operands to f32, which holds them all exactly, and encodes its result:
// every operation rounds.
#ifndef HEDDLE_EMIT_ENCODED_H_
#define HEDDLE_EMIT_ENCODED_H_

#include "emit/types.h"

bool emit_is_encoded(dtype t);

// From the integer to f32.
MlirValue emit_decode(ir_builder *b, MlirValue x, dtype t);

// From f32 or f64 to the integer: one rounding, the same bits as float_encode.
MlirValue emit_encode(ir_builder *b, MlirValue x, dtype t);

#endif
