// Multiplies two tiles on the calling thread. Internal to gemm.
#ifndef HEDDLE_LIB_GEMM_PRODUCT_H_
#define HEDDLE_LIB_GEMM_PRODUCT_H_

#include "lib/gemm_matrix.h"

// sums [rows, columns] = lhs [rows, depth] · rhs [depth, columns]; depth > 0. False when a library has no memory.
bool gemm_product(work_type w, const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                  const gemm_sums *sums);

#endif
