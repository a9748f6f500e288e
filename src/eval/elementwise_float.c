// Elementwise operations on real floats, in double; the C library's functions are within an ulp of double, which is far
// below half an ulp of anything narrower. Its cube root is not, and is taken of long double's.
#include "eval/elementwise.h"

#include <math.h>
#include <string.h>

// NaN if either is; +0 is larger than -0.
static inline double maximum(double x, double y) {
  if (isnan(x) || isnan(y)) return x + y;
  if (x == y) return signbit(x) ? y : x;
  return x > y ? x : y;
}

static inline double minimum(double x, double y) {
  if (isnan(x) || isnan(y)) return x + y;
  if (x == y) return signbit(x) ? x : y;
  return x < y ? x : y;
}

// Keeps NaN and the sign of zero.
static inline double sign(double x) { return isnan(x) || x == 0 ? x : copysign(1, x); }

// The order of totalOrder in IEEE 754: -NaN < -infinity < … < -0 < +0 < … < infinity < NaN, as integers.
static inline int64_t total_order(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

#define UNARY(name, expression)                                                                             \
  static void float_##name(const elementwise_call *call, int64_t count, void *out, const void *const *in) { \
    (void)call;                                                                                             \
    const double *xs = in[0];                                                                               \
    double *results = out;                                                                                  \
    for (int64_t k = 0; k < count; k++) {                                                                   \
      const double x = xs[k];                                                                               \
      results[k] = (expression);                                                                            \
    }                                                                                                       \
  }

#define BINARY(name, result_type, expression)                                                               \
  static void float_##name(const elementwise_call *call, int64_t count, void *out, const void *const *in) { \
    (void)call;                                                                                             \
    const double *xs = in[0], *ys = in[1];                                                                  \
    result_type *results = out;                                                                             \
    for (int64_t k = 0; k < count; k++) {                                                                   \
      const double x = xs[k], y = ys[k];                                                                    \
      results[k] = (expression);                                                                            \
    }                                                                                                       \
  }

UNARY(abs, fabs(x))
UNARY(acos, acos(x))
UNARY(acosh, acosh(x))
UNARY(asin, asin(x))
UNARY(asinh, asinh(x))
UNARY(atan, atan(x))
UNARY(atanh, atanh(x))
UNARY(cbrt, (double)cbrtl(x))
UNARY(ceil, ceil(x))
UNARY(cos, cos(x))
UNARY(cosh, cosh(x))
UNARY(erf, erf(x))
UNARY(exp, exp(x))
UNARY(expm1, expm1(x))
UNARY(floor, floor(x))
UNARY(imag, ((void)x, 0.0))
UNARY(log, log(x))
UNARY(log1p, log1p(x))
UNARY(logistic, 1 / (1 + exp(-x)))
UNARY(negate, -x)
UNARY(real, x)
UNARY(round_away, round(x))
UNARY(round_even, rint(x))
UNARY(rsqrt, 1 / sqrt(x))
UNARY(sign, sign(x))
UNARY(sin, sin(x))
UNARY(sinh, sinh(x))
UNARY(sqrt, sqrt(x))
UNARY(tan, tan(x))
UNARY(tanh, tanh(x))
BINARY(add, double, x + y)
BINARY(atan2, double, atan2(x, y))
BINARY(complex, double complex, compute_complex(x, y))
BINARY(divide, double, x / y)
BINARY(maximum, double, maximum(x, y))
BINARY(minimum, double, minimum(x, y))
BINARY(multiply, double, x *y)
BINARY(power, double, pow(x, y))
BINARY(remainder, double, fmod(x, y))
BINARY(subtract, double, x - y)
BINARY(equal, int64_t, x == y)
BINARY(not_equal, int64_t, x != y)
BINARY(less, int64_t, x < y)
BINARY(less_or_equal, int64_t, x <= y)
BINARY(greater, int64_t, x > y)
BINARY(greater_or_equal, int64_t, x >= y)
BINARY(total_equal, int64_t, total_order(x) == total_order(y))
BINARY(total_not_equal, int64_t, total_order(x) != total_order(y))
BINARY(total_less, int64_t, total_order(x) < total_order(y))
BINARY(total_less_or_equal, int64_t, total_order(x) <= total_order(y))
BINARY(total_greater, int64_t, total_order(x) > total_order(y))
BINARY(total_greater_or_equal, int64_t, total_order(x) >= total_order(y))

static void float_compare(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  static const elementwise_kernel partial[] = {
      [COMPARE_EQ] = float_equal,   [COMPARE_NE] = float_not_equal,     [COMPARE_GE] = float_greater_or_equal,
      [COMPARE_GT] = float_greater, [COMPARE_LE] = float_less_or_equal, [COMPARE_LT] = float_less,
  };
  static const elementwise_kernel total[] = {
      [COMPARE_EQ] = float_total_equal,
      [COMPARE_NE] = float_total_not_equal,
      [COMPARE_GE] = float_total_greater_or_equal,
      [COMPARE_GT] = float_total_greater,
      [COMPARE_LE] = float_total_less_or_equal,
      [COMPARE_LT] = float_total_less,
  };
  const hlo_attributes *attributes = call->instruction->attributes;
  const elementwise_kernel *kernels = attributes->compare_type == COMPARISON_TOTAL_ORDER ? total : partial;
  kernels[attributes->direction](call, count, out, in);
}

static void float_is_finite(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  (void)call;
  const double *xs = in[0];
  int64_t *results = out;
  for (int64_t k = 0; k < count; k++) results[k] = isfinite(xs[k]);
}

static void float_clamp(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  (void)call;
  const double *lows = in[0], *xs = in[1], *highs = in[2];
  double *results = out;
  for (int64_t k = 0; k < count; k++) results[k] = minimum(maximum(lows[k], xs[k]), highs[k]);
}

const elementwise_kernel elementwise_float[HLO_OPCODE_COUNT] = {
    [HLO_ABS] = float_abs,
    [HLO_ACOS] = float_acos,
    [HLO_ACOSH] = float_acosh,
    [HLO_ADD] = float_add,
    [HLO_ASIN] = float_asin,
    [HLO_ASINH] = float_asinh,
    [HLO_ATAN] = float_atan,
    [HLO_ATAN2] = float_atan2,
    [HLO_ATANH] = float_atanh,
    [HLO_CBRT] = float_cbrt,
    [HLO_CEIL] = float_ceil,
    [HLO_CLAMP] = float_clamp,
    [HLO_COMPARE] = float_compare,
    [HLO_COMPLEX] = float_complex,
    [HLO_CONVERT] = elementwise_convert_float,
    [HLO_COSH] = float_cosh,
    [HLO_COSINE] = float_cos,
    [HLO_DIVIDE] = float_divide,
    [HLO_ERF] = float_erf,
    [HLO_EXPONENTIAL] = float_exp,
    [HLO_EXPONENTIAL_MINUS_ONE] = float_expm1,
    [HLO_FLOOR] = float_floor,
    [HLO_IMAG] = float_imag,
    [HLO_IS_FINITE] = float_is_finite,
    [HLO_LOG] = float_log,
    [HLO_LOG_PLUS_ONE] = float_log1p,
    [HLO_LOGISTIC] = float_logistic,
    [HLO_MAXIMUM] = float_maximum,
    [HLO_MINIMUM] = float_minimum,
    [HLO_MULTIPLY] = float_multiply,
    [HLO_NEGATE] = float_negate,
    [HLO_POWER] = float_power,
    [HLO_REAL] = float_real,
    [HLO_REDUCE_PRECISION] = elementwise_reduce_precision,
    [HLO_REMAINDER] = float_remainder,
    [HLO_ROUND_NEAREST_AFZ] = float_round_away,
    [HLO_ROUND_NEAREST_EVEN] = float_round_even,
    [HLO_RSQRT] = float_rsqrt,
    [HLO_SIGN] = float_sign,
    [HLO_SINE] = float_sin,
    [HLO_SINH] = float_sinh,
    [HLO_SQRT] = float_sqrt,
    [HLO_SUBTRACT] = float_subtract,
    [HLO_TAN] = float_tan,
    [HLO_TANH] = float_tanh,
};
