// Mathematical functions of f64 as straight-line arithmetic, for scalars and vectors alike, in the layer of approx.h.
//
// Bounds are in units in the last place (ULP) of the exact f64 result, measured by target/math_wide_test.c against the
// C library's long double functions. Special values are as in approx.h. What CPUs do not have here calls the C library,
// lane by lane (expand_math.c). No operation of HLO is exp2, log2 or log10.
#ifndef HEDDLE_LOWER_APPROX_WIDE_H_
#define HEDDLE_LOWER_APPROX_WIDE_H_

#include "lower/approx.h"

MlirValue approx_wide_exp(approx *a, MlirValue x);                 // 1 ULP
MlirValue approx_wide_expm1(approx *a, MlirValue x);               // 2 ULP
MlirValue approx_wide_log(approx *a, MlirValue x);                 // 1 ULP
MlirValue approx_wide_log1p(approx *a, MlirValue x);               // 2 ULP
MlirValue approx_wide_sinh(approx *a, MlirValue x);                // 3 ULP
MlirValue approx_wide_cosh(approx *a, MlirValue x);                // 2 ULP
MlirValue approx_wide_tanh(approx *a, MlirValue x);                // 3 ULP, never beyond 1
MlirValue approx_wide_asinh(approx *a, MlirValue x);               // 3 ULP
MlirValue approx_wide_acosh(approx *a, MlirValue x);               // 3 ULP
MlirValue approx_wide_atanh(approx *a, MlirValue x);               // 3 ULP
MlirValue approx_wide_atan(approx *a, MlirValue x);                // 2 ULP
MlirValue approx_wide_atan2(approx *a, MlirValue y, MlirValue x);  // 2 ULP
MlirValue approx_wide_asin(approx *a, MlirValue x);                // 3 ULP
MlirValue approx_wide_acos(approx *a, MlirValue x);                // 3 ULP

// Arguments from 2^20 on are the C library's, where there is one.
MlirValue approx_wide_sin(approx *a, MlirValue x);  // 1 ULP
MlirValue approx_wide_cos(approx *a, MlirValue x);  // 1 ULP
MlirValue approx_wide_tan(approx *a, MlirValue x);  // 3 ULP

// For machines without a C library; they want fused multiply-adds.
MlirValue approx_wide_pow(approx *a, MlirValue x, MlirValue y);  // 2 ULP
MlirValue approx_wide_cbrt(approx *a, MlirValue x);              // 1 ULP
MlirValue approx_wide_erf(approx *a, MlirValue x);               // 2 ULP, never beyond 1
// r + rest + quadrant pi/2 for |x| >= 2^20, |r| <= pi/4; of the quadrant (i64) only the two low bits count.
void approx_wide_large_angle(approx *a, MlirValue x, MlirValue *r, MlirValue *rest, MlirValue *quadrant);

#endif
