// Multiplies f32 matrices that lie in caches near by, on machines with AVX-512. A library packs both sides, which takes
// as long as a part of such a product; here only sides that lie unfavourably are copied. Internal to gemm.
#ifndef HEDDLE_LIB_GEMM_NEAR_H_
#define HEDDLE_LIB_GEMM_NEAR_H_

#include <stdbool.h>

#include "lib/gemm_matrix.h"

// Whether a product of these rows, columns and depth is better multiplied here than by a library; so are all tiles of
// such a product that have at least five rows and columns. The sides need not be copied or turned beforehand.
bool gemm_near_takes(const int64_t size[static 3]);

// As gemm_product, of f32 and at least one term, on one thread. For machines with AVX-512 only.
void gemm_near_product(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                       const gemm_sums *sums);

#endif
