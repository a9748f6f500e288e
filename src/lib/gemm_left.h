// Matrix products of f32 whose left side is the same in every call, as a convolution's weights are where features come
// first: l r is (rᵀ lᵀ)ᵀ, so that the left side becomes a right one, which is packed once (gemm_kept.h). What is turned
// round in each call, the right side and the result, is small beside it.
#ifndef HEDDLE_LIB_GEMM_LEFT_H_
#define HEDDLE_LIB_GEMM_LEFT_H_

#include "base/arena.h"
#include "lib/gemm.h"

typedef struct gemm_left gemm_left;

// `lhs` is the data of the calls' operand 0, the same in all of them; `plan` was made of such a call. Null in *out
// where that is not expected to be sooner than gemm_plan_execute; else to be released. HEDDLE_OUT_OF_MEMORY.
heddle_status gemm_left_make(arena *a, const lib_call *call, const gemm_plan *plan, const void *lhs, gemm_left **out);
void gemm_left_release(gemm_left *g);

// Bytes of scratch memory of a call.
int64_t gemm_left_scratch(const gemm_left *g);

// As gemm_plan_execute, from any number of threads at a time.
heddle_status gemm_left_execute(gemm_left *g, const lib_call *call);

#endif
