// Multiplies f32 matrices that are so small or thin that a library would still be packing its operands when the product
// is done. Internal to gemm.
//
// Those that lie in caches near by go to gemm_near.h with AVX-512. Small ones keep a block of sums in registers and
// read both sides where they lie. Thin ones, of a matrix and a few vectors as long as its rows, read the matrix once,
// row by row.
#ifndef HEDDLE_LIB_GEMM_SMALL_H_
#define HEDDLE_LIB_GEMM_SMALL_H_

#include "lib/gemm_matrix.h"

// As gemm_product, of f32.
typedef void (*gemm_small_fn)(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                              const gemm_sums *sums);

// What multiplies matrices of these sizes; null if a library does that better, or if this machine lacks instructions.
gemm_small_fn gemm_small_product(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs);

#endif
