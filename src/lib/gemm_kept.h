// Matrix products of f32 whose right side is the same in every call: it is packed once. Of a few dozen or hundred rows
// into the strips that gemm_stream or gemm_strips multiplies; of fewer into the form in which oneDNN's convolutions
// want their kernels, and the product is a convolution of windows of one element.
//
// A product of few rows otherwise takes as long to pack its right side as to multiply, and one of a hundred rows an
// eighth of its time.
//
// Strips multiply to the same bits as the right side itself, so that they are made by the second call: who loads a
// program to run it once has its constants neither read twice nor copied.
#ifndef HEDDLE_LIB_GEMM_KEPT_H_
#define HEDDLE_LIB_GEMM_KEPT_H_

#include "lib/gemm.h"

typedef struct gemm_kept gemm_kept;

// Whether that is expected to be sooner than gemm_plan_execute for calls like this one, which the plan was made of.
bool gemm_kept_pays(const lib_call *call, const gemm_plan *plan);

// `rhs` is the data of the calls' operand 1, the same in all of them; the plan must outlive the result. Null in *out if
// oneDNN has no way; else to be released. HEDDLE_OUT_OF_MEMORY.
heddle_status gemm_kept_make(arena *a, const gemm_plan *plan, int threads, const void *rhs, gemm_kept **out);
void gemm_kept_release(gemm_kept *k);

// Bytes of scratch memory of a call.
int64_t gemm_kept_scratch(const gemm_kept *k);

// As gemm_plan_execute, from any number of threads at a time.
heddle_status gemm_kept_execute(gemm_kept *k, const lib_call *call);

#endif
