// Elementwise operations on complex numbers, in double: the C library's functions where it has them, definitions that
// keep small results accurate where it has not.
#include "eval/elementwise.h"

#include <math.h>

// The C library gives zero at -infinity and infinity at infinity whatever the angle; XLA has no value where the angle
// is infinite or none, and StableHLO's tests have none at an infinite one, so NaN.
static double complex of_angle(double angle, double complex value) {
  return isfinite(angle) ? value : compute_complex(NAN, NAN);
}

static double complex exp_of(double complex z) { return of_angle(cimag(z), cexp(z)); }

// At infinity the angle does not count.
static double complex tanh_of(double complex z) { return isinf(creal(z)) ? ctanh(z) : of_angle(cimag(z), ctanh(z)); }

static double complex tan_of(double complex z) {
  const double complex turned = tanh_of(compute_complex(-cimag(z), creal(z)));
  return compute_complex(cimag(turned), -creal(turned));
}

// Inverse functions of a NaN have no value unless the other part is infinite; the C library has one on the axes.
static double complex inverse_of(double complex z, double complex value) {
  const bool has_none = isnan(creal(z) + cimag(z)) && !isinf(creal(z)) && !isinf(cimag(z));
  return has_none ? compute_complex(NAN, NAN) : value;
}

static double complex expm1_of(double complex z) {
  double x = creal(z), y = cimag(z);
  if (y == 0) return compute_complex(expm1(x), y);
  // Where e^x may overflow and its product with the cosine does not, one less is no other number.
  if (x > 700) return exp_of(z);
  double half_sine = sin(y / 2);
  return of_angle(y, compute_complex(expm1(x) * cos(y) - 2 * half_sine * half_sine, cimag(cexp(z))));
}

// log|1 + z| is half of log1p(x (2 + x) + y²), whose terms may cancel near the unit circle around -1: long double keeps
// what is left. Near -1 itself 1 + x is exact, and y² may not be there any more.
static double complex log1p_of(double complex z) {
  long double x = creall(z), y = cimagl(z);
  double angle = atan2((double)y, 1 + (double)x);
  bool is_near_minus_one = fabsl(1 + x) < 0.5L && fabsl(y) < 0.5L;
  if (fabsl(x) > 3 || fabsl(y) > 3 || is_near_minus_one)
    return compute_complex(creal(clog(compute_complex(1 + (double)x, (double)y))), angle);
  return compute_complex((double)(log1pl(x * (2 + x) + y * y) / 2), angle);
}

static double complex sign_of(double complex z) {
  if (z == 0) return 0;
  // A part of it where the modulus may overflow, a multiple where that may have few bits.
  const double high = fmax(fabs(creal(z)), fabs(cimag(z)));
  const double scale = high > 0x1p1022 ? 0x1p-2 : high < 0x1p-900 ? 0x1p100 : 1;
  z = compute_complex(creal(z) * scale, cimag(z) * scale);
  double modulus = hypot(creal(z), cimag(z));
  return compute_complex(creal(z) / modulus, cimag(z) / modulus);
}

// e^(y log x) in long double, since what y log x is wrong by makes the result wrong by as many times its size. The
// product is the textbook's. Of x = 0 there is a pole on the left, without an angle.
static double complex power_of(double complex x, double complex y) {
  if (y == 0) return 1;
  if (x == 0) {
    if (creal(y) > 0) return 0;
    return compute_complex(creal(y) < 0 && isfinite(cimag(y)) ? INFINITY : NAN, NAN);
  }
  const long double complex l = clogl(x);
  const long double a = creall(l), b = cimagl(l), c = creal(y), d = cimag(y);
  const long double size = a * c - b * d, angle = a * d + b * c;
  if ((double)size == -INFINITY) return 0;
  if (isnan(size) || !isfinite((double)angle)) return compute_complex(NAN, NAN);
  // Between the logarithms of the ends of double, long double's exponentials neither overflow nor vanish.
  const long double power = expl(fminl(fmaxl(size, -2000), 2000));
  return compute_complex((double)(power * cosl(angle)), (double)(power * sinl(angle)));
}

// In long double, as powers are.
static double complex cbrt_of(double complex z) {
  if (isnan(creal(z)) || isnan(cimag(z))) return compute_complex(NAN, NAN);
  if (z == 0) return z;
  const long double complex root = cexpl(clogl(z) / 3);
  return compute_complex((double)creall(root), (double)cimagl(root));
}

// e^-z vanishes at infinity whatever the angle.
static double complex logistic_of(double complex z) {
  return creal(z) == INFINITY ? compute_complex(1, 0) : 1 / (1 + exp_of(-z));
}

// -i log((x + iy) / sqrt(x² + y²)); products with i are turns, since 0 times an infinity would be NaN.
static double complex atan2_of(double complex y, double complex x) {
  const double complex direction = compute_complex(creal(x) - cimag(y), cimag(x) + creal(y));
  const double complex l = clog(direction / csqrt(compute_product(x, x) + compute_product(y, y)));
  return compute_complex(cimag(l), -creal(l));
}

// The order of StableHLO: by real part, then by imaginary part; what compares with NaN is not less.
static bool is_less(double complex x, double complex y) {
  return creal(x) < creal(y) || (creal(x) == creal(y) && cimag(x) < cimag(y));
}

static double complex maximum(double complex x, double complex y) { return is_less(y, x) ? x : y; }
static double complex minimum(double complex x, double complex y) { return is_less(x, y) ? x : y; }

#define UNARY(name, result_type, expression)                                                                  \
  static void complex_##name(const elementwise_call *call, int64_t count, void *out, const void *const *in) { \
    (void)call;                                                                                               \
    const double complex *xs = in[0];                                                                         \
    result_type *results = out;                                                                               \
    for (int64_t k = 0; k < count; k++) {                                                                     \
      const double complex x = xs[k];                                                                         \
      results[k] = (expression);                                                                              \
    }                                                                                                         \
  }

#define BINARY(name, result_type, expression)                                                                 \
  static void complex_##name(const elementwise_call *call, int64_t count, void *out, const void *const *in) { \
    (void)call;                                                                                               \
    const double complex *xs = in[0], *ys = in[1];                                                            \
    result_type *results = out;                                                                               \
    for (int64_t k = 0; k < count; k++) {                                                                     \
      const double complex x = xs[k], y = ys[k];                                                              \
      results[k] = (expression);                                                                              \
    }                                                                                                         \
  }

UNARY(abs, double, hypot(creal(x), cimag(x)))
UNARY(acos, double complex, inverse_of(x, cacos(x)))
UNARY(acosh, double complex, inverse_of(x, cacosh(x)))
UNARY(asin, double complex, inverse_of(x, casin(x)))
UNARY(asinh, double complex, inverse_of(x, casinh(x)))
UNARY(atan, double complex, inverse_of(x, catan(x)))
UNARY(atanh, double complex, inverse_of(x, catanh(x)))
UNARY(cbrt, double complex, cbrt_of(x))
UNARY(cos, double complex, of_angle(creal(x), ccos(x)))
UNARY(cosh, double complex, of_angle(cimag(x), ccosh(x)))
UNARY(exp, double complex, exp_of(x))
UNARY(expm1, double complex, expm1_of(x))
UNARY(imag, double, cimag(x))
UNARY(log, double complex, clog(x))
UNARY(log1p, double complex, log1p_of(x))
UNARY(logistic, double complex, logistic_of(x))
UNARY(negate, double complex, -x)
UNARY(real, double, creal(x))
UNARY(rsqrt, double complex, 1 / csqrt(x))
UNARY(sign, double complex, sign_of(x))
UNARY(sin, double complex, of_angle(creal(x), csin(x)))
UNARY(sinh, double complex, of_angle(cimag(x), csinh(x)))
UNARY(sqrt, double complex, csqrt(x))
UNARY(tan, double complex, tan_of(x))
UNARY(tanh, double complex, tanh_of(x))
BINARY(add, double complex, x + y)
BINARY(atan2, double complex, atan2_of(x, y))
BINARY(divide, double complex, x / y)
BINARY(maximum, double complex, maximum(x, y))
BINARY(minimum, double complex, minimum(x, y))
BINARY(multiply, double complex, compute_product(x, y))
BINARY(power, double complex, power_of(x, y))
BINARY(subtract, double complex, x - y)
BINARY(equal, int64_t, x == y)
BINARY(not_equal, int64_t, x != y)

static void complex_clamp(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  (void)call;
  const double complex *lows = in[0], *xs = in[1], *highs = in[2];
  double complex *results = out;
  for (int64_t k = 0; k < count; k++) results[k] = minimum(maximum(lows[k], xs[k]), highs[k]);
}

// The verifier admits only EQ and NE.
static void complex_compare(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  bool equal = call->instruction->attributes->direction == COMPARE_EQ;
  (equal ? complex_equal : complex_not_equal)(call, count, out, in);
}

const elementwise_kernel elementwise_complex[HLO_OPCODE_COUNT] = {
    [HLO_ABS] = complex_abs,
    [HLO_ACOS] = complex_acos,
    [HLO_ACOSH] = complex_acosh,
    [HLO_ADD] = complex_add,
    [HLO_ASIN] = complex_asin,
    [HLO_ASINH] = complex_asinh,
    [HLO_ATAN] = complex_atan,
    [HLO_ATAN2] = complex_atan2,
    [HLO_ATANH] = complex_atanh,
    [HLO_CBRT] = complex_cbrt,
    [HLO_CLAMP] = complex_clamp,
    [HLO_COMPARE] = complex_compare,
    [HLO_CONVERT] = elementwise_convert_complex,
    [HLO_COSH] = complex_cosh,
    [HLO_COSINE] = complex_cos,
    [HLO_DIVIDE] = complex_divide,
    [HLO_EXPONENTIAL] = complex_exp,
    [HLO_EXPONENTIAL_MINUS_ONE] = complex_expm1,
    [HLO_IMAG] = complex_imag,
    [HLO_LOG] = complex_log,
    [HLO_LOG_PLUS_ONE] = complex_log1p,
    [HLO_LOGISTIC] = complex_logistic,
    [HLO_MAXIMUM] = complex_maximum,
    [HLO_MINIMUM] = complex_minimum,
    [HLO_MULTIPLY] = complex_multiply,
    [HLO_NEGATE] = complex_negate,
    [HLO_POWER] = complex_power,
    [HLO_REAL] = complex_real,
    [HLO_RSQRT] = complex_rsqrt,
    [HLO_SIGN] = complex_sign,
    [HLO_SINE] = complex_sin,
    [HLO_SINH] = complex_sinh,
    [HLO_SQRT] = complex_sqrt,
    [HLO_SUBTRACT] = complex_subtract,
    [HLO_TAN] = complex_tan,
    [HLO_TANH] = complex_tanh,
};
