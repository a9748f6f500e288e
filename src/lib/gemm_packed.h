// Matrix products of integers of up to sixteen bits by packed dot products: one instruction (x86's pmaddwd) multiplies
// pairs of neighbouring elements along the contracting dim and adds the two products. Internal to gemm.
//
// Both sides are widened to sixteen bits. The left one keeps its rows, filled up to an even depth; the right one is
// packed in panels of columns, in which the two elements of a pair lie side by side. A pair's products are added up in
// 32 bits and the sums modulo 2^32, so that nothing is rounded and nothing saturates.
#ifndef HEDDLE_LIB_GEMM_PACKED_H_
#define HEDDLE_LIB_GEMM_PACKED_H_

#include "lib/gemm_matrix.h"

enum { GEMM_PACKED_DEPTH = 512 };  // of a tile, at most; its sides have no more elements than that either

// A slice of an array: `rows` rows of `columns` elements, whose beginnings are `stride` elements apart.
typedef struct gemm_slice {
  const lib_array *array;
  int64_t first, rows, columns, stride;
} gemm_slice;

// Elements of a row of the left side: even, and more than `depth`.
int64_t gemm_packed_leading(int64_t depth);

// Widens a left side, [rows, depth] or transposed, to rows of gemm_packed_leading(depth) elements.
void gemm_packed_load_lhs(const gemm_slice *from, bool is_transposed, int16_t *to);

// Makes pairs of what was loaded by somebody else: zeros behind rows of odd depth.
void gemm_packed_fill_lhs(int64_t rows, int64_t depth, int16_t *to);

// Packs a right side, [depth, columns] or transposed. Room: 32 bits for each pair of as many columns as panels have.
void gemm_packed_load_rhs(const gemm_slice *from, bool is_transposed, int16_t *to);

// As gemm_product, of sides that were loaded; sums are of 32 bits.
typedef void (*gemm_packed_fn)(const int64_t size[static 3], const int16_t *lhs, const int16_t *rhs,
                               const gemm_sums *sums);

// Null if this machine has no instructions for it.
gemm_packed_fn gemm_packed_product(void);

#endif
