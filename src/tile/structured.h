// Building structured operations: linalg.generic, linalg.fill, and the tensors they begin with.
#ifndef HEDDLE_TILE_STRUCTURED_H_
#define HEDDLE_TILE_STRUCTURED_H_

#include <mlir-c/AffineMap.h>

#include "emit/ir_builder.h"
#include "hlo/shape.h"

// linalg.generic: `maps` has one per input, then one per output, all of `loop_count` dims.
typedef struct structured_op {
  int input_count;
  const MlirValue *inputs;
  int output_count;
  const MlirValue *outputs;
  const MlirAffineMap *maps;
  int loop_count;
  const bool *is_reduction;  // by loop; null: none is
} structured_op;

// Makes the operation with an empty body, whose arguments are one element per input and output; *body is at its end,
// where structured_yield ends it. Outputs that are tensors are results;
// others are memory that is written.
MlirOperation structured_begin(ir_builder *b, const structured_op *op, ir_builder *body);
void structured_yield(ir_builder *body, int count, const MlirValue *values);

// Gives each element of `to` the element of `from` where the map says.
MlirOperation structured_copy(ir_builder *b, MlirValue from, MlirValue to, MlirAffineMap map);

// A part of a tensor, dim by dim: where it begins (STRUCTURED_AT: at the next of the values `at`), how many elements it
// has, and how far apart they are.
typedef struct structured_part {
  int rank;
  const int64_t *offsets, *sizes, *strides;
  int at_count;
  const MlirValue *at;
} structured_part;
#define STRUCTURED_AT INT64_MIN  // MLIR's own mark

// tensor.extract_slice of one tensor; tensor.insert_slice, or tensor.parallel_insert_slice, of the first into the
// second. A null type: it has no result.
MlirOperation structured_slice(ir_builder *b, const char *name, const structured_part *part, int tensor_count,
                               const MlirValue *tensors, MlirType type);

// A slice of a tensor of which nothing is known becomes another such tensor, so that what is made in it needs no room
// for the rest; the slice is erased. False, and it stays, if it is none or of a size that is not known.
bool structured_narrow_empty(arena *a, MlirOperation slice);

// Whether `first` stands before `second` in one block; what is no operation stands before all of them.
bool structured_stands_before(MlirOperation first, MlirOperation second);

// The attribute iterator_types.
MlirAttribute structured_iterators(const ir_builder *b, int loop_count, const bool *is_reduction);

// Whether one of the operation's loops sums up, or reduces otherwise.
bool structured_reduces(MlirOperation op);

// Another map of one operand of a linalg.generic.
void structured_set_map(arena *a, MlirOperation op, int operand, MlirAffineMap map);

// Maps.
MlirAffineMap structured_identity(MlirContext context, int rank);
MlirAffineMap structured_dims(MlirContext context, int loop_count, int count, const int64_t *dims);

// linalg.index: the point's position along a loop.
MlirValue structured_index(ir_builder *body, int loop);

// tensor.empty, and a tensor that is `value` everywhere (linalg.fill).
MlirValue structured_empty(ir_builder *b, int rank, const int64_t *dims, MlirType element);
MlirValue structured_fill(ir_builder *b, MlirValue value, MlirValue tensor);

#endif
