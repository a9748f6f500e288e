// Cholesky's factors of several small real matrices at a time, a matrix in each lane of vectors. Internal to lib.
#ifndef HEDDLE_LIB_CHOLESKY_LANES_H_
#define HEDDLE_LIB_CHOLESKY_LANES_H_

#include "lib/work.h"

// How many at a time, at most LINEAR_ALGEBRA_MOST, 0 if a batch of so many n x n matrices is not for it; and the bytes
// of scratch memory, by 64.
int cholesky_lanes_count(work_type w, int64_t n, int64_t members);
int64_t cholesky_lanes_bytes(int64_t n);

// The lower triangles of `count` matrices, row by row one after the other, in place, as linear_algebra_cholesky does;
// a matrix with a pivot that is not positive is left alone and fails.
void cholesky_lanes_factor(work_type w, int64_t n, int64_t count, void *matrices, void *scratch, bool *fails);

#endif
