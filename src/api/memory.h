// Literals into the memory that kernels see, and back.
//
// Literals are row-major with one element per byte at least; kernels see memory as the shape's layout orders it, with
// s2, s4, u2 and u4 packed (the element with the lower index in the lower bits).
#ifndef HEDDLE_API_MEMORY_H_
#define HEDDLE_API_MEMORY_H_

#include "hlo/literal.h"

// `memory` holds plan_buffer_bytes(s); the literal has the dims of `s`, whose layout decides the order.
void memory_from_literal(const literal *l, const shape *s, void *memory);
void memory_to_literal(const void *memory, const shape *s, literal *l);

// Leaves of a row-major array of these dims only what lies within `sizes` (none above its dim): row-major and dense.
void memory_cut(void *data, size_t element_bytes, int rank, const int64_t *dims, const int64_t *sizes);

#endif
