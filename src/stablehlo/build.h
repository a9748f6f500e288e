// The functions with which lowerings make HLO instructions and set their attributes. What they make carries the place
// and the location of the operation that is being lowered.
#ifndef HEDDLE_STABLEHLO_BUILD_H_
#define HEDDLE_STABLEHLO_BUILD_H_

#include "stablehlo/lowering.h"

// Shapes of elementwise operations are those of the operands (with the opcode's shape
// rule); scalars given as literals are broadcast where `like` is no scalar. All return the new instruction; none fails
// for operands of matching shapes.
instruction *build_add(lowering *l, hlo_opcode opcode, const shape *s, int count, instruction *const *operands);
instruction *build_unary(lowering *l, hlo_opcode opcode, instruction *x);
instruction *build_binary(lowering *l, hlo_opcode opcode, instruction *x, instruction *y);
instruction *build_select(lowering *l, instruction *p, instruction *on_true, instruction *on_false);
instruction *build_compare(lowering *l, instruction *x, instruction *y, comparison_direction direction);
instruction *build_convert(lowering *l, instruction *x, dtype to);  // x itself if it is of that type
instruction *build_constant(lowering *l, literal *value);
instruction *build_elements(lowering *l, const ir_attribute *x);             // a constant, or one element broadcast
instruction *build_scalar(lowering *l, dtype t, double value);               // a rank-0 constant
instruction *build_like(lowering *l, instruction *like, double value);       // a constant of like's dtype and shape
instruction *build_like_int(lowering *l, instruction *like, int64_t value);  // exact for 64-bit integers
instruction *build_broadcast(lowering *l, instruction *x, const shape *s, int count, const int64_t *dimensions);
instruction *build_reshape(lowering *l, instruction *x, int rank, const int64_t *dims);
instruction *build_tuple(lowering *l, int count, instruction *const *elements);
instruction *build_element(lowering *l, instruction *tuple, int index);                    // get-tuple-element
void build_dimensions(lowering *l, instruction *i, int count, const int64_t *dimensions);  // sets `dimensions`; copies
// For operations whose attributes decide the shape: shape_infer's answer becomes the instruction's shape.
heddle_status build_infer(lowering *l, instruction *i);

// Setting HLO attributes by their row in attributes.def; the kind must be the row's.
void build_set_ints(lowering *l, instruction *i, hlo_attribute_id id, int count, const int64_t *values);  // copies
void build_set_int(instruction *i, hlo_attribute_id id, int64_t value);
void build_set_bool(instruction *i, hlo_attribute_id id, bool value);
void build_set_text(instruction *i, hlo_attribute_id id, str value);              // the bytes live in the arena
void build_set_raw(lowering *l, instruction *i, hlo_attribute_id id, str value);  // as HLO text has it
void build_mark(instruction *i, hlo_attribute_id id);                             // the field is set already
void build_called(instruction *i, hlo_attribute_id id, computation *called);      // the only called computation

#endif
