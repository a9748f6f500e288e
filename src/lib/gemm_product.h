// Multiplies two tiles on the calling thread. Internal to gemm.
#ifndef HEDDLE_LIB_GEMM_PRODUCT_H_
#define HEDDLE_LIB_GEMM_PRODUCT_H_

#include "lib/gemm_matrix.h"

// Loads the library that tiles of a product of so many multiplications may be given to; before they are.
heddle_status gemm_product_need(work_type w, double multiplications);

// sums [rows, columns] = lhs [rows, depth] · rhs [depth, columns]; depth > 0. False when a library has no memory.
bool gemm_product(work_type w, const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                  const gemm_sums *sums);

#endif
