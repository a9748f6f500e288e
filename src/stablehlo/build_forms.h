// Builds HLO instructions that several lowerings need and that take more than one attribute or instruction.
#ifndef HEDDLE_STABLEHLO_BUILD_FORMS_H_
#define HEDDLE_STABLEHLO_BUILD_FORMS_H_

#include "stablehlo/build.h"

// The declared shape of a result, which must be static.
heddle_status lowering_declared(lowering *l, const ir_operation *op, int number, const shape **out);

// rng_bit_generator of a state, operand 0, for an operation with two results: it and `bits`.
heddle_status lowering_random_bits(lowering *l, const ir_operation *op, instruction *const *operands, const shape *bits,
                                   instruction **results);

heddle_status build_iota(lowering *l, const shape *s, int64_t dimension, instruction **out);
// StableHLO's broadcast_in_dim: dimensions of size 1 may grow. `s` has the operand's element type.
heddle_status build_broadcast_in_dim(lowering *l, instruction *x, const shape *s, int_list dimensions,
                                     instruction **out);
// A scalar addition (of booleans: or) as a computation, and the sum over some dimensions.
heddle_status build_sum_body(lowering *l, dtype t, computation **out);
heddle_status build_sum(lowering *l, instruction *x, int count, const int64_t *dimensions, instruction **out);
heddle_status build_slice(lowering *l, instruction *x, int_list starts, int_list limits, int_list strides,
                          instruction **out);
heddle_status build_pad(lowering *l, instruction *x, instruction *value, int_list low, int_list high, int_list interior,
                        instruction **out);
// A gather by #stablehlo.gather dimension numbers of l->op.
heddle_status build_gather(lowering *l, instruction *x, instruction *indices, int_list slice_sizes, instruction **out);
// A window of `rank` dims from the lists' entries; empty lists mean 1, for padding 0. `padding` has two entries a dim.
heddle_status build_window(lowering *l, int rank, int_list sizes, int_list strides, int_list padding,
                           int_list base_dilations, int_list window_dilations, window *out);
// channel_handle or channel_id of the operation on the instruction; its number, 0 if there is none.
int64_t build_channel(const ir_operation *op, instruction *i);
// precision_config of l->op.
heddle_status build_precision(lowering *l, instruction *i);

#endif
