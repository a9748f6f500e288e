// Converts what callers give into the memory that kernels see, and back.
//
// Callers' arrays are row-major with one element per byte at least (sub-byte integers sign-extended); kernels see
// memory as the shape's layout orders it, with types narrower than a byte packed.
#ifndef HEDDLE_PROG_PROGRAM_LAYOUT_H_
#define HEDDLE_PROG_PROGRAM_LAYOUT_H_

#include "prog/program.h"

// `rows` has program_shape_bytes(s), `memory` program_shape_packed_bytes(s).
void program_layout_pack(const void *rows, const program_shape *s, void *memory);
void program_layout_unpack(const void *memory, const program_shape *s, void *rows);

// Leaves of a row-major array of these dims only what lies within `sizes` (none above its dim): row-major and dense.
void program_layout_cut(void *data, size_t element_bytes, int rank, const int64_t *dims, const int64_t *sizes);

#endif
