// A compiled program as plain data that describes itself: what it takes and gives, what memory it needs, what code it
// has, and what runs in which order on which bytes. The compiler writes it, the runtime reads it; neither includes the
// other. Nothing in it points outside of it.
#ifndef HEDDLE_PROG_PROGRAM_H_
#define HEDDLE_PROG_PROGRAM_H_

#include <stddef.h>

#include "base/dtype.h"
#include "base/status.h"
#include "base/target.h"
#include "prog/library.h"

// --- signature

enum { PROGRAM_MAX_RANK = 64 };

// Thunks nested deeper than this, and more of them than this in all, are refused.
enum { PROGRAM_MAX_DEPTH = 256, PROGRAM_MAX_THUNKS = 10000000 };

enum { PROGRAM_MOST_STREAMS = 16 };

// An array as callers see it: row-major, in elements of dtypes[type].bytes. In the program's memory `minor_to_major`
// orders it, and types narrower than a byte are packed, the element with the lower index in the lower bits.
typedef struct program_shape {
  dtype type;
  int rank;
  const int64_t *dims;            // of dynamic size: the bounds
  const int64_t *minor_to_major;  // a permutation of the dims' numbers
} program_shape;

// A parameter or result. Tuples are taken apart, tokens take no memory and are left out.
typedef struct program_value {
  const char *name;  // of the parameter, and of what of it where it is a tuple: "x", "state{0,1}"; of results ""
  program_shape shape;
  // Of a result that takes over the memory of a donated parameter: the number of that, else -1. Before anything runs
  // the parameter's bytes are copied to the result, unless the caller gave the same memory for both.
  int donated_parameter;
} program_value;

// Of dim `dimension` of result `result` so many exist as result `size` (an s32 behind all that callers see) says.
typedef struct program_dynamic_size {
  int result, dimension, size;
} program_dynamic_size;

// The structure of what a program returns, a tree's nodes each before its elements: a tuple of `count` elements
// (DTYPE_TUPLE), the next result (its type), or what has no memory (DTYPE_TOKEN, DTYPE_OPAQUE).
typedef struct program_node {
  dtype type;
  int count;
} program_node;

// --- memory

typedef enum program_allocation_kind {
  PROGRAM_PARAMETER,  // the caller's argument; never written
  PROGRAM_RESULT,     // the caller's memory for a result
  PROGRAM_CONSTANT,   // `data`
  PROGRAM_TEMPORARY,  // one arena, taken for each run; contents undefined at its start
  PROGRAM_NUMBERS,    // `data`: 64-bit integers that kernels take from open sizes, numbers of the program themselves
  PROGRAM_ALLOCATION_KIND_COUNT
} program_allocation_kind;

typedef struct program_allocation {
  program_allocation_kind kind;
  int number;        // of the parameter or result
  int64_t bytes;     // as kernels see it: dense, in the declared layout, sub-byte integers packed
  const void *data;  // of constants and numbers, aligned to 64
} program_allocation;

typedef struct program_slice {
  int allocation;
  int64_t offset;  // bytes; a multiple of 64 unless it lies inside another value
  int64_t bytes;
  bool is_temporary;  // of a result's allocation: what lies there before the result does
} program_slice;

// --- code

typedef enum program_image_format {
  PROGRAM_ELF,    // a relocatable object
  PROGRAM_PTX,    // text
  PROGRAM_MLIR,   // text in the LLVM dialect
  PROGRAM_LLVM,   // LLVM bitcode, for the kernel simulator
  PROGRAM_SPIRV,  // words of a module with one entry point
  PROGRAM_IMAGE_FORMAT_COUNT
} program_image_format;

typedef struct program_image {
  program_image_format format;
  const void *data;
  size_t size;
} program_image;

// An entry of an image. Thunks that do the same on other memory share one.
typedef struct program_kernel {
  const char *entry;
  int image;
  int forms;  // so many images more, behind that one, have it for devices that lack what the first one asks for
  int buffer_count;
  // CPU: void entry(void *const *buffers, int64_t begin, int64_t end), over tiles begin … end - 1 of so many.
  int64_t tiles;
  int64_t tile_bytes;  // memory traffic of one tile, so that small work wakes nobody
  int64_t tile_operations;
  // GPU: a grid of blocks of threads, each block with so much memory that its threads share; an argument per buffer.
  int64_t grid[3], block[3];
  int64_t shared_bytes;
  // Of a program for open sizes (below): a tile is `pieces` pieces. Kernel `rest`, behind this one, has smaller tiles,
  // of which the runs of this kernel run those from its `first_tile` on, for what fills no tile here, and it may have a
  // rest, too. 0: there is none.
  int64_t pieces;
  int rest;
  int64_t first_tile;
} program_kernel;

// --- what runs

typedef enum program_thunk_kind {
  THUNK_KERNEL,
  THUNK_SEQUENCE,
  THUNK_CONDITIONAL,
  THUNK_WHILE,
  THUNK_FOR,
  THUNK_CALL,
  THUNK_COPY,    // slice reads[0] to writes[0]
  THUNK_MEMSET,  // a pattern over writes[0]
  THUNK_CUSTOM_CALL,
  THUNK_GEMM,
  THUNK_CONVOLUTION,
  THUNK_FFT,
  THUNK_SORT,
  THUNK_TOP_K,
  THUNK_CONCATENATE,
  THUNK_RANDOM,
  THUNK_COLLECTIVE,
  THUNK_TRANSFER,  // infeed and outfeed, messages between devices
  PROGRAM_THUNK_KIND_COUNT
} program_thunk_kind;

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

typedef struct program_launch {
  int kernel;
  int buffer_count;    // the kernel's
  const int *buffers;  // buffer i of the kernel is slice buffers[i]
} program_launch;

typedef struct program_control {
  int slice;     // the conditional's index; what the while's condition wrote (pred)
  bool is_pred;  // conditionals: true takes branch 0; else an s32, of which one out of range takes the last branch
} program_control;

struct program_thunk {
  program_thunk_kind kind;
  const char *name;       // of the HLO instruction, for errors and profiles
  source_location where;  // of it; line 0: unknown
  const char *origin;     // what its metadata says of the program that it came from, "jit(f)/add f.py:3", or ""
  bool is_hidden;         // profiles leave it out, as the program says what they show
  // Slices read and written, those of nested sequences included. A slice may be in both lists.
  int read_count;
  const int *reads;
  int write_count;
  const int *writes;
  int64_t resident_bytes;  // that it touches of parameters, results and constants: of a large one maybe a part
  // Sequences of its own. THUNK_SEQUENCE, THUNK_CALL, THUNK_FOR: [0] is the body. THUNK_WHILE: [0] condition, [1] body.
  // THUNK_CONDITIONAL: the branches.
  int sequence_count;
  const program_sequence *sequences;
  // Library calls.
  int operand_count;
  const program_array *operands;
  int result_count;
  const program_array *results;
  union {
    program_launch launch;    // THUNK_KERNEL
    program_control control;  // THUNK_CONDITIONAL, THUNK_WHILE
    int64_t trip_count;       // THUNK_FOR
    uint32_t pattern;         // THUNK_MEMSET: four bytes, lowest first
    program_gemm gemm;
    program_convolution convolution;
    program_fft fft;
    program_sort sort;
    program_top_k top_k;
    program_concatenate concatenate;
    program_random random;
    program_custom_call custom_call;
    program_collective collective;
    program_transfer transfer;
  };
};

// --- open sizes

// A program may be made for arrays some sizes of which are only known when it runs. Each is a polynomial of few
// symbols; so are all numbers of the program that depend on them (prog/program_sizes.h).
enum { PROGRAM_MOST_SYMBOLS = 6, PROGRAM_MOST_DEGREE = 3, PROGRAM_MOST_TERMS = 81 };

typedef struct program_symbol {
  const char *name;
  int64_t least, most;
} program_symbol;

// The sum of terms[t] times a product of powers of the symbols: the exponents are the digits of t, the first symbol's
// the lowest one, to the base degree + 1.
typedef struct program_open_number {
  int number;  // which of the program's numbers, in the order of program_sizes_map
  int64_t terms[PROGRAM_MOST_TERMS];
} program_open_number;

// Sizes at which the polynomial is negative are not for the program.
typedef struct program_size_check {
  const char *message;
  int64_t terms[PROGRAM_MOST_TERMS];
} program_size_check;

// What a symbol is that no dim says: it follows from polynomials of the symbols before it.
typedef enum program_derived_kind {
  PROGRAM_QUOTIENT,   // left / right, rounded down, of left >= 0 and right >= 1
  PROGRAM_REMAINDER,  // what it leaves, of the same
  PROGRAM_MODULO,     // left - right * floor(left / right), of right >= 1
  PROGRAM_LARGER,     // the larger one
  PROGRAM_SMALLER,
  PROGRAM_DERIVED_KIND_COUNT
} program_derived_kind;

typedef struct program_derived_size {
  program_derived_kind kind;
  int64_t left[PROGRAM_MOST_TERMS], right[PROGRAM_MOST_TERMS];
} program_derived_size;

typedef struct program_sizes {
  int symbol_count;  // 0: all sizes are as the program says
  int degree;        // the highest exponent of a symbol, at least 1
  const program_symbol *symbols;
  int derived_count;  // of the last symbols
  const program_derived_size *derived;
  int number_count;
  const program_open_number *numbers;  // in ascending order
  int check_count;
  const program_size_check *checks;
  // The program has no code: it only says what arrays it takes and gives, and runs at sizes that others are made for
  // alone. Numbers are those of its signature; results' dims that are no polynomials have no terms.
  bool is_for_given;
} program_sizes;

typedef struct program {
  const char *name;
  source_location where;  // of what it was made of
  target_kind device;     // thunks are the same for all; which of them a build can run on which device is rt's to say
  int device_count;       // replicas x partitions that run together; 1 for most programs
  int partition_count;    // of one replica; divides device_count
  int parameter_count;
  const program_value *parameters;
  int result_count;
  int given_result_count;  // that callers see; sizes follow
  const program_value *results;
  int dynamic_count;
  const program_dynamic_size *dynamic;
  int node_count;
  const program_node *nodes;  // of the structure of what it returns
  int allocation_count;
  const program_allocation *allocations;
  int64_t temporary_bytes;  // of the one temporary allocation, 0 if there is none
  int streams;              // of a device, that thunks run on side by side; 0: as many as it has, 1: in order
  int64_t memory_limit;     // bytes that temporaries and what a thunk touches may take; 0: none. Thunks run in order.
  int slice_count;
  const program_slice *slices;
  int image_count;
  const program_image *images;
  int kernel_count;
  const program_kernel *kernels;
  program_sequence entry;
  program_sizes sizes;
} program;

const char *program_thunk_kind_name(program_thunk_kind kind);            // "kernel", "while", …
const char *program_image_format_name(program_image_format format);      // "elf", "ptx"
const char *program_allocation_kind_name(program_allocation_kind kind);  // "parameter", …
const char *program_derived_kind_name(program_derived_kind kind);        // "quotient", …

// All three saturate at INT64_MAX: elements, bytes as callers see them, bytes in the program's memory.
int64_t program_shape_elements(const program_shape *s);
int64_t program_shape_bytes(const program_shape *s);
int64_t program_shape_packed_bytes(const program_shape *s);
// Whether the elements lie in memory as callers give them.
bool program_shape_is_plain(const program_shape *s);

#endif
