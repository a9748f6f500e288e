// A compiled program as plain data: what memory it needs, what runs in which order on it. The compiler writes it, the
// runtime reads it; neither includes the other.
#ifndef HEDDLE_PROG_PROGRAM_H_
#define HEDDLE_PROG_PROGRAM_H_

#include <stddef.h>

#include "base/dtype.h"
#include "base/named_attribute.h"
#include "base/status.h"

// What runs a program. Thunks are the same for all; which of them a build can run on which device is rt's to say.
typedef enum program_device_kind { PROGRAM_CPU, PROGRAM_GPU, PROGRAM_DEVICE_KIND_COUNT } program_device_kind;

// --- memory

typedef enum program_allocation_kind {
  PROGRAM_PARAMETER,  // the caller's argument; never written
  PROGRAM_RESULT,     // the caller's memory for a result
  PROGRAM_CONSTANT,   // `data`
  PROGRAM_TEMPORARY,  // one arena, taken for each run; contents undefined at its start
} program_allocation_kind;

typedef struct program_allocation {
  program_allocation_kind kind;
  int number;        // of the parameter leaf or result leaf
  int64_t bytes;     // as kernels see it: dense, in the declared layout, sub-byte integers packed
  const void *data;  // constants, aligned to 64
  // A result that takes over the memory of a donated parameter: the number of that parameter, else -1. Before anything
  // runs the parameter's bytes are copied to the result, unless the caller gave the same memory for both.
  int donated_parameter;
} program_allocation;

typedef struct program_slice {
  int allocation;
  int64_t offset;  // bytes; a multiple of 64 unless it lies inside another value
  int64_t bytes;
} program_slice;

// --- what runs

typedef enum program_thunk_kind {
  THUNK_KERNEL,
  THUNK_SEQUENCE,
  THUNK_CONDITIONAL,
  THUNK_WHILE,
  THUNK_FOR,
  THUNK_CALL,
  THUNK_COPY,
  THUNK_MEMSET,
  THUNK_CUSTOM_CALL,
  THUNK_GEMM,
  THUNK_CONVOLUTION,
  THUNK_FFT,
  THUNK_SORT,
  THUNK_TOP_K,
  THUNK_CONCATENATE,
  THUNK_RANDOM,
  THUNK_COLLECTIVE,
  THUNK_TRANSFER,  // infeed and outfeed
  PROGRAM_THUNK_KIND_COUNT
} program_thunk_kind;

// One native function: void name(void *const *buffers, int64_t begin, int64_t end), over tiles begin … end - 1.
// Thunks that do the same on other memory share one.
typedef struct program_kernel {
  const char *name;
  const void *object;  // ELF relocatable object that defines it
  size_t object_size;
  int buffer_count;
} program_kernel;

// An array that a library thunk works on.
typedef struct program_array {
  dtype type;
  int rank;
  const int64_t *dims;  // row-major
  int slice;
} program_array;

typedef struct program_thunk program_thunk;

// Runs in textual order as far as anybody can tell: a thunk may start as soon as no earlier one writes what it reads or
// touches what it writes.
typedef struct program_sequence {
  int count;
  const program_thunk *const *thunks;
} program_sequence;

struct program_thunk {
  program_thunk_kind kind;
  const char *name;       // of the HLO instruction, for errors and profiles
  source_location where;  // of it; line 0: unknown
  const char *origin;     // what its metadata says of the program that it came from, "jit(f)/add f.py:3", or ""
  // Slices read and written, those of nested sequences included. A slice may be in both lists.
  int read_count;
  const int *reads;
  int write_count;
  const int *writes;

  // THUNK_KERNEL: buffers[i] of the native call is slice buffers[i]
  int kernel;  // number in the program's kernels
  const int *buffers;
  int64_t tile_count;
  int64_t tile_bytes;  // memory traffic of one tile, so that small work wakes nobody
  int64_t tile_operations;

  // Sequences. THUNK_SEQUENCE, THUNK_CALL, THUNK_FOR: [0] is the body. THUNK_WHILE: [0] condition, [1] body.
  // THUNK_CONDITIONAL: the branches; control[0] is a pred (true takes branch 0) or an s32 (out of range takes the
  // last).
  int sequence_count;
  const program_sequence *sequences;
  int control;         // slice: the conditional's index, what the while's condition wrote (pred); -1 if none
  bool is_pred;        // THUNK_CONDITIONAL: `control` is a pred
  int64_t trip_count;  // THUNK_FOR

  // THUNK_COPY: slice reads[0] to writes[0]. THUNK_MEMSET: the 4-byte pattern over writes[0].
  uint32_t pattern;

  // Library thunks and custom calls: what is called on what; the table below says which attributes each kind takes.
  const char *target;
  int operand_count;
  const program_array *operands;
  int result_count;
  const program_array *results;
  int attribute_count;
  const named_attribute *attributes;
  int comparator;  // THUNK_SORT: number of a kernel that compares; -1: the attributes say how
};

// What library thunks take (arrays are dense and row-major; attributes of one number are lists of one):
//
// GEMM         operands lhs [B,M,K] ([B,K,M] with transpose_lhs), rhs [B,K,N] ([B,N,K] with transpose_rhs), and a bias
//              [N] if `bias` is 1; result [B,M,N]. transpose_lhs, transpose_rhs, bias: 0 or 1; activation: text, "" or
//              "relu". Products of integers wrap around; bf16 and f16 accumulate in f32 and round once.
//              Arrays whose elements lie in another order: lhs_strides, rhs_strides, result_strides, each the elements
//              between rows as they lie in memory, between members of the batch in a group, and between groups; `group`
//              (B): how many members a group has. Operands that begin inside of an array, or that do not take all of
//              it: lhs_offset, rhs_offset (0), the elements in front of the first matrix, and lhs_elements,
//              rhs_elements (the dims' product), those of the array; the slice is the array's.
// CONVOLUTION  operands input, kernel, and a bias per output feature if `bias` is 1; result. Ints by the names of HLO:
//              input_batch, input_feature, input_spatial, kernel_input_feature, kernel_output_feature, kernel_spatial,
//              output_batch, output_feature, output_spatial; size, stride, padding_low, padding_high, base_dilation,
//              window_dilation, window_reversal (one per spatial dim); feature_group_count, batch_group_count; bias;
//              activation as above.
// FFT          operand, result; fft_type: 0 FFT, 1 IFFT, 2 RFFT, 3 IRFFT; fft_length.
// SORT         n operands, n results of the same shapes; dimension, is_stable. With comparator -1: keys, the operands
//              compared, first things first; for each descending (0, 1) and order (0: numeric, NaN last when
//              ascending and first when descending, -0 = +0; 1: total order of floats; 2: numeric as `<` has it).
//              Else the comparator is called with buffers lhs0, rhs0, lhs1, rhs1, …, result (pred), one tile.
// TOP_K        operand; results values and s32 indices; k, largest; the last dim.
// CONCATENATE  n operands, one result, of one type: `rows` (at least 1) rows, each of the same pieces one after
// another.
//              Lists of one number for each piece: operand; in elements of that operand, offset of row 0's first one
//              and stride from row to row; size, the elements of one row.
// RANDOM       operand: state; results: new state, bits; algorithm: 1 three-fry, 2 philox.
// COLLECTIVE   target: all-reduce, reduce-scatter, all-gather, all-to-all, collective-permute, collective-broadcast,
//              collective-reduce, ragged-all-to-all, barrier; group_size, groups (device numbers, group after group,
//              -1: nobody; none: all devices in one); dimension (all-to-all: none if operand m is for member m); pairs
//              (source, target, …); reducer: text, the HLO opcode add, multiply, maximum, minimum, and, or, xor. Also
//              replica-id and partition-id: one u32 result; partition_count.
// TRANSFER     target: "infeed" or "outfeed". Between devices: "send" (operand; results the same and a u32), "recv"
//              (results zeros and the place in the channel's queue, u32), "recv-done" (operands what recv has; result),
//              "send-done"; channel; is_paired: 1 if pairs (source, target, …, device numbers) say who sends to whom.
// CUSTOM_CALL  target: the name that was called; the attributes are those of the call; has_side_effect: 0 or 1.

typedef struct program {
  const char *name;
  program_device_kind device;
  int allocation_count;
  program_allocation *allocations;
  int slice_count;
  program_slice *slices;
  int kernel_count;
  program_kernel *kernels;
  int parameter_count;      // leaves
  int result_count;         // leaves
  int device_count;         // replicas x partitions that run together; 1 for most programs
  int64_t temporary_bytes;  // of the one temporary allocation, 0 if there is none
  program_sequence entry;
} program;

const char *program_device_name(program_device_kind kind);     // "cpu", "gpu"
const char *program_thunk_kind_name(program_thunk_kind kind);  // "kernel", "while", …

#endif
