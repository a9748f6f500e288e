// The lowerings of single operations, lower_*.c; lower_table.c puts them into lowerings[].
#ifndef HEDDLE_STABLEHLO_LOWER_TABLE_H_
#define HEDDLE_STABLEHLO_LOWER_TABLE_H_

#include "stablehlo/lowering.h"

typedef heddle_status lower_operation_fn(lowering *l, const ir_operation *op, instruction *const *operands,
                                         instruction **results);

// quantized.c: any operation with an operand or a result of a quantized type, but for those that hand values on.
lower_operation_fn lower_quantized;
// lower_elementwise.c
lower_operation_fn lower_elementwise, lower_extremum, lower_compare, lower_convert, lower_bitcast_convert,
    lower_reduce_precision;
// lower_moves.c
lower_operation_fn lower_constant, lower_iota, lower_broadcast, lower_broadcast_in_dim, lower_reshape, lower_transpose,
    lower_reverse, lower_concatenate, lower_torch_index_select;
// lower_slices.c
lower_operation_fn lower_slice, lower_pad, lower_dynamic_slice, lower_dynamic_update_slice, lower_gather, lower_scatter;
// lower_dynamic.c
lower_operation_fn lower_dynamic_broadcast_in_dim, lower_dynamic_gather, lower_dynamic_iota, lower_dynamic_pad,
    lower_dynamic_reshape, lower_real_dynamic_slice, lower_get_dimension_size, lower_set_dimension_size;
// lower_contractions.c
lower_operation_fn lower_dot, lower_dot_general;
// lower_einsum.c
lower_operation_fn lower_einsum;
// lower_convolution.c
lower_operation_fn lower_convolution, lower_dynamic_conv;
// lower_reductions.c
lower_operation_fn lower_reduce, lower_reduce_window, lower_select_and_scatter, lower_map, lower_sort;
// lower_control.c
lower_operation_fn lower_call, lower_composite, lower_while, lower_if, lower_case, lower_optimization_barrier,
    lower_tuple, lower_get_tuple_element, lower_after_all;
// lower_library.c
lower_operation_fn lower_batch_norm, lower_fft, lower_cholesky, lower_triangular_solve, lower_rng,
    lower_rng_bit_generator;
// lower_custom_call.c
lower_operation_fn lower_custom_call, lower_check, lower_run_parallel, lower_probe;
// lower_mhlo.c
lower_operation_fn lower_add_dependency, lower_async_call, lower_async_update, lower_bitcast, lower_fusion, lower_hint,
    lower_minimum_broadcast_shapes, lower_rng_state, lower_stochastic_convert, lower_trace;
lower_operation_fn lower_manual_computation;  // lower_sharding.c
// lower_collectives.c
lower_operation_fn lower_collective, lower_reducing_collective, lower_collective_permute, lower_device_id;
// lower_transfers.c
lower_operation_fn lower_infeed, lower_outfeed, lower_send, lower_recv, lower_async_start, lower_async_done;

#endif
