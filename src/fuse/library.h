// What library calls are made of: the kind, the arrays as the library sees them, the attributes.
//
// prog/library.h has a struct of what each kind takes; the names of its fields are those here.
#ifndef HEDDLE_FUSE_LIBRARY_H_
#define HEDDLE_FUSE_LIBRARY_H_

#include "base/named_attribute.h"
#include "hlo/array_view.h"
#include "kernel/launch.h"

typedef enum library_kind {
  LIBRARY_NONE,
  LIBRARY_GEMM,
  LIBRARY_CONVOLUTION,
  LIBRARY_FFT,
  LIBRARY_SORT,
  LIBRARY_TOP_K,
  LIBRARY_CONCATENATE,
  LIBRARY_RANDOM,
  LIBRARY_CUSTOM_CALL,
  LIBRARY_COLLECTIVE,
  LIBRARY_TRANSFER,
  LIBRARY_KIND_COUNT
} library_kind;

typedef struct library_call {
  library_kind kind;
  const char *target;         // custom calls, collectives, transfers; else null
  int operand_count;          // leaves of the instruction's operands, in order
  const shape **operands;     // as the library sees them: same elements in the same order, other dims
  const int *operand_leaves;  // which leaf of the instruction's operands each is
  int result_count;           // leaves of the instruction's result, in order
  const shape **results;
  int attribute_count;
  const named_attribute *attributes;
  const computation *comparator;  // LIBRARY_SORT: what has to be called for each pair; null: the attributes say how
} library_call;

// The library that has the instruction, whatever the planner chooses: dot, convolution, fft, sort, …, and fusions of
// kind kCustom that hold a dot or convolution with what follows it (bias, relu), and what of their arrays a dot, or a
// convolution for its kernel, reads (slices). LIBRARY_NONE if none has.
library_kind library_kind_of(const instruction *i);

// The same of the libraries that the target has: none where the host's cannot be called between kernels.
library_kind library_of(const target_description *target, const instruction *i);

// What slices show of an array to a product, or as a kernel to a convolution, which reads it where it lies: also where
// a run says which part it is, if the host calls the libraries and sizes are known. False if that is not to be read by
// strides.
bool library_shows(const target_description *target, const instruction *operand, array_view *out);

const char *library_kind_name(library_kind kind);  // for reasons: "GEMM", "convolution", …

// max(of, 0), either way around.
bool library_is_relu(const instruction *i, const instruction *of);

// Describes the call, in the arena. Leaves are arrays: tokens have no memory and are not counted. HEDDLE_UNIMPLEMENTED
// with op, name and location for forms that the library lacks.
heddle_status library_describe(arena *a, const instruction *i, library_call *out);

#endif
