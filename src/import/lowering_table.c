// Which function lowers which operation, and what is the same for all of them.
#include "import/lowering_table.h"

#include "import/chlo.h"
#include "import/lowering_function.h"

const lowering_fn lowerings[IR_OP_COUNT] = {
    [IR_OP_ABS] = lower_elementwise,
    [IR_OP_ADD] = lower_elementwise,
    [IR_OP_AFTER_ALL] = lower_after_all,
    [IR_OP_ALL_GATHER] = lower_collective,
    [IR_OP_ALL_REDUCE] = lower_reducing_collective,
    [IR_OP_ALL_TO_ALL] = lower_collective,
    [IR_OP_AND] = lower_elementwise,
    [IR_OP_ASYNC_DONE] = lower_async_done,
    [IR_OP_ASYNC_START] = lower_async_start,
    [IR_OP_ATAN2] = lower_elementwise,
    [IR_OP_BATCH_NORM_GRAD] = lower_batch_norm,
    [IR_OP_BATCH_NORM_INFERENCE] = lower_batch_norm,
    [IR_OP_BATCH_NORM_TRAINING] = lower_batch_norm,
    [IR_OP_BITCAST_CONVERT] = lower_bitcast_convert,
    [IR_OP_BROADCAST] = lower_broadcast,
    [IR_OP_BROADCAST_IN_DIM] = lower_broadcast_in_dim,
    [IR_OP_CASE] = lower_case,
    [IR_OP_CBRT] = lower_elementwise,
    [IR_OP_CEIL] = lower_elementwise,
    [IR_OP_CHOLESKY] = lower_cholesky,
    [IR_OP_CLAMP] = lower_elementwise,
    [IR_OP_COLLECTIVE_BROADCAST] = lower_collective,
    [IR_OP_COLLECTIVE_PERMUTE] = lower_collective_permute,
    [IR_OP_COLLECTIVE_REDUCE] = lower_reducing_collective,
    [IR_OP_COMPARE] = lower_compare,
    [IR_OP_COMPLEX] = lower_elementwise,
    [IR_OP_COMPOSITE] = lower_composite,
    [IR_OP_CONCATENATE] = lower_concatenate,
    [IR_OP_CONSTANT] = lower_constant,
    [IR_OP_CONVERT] = lower_convert,
    [IR_OP_CONVOLUTION] = lower_convolution,
    [IR_OP_COSINE] = lower_elementwise,
    [IR_OP_COUNT_LEADING_ZEROS] = lower_elementwise,
    [IR_OP_CREATE_TOKEN] = lower_after_all,
    [IR_OP_CROSS_REPLICA_SUM] = lower_reducing_collective,
    [IR_OP_CUSTOM_CALL] = lower_custom_call,
    [IR_OP_DIVIDE] = lower_elementwise,
    [IR_OP_DOT] = lower_dot,
    [IR_OP_DOT_GENERAL] = lower_dot_general,
    [IR_OP_DYNAMIC_BROADCAST_IN_DIM] = lower_dynamic_broadcast_in_dim,
    [IR_OP_DYNAMIC_CONV] = lower_dynamic_conv,
    [IR_OP_DYNAMIC_GATHER] = lower_dynamic_gather,
    [IR_OP_DYNAMIC_IOTA] = lower_dynamic_iota,
    [IR_OP_DYNAMIC_PAD] = lower_dynamic_pad,
    [IR_OP_DYNAMIC_RESHAPE] = lower_dynamic_reshape,
    [IR_OP_DYNAMIC_SLICE] = lower_dynamic_slice,
    [IR_OP_DYNAMIC_UPDATE_SLICE] = lower_dynamic_update_slice,
    [IR_OP_EINSUM] = lower_einsum,
    [IR_OP_EXPONENTIAL] = lower_elementwise,
    [IR_OP_EXPONENTIAL_MINUS_ONE] = lower_elementwise,
    [IR_OP_FFT] = lower_fft,
    [IR_OP_FLOOR] = lower_elementwise,
    [IR_OP_GATHER] = lower_gather,
    [IR_OP_GET_DIMENSION_SIZE] = lower_get_dimension_size,
    [IR_OP_GET_TUPLE_ELEMENT] = lower_get_tuple_element,
    [IR_OP_IF] = lower_if,
    [IR_OP_IMAG] = lower_elementwise,
    [IR_OP_INFEED] = lower_infeed,
    [IR_OP_IOTA] = lower_iota,
    [IR_OP_IS_FINITE] = lower_elementwise,
    [IR_OP_LOG] = lower_elementwise,
    [IR_OP_LOG_PLUS_ONE] = lower_elementwise,
    [IR_OP_LOGISTIC] = lower_elementwise,
    [IR_OP_MAP] = lower_map,
    [IR_OP_MAXIMUM] = lower_extremum,
    [IR_OP_MINIMUM] = lower_extremum,
    [IR_OP_MULTIPLY] = lower_elementwise,
    [IR_OP_NEGATE] = lower_elementwise,
    [IR_OP_NOT] = lower_elementwise,
    [IR_OP_OPTIMIZATION_BARRIER] = lower_optimization_barrier,
    [IR_OP_OR] = lower_elementwise,
    [IR_OP_OUTFEED] = lower_outfeed,
    [IR_OP_PAD] = lower_pad,
    [IR_OP_PARTITION_ID] = lower_device_id,
    [IR_OP_POPCNT] = lower_elementwise,
    [IR_OP_POWER] = lower_elementwise,
    [IR_OP_REAL] = lower_elementwise,
    [IR_OP_REAL_DYNAMIC_SLICE] = lower_real_dynamic_slice,
    [IR_OP_RECV] = lower_recv,
    [IR_OP_REDUCE] = lower_reduce,
    [IR_OP_REDUCE_PRECISION] = lower_reduce_precision,
    [IR_OP_REDUCE_SCATTER] = lower_reducing_collective,
    [IR_OP_REDUCE_WINDOW] = lower_reduce_window,
    [IR_OP_REMAINDER] = lower_elementwise,
    [IR_OP_REPLICA_ID] = lower_device_id,
    [IR_OP_RESHAPE] = lower_reshape,
    [IR_OP_REVERSE] = lower_reverse,
    [IR_OP_RNG] = lower_rng,
    [IR_OP_RNG_BIT_GENERATOR] = lower_rng_bit_generator,
    [IR_OP_ROUND_NEAREST_AFZ] = lower_elementwise,
    [IR_OP_ROUND_NEAREST_EVEN] = lower_elementwise,
    [IR_OP_RSQRT] = lower_elementwise,
    [IR_OP_SCATTER] = lower_scatter,
    [IR_OP_SELECT] = lower_elementwise,
    [IR_OP_SELECT_AND_SCATTER] = lower_select_and_scatter,
    [IR_OP_SEND] = lower_send,
    [IR_OP_SET_DIMENSION_SIZE] = lower_set_dimension_size,
    [IR_OP_SHIFT_LEFT] = lower_elementwise,
    [IR_OP_SHIFT_RIGHT_ARITHMETIC] = lower_elementwise,
    [IR_OP_SHIFT_RIGHT_LOGICAL] = lower_elementwise,
    [IR_OP_SIGN] = lower_elementwise,
    [IR_OP_SINE] = lower_elementwise,
    [IR_OP_SLICE] = lower_slice,
    [IR_OP_SORT] = lower_sort,
    [IR_OP_SQRT] = lower_elementwise,
    [IR_OP_SUBTRACT] = lower_elementwise,
    [IR_OP_TAN] = lower_elementwise,
    [IR_OP_TANH] = lower_elementwise,
    [IR_OP_TORCH_INDEX_SELECT] = lower_torch_index_select,
    [IR_OP_TRANSPOSE] = lower_transpose,
    [IR_OP_TRIANGULAR_SOLVE] = lower_triangular_solve,
    [IR_OP_TUPLE] = lower_tuple,
    [IR_OP_UNARY_EINSUM] = lower_einsum,
    [IR_OP_WHILE] = lower_while,
    [IR_OP_XOR] = lower_elementwise,
    [IR_OP_CHLO_ACOS] = lower_chlo_function,
    [IR_OP_CHLO_ACOSH] = lower_chlo_function,
    [IR_OP_CHLO_ASIN] = lower_chlo_function,
    [IR_OP_CHLO_ASIN_ACOS_KERNEL] = lower_chlo_function,
    [IR_OP_CHLO_ASINH] = lower_chlo_function,
    [IR_OP_CHLO_ATAN] = lower_chlo_function,
    [IR_OP_CHLO_ATANH] = lower_chlo_function,
    [IR_OP_CHLO_BESSEL_I1E] = lower_chlo_function,
    [IR_OP_CHLO_BROADCAST_ADD] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_AND] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_ATAN2] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_COMPARE] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_COMPLEX] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_DIVIDE] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_MAXIMUM] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_MINIMUM] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_MULTIPLY] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_NEXT_AFTER] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_OR] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_POLYGAMMA] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_POWER] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_REMAINDER] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_SELECT] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_SHIFT_LEFT] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_ARITHMETIC] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_LOGICAL] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_SUBTRACT] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_XOR] = lower_chlo_broadcast,
    [IR_OP_CHLO_BROADCAST_ZETA] = lower_chlo_broadcast,
    [IR_OP_CHLO_CONJ] = lower_chlo_function,
    [IR_OP_CHLO_CONSTANT] = lower_chlo_constant,
    [IR_OP_CHLO_CONSTANT_LIKE] = lower_chlo_constant_like,
    [IR_OP_CHLO_COSH] = lower_chlo_function,
    [IR_OP_CHLO_DIGAMMA] = lower_chlo_function,
    [IR_OP_CHLO_DYNAMIC_RESHAPE] = lower_chlo_dynamic_reshape,
    [IR_OP_CHLO_ERF] = lower_chlo_function,
    [IR_OP_CHLO_ERF_INV] = lower_chlo_function,
    [IR_OP_CHLO_ERFC] = lower_chlo_function,
    [IR_OP_CHLO_IS_INF] = lower_chlo_function,
    [IR_OP_CHLO_IS_NEG_INF] = lower_chlo_function,
    [IR_OP_CHLO_IS_POS_INF] = lower_chlo_function,
    [IR_OP_CHLO_LGAMMA] = lower_chlo_function,
    [IR_OP_CHLO_MULHI] = lower_chlo_function,
    [IR_OP_CHLO_NEXT_AFTER] = lower_chlo_function,
    [IR_OP_CHLO_POLYGAMMA] = lower_chlo_function,
    [IR_OP_CHLO_RAGGED_DOT] = lower_chlo_ragged_dot,
    [IR_OP_CHLO_SCAN] = lower_chlo_scan,
    [IR_OP_CHLO_SINH] = lower_chlo_function,
    [IR_OP_CHLO_SQUARE] = lower_chlo_function,
    [IR_OP_CHLO_TAN] = lower_chlo_function,
    [IR_OP_CHLO_TOP_K] = lower_chlo_top_k,
    [IR_OP_CHLO_ZETA] = lower_chlo_function,
    [IR_OP_CALL] = lower_call,
    [IR_OP_CHECK_EXPECT_EQ] = lower_check,
    [IR_OP_CHECK_EXPECT_EQ_CONST] = lower_check,
    [IR_OP_CHECK_EXPECT_CLOSE] = lower_check,
    [IR_OP_CHECK_EXPECT_CLOSE_CONST] = lower_check,
    [IR_OP_CHECK_EXPECT_ALMOST_EQ] = lower_check,
    [IR_OP_CHECK_EXPECT_ALMOST_EQ_CONST] = lower_check,
    [IR_OP_CHECK_EXPECT_SERIALIZED_EQ] = lower_check,
    [IR_OP_INTERPRETER_RUN_PARALLEL] = lower_run_parallel,
    [IR_OP_INTERPRETER_PROBE] = lower_probe,
    [IR_OP_INTERPRETER_PRINT] = lower_probe,
};

// How many operands and results an operation has, so that lowerings may rely on it.
enum { ANY = -1 };

typedef struct operation_form {
  int least_operands, most_operands, results;
} operation_form;

static const operation_form forms[IR_OP_COUNT] = {
    [IR_OP_ABS] = {1, 1, 1},
    [IR_OP_ADD] = {2, 2, 1},
    [IR_OP_AFTER_ALL] = {0, ANY, 1},
    [IR_OP_ALL_GATHER] = {0, ANY, ANY},
    [IR_OP_ALL_REDUCE] = {0, ANY, ANY},
    [IR_OP_ALL_TO_ALL] = {0, ANY, ANY},
    [IR_OP_AND] = {2, 2, 1},
    [IR_OP_ASYNC_DONE] = {1, 1, ANY},
    [IR_OP_ASYNC_START] = {0, ANY, 1},
    [IR_OP_ATAN2] = {2, 2, 1},
    [IR_OP_BATCH_NORM_GRAD] = {5, 5, 3},
    [IR_OP_BATCH_NORM_INFERENCE] = {5, 5, 1},
    [IR_OP_BATCH_NORM_TRAINING] = {3, 3, 3},
    [IR_OP_BITCAST_CONVERT] = {1, 1, 1},
    [IR_OP_BROADCAST] = {1, 1, 1},
    [IR_OP_BROADCAST_IN_DIM] = {1, 1, 1},
    [IR_OP_CASE] = {1, 1, ANY},
    [IR_OP_CBRT] = {1, 1, 1},
    [IR_OP_CEIL] = {1, 1, 1},
    [IR_OP_CHOLESKY] = {1, 1, 1},
    [IR_OP_CLAMP] = {3, 3, 1},
    [IR_OP_COLLECTIVE_BROADCAST] = {0, ANY, ANY},
    [IR_OP_COLLECTIVE_PERMUTE] = {1, 1, 1},
    [IR_OP_COLLECTIVE_REDUCE] = {0, ANY, ANY},
    [IR_OP_COMPARE] = {2, 2, 1},
    [IR_OP_COMPLEX] = {2, 2, 1},
    [IR_OP_COMPOSITE] = {0, ANY, ANY},
    [IR_OP_CONCATENATE] = {1, ANY, 1},
    [IR_OP_CONSTANT] = {0, 0, 1},
    [IR_OP_CONVERT] = {1, 1, 1},
    [IR_OP_CONVOLUTION] = {2, 2, 1},
    [IR_OP_COSINE] = {1, 1, 1},
    [IR_OP_COUNT_LEADING_ZEROS] = {1, 1, 1},
    [IR_OP_CREATE_TOKEN] = {0, 0, 1},
    [IR_OP_CROSS_REPLICA_SUM] = {1, 1, 1},
    [IR_OP_CUSTOM_CALL] = {0, ANY, ANY},
    [IR_OP_DIVIDE] = {2, 2, 1},
    [IR_OP_DOT] = {2, 2, 1},
    [IR_OP_DOT_GENERAL] = {2, 2, 1},
    [IR_OP_DYNAMIC_BROADCAST_IN_DIM] = {2, 2, 1},
    [IR_OP_DYNAMIC_CONV] = {3, 3, 1},
    [IR_OP_DYNAMIC_GATHER] = {3, 3, 1},
    [IR_OP_DYNAMIC_IOTA] = {1, 1, 1},
    [IR_OP_DYNAMIC_PAD] = {5, 5, 1},
    [IR_OP_DYNAMIC_RESHAPE] = {2, 2, 1},
    [IR_OP_DYNAMIC_SLICE] = {1, ANY, 1},
    [IR_OP_DYNAMIC_UPDATE_SLICE] = {2, ANY, 1},
    [IR_OP_EINSUM] = {2, 2, 1},
    [IR_OP_EXPONENTIAL] = {1, 1, 1},
    [IR_OP_EXPONENTIAL_MINUS_ONE] = {1, 1, 1},
    [IR_OP_FFT] = {1, 1, 1},
    [IR_OP_FLOOR] = {1, 1, 1},
    [IR_OP_GATHER] = {2, 2, 1},
    [IR_OP_GET_DIMENSION_SIZE] = {1, 1, 1},
    [IR_OP_GET_TUPLE_ELEMENT] = {1, 1, 1},
    [IR_OP_IF] = {1, 1, ANY},
    [IR_OP_IMAG] = {1, 1, 1},
    [IR_OP_INFEED] = {1, 1, ANY},
    [IR_OP_IOTA] = {0, 0, 1},
    [IR_OP_IS_FINITE] = {1, 1, 1},
    [IR_OP_LOG] = {1, 1, 1},
    [IR_OP_LOG_PLUS_ONE] = {1, 1, 1},
    [IR_OP_LOGISTIC] = {1, 1, 1},
    [IR_OP_MAP] = {1, ANY, 1},
    [IR_OP_MAXIMUM] = {2, 2, 1},
    [IR_OP_MINIMUM] = {2, 2, 1},
    [IR_OP_MULTIPLY] = {2, 2, 1},
    [IR_OP_NEGATE] = {1, 1, 1},
    [IR_OP_NOT] = {1, 1, 1},
    [IR_OP_OPTIMIZATION_BARRIER] = {0, ANY, ANY},
    [IR_OP_OR] = {2, 2, 1},
    [IR_OP_OUTFEED] = {1, ANY, 1},
    [IR_OP_PAD] = {2, 2, 1},
    [IR_OP_PARTITION_ID] = {0, 0, 1},
    [IR_OP_POPCNT] = {1, 1, 1},
    [IR_OP_POWER] = {2, 2, 1},
    [IR_OP_REAL] = {1, 1, 1},
    [IR_OP_REAL_DYNAMIC_SLICE] = {4, 4, 1},
    [IR_OP_RECV] = {1, 1, ANY},
    [IR_OP_REDUCE] = {2, ANY, ANY},
    [IR_OP_REDUCE_PRECISION] = {1, 1, 1},
    [IR_OP_REDUCE_SCATTER] = {0, ANY, ANY},
    [IR_OP_REDUCE_WINDOW] = {2, ANY, ANY},
    [IR_OP_REMAINDER] = {2, 2, 1},
    [IR_OP_REPLICA_ID] = {0, 0, 1},
    [IR_OP_RESHAPE] = {1, 1, 1},
    [IR_OP_REVERSE] = {1, 1, 1},
    [IR_OP_RNG] = {3, 3, 1},
    [IR_OP_RNG_BIT_GENERATOR] = {1, 1, 2},
    [IR_OP_ROUND_NEAREST_AFZ] = {1, 1, 1},
    [IR_OP_ROUND_NEAREST_EVEN] = {1, 1, 1},
    [IR_OP_RSQRT] = {1, 1, 1},
    [IR_OP_SCATTER] = {3, ANY, ANY},
    [IR_OP_SELECT] = {3, 3, 1},
    [IR_OP_SELECT_AND_SCATTER] = {3, 3, 1},
    [IR_OP_SEND] = {1, ANY, 1},
    [IR_OP_SET_DIMENSION_SIZE] = {2, 2, 1},
    [IR_OP_SHIFT_LEFT] = {2, 2, 1},
    [IR_OP_SHIFT_RIGHT_ARITHMETIC] = {2, 2, 1},
    [IR_OP_SHIFT_RIGHT_LOGICAL] = {2, 2, 1},
    [IR_OP_SIGN] = {1, 1, 1},
    [IR_OP_SINE] = {1, 1, 1},
    [IR_OP_SLICE] = {1, 1, 1},
    [IR_OP_SORT] = {1, ANY, ANY},
    [IR_OP_SQRT] = {1, 1, 1},
    [IR_OP_SUBTRACT] = {2, 2, 1},
    [IR_OP_TAN] = {1, 1, 1},
    [IR_OP_TANH] = {1, 1, 1},
    [IR_OP_TORCH_INDEX_SELECT] = {2, 2, 1},
    [IR_OP_TRANSPOSE] = {1, 1, 1},
    [IR_OP_TRIANGULAR_SOLVE] = {2, 2, 1},
    [IR_OP_TUPLE] = {0, ANY, 1},
    [IR_OP_UNARY_EINSUM] = {1, 1, 1},
    [IR_OP_UNIFORM_DEQUANTIZE] = {1, 1, 1},
    [IR_OP_UNIFORM_QUANTIZE] = {1, 1, 1},
    [IR_OP_WHILE] = {0, ANY, ANY},
    [IR_OP_XOR] = {2, 2, 1},
    [IR_OP_CHLO_ACOS] = {1, 1, 1},
    [IR_OP_CHLO_ACOSH] = {1, 1, 1},
    [IR_OP_CHLO_ASIN] = {1, 1, 1},
    [IR_OP_CHLO_ASIN_ACOS_KERNEL] = {1, 1, 1},
    [IR_OP_CHLO_ASINH] = {1, 1, 1},
    [IR_OP_CHLO_ATAN] = {1, 1, 1},
    [IR_OP_CHLO_ATANH] = {1, 1, 1},
    [IR_OP_CHLO_BESSEL_I1E] = {1, 1, 1},
    [IR_OP_CHLO_BROADCAST_ADD] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_AND] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_ATAN2] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_COMPARE] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_COMPLEX] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_DIVIDE] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_MAXIMUM] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_MINIMUM] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_MULTIPLY] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_NEXT_AFTER] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_OR] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_POLYGAMMA] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_POWER] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_REMAINDER] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_SELECT] = {3, 3, 1},
    [IR_OP_CHLO_BROADCAST_SHIFT_LEFT] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_ARITHMETIC] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_LOGICAL] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_SUBTRACT] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_XOR] = {2, 2, 1},
    [IR_OP_CHLO_BROADCAST_ZETA] = {2, 2, 1},
    [IR_OP_CHLO_CONJ] = {1, 1, 1},
    [IR_OP_CHLO_CONSTANT] = {0, 0, 1},
    [IR_OP_CHLO_CONSTANT_LIKE] = {1, 1, 1},
    [IR_OP_CHLO_COSH] = {1, 1, 1},
    [IR_OP_CHLO_DIGAMMA] = {1, 1, 1},
    [IR_OP_CHLO_DYNAMIC_RESHAPE] = {2, 2, 1},
    [IR_OP_CHLO_ERF] = {1, 1, 1},
    [IR_OP_CHLO_ERF_INV] = {1, 1, 1},
    [IR_OP_CHLO_ERFC] = {1, 1, 1},
    [IR_OP_CHLO_IS_INF] = {1, 1, 1},
    [IR_OP_CHLO_IS_NEG_INF] = {1, 1, 1},
    [IR_OP_CHLO_IS_POS_INF] = {1, 1, 1},
    [IR_OP_CHLO_LGAMMA] = {1, 1, 1},
    [IR_OP_CHLO_MULHI] = {2, 2, 1},
    [IR_OP_CHLO_NEXT_AFTER] = {2, 2, 1},
    [IR_OP_CHLO_POLYGAMMA] = {2, 2, 1},
    [IR_OP_CHLO_RAGGED_DOT] = {3, 3, 1},
    [IR_OP_CHLO_SCAN] = {0, ANY, ANY},
    [IR_OP_CHLO_SINH] = {1, 1, 1},
    [IR_OP_CHLO_SQUARE] = {1, 1, 1},
    [IR_OP_CHLO_TAN] = {1, 1, 1},
    [IR_OP_CHLO_TOP_K] = {1, 1, 2},
    [IR_OP_CHLO_ZETA] = {2, 2, 1},
    [IR_OP_CALL] = {0, ANY, ANY},
    [IR_OP_CHECK_EXPECT_EQ] = {2, 2, 0},
    [IR_OP_CHECK_EXPECT_EQ_CONST] = {1, 1, 0},
    [IR_OP_CHECK_EXPECT_CLOSE] = {2, 2, 0},
    [IR_OP_CHECK_EXPECT_CLOSE_CONST] = {1, 1, 0},
    [IR_OP_CHECK_EXPECT_ALMOST_EQ] = {2, 2, 0},
    [IR_OP_CHECK_EXPECT_ALMOST_EQ_CONST] = {1, 1, 0},
    [IR_OP_CHECK_EXPECT_SERIALIZED_EQ] = {1, 1, 0},
    [IR_OP_INTERPRETER_RUN_PARALLEL] = {0, ANY, ANY},
    [IR_OP_INTERPRETER_PROBE] = {1, 1, 1},
    [IR_OP_INTERPRETER_PRINT] = {1, 1, 0},
};

static heddle_status check_form(const ir_operation *op) {
  const operation_form *f = &forms[op->op];
  if (op->operand_count < f->least_operands || (f->most_operands != ANY && op->operand_count > f->most_operands))
    return lowering_invalid(op, "found %d operands, wanted %s%d", op->operand_count,
                            f->most_operands == ANY ? "at least " : "", f->least_operands);
  if (f->results != ANY && op->result_count != f->results)
    return lowering_invalid(op, "found %d results, wanted %d", op->result_count, f->results);
  return status_ok();
}

// Operations that hand values on whatever these are.
static const bool takes_any_type[IR_OP_COUNT] = {
    [IR_OP_CALL] = true,      [IR_OP_CASE] = true,
    [IR_OP_COMPOSITE] = true, [IR_OP_GET_TUPLE_ELEMENT] = true,
    [IR_OP_IF] = true,        [IR_OP_OPTIMIZATION_BARRIER] = true,
    [IR_OP_TUPLE] = true,     [IR_OP_WHILE] = true,
    [IR_OP_CONSTANT] = true,  [IR_OP_CUSTOM_CALL] = true,
};

static bool has_quantized_type(const ir_operation *op) {
  for (int k = 0; k < op->operand_count; k++)
    if (ir_type_quantization(op->operands[k]->type)) return true;
  for (int k = 0; k < op->result_count; k++)
    if (ir_type_quantization(op->results[k]->type)) return true;
  return false;
}

// Shardy's hints on single values: on one device they say nothing.
static heddle_status lower_hint(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  (void)l;
  for (int k = 0; k < op->result_count; k++) results[k] = operands[k];
  return status_ok();
}

static bool is_hint(const ir_operation *op) {
  static const char *const names[] = {"sdy.sharding_constraint", "sdy.sharding_group", "sdy.reshard",
                                      "sdy.propagation_barrier"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (op->op == IR_OP_UNKNOWN && str_is(op->name, names[k])) return op->result_count <= op->operand_count;
  return false;
}

// The one place where quantized arithmetic leaves the ordinary way.
static lowering_fn lowering_of(const ir_operation *op) {
  if (is_hint(op)) return lower_hint;
  return !takes_any_type[op->op] && has_quantized_type(op) ? lower_quantized : lowerings[op->op];
}

// {a="1",b="2"}; entries that are no strings have no form in HLO.
static void set_frontend_attributes(lowering *l, const ir_attribute *x, instruction *i) {
  text out = {0};
  for (int k = 0; k < x->count; k++) {
    if (x->fields[k].value->kind != IR_ATTR_STRING) continue;
    text_puts(&out, out.size ? "," : "{");
    text_append(&out, x->fields[k].name);
    text_putc(&out, '=');
    text_quote(&out, x->fields[k].value->text);
  }
  if (out.size) {
    text_putc(&out, '}');
    build_set_raw(l, i, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES, str_copy(l->arena, text_view(&out)));
  }
  text_free(&out);
}

// What the operation's writer wants the instruction to say, whatever it is.
static void annotate(lowering *l, const ir_operation *op, instruction *const *results) {
  const ir_attribute *sharding = ir_find(op, "mhlo.sharding"), *front = ir_find(op, "mhlo.frontend_attributes");
  if ((!sharding && !front) || !op->result_count) return;
  instruction *i = results[0]->opcode == HLO_GET_TUPLE_ELEMENT ? results[0]->operands[0] : results[0];
  for (int k = 0; k < op->operand_count; k++)
    if (i == ptr_map_get(l->values, op->operands[k])) return;
  if (sharding && sharding->kind == IR_ATTR_STRING && str_starts_with(sharding->text, "{"))
    build_set_raw(l, i, HLO_ATTRIBUTE_SHARDING, sharding->text);
  if (front && front->kind == IR_ATTR_DICTIONARY) set_frontend_attributes(l, front, i);
}

heddle_status lowering_apply(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  lowering_fn lower = lowering_of(op);
  if (!lower) return lowering_refuse(op, "HLO has no way to say this operation");
  if (op->op != IR_OP_UNKNOWN) TRY(check_form(op));
  TRY(lower(l, op, operands, results));
  for (int k = 0; k < op->result_count; k++)
    if (!results[k]) return lowering_invalid(op, "found %d results, wanted another number", op->result_count);
  annotate(l, op, results);
  for (int k = 0; k < op->result_count; k++)
    TRY(lowering_check_type(l, op, "result", k, op->results[k]->type, results[k]->shape));
  return status_ok();
}
