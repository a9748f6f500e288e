// Adding instructions to a computation with little text: shapes by the opcode's rule, location and metadata of the
// instruction they stand for.
//
// Unless said otherwise, operands must fit each other; nothing here fails. Shapes made have the default layout.
#ifndef HEDDLE_HLO_BUILDER_H_
#define HEDDLE_HLO_BUILDER_H_

#include "hlo/module.h"

typedef struct builder {
  arena *arena;              // the module's
  computation *computation;  // gets the instructions, at its end
  source_location where;     // theirs
  str metadata;              // the text of their metadata attribute; empty for none
} builder;

builder builder_for(const instruction *origin);  // into the computation of `origin`, with its location and metadata
builder builder_in(computation *c);              // without any

instruction *builder_add(const builder *b, hlo_opcode opcode, const shape *s, int count, instruction *const *operands);
// Sets the shape by the opcode's rule and returns `i`. Operands that do not fit are the verifier's to report; until
// then the shape stays.
instruction *builder_infer(const builder *b, instruction *i);
// Elementwise: the shape is the first operand's, but for complex, real, imag, compare and the like.
instruction *builder_unary(const builder *b, hlo_opcode opcode, instruction *x);
instruction *builder_binary(const builder *b, hlo_opcode opcode, instruction *x, instruction *y);
instruction *builder_select(const builder *b, instruction *p, instruction *on_true, instruction *on_false);
instruction *builder_compare(const builder *b, instruction *x, instruction *y, comparison_direction direction);
instruction *builder_convert(const builder *b, instruction *x, dtype to);  // x itself if it is of that type

instruction *builder_constant(const builder *b, literal *value);
instruction *builder_scalar(const builder *b, dtype t, double value);
instruction *builder_scalar_int(const builder *b, dtype t, int64_t value);
// The scalar spread over like's dims, of like's type.
instruction *builder_like(const builder *b, const instruction *like, double value);
instruction *builder_like_int(const builder *b, const instruction *like, int64_t value);  // exact for 64-bit integers
instruction *builder_iota(const builder *b, dtype t, int rank, const int64_t *dims, int64_t dimension);

// `dimensions[k]` is the dim of `s` that dim k of x becomes; the element type is x's.
instruction *builder_broadcast(const builder *b, instruction *x, const shape *s, int count, const int64_t *dimensions);
void builder_set_dimensions(const builder *b, instruction *i, int count, const int64_t *dimensions);  // copies
instruction *builder_reshape(const builder *b, instruction *x, int rank, const int64_t *dims);
instruction *builder_transpose(const builder *b, instruction *x, const int64_t *permutation);  // x itself if identity
// One triple for each dim of x, which are copied.
instruction *builder_slice(const builder *b, instruction *x, const slice_dim *dims);
instruction *builder_pad(const builder *b, instruction *x, instruction *fill, const padding_dim *dims);
instruction *builder_concatenate(const builder *b, int count, instruction *const *operands, int64_t dimension);
instruction *builder_tuple(const builder *b, int count, instruction *const *elements);
instruction *builder_element(const builder *b, instruction *tuple, int index);  // get-tuple-element
// Users of an operation's values, which are arrays (elements of a tuple, or the only one), take `values` instead.
void builder_replace_values(const builder *b, instruction *of, instruction *const *values);
// One value of an operation, whose only one is the operation itself.
instruction *builder_value(const builder *b, instruction *of, int index);
// Reduces `count` values over `dimensions`; `operands` are theirs, then as many initial values.
instruction *builder_reduce_values(const builder *b, int count, instruction *const *operands, int dimension_count,
                                   const int64_t *dimensions, computation *computation);
// Reduces over `dimensions` with `computation` of two scalars.
instruction *builder_reduce(const builder *b, instruction *x, instruction *init, int count, const int64_t *dimensions,
                            computation *computation);
// A new computation (x, y) -> opcode(x, y) of scalars.
computation *builder_binary_computation(const builder *b, hlo_opcode opcode, dtype t);

#endif
