// HLO's types and constants in MLIR.
#ifndef HEDDLE_EMIT_TYPES_H_
#define HEDDLE_EMIT_TYPES_H_

#include "emit/ir_builder.h"
#include "hlo/literal.h"

// Element type; integers are signless, pred is i1, floats that MLIR lacks are integers (encoded.h). Null for what is no
// array element.
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
