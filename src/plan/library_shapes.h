// Dots as products of matrices: what library.c and the fusion of small dots ask.
#ifndef HEDDLE_PLAN_LIBRARY_SHAPES_H_
#define HEDDLE_PLAN_LIBRARY_SHAPES_H_

#include "hlo/module.h"

// lhs [batch, m, k] (or [batch, k, m] if transposed), rhs [batch, k, n] (or [batch, n, k]), result [batch, m, n].
typedef struct gemm_form {
  int64_t batch, m, n, k;
  bool transpose_lhs, transpose_rhs;
} gemm_form;

// False if the dot's dims are in no such order: batch dims first on both sides, contracting dims together and in the
// same order.
bool gemm_form_of(const instruction *dot, gemm_form *out);

#endif
