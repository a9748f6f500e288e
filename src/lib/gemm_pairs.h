// Products of integers of up to sixteen bits, two multiplications of a column's depth at a time. Internal to gemm.
//
// Both sides are widened to sixteen bits. The left one keeps its rows, filled up to an even depth; the right one is
// packed in panels of columns, in which the two elements of a pair lie side by side. A pair's products are added up in
// 32 bits and the sums modulo 2^32, so that nothing is rounded and nothing saturates.
#ifndef HEDDLE_LIB_GEMM_PAIRS_H_
#define HEDDLE_LIB_GEMM_PAIRS_H_

#include "lib/gemm_matrix.h"

enum { GEMM_PAIRS_DEPTH = 512 };  // of a tile, at most; its sides have no more elements than that either

// `rows` pieces of `columns` elements of an array, `stride` apart.
typedef struct gemm_piece {
  const lib_array *array;
  int64_t first, rows, columns, stride;
} gemm_piece;

// Elements of a row of the left side: even, and more than `depth`.
int64_t gemm_pairs_leading(int64_t depth);

// Widens a left side, [rows, depth] or transposed, to rows of gemm_pairs_leading(depth) elements.
void gemm_pairs_load_lhs(const gemm_piece *from, bool is_transposed, int16_t *to);

// Makes pairs of what was loaded by somebody else: zeros behind rows of odd depth.
void gemm_pairs_fill_lhs(int64_t rows, int64_t depth, int16_t *to);

// Packs a right side, [depth, columns] or transposed. Room: 32 bits for each pair of as many columns as panels have.
void gemm_pairs_load_rhs(const gemm_piece *from, bool is_transposed, int16_t *to);

// As gemm_product, of sides that were loaded; sums are of 32 bits.
typedef void (*gemm_pairs_fn)(const int64_t size[static 3], const int16_t *lhs, const int16_t *rhs,
                              const gemm_sums *sums);

// Null if this machine has no instructions for it.
gemm_pairs_fn gemm_pairs_product(void);

#endif
