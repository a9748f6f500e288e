// Noise multiplies values by relative errors, drawn evenly from around zero, where the interpreter would round.
//
// In the compute type, before rounding, so that a bf16 result moves only where its exact value lies close to the middle
// between two neighbours, as it is with compiled code.
#include "eval/noise.h"

#include <complex.h>
#include <float.h>
#include <math.h>

#include "eval/compute.h"

// What compiled code may differ by from the correctly rounded result. Empty: not at all.
typedef struct error_bound {
  float ulps;     // of f32 and f64
  float narrow;   // of the forms for results narrower than f32, relative; 0: they have none
  float modulus;  // of complex operands, in units of the result's modulus
  float wide;     // of f64 where it is more than f32's
} error_bound;

static const error_bound bounds[HLO_OPCODE_COUNT] = {
    [HLO_ABS] = {.modulus = 2},
    [HLO_ACOS] = {1, 0, 32, 3},
    [HLO_ACOSH] = {1, 0, 32, 3},
    [HLO_ASIN] = {1, 0, 32, 3},
    [HLO_ASINH] = {1, 0, 32, 3},
    [HLO_ATAN] = {1, 0, 32, 2},
    [HLO_ATAN2] = {1, 0, 32, 2},
    [HLO_ATANH] = {1, 0, 32, 3},
    [HLO_CBRT] = {1, 0, 32},
    [HLO_COSH] = {1, 0, 32, 2},
    [HLO_COSINE] = {1, 0, 32},
    [HLO_DIVIDE] = {.modulus = 8},
    [HLO_ERF] = {6, 0x1p-14f, 0},
    [HLO_EXPONENTIAL] = {2, 0x1p-16f, 8},
    [HLO_EXPONENTIAL_MINUS_ONE] = {3, 0, 32},
    [HLO_LOG] = {2, 0, 8},
    [HLO_LOGISTIC] = {4, 0x1p-15f, 32},
    [HLO_LOG_PLUS_ONE] = {3, 0, 32},
    [HLO_MULTIPLY] = {.modulus = 3},
    [HLO_POWER] = {1, 0, 64},
    [HLO_RSQRT] = {2, 0, 16},
    [HLO_SIGN] = {.modulus = 4},
    [HLO_SINE] = {1, 0, 32},
    [HLO_SINH] = {1, 0, 32, 3},
    [HLO_SQRT] = {.modulus = 8},
    [HLO_TAN] = {1, 0, 32, 3},
    [HLO_TANH] = {2, 0x1p-13f, 32, 3},
};

// Numbers drawn first from seeds that follow each other are as far apart as any (the last step of MurmurHash3, which
// keeps 0). Unmixed, the k-th numbers from them would be evenly spaced: in some places nearly the same for all.
static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
  return x ^ x >> 33;
}

noise noise_start(uint64_t seed, bool is_loose) {
  const int direction = seed == 1 ? 1 : seed == 2 ? -1 : 0;
  return (noise){
      .state = mixed(seed), .is_loose = is_loose, .is_grid = seed % NOISE_GRID_EVERY == 0, .direction = direction};
}

static bool is_double(dtype t) { return t == DTYPE_F64 || t == DTYPE_C128; }
static double epsilon(dtype t) { return is_double(t) ? 0x1p-52 : 0x1p-23; }
static double smallest(dtype t) { return is_double(t) ? 0x1p-1074 : 0x1p-149; }

// Evenly from [-1, 1].
static double draw(noise *n) {
  n->state = n->state * 6364136223846793005u + 1442695040888963407u;
  return (double)(n->state >> 11) * 0x1p-52 - 1;
}

// x, off by up to NOISE_SIZE errors.
static double moved(noise *n, double x, double error) {
  if (!n->is_grid) return x + NOISE_SIZE * error * (n->direction != 0 ? n->direction : draw(n));
  const double step = 2 * NOISE_SIZE * error;
  // Where steps are beyond what double can divide by, x is far below one of them.
  return step > 0 && isfinite(x / step) ? nearbyint(x / step) * step : x;
}

// Elements of type `t` move by up to NOISE_SIZE * relative times their own size or times `sizes`, which may be null;
// but zeros stay. The smallest number stands for what subnormal results lose.
static void disturb(noise *n, dtype t, double relative, int64_t count, void *block, const double *sizes) {
  const double least = smallest(t) * relative / epsilon(t);
  for (int64_t k = 0; k < count; k++) {
    if (dtype_is_complex(t)) {
      double complex *z = (double complex *)block + k;
      const double size = cabs(*z) > 0 ? fmax(cabs(*z), sizes ? sizes[k] : 0) : 0;
      if (!isfinite(size) || size == 0) continue;
      const double re = moved(n, creal(*z), size * relative + least);
      *z = compute_complex(re, moved(n, cimag(*z), size * relative + least));
    } else {
      double *x = (double *)block + k;
      const double size = fmax(fabs(*x), sizes ? sizes[k] : 0);
      if (isfinite(*x) && isfinite(size) && size != 0) *x = moved(n, *x, size * relative + least);
    }
  }
}

// The parts of a product overflow before they meet as infinities without a difference: nobody's value is the right one.
static void lose_overflows(dtype t, int64_t count, double complex *products) {
  for (int64_t k = 0; t == DTYPE_C64 && k < count; k++)
    if (cabs(products[k]) > (double)FLT_MAX / 2 && isfinite(cabs(products[k]))) products[k] = compute_complex(NAN, NAN);
}

// --- roundings that are left out

// Half a unit in the last place of `f` at x.
static double half_unit(const float_format *f, double x) {
  int exponent;
  frexp(x, &exponent);
  const int least = 2 - f->bias;  // of the smallest normal number, as frexp has it
  return ldexp(0.5, (exponent > least ? exponent : least) - 1 - f->mantissa_bits);
}

// Conversions to bf16 that the machine has take subnormal numbers for zero.
static bool may_vanish(dtype t, double x) { return t == DTYPE_BF16 && x != 0 && fabs(x) < (double)FLT_MIN; }

// Far enough that the rounded value is another one, in a direction drawn; the first runs take one direction each.
static double moved_apart(noise *n, double x, double error) {
  if (n->is_grid) return moved(n, x, error);
  const double d = draw(n), sign = n->direction != 0 ? n->direction : d;
  return x + copysign(NOISE_SIZE * error * (1 + fabs(d)) / 2, sign);
}

// What every type has, in place of what one has not; but not always. Of the first runs one does so everywhere, and one
// nowhere.
static double any_finite(noise *n, double x) {
  enum { LARGEST = 16 };
  const double d = draw(n);
  const bool is_taken = n->direction != 0 ? n->direction > 0 : d > 0;
  return is_taken ? copysign(1 + fabs(d) * (LARGEST - 1), x) : x;
}

static bool same_kind(double x, double y) { return isnan(x) == isnan(y) && isinf(x) == isinf(y); }

static bool is_out_of_range(dtype t, double x) {
  double rounded = x;
  compute_round(t, &rounded, 1);
  return !same_kind(x, rounded);
}

void noise_on_rounding(noise *n, dtype t, int64_t count, void *block) {
  if (!n->state || !n->is_loose || !dtypes[t].is_narrow_float) return;
  double *xs = block;
  for (int64_t k = 0; k < count; k++) {
    double rounded = xs[k];
    compute_round(t, &rounded, 1);
    if (may_vanish(t, xs[k]) && (n->is_grid || draw(n) > 0)) xs[k] = copysign(0, xs[k]);
    else if (!same_kind(xs[k], rounded)) xs[k] = any_finite(n, xs[k]);
    else if (rounded != xs[k] && isfinite(xs[k])) {
      const double apart = moved_apart(n, xs[k], half_unit(&float_formats[dtypes[t].narrow], xs[k]));
      // What is within the range stays there, where others keep it in a wider type.
      if (!is_out_of_range(t, apart)) xs[k] = apart;
    }
  }
}

static bool stays_rounded(hlo_opcode o) { return o == HLO_CONVERT || o == HLO_REDUCE_PRECISION; }

// --- what calls this

// The logarithm of a quotient that is off by a small factor: off by as much whatever its size, and an angle next to the
// cut comes out on the other side.
static void disturb_angles(noise *n, double relative, int64_t count, double complex *zs) {
  for (int64_t k = 0; k < count; k++) {
    const double error = relative * fmax(cabs(zs[k]), 1);
    if (!isfinite(error)) continue;
    const double re = moved(n, creal(zs[k]), error), im = moved(n, cimag(zs[k]), error);
    zs[k] = compute_complex(fabs(re) > M_PI ? re - copysign(2 * M_PI, re) : re, im);
  }
}

// Narrow ones that round each step of 1 / (1 + e^-x), as XLA's do and ours with --exact. What e^-x was shows in r.
static void round_logistics(noise *n, dtype t, double relative, int64_t count, double *rs) {
  for (int64_t k = 0; k < count; k++) {
    if (!isfinite(rs[k]) || draw(n) < 0) continue;
    double e = 1 / rs[k] - 1;
    e = moved(n, e, e * relative);
    compute_round(t, &e, 1);
    double sum = 1 + e;
    compute_round(t, &sum, 1);
    rs[k] = 1 / sum;
  }
}

// Where e^-x overflows, 1 / (1 + e^-x) is zero, XLA's as ours; its right value is subnormal.
static void lose_logistics(noise *n, dtype t, double relative, int64_t count, double *rs) {
  const double limit = is_double(t) ? DBL_MAX : (double)FLT_MAX;
  for (int64_t k = 0; k < count; k++)
    if (rs[k] > 0 && rs[k] < (1 + relative) / limit && (n->is_grid || draw(n) > 0)) rs[k] = 0;
}

// What y log x is off by, in f64, makes e^(y log x) off by as many times its size.
static void disturb_powers(noise *n, dtype t, double relative, int64_t count, void *block,
                           const void *const *operands) {
  const double complex *bases = operands[0], *exponents = operands[1], *powers = block;
  double sizes[COMPUTE_LANES];
  const double amplified = epsilon(DTYPE_C128) / epsilon(t) / 16;
  for (int64_t k = 0; k < count; k++)
    sizes[k] = cabs(powers[k]) * fmax(1, cabs(exponents[k]) * cabs(clog(bases[k])) * amplified);
  disturb(n, t, relative, count, block, sizes);
}

static void disturb_results(noise *n, const instruction *i, int64_t count, void *block, const void *const *operands) {
  const dtype t = i->shape->dtype;
  const error_bound *b = &bounds[i->opcode];
  const bool is_complex = i->operand_count > 0 && dtype_is_complex(instruction_operand_shape(i, 0)->dtype);
  const float ulps = is_double(t) ? fmaxf(b->ulps, b->wide) : b->ulps;
  double relative = (is_complex ? b->modulus : ulps) * epsilon(t);
  if (dtypes[t].is_narrow_float) relative = fmax(relative, b->narrow);
  if (is_complex && i->opcode == HLO_ATAN2) disturb_angles(n, relative, count, block);
  else if (is_complex && i->opcode == HLO_POWER) disturb_powers(n, t, relative, count, block, operands);
  else if (relative > 0) disturb(n, t, relative, count, block, NULL);
  if (i->opcode == HLO_LOGISTIC && dtypes[t].is_narrow_float && !n->is_loose)
    round_logistics(n, t, relative, count, block);
  if (i->opcode == HLO_LOGISTIC && !is_complex) lose_logistics(n, t, relative, count, block);
  if (is_complex && i->opcode == HLO_MULTIPLY) lose_overflows(t, count, block);
}

void noise_on_results(noise *n, const instruction *i, int64_t count, void *block, const void *const *operands) {
  if (!n->state || !dtype_is_inexact(i->shape->dtype)) return;
  disturb_results(n, i, count, block, operands);
  if (!stays_rounded(i->opcode)) noise_on_rounding(n, i->shape->dtype, count, block);
}

static double size_at(dtype t, const void *block, int64_t k) {
  return dtype_is_complex(t) ? cabs(((const double complex *)block)[k]) : fabs(((const double *)block)[k]);
}

// The sum's type is f32 for everything narrower.
static void overflow(dtype t, int64_t count, double *xs) {
  for (int64_t k = 0; !is_double(t) && !dtype_is_complex(t) && k < count; k++)
    if (fabs(xs[k]) > (double)FLT_MAX) xs[k] = copysign(INFINITY, xs[k]);
}

void noise_on_step(noise *n, const instruction *i, int64_t count, void *block, const void *const *operands) {
  const dtype t = i->shape->dtype;
  if (!n->state || !dtype_is_inexact(t)) return;
  disturb_results(n, i, count, block, operands);
  if (i->opcode != HLO_ADD && i->opcode != HLO_SUBTRACT && i->opcode != HLO_MULTIPLY && i->opcode != HLO_DIVIDE) return;
  double sizes[COMPUTE_LANES];
  const bool adds = i->opcode == HLO_ADD || i->opcode == HLO_SUBTRACT;
  for (int64_t k = 0; k < count; k++)
    sizes[k] = adds ? fmax(size_at(t, operands[0], k), size_at(t, operands[1], k)) : 0;
  disturb(n, t, epsilon(t), count, block, sizes);
  overflow(t, count, block);
}

void noise_on_factors(noise *n, dtype factor, dtype sum, int64_t depth, int64_t count, void *block) {
  if (!n->state || !dtype_is_inexact(factor)) return;
  if (depth > 1) disturb(n, factor, epsilon(sum) * (1 + sqrt((double)depth)), count, block, NULL);
}

void noise_on_line(noise *n, dtype t, double ulps, int64_t count, void *block) {
  if (!n->state || !dtype_is_inexact(t)) return;
  const double limit = is_double(t) ? DBL_MAX : (double)FLT_MAX;
  const int parts = dtype_is_complex(t) ? 2 : 1;
  double squares = 0, *xs = block;
  bool is_decided = true;
  for (int64_t k = 0; k < count; k++) {
    const double size = size_at(t, block, k);
    is_decided = is_decided && size < limit / 4;
    squares += size / limit * size;
  }
  const double typical = sqrt(squares / (double)count) * sqrt(limit);
  for (int64_t k = 0; k < count * parts; k++) xs[k] = is_decided ? moved(n, xs[k], typical * ulps * epsilon(t)) : 0;
}
