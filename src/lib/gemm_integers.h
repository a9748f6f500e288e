// Products of integers of 32 and 64 bits, modulo 2^n, by our own vectors. Internal to lib.
#ifndef HEDDLE_LIB_GEMM_INTEGERS_H_
#define HEDDLE_LIB_GEMM_INTEGERS_H_

#include "lib/gemm_matrix.h"
#include "lib/work.h"

// size: rows, columns, depth; `w` is WORK_U32 or WORK_U64. On the calling thread.
void gemm_integers(work_type w, const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                   const gemm_sums *sums);

#endif
