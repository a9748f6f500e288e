// What library calls take besides their arrays: a struct for each kind.
//
// Arrays are dense and row-major unless a field says otherwise. The fields' names are those by which the compiler's
// front half and the routines of lib know them (prog/library_fields.h); of lists, `count` 0 is none.
#ifndef HEDDLE_PROG_LIBRARY_H_
#define HEDDLE_PROG_LIBRARY_H_

#include <stdbool.h>

#include "base/named_attribute.h"

typedef struct program_ints {
  int count;
  const int64_t *data;
} program_ints;

// What a product does with its result, the bias added: max(x, 0) or nothing.
typedef enum program_activation { PROGRAM_IDENTITY, PROGRAM_RELU, PROGRAM_ACTIVATION_COUNT } program_activation;

// Operands lhs [B,M,K] ([B,K,M] if it is transposed), rhs [B,K,N] ([B,N,K]), and a bias [N] if there is one; result
// [B,M,N]. Products of integers wrap around; bf16 and f16 accumulate in f32 and round once.
typedef struct program_gemm {
  bool transpose_lhs, transpose_rhs, bias;
  program_activation activation;
  // Elements in another order, or matrices that take a part of an array (then the slice is the array's): the elements
  // between rows as they lie in memory, between members of the batch in a group, and between groups; the elements in
  // front of the first matrix; those of the array.
  int64_t group;  // members of a group; 0: dense
  program_ints lhs_strides, rhs_strides, result_strides;
  int64_t lhs_offset, rhs_offset;
  int64_t lhs_elements, rhs_elements;  // 0: the dims' product
  // Behind these operands an s32 for each of the two that begins at a place that a run says: it comes times [0] plus
  // [1], which wraps around and is then held to 0 … [2], times [3] elements behind the offset.
  program_ints lhs_start, rhs_start;
} program_gemm;

// Operands input, kernel, and a bias per output feature if there is one; result. Dim numbers by the names of HLO, and
// lists of one number for each spatial dim.
typedef struct program_convolution {
  int64_t input_batch, input_feature, kernel_input_feature, kernel_output_feature, output_batch, output_feature;
  program_ints input_spatial, kernel_spatial, output_spatial;
  program_ints size, stride, padding_low, padding_high, base_dilation, window_dilation, window_reversal;
  int64_t feature_group_count, batch_group_count;
  bool bias;
  program_activation activation;
  // A kernel that is a part of an array: elements from one to the next in each of its dims (none: dense), those in
  // front of the first, those of the array (0: the dims' product), and where a run says where it begins, as
  // program_gemm has it, behind the other operands.
  program_ints kernel_strides;
  int64_t kernel_offset, kernel_elements;
  program_ints kernel_start;
} program_convolution;

typedef enum program_fft_type {
  PROGRAM_FFT_FORWARD,
  PROGRAM_FFT_INVERSE,
  PROGRAM_FFT_REAL,
  PROGRAM_FFT_INVERSE_REAL,
  PROGRAM_FFT_TYPE_COUNT
} program_fft_type;

// Operand, result; the last dims are transformed.
typedef struct program_fft {
  program_fft_type fft_type;
  program_ints fft_length;
} program_fft;

// n operands, n results of the same shapes.
typedef struct program_sort {
  int64_t dimension;
  bool is_stable;
  // The kernel that compares two elements of each operand: lhs0, rhs0, lhs1, rhs1, …, result (pred), one tile. -1: the
  // operands `keys` are compared, first things first; for each, descending (0, 1) and order (0: numeric, NaN last when
  // ascending and first when descending, -0 = +0; 1: total order of floats; 2: numeric as `<` has it).
  int comparator;
  program_ints keys, descending, order;
} program_sort;

// Operand; results values and s32 indices; along the last dim.
typedef struct program_top_k {
  int64_t k;
  bool largest;
} program_top_k;

// n operands, one result, of one type: rows, each of the same parts one after another. Lists of one number for each
// part: its operand; in elements of that operand the place of row 0's first one and the stride from row to row; the
// elements of one row.
typedef struct program_concatenate {
  int64_t rows;  // at least 1
  program_ints operand, offset, stride, size;
} program_concatenate;

typedef enum program_random_algorithm {
  PROGRAM_RANDOM_DEFAULT,
  PROGRAM_THREE_FRY,
  PROGRAM_PHILOX,
  PROGRAM_RANDOM_ALGORITHM_COUNT
} program_random_algorithm;

// Operand: state; results: new state, bits.
typedef struct program_random {
  program_random_algorithm algorithm;
} program_random;

// A function by its name. The attributes are those of the call.
typedef struct program_custom_call {
  const char *target;
  bool has_side_effect;
  int attribute_count;
  const named_attribute *attributes;
} program_custom_call;

typedef enum program_collective_kind {
  PROGRAM_ALL_GATHER,
  PROGRAM_ALL_REDUCE,
  PROGRAM_ALL_TO_ALL,
  PROGRAM_BARRIER,
  PROGRAM_COLLECTIVE_BROADCAST,
  PROGRAM_COLLECTIVE_PERMUTE,
  PROGRAM_COLLECTIVE_REDUCE,
  PROGRAM_RAGGED_ALL_TO_ALL,
  PROGRAM_REDUCE_SCATTER,
  PROGRAM_REPLICA_ID,  // no operands, one u32 result
  PROGRAM_PARTITION_ID,
  PROGRAM_COLLECTIVE_KIND_COUNT
} program_collective_kind;

// By the opcode of HLO that combines two elements.
typedef enum program_reducer {
  PROGRAM_NO_REDUCER,
  PROGRAM_ADD,
  PROGRAM_MULTIPLY,
  PROGRAM_MAXIMUM,
  PROGRAM_MINIMUM,
  PROGRAM_AND,
  PROGRAM_OR,
  PROGRAM_XOR,
  PROGRAM_REDUCER_COUNT
} program_reducer;

typedef struct program_collective {
  program_collective_kind target;
  int64_t group_size;
  program_ints groups;  // device numbers, group after group, -1: nobody; none: all devices in one group
  program_ints pairs;   // collective-permute: source, target, …
  int64_t dimension;    // -1: none; of an all-to-all: operand m is for member m
  program_reducer reducer;
  int64_t partition_count;
} program_collective;

typedef enum program_transfer_kind {
  PROGRAM_INFEED,     // from the host: results alone
  PROGRAM_OUTFEED,    // to the host: operands alone
  PROGRAM_SEND,       // to another device: operand; results the same and a u32
  PROGRAM_SEND_DONE,  // operands what send has
  PROGRAM_RECV,       // results zeros and the place in the channel's queue, u32
  PROGRAM_RECV_DONE,  // operands what recv has; result
  PROGRAM_TRANSFER_KIND_COUNT
} program_transfer_kind;

typedef struct program_transfer {
  program_transfer_kind target;
  int64_t channel;
  bool is_paired;      // the pairs say who sends to whom
  program_ints pairs;  // source, target, …: device numbers
} program_transfer;

#endif
