// The logarithm of gamma, its derivatives, and Hurwitz's zeta function.
//
// Lanczos' approximation with g = 7 and nine terms gives gamma(z + 1) for z > -1/2:
//   sqrt(2 pi) t^(z + 1/2) exp(-t) a(z),  t = z + g + 1/2,  a(z) = c0 + sum of c_k / (z + k);
// the reflection formulas give the rest. Zeta is the Euler-Maclaurin sum: the first terms of the series, the integral
// of those left, and corrections with Bernoulli numbers.
#include <float.h>
#include <math.h>

#include "stablehlo/build.h"
#include "stablehlo/chlo_math.h"

static const double lanczos_g = 7;
static const double lanczos_base = 0.99999999999980993227684700473478;
static const double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                 771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                 12.507343278686904814458936853,     -0.13857109526572011689554707,
                                 9.984369578019570859563e-6,         1.50563273514931155834e-7};
enum { LANCZOS_TERMS = sizeof lanczos / sizeof *lanczos };

static const double pi = 3.14159265358979323846;

// What lgamma and digamma share.
typedef struct gamma_parts {
  instruction *reflects;  // x < 1/2
  instruction *z;         // x - 1, or -x where it reflects
  instruction *t, *log_t;
  instruction *a, *a_derivative;  // the latter if wanted
} gamma_parts;

static gamma_parts parts_of(lowering *l, instruction *x, bool wants_derivative) {
  gamma_parts p = {.a = build_like(l, x, lanczos_base)};
  p.reflects = build_compare(l, x, build_like(l, x, 0.5), COMPARE_LT);
  instruction *negated = build_unary(l, HLO_NEGATE, x);
  p.z = build_select(l, p.reflects, negated, build_binary(l, HLO_SUBTRACT, x, build_like(l, x, 1)));
  for (int k = 0; k < LANCZOS_TERMS; k++) {
    instruction *divisor = build_binary(l, HLO_ADD, p.z, build_like(l, x, k + 1));
    instruction *term = build_binary(l, HLO_DIVIDE, build_like(l, x, lanczos[k]), divisor);
    p.a = build_binary(l, HLO_ADD, p.a, term);
    if (!wants_derivative) continue;
    instruction *slope = build_unary(l, HLO_NEGATE, build_binary(l, HLO_DIVIDE, term, divisor));
    p.a_derivative = p.a_derivative ? build_binary(l, HLO_ADD, p.a_derivative, slope) : slope;
  }
  // log t = log(g + 1/2) + log1p(z / (g + 1/2)): better than log(t) where log is not quite exact.
  instruction *shift = build_like(l, x, lanczos_g + 0.5);
  p.t = build_binary(l, HLO_ADD, p.z, shift);
  instruction *ratio = build_binary(l, HLO_DIVIDE, p.z, shift);
  instruction *log_ratio = build_unary(l, HLO_LOG_PLUS_ONE, ratio);
  p.log_t = build_binary(l, HLO_ADD, build_like(l, x, log(lanczos_g + 0.5)), log_ratio);
  return p;
}

// log|sin(pi x)|, exactly -infinity for whole x: the distance to the nearest whole number goes into the sine.
static instruction *log_sine(lowering *l, instruction *x) {
  instruction *size = build_unary(l, HLO_ABS, x);
  instruction *part = build_binary(l, HLO_SUBTRACT, size, build_unary(l, HLO_FLOOR, size));
  instruction *rest = build_binary(l, HLO_SUBTRACT, build_like(l, x, 1), part);
  instruction *distance = build_binary(l, HLO_MINIMUM, part, rest);
  instruction *angle = build_binary(l, HLO_MULTIPLY, distance, build_like(l, x, pi));
  return build_unary(l, HLO_LOG, build_unary(l, HLO_SINE, angle));
}

instruction *chlo_lgamma(lowering *l, instruction *x) {
  gamma_parts p = parts_of(l, x, false);
  // (z + 1/2) log t - t, as a product that overflows only where the result does.
  instruction *power = build_binary(l, HLO_ADD, p.z, build_like(l, x, 0.5));
  instruction *quotient = build_binary(l, HLO_DIVIDE, p.t, p.log_t);
  instruction *r = build_binary(l, HLO_MULTIPLY, build_binary(l, HLO_SUBTRACT, power, quotient), p.log_t);
  instruction *head = build_binary(l, HLO_ADD, build_like(l, x, (log(2) + log(pi)) / 2), r);
  instruction *direct = build_binary(l, HLO_ADD, head, build_unary(l, HLO_LOG, p.a));

  // lgamma(x) = log pi - log|sin(pi x)| - lgamma(1 - x); at a pole nothing counts but the sine.
  instruction *sine = log_sine(l, x);
  instruction *difference = build_binary(l, HLO_SUBTRACT, build_like(l, x, log(pi)), sine);
  instruction *reflected = build_binary(l, HLO_SUBTRACT, difference, direct);
  instruction *is_finite = build_unary(l, HLO_IS_FINITE, sine);
  reflected = build_select(l, is_finite, reflected, build_unary(l, HLO_NEGATE, sine));
  instruction *result = build_select(l, p.reflects, reflected, direct);

  instruction *infinity = build_like(l, x, INFINITY);
  instruction *is_infinite = build_compare(l, build_unary(l, HLO_ABS, x), infinity, COMPARE_EQ);
  return build_select(l, is_infinite, infinity, result);
}

// pi cot(pi x) by the part of x in [-1/2, 1/2).
static instruction *pi_cotangent(lowering *l, instruction *x) {
  instruction *nearest = build_unary(l, HLO_FLOOR, build_binary(l, HLO_ADD, x, build_like(l, x, 0.5)));
  instruction *part = build_binary(l, HLO_SUBTRACT, x, nearest);
  instruction *angle = build_binary(l, HLO_MULTIPLY, part, build_like(l, x, pi));
  instruction *cosine = build_unary(l, HLO_COSINE, angle);
  instruction *scaled = build_binary(l, HLO_MULTIPLY, cosine, build_like(l, x, pi));
  return build_binary(l, HLO_DIVIDE, scaled, build_unary(l, HLO_SINE, angle));
}

static instruction *is_whole(lowering *l, instruction *x) {
  return build_compare(l, x, build_unary(l, HLO_FLOOR, x), COMPARE_EQ);
}

instruction *chlo_digamma(lowering *l, instruction *x) {
  gamma_parts p = parts_of(l, x, true);
  // The derivative of Lanczos' formula: log t + a'/a - g/t.
  instruction *slope = build_binary(l, HLO_DIVIDE, p.a_derivative, p.a);
  instruction *rest = build_binary(l, HLO_DIVIDE, build_like(l, x, lanczos_g), p.t);
  instruction *sum = build_binary(l, HLO_ADD, p.log_t, slope);
  instruction *direct = build_binary(l, HLO_SUBTRACT, sum, rest);
  // digamma(x) = digamma(1 - x) - pi cot(pi x)
  instruction *reflected = build_binary(l, HLO_SUBTRACT, direct, pi_cotangent(l, x));
  instruction *result = build_select(l, p.reflects, reflected, direct);
  instruction *is_low = build_compare(l, x, build_like(l, x, 0), COMPARE_LE);
  instruction *at_pole = build_binary(l, HLO_AND, is_low, is_whole(l, x));
  return build_select(l, at_pole, build_like(l, x, NAN), result);
}

// (2k)! / B(2k) for k = 12 ... 1.
static const double bernoulli[] = {-7.1661652561756670113e18,
                                   1.8152105401943546773e17,
                                   -4.5979787224074726105e15,
                                   1.1646782814350067249e14,
                                   -2.950130727918164224e12,
                                   7.47242496e10,
                                   -1.8924375803183791606e9,
                                   47900160.0,
                                   -1209600.0,
                                   30240.0,
                                   -720.0,
                                   12.0};
enum { BERNOULLI_TERMS = sizeof bernoulli / sizeof *bernoulli, SERIES_TERMS = 10 };

// The sum of B(2k) / (2k)! x (x + 1) ... (x + 2k - 2) / a^(2k - 1) over k, by Horner's rule.
static instruction *correction(lowering *l, instruction *x, instruction *a) {
  instruction *square = build_binary(l, HLO_MULTIPLY, a, a);
  instruction *inverse = build_binary(l, HLO_DIVIDE, build_like(l, a, 1), square);
  instruction *sum = build_like(l, a, 1 / bernoulli[0]);
  for (int k = 1; k < BERNOULLI_TERMS; k++) {
    int order = 2 * (BERNOULLI_TERMS - k);
    instruction *low = build_binary(l, HLO_ADD, x, build_like(l, x, order - 1));
    instruction *high = build_binary(l, HLO_ADD, x, build_like(l, x, order));
    instruction *factor = build_binary(l, HLO_MULTIPLY, build_binary(l, HLO_MULTIPLY, low, high), inverse);
    sum = build_binary(l, HLO_ADD, build_binary(l, HLO_MULTIPLY, sum, factor), build_like(l, a, 1 / bernoulli[k]));
  }
  return build_binary(l, HLO_MULTIPLY, sum, build_binary(l, HLO_DIVIDE, x, a));
}

// Where the series has converged before the corrections start they are left out: they might be 0 times infinity.
static instruction *zeta_sum(lowering *l, instruction *x, instruction *q) {
  instruction *power = build_unary(l, HLO_NEGATE, x);
  instruction *one = build_like(l, x, 1);
  instruction *a = q, *term = build_binary(l, HLO_POWER, q, power), *sum = term;
  for (int k = 1; k < SERIES_TERMS; k++) {
    a = build_binary(l, HLO_ADD, a, one);
    term = build_binary(l, HLO_POWER, a, power);
    sum = build_binary(l, HLO_ADD, sum, term);
  }
  a = build_binary(l, HLO_ADD, a, one);
  term = build_binary(l, HLO_POWER, a, power);
  instruction *area = build_binary(l, HLO_MULTIPLY, term, a);
  instruction *integral = build_binary(l, HLO_DIVIDE, area, build_binary(l, HLO_SUBTRACT, x, one));
  instruction *factor = build_binary(l, HLO_ADD, correction(l, x, a), build_like(l, x, 0.5));
  instruction *tail = build_binary(l, HLO_ADD, integral, build_binary(l, HLO_MULTIPLY, term, factor));
  instruction *all = build_binary(l, HLO_ADD, sum, tail);
  double small = (x->shape->dtype == DTYPE_F64 ? DBL_EPSILON : FLT_EPSILON) / 1024;
  instruction *limit = build_binary(l, HLO_MULTIPLY, build_unary(l, HLO_ABS, sum), build_like(l, x, small));
  instruction *converged = build_compare(l, build_unary(l, HLO_ABS, term), limit, COMPARE_LT);
  return build_select(l, converged, sum, all);
}

// Defined for x > 1; +infinity at x = 1. For q <= 0 the power is real for whole x only; the poles at whole q are
// approached from both sides by +infinity if x is even, and have no limit otherwise.
instruction *chlo_zeta(lowering *l, instruction *x, instruction *q) {
  instruction *zero = build_like(l, x, 0), *one = build_like(l, x, 1);
  instruction *nan = build_like(l, x, NAN), *infinity = build_like(l, x, INFINITY);
  instruction *result = zeta_sum(l, x, q);
  instruction *is_low = build_compare(l, q, zero, COMPARE_LE);
  instruction *no_power = build_binary(l, HLO_AND, is_low, build_unary(l, HLO_NOT, is_whole(l, x)));
  instruction *undefined = build_binary(l, HLO_OR, build_compare(l, x, one, COMPARE_LT), no_power);
  result = build_select(l, undefined, nan, result);
  instruction *at_pole = build_binary(l, HLO_AND, is_low, is_whole(l, q));
  instruction *rest = build_binary(l, HLO_REMAINDER, x, build_like(l, x, 2));
  instruction *is_even = build_compare(l, rest, zero, COMPARE_EQ);
  result = build_select(l, at_pole, build_select(l, is_even, infinity, nan), result);
  return build_select(l, build_compare(l, x, one, COMPARE_EQ), infinity, result);
}

// (-1)^(n + 1) n! zeta(n + 1, x) for whole n > 0.
instruction *chlo_polygamma(lowering *l, instruction *n, instruction *x) {
  instruction *zero = build_like(l, x, 0), *one = build_like(l, x, 1), *two = build_like(l, x, 2);
  instruction *parity = build_binary(l, HLO_REMAINDER, n, two);
  instruction *sign = build_binary(l, HLO_SUBTRACT, build_binary(l, HLO_MULTIPLY, parity, two), one);
  instruction *next = build_binary(l, HLO_ADD, n, one);
  instruction *factorial = build_unary(l, HLO_EXPONENTIAL, chlo_lgamma(l, next));
  instruction *size = build_binary(l, HLO_MULTIPLY, factorial, chlo_zeta(l, next, x));
  instruction *higher = build_binary(l, HLO_MULTIPLY, sign, size);
  instruction *is_first = build_compare(l, n, zero, COMPARE_EQ);
  instruction *result = build_select(l, is_first, chlo_digamma(l, x), higher);
  instruction *is_negative = build_compare(l, n, zero, COMPARE_LT);
  instruction *undefined = build_binary(l, HLO_OR, is_negative, build_unary(l, HLO_NOT, is_whole(l, n)));
  return build_select(l, undefined, build_like(l, x, NAN), result);
}
