// Mathematical functions of f32 as straight-line arithmetic, for scalars and vectors alike.
//
// Each function is written once against this small layer; the types of its argument decide what is built. Bounds are in
// units in the last place (ULP) of the exact f32 result, measured by expand_math_test.c. Special values (NaN,
// infinities, signed zeros) are as C's Annex F has them; subnormal arguments and results are exact to the same bounds,
// nothing is flushed. Coefficients come from scripts/fit_math.py.
#ifndef HEDDLE_LOWER_APPROX_H_
#define HEDDLE_LOWER_APPROX_H_

#include "emit/ir_builder.h"

typedef struct approx {
  ir_builder *b;
  MlirType f32, i32, f64, i64;  // shaped like the argument
  bool fma;                     // the target multiplies and adds with one rounding
  bool has_libm;                // the C library can be called
  bool narrow;                  // the result will be rounded to bf16 or f16: 2^-12 relative is enough
} approx;

// For functions of values shaped like x (f32, f64 or a vector of one).
approx approx_begin(ir_builder *b, MlirValue x, bool fma, bool narrow);

// --- the layer. Types follow the operands; constants name theirs.
MlirValue approx_f32(approx *a, double v);
MlirValue approx_f64(approx *a, double v);
MlirValue approx_i32(approx *a, uint32_t v);
MlirValue approx_i64(approx *a, uint64_t v);
MlirValue approx_add(approx *a, MlirValue x, MlirValue y);  // floats
MlirValue approx_sub(approx *a, MlirValue x, MlirValue y);
MlirValue approx_mul(approx *a, MlirValue x, MlirValue y);
MlirValue approx_div(approx *a, MlirValue x, MlirValue y);
MlirValue approx_fma(approx *a, MlirValue x, MlirValue y, MlirValue z);  // x * y + z; rounds once or twice
MlirValue approx_negate(approx *a, MlirValue x);
MlirValue approx_abs(approx *a, MlirValue x);
MlirValue approx_sqrt(approx *a, MlirValue x);
MlirValue approx_copysign(approx *a, MlirValue magnitude, MlirValue sign);
MlirValue approx_int(approx *a, const char *op, MlirValue x, MlirValue y);  // op without "arith.": "addi", "shli", …
MlirValue approx_bits(approx *a, MlirValue x);                              // float -> integer of its width
MlirValue approx_float(approx *a, MlirValue bits);                          // integer -> float of its width
MlirValue approx_widen(approx *a, MlirValue x);                             // f32 -> f64
MlirValue approx_round(approx *a, MlirValue x);                             // f64 -> f32
MlirValue approx_compare(approx *a, const char *predicate, MlirValue x, MlirValue y);
// coefficients[0] + coefficients[1] x + …, by Horner's rule; x: f32 or f64.
MlirValue approx_polynomial(approx *a, MlirValue x, const double *coefficients, int count);
// The larger of x and low; NaN stays NaN.
MlirValue approx_at_least(approx *a, MlirValue x, double low);
// Within [low, high]; NaN stays NaN.
MlirValue approx_clamp(approx *a, MlirValue x, double low, double high);
// A constant of x's own type (f32 or f64).
MlirValue approx_like(approx *a, MlirValue x, double v);

// --- functions of f32
MlirValue approx_exp(approx *a, MlirValue x);                 // 2 ULP; narrow: 2^-16 relative
MlirValue approx_exp2(approx *a, MlirValue x);                // 1 ULP
MlirValue approx_expm1(approx *a, MlirValue x);               // 3 ULP; narrow: 2^-16 relative
MlirValue approx_log(approx *a, MlirValue x);                 // 2 ULP
MlirValue approx_log1p(approx *a, MlirValue x);               // 3 ULP
MlirValue approx_log2(approx *a, MlirValue x);                // 1 ULP
MlirValue approx_log10(approx *a, MlirValue x);               // 1 ULP
MlirValue approx_pow(approx *a, MlirValue x, MlirValue y);    // 1 ULP
MlirValue approx_cbrt(approx *a, MlirValue x);                // 1 ULP
MlirValue approx_sin(approx *a, MlirValue x);                 // 1 ULP for every argument, however large
MlirValue approx_cos(approx *a, MlirValue x);                 // 1 ULP, likewise
MlirValue approx_tan(approx *a, MlirValue x);                 // 1 ULP, likewise
MlirValue approx_asin(approx *a, MlirValue x);                // 1 ULP
MlirValue approx_acos(approx *a, MlirValue x);                // 1 ULP
MlirValue approx_atan(approx *a, MlirValue x);                // 1 ULP
MlirValue approx_atan2(approx *a, MlirValue y, MlirValue x);  // 1 ULP
MlirValue approx_sinh(approx *a, MlirValue x);                // 1 ULP
MlirValue approx_cosh(approx *a, MlirValue x);                // 1 ULP
MlirValue approx_tanh(approx *a, MlirValue x);                // 2 ULP, never beyond 1; narrow: 2^-13 relative
MlirValue approx_asinh(approx *a, MlirValue x);               // 1 ULP
MlirValue approx_acosh(approx *a, MlirValue x);               // 1 ULP
MlirValue approx_atanh(approx *a, MlirValue x);               // 1 ULP
MlirValue approx_erf(approx *a, MlirValue x);                 // 6 ULP, never beyond 1; narrow: 2^-14 relative

// --- what f32 and f64 share
// x mod y as C's fmod has it, exact; wants fused multiply-adds.
MlirValue approx_remainder(approx *a, MlirValue x, MlirValue y);

// Log's special values: -inf at 0, NaN below and for NaN, inf at inf; else the result.
MlirValue approx_log_specials(approx *a, MlirValue x, MlirValue result);

// Whether the condition holds in any lane: i1.
MlirValue approx_any_lane(approx *a, MlirValue condition);
MlirOperation approx_module(ir_builder *b);  // that the builder's block is in
// Of a function that takes values of the type: a scalar's has the name itself, others have their dims behind it.
const char *approx_function_name(approx *a, const char *name, MlirType type);
// Of a number of quarter turns (i64; only the two low bits count): whether it is odd; the sign bit of quadrants 2 and
// 3, put onto `v` (f64).
MlirValue approx_is_odd(approx *a, MlirValue quadrant);
MlirValue approx_with_quadrant_sign(approx *a, MlirValue v, MlirValue quadrant);

// --- shared cores: f64 arithmetic that serves f32 results
MlirValue approx_exp2_64(approx *a, MlirValue y);  // 2^y, |y| <= 1000; relative error 2^-40
MlirValue approx_log_64(approx *a, MlirValue x,
                        double per_octave);  // log x for normal x > 0, in the unit whose log 2 is given
MlirValue approx_atan2_64(approx *a, MlirValue y, MlirValue x);  // y, x: f64; NaN in, NaN out

#endif
