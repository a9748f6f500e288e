// Transposes small blocks in registers.
#ifndef HEDDLE_EMIT_REGISTER_TRANSPOSE_H_
#define HEDDLE_EMIT_REGISTER_TRANSPOSE_H_

#include "emit/ir_builder.h"
#include "kernel/hero_details.h"

// A register_block of elements of one type.
typedef struct transposed_block {
  MlirType element;  // as it lies in tensors
  MlirType turned;   // an integer of as many bits where vectors of `element` are no machine's
  int chunk, lanes;
} transposed_block;

// For an element type that is not complex.
transposed_block emit_register_block(MlirContext context, MlirType element, const register_block *size);

// rows: `lanes * chunk` vectors of `chunk` elements. out: `chunk` vectors of `lanes * chunk` elements.
void emit_register_transpose(ir_builder *b, const transposed_block *block, const MlirValue *rows, MlirValue *out);

// `count` vectors of one length, a power of two of them, one behind the other.
MlirValue emit_joined_vectors(ir_builder *b, int count, const MlirValue *vectors);

// `count` neighbouring elements of a tensor whose minor dimension is the last; indices of the first.
MlirValue emit_read_vector(ir_builder *b, MlirValue tensor, int count, int rank, const MlirValue *indices);
// The tensor with the vector written to it. streams: the memory is not read again soon.
MlirValue emit_write_vector(ir_builder *b, MlirValue vector, MlirValue tensor, int rank, const MlirValue *indices,
                            bool streams);

#endif
