// The product of two tiles on the calling thread. Internal to gemm.
#ifndef HEDDLE_LIB_GEMM_PRODUCT_H_
#define HEDDLE_LIB_GEMM_PRODUCT_H_

#include "lib/work.h"

// Row-major matrices of work elements; a transposed one lies in memory as its transpose does. Leading dims in elements.
typedef struct gemm_matrix {
  const void *data;
  int64_t leading;
  bool is_transposed;
} gemm_matrix;

typedef struct gemm_sums {
  void *data;
  int64_t leading;
  bool adds;  // to what is there
} gemm_sums;

// sums [rows, columns] = lhs [rows, depth] · rhs [depth, columns]; depth > 0. False when a library has no memory.
bool gemm_product(work_type w, const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                  const gemm_sums *sums);

#endif
