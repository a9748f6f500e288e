// The compiled program as plain data: what the compiler writes and the runtime reads.
//
// A program is a list of kernels over numbered slices of memory. Nothing here knows tensors: shapes, layouts and
// element types are settled when it is made.
#ifndef HEDDLE_PROG_KERNEL_LIST_H_
#define HEDDLE_PROG_KERNEL_LIST_H_

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef enum program_slice_kind {
  PROGRAM_PARAMETER,  // given by the caller, read only
  PROGRAM_RESULT,     // given by the caller, written
} program_slice_kind;

// Most buffers one kernel takes; its pointer table lies on the stack of a run.
enum { PROGRAM_KERNEL_SLICES_MAX = 1024 };

typedef struct program_slice {
  program_slice_kind kind;
  int number;     // which parameter, or which result leaf
  int64_t bytes;  // packed and laid out as kernels see it
} program_slice;

// One native function: void name(void *const *buffers, int64_t begin, int64_t end), over tiles begin … end - 1.
typedef struct program_kernel {
  const char *name;
  const void *object;  // ELF relocatable object that defines it
  size_t object_size;
  int slice_count;
  const int *slices;  // buffers[i] is slice slices[i]
  int64_t tile_count;
  int64_t tile_bytes;  // memory traffic of one tile, so that small work wakes nobody
} program_kernel;

typedef struct program {
  int slice_count;
  program_slice *slices;
  int kernel_count;
  program_kernel *kernels;  // in order; each may depend on those before it
} program;

#endif
