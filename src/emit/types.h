// Makes MLIR's types and constants of HLO's.
#ifndef HEDDLE_EMIT_TYPES_H_
#define HEDDLE_EMIT_TYPES_H_

#include "emit/ir_builder.h"
#include "hlo/literal.h"

// Floats that MLIR has no type for: f4e2m1fn, f6e2m3fn, f6e3m2fn, f8e3m4, f8e8m0fnu.
//
// Their elements are integers everywhere in a kernel (i4, else i8), as buffers hold them, so that whatever moves
// elements need not know. Arithmetic decodes its operands to f32, which holds them all exactly, and encodes its result:
// every operation rounds (narrow_floats.h).
bool emit_is_encoded(dtype t);

// Element type; integers are signless, pred is i1, encoded floats are integers. Null for what is no array element.
MlirType emit_element_type(MlirContext context, dtype t);
// Ranked tensor of an array; a layout that is not row-major becomes the encoding dense<minor_to_major>.
MlirType emit_tensor_type(MlirContext context, const shape *s);
MlirType emit_real_type(MlirType t);  // of a complex type its part; else t itself

bool emit_is_float(MlirType t);

// Zero of any array element type.
MlirValue emit_zero(ir_builder *b, dtype t);
// One element of a literal as a constant of its type.
MlirValue emit_literal_element(ir_builder *b, const literal *l, int64_t element);
// A whole literal as a tensor in row-major order, whatever its layout.
MlirValue emit_literal_tensor(ir_builder *b, const literal *l);

#endif
