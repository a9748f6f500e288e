// HLO to linalg on tensors: one structured operation for each instruction, nothing fused, nothing tiled.
//
// Every operation of linalg says by affine maps which element of each operand a point of its iteration space needs, and
// by iterator types which of its loops may run in any order. All passes behind this one ask for nothing else.
#ifndef HEDDLE_TILE_LINALG_H_
#define HEDDLE_TILE_LINALG_H_

#include <mlir-c/AffineMap.h>

#include "emit/ir_builder.h"
#include "kernel/kernel.h"

typedef struct linalg_emitter {
  ir_builder b;
  arena *arena;
  ptr_map values;  // instruction -> MlirValue[], one for each array that it gives
} linalg_emitter;

// Gives the values of one instruction; its operands have theirs.
typedef heddle_status (*linalg_rule)(linalg_emitter *e, const instruction *i, MlirValue *out);

// By opcode; a null entry without an elementwise emission (emit/elemental.h) is refused by name.
extern const linalg_rule linalg_rules[HLO_OPCODE_COUNT];

// Whether there is a rule for the instruction, its element types included. What a rule says about forms (a window with
// a dynamic size, …) it says when it is applied.
bool linalg_takes(const instruction *i);

// Makes, where `b` stands, what the leaves depend on. `parameters` are the computation's, by number: tensors. `out` has
// room for one tensor per leaf. HEDDLE_UNIMPLEMENTED, with the instruction's place, for what linalg cannot say.
heddle_status linalg_emit(arena *a, const ir_builder *b, const computation *c, const MlirValue *parameters,
                          int leaf_count, const kernel_leaf *leaves, MlirValue *out);

// --- for rules
// Elements of tensors: predicates are bytes there, as in memory, since vectors of single bits would be packed. In the
// bodies of structured operations they are single bits again. Integers of less than a byte are bytes in both
// (packed_loads.h).
MlirType linalg_element_type(MlirContext context, dtype t);
MlirValue linalg_element(ir_builder *body, MlirValue stored, dtype t);
MlirValue linalg_stored(ir_builder *body, MlirValue element, dtype t);

MlirValue linalg_operand(const linalg_emitter *e, const instruction *i, int k);
heddle_status linalg_refuse(const linalg_emitter *e, const instruction *i, const char *why);

// A computation of scalars in the body of a structured operation: values of the root's leaves, given the parameters'.
heddle_status linalg_emit_scalars(linalg_emitter *e, ir_builder *body, const computation *c,
                                  const MlirValue *parameters, MlirValue *out);

// The array of dims `from` with its elements `interior` + 1 apart in one of dims `to` that holds `value` elsewhere.
MlirValue linalg_padded(linalg_emitter *e, MlirValue x, int rank, const int64_t *from, const padding_dim *padding,
                        const int64_t *to, MlirValue value);
// The array with the borders and gaps that the window reads, of `value`. Dimension k of the window runs over dimension
// dims[k] of the array; null: over its own.
MlirValue linalg_windowed(linalg_emitter *e, MlirValue x, const shape *s, const window *w, const int64_t *dims,
                          MlirValue value);
// Whether one dim of the window is at an element of an image of that many, not beside one or between two; null if it
// always is. `output` is the loop over its `positions` in the result, `step` the one over the window.
MlirValue linalg_meets_element(ir_builder *body, const window_dim *w, int64_t image, int64_t positions, int output,
                               int step);
// Both of two conditions, where a null one always holds.
MlirValue linalg_and(ir_builder *b, MlirValue x, MlirValue y);
// The array with its elements in the opposite order along the dims that are turned.
MlirValue linalg_turned(linalg_emitter *e, MlirValue x, const shape *s, const bool *is_turned);
// An array of this shape whose elements are the operand's where the map says.
MlirValue linalg_copied(linalg_emitter *e, MlirValue x, const shape *to, MlirAffineMap map);
// The element of a tensor of rank 0.
MlirValue linalg_scalar(linalg_emitter *e, MlirValue tensor);
// The tensor with its elements in another type; itself if they have it.
MlirValue linalg_converted(linalg_emitter *e, MlirValue x, const shape *s, dtype from, dtype to);

// moves
heddle_status linalg_broadcast(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_transpose(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_reshape(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_slice(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_pad(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_concatenate(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_reverse(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_iota(linalg_emitter *e, const instruction *i, MlirValue *out);
// picks
heddle_status linalg_dynamic_slice(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_gather(linalg_emitter *e, const instruction *i, MlirValue *out);
// contractions
heddle_status linalg_dot(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_convolution(linalg_emitter *e, const instruction *i, MlirValue *out);
// reductions
heddle_status linalg_reduce(linalg_emitter *e, const instruction *i, MlirValue *out);
heddle_status linalg_reduce_window(linalg_emitter *e, const instruction *i, MlirValue *out);

#endif
