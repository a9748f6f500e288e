// Computes Cholesky factors and solves triangular systems for batches of matrices, and converts matrices to LAPACK's
// columns and back.
#ifndef HEDDLE_LIB_LINEAR_ALGEBRA_H_
#define HEDDLE_LIB_LINEAR_ALGEBRA_H_

#include "lib/work.h"

enum { LINEAR_ALGEBRA_MOST = 8 };  // matrices factored at a time

// What matrices of elements of a type are computed in: the type itself, as JAX does on a CPU, or float for narrower
// ones.
work_type linear_algebra_type(dtype t);

// Matrix number `index` of an array whose last dims are [rows, columns], in the type above and turned to columns:
// element (r, c) goes to to[c * rows + r]. Vectors are matrices of one column.
void linear_algebra_load(const lib_array *a, int64_t index, int64_t rows, int64_t columns, void *to);
// The way back; rounds to the array's type.
void linear_algebra_store(const lib_array *a, int64_t index, int64_t rows, int64_t columns, const void *from);

typedef enum linear_algebra_form {
  LINEAR_ALGEBRA_PLAIN,
  LINEAR_ALGEBRA_TRANSPOSED,
  LINEAR_ALGEBRA_ADJOINT,
} linear_algebra_form;

// How a triangular system is to be solved.
typedef struct linear_algebra_system {
  bool left, lower, unit;  // op(a) x = b or x op(a) = b; a's triangle; whether its diagonal is taken for ones
  linear_algebra_form form;
} linear_algebra_system;

// Solves in place of b [rows, columns], whose right side is there on entry; row by row and dense, of one of the types
// above, as is a. The other triangle of a is not read, nor its diagonal when it is taken for ones; a division by zero
// gives what it gives.
void linear_algebra_solve(const linear_algebra_system *how, work_type w, int64_t rows, int64_t columns, const void *a,
                          void *b);

// Cholesky's factor in place of a [n, n], row by row, of which only one triangle is read and written. 0, or the number,
// from 1, of the first pivot that is not positive; what comes after it is not done. NaN pivots are passed over.
int linear_algebra_cholesky(work_type w, bool lower, int64_t n, void *a);

// The same of several matrices of a batch at a time: how many (1 where that is no quicker), the bytes of scratch memory
// for it, and up to that many, one after the other; failed[k] is what linear_algebra_cholesky gives for matrix k.
int64_t linear_algebra_cholesky_group(work_type w, int64_t n, int64_t members);
int64_t linear_algebra_cholesky_bytes(work_type w, int64_t n, int64_t members);
void linear_algebra_cholesky_many(work_type w, bool lower, int64_t n, int64_t group, int64_t count, void *matrices,
                                  void *scratch, int *failed);

// Routines: heddle.cholesky {lower} of [..., n, n], all NaN where there is no factor; heddle.triangular_solve
// {left_side, lower, unit_diagonal, transpose_a: 0, 1 or 2 for the adjoint} of a and b. The members of the batch are
// shared out among threads.
heddle_status linear_algebra_cholesky_call(const lib_call *call);
int64_t linear_algebra_cholesky_scratch(const lib_call *call);
heddle_status linear_algebra_solve_call(const lib_call *call);
int64_t linear_algebra_solve_scratch(const lib_call *call);

#endif
