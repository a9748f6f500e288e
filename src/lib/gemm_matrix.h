// Describes where the matrices of a product lie in memory. Internal to gemm.
#ifndef HEDDLE_LIB_GEMM_MATRIX_H_
#define HEDDLE_LIB_GEMM_MATRIX_H_

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

#endif
