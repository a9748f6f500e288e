// Matrices of a batch in the form LAPACK wants: column-major, in double or double complex. Internal to eval.
#ifndef HEDDLE_EVAL_LINEAR_ALGEBRA_H_
#define HEDDLE_EVAL_LINEAR_ALGEBRA_H_

#include "eval/interpreter.h"
#include "eval/wide.h"

// Matrix number `index` of an array whose last dims are [rows, columns], widened and turned to columns: element (r, c)
// goes to to[c * rows + r]. Vectors are matrices of one column.
void linear_algebra_load(const value *v, int64_t index, int64_t rows, int64_t columns, void *to);
// The way back; rounds to the array's type.
void linear_algebra_store(value *v, int64_t index, int64_t rows, int64_t columns, const void *from);

// How a triangular system is to be solved.
typedef struct triangular_solve {
  bool left, lower, unit;  // a x = b or x a = b; a's triangle; whether its diagonal is taken for ones
  transpose_kind transpose;
} triangular_solve;

// Solves in place of b [rows, columns], whose right side is there on entry. The other triangle of a is not read, nor
// its diagonal when it is taken for ones; a division by zero gives what it gives.
void linear_algebra_solve(const triangular_solve *how, bool is_complex, int64_t rows, int64_t columns, const void *a,
                          void *b);

// Cholesky's factor in place of a [n, n], of which only one triangle is read and written. 0, or the number, from 1, of
// the first pivot that is not positive; what comes after it is not done. NaN pivots are passed over.
int linear_algebra_cholesky(bool is_complex, bool lower, int64_t n, void *a);

#endif
