// Noise: relative errors drawn evenly from around zero, put in where the interpreter would round.
//
// In the wide forms, before rounding, so that a bf16 result moves only where its exact value lies close to the middle
// between two neighbours, as it is with compiled code.
#include "eval/noise.h"

#include <complex.h>
#include <math.h>

#include "eval/wide.h"

// What compiled code may differ by from the correctly rounded result. Empty: not at all.
typedef struct error_bound {
  float ulps;     // of f32 and f64
  float narrow;   // of the forms for results narrower than f32, relative; 0: they have none
  float modulus;  // of complex operands, in units of the result's modulus
} error_bound;

static const error_bound bounds[HLO_OPCODE_COUNT] = {
    [HLO_ABS] = {.modulus = 2},
    [HLO_ACOS] = {1, 0, 32},
    [HLO_ACOSH] = {1, 0, 32},
    [HLO_ASIN] = {1, 0, 32},
    [HLO_ASINH] = {1, 0, 32},
    [HLO_ATAN] = {1, 0, 32},
    [HLO_ATAN2] = {1, 0, 32},
    [HLO_ATANH] = {1, 0, 32},
    [HLO_CBRT] = {1, 0, 32},
    [HLO_COSH] = {1, 0, 32},
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
    [HLO_SINH] = {1, 0, 32},
    [HLO_SQRT] = {.modulus = 8},
    [HLO_TAN] = {1, 0, 32},
    [HLO_TANH] = {2, 0x1p-13f, 32},
};

// Evenly from [-NOISE_SIZE, NOISE_SIZE].
static double draw(noise *n) {
  n->state = n->state * 6364136223846793005u + 1442695040888963407u;
  return NOISE_SIZE * ((double)(n->state >> 11) * 0x1p-52 - 1);
}

static bool is_wide_type(dtype t) { return t == DTYPE_F64 || t == DTYPE_C128; }
static double epsilon(dtype t) { return is_wide_type(t) ? 0x1p-52 : 0x1p-23; }
static double smallest(dtype t) { return is_wide_type(t) ? 0x1p-1074 : 0x1p-149; }

// Elements of type `t` move by up to NOISE_SIZE * relative times their own size and times `sizes`, which may be null;
// but zeros stay. The smallest number stands for what subnormal results lose.
static void disturb(noise *n, dtype t, double relative, int64_t count, void *wide, const double *sizes) {
  const double least = smallest(t) * relative / epsilon(t);
  for (int64_t k = 0; k < count; k++) {
    if (dtype_is_complex(t)) {
      double complex *z = (double complex *)wide + k;
      const double size = cabs(*z) > 0 ? fmax(cabs(*z), sizes ? sizes[k] : 0) : 0;
      if (!isfinite(size) || size == 0) continue;
      const double re = creal(*z) + draw(n) * (size * relative + least);
      *z = wide_complex(re, cimag(*z) + draw(n) * (size * relative + least));
    } else {
      double *x = (double *)wide + k;
      const double size = fmax(fabs(*x), sizes ? sizes[k] : 0);
      if (isfinite(*x) && isfinite(size) && size != 0) *x += draw(n) * (size * relative + least);
    }
  }
}

void noise_on_results(noise *n, const instruction *i, int64_t count, void *wide) {
  const dtype t = i->shape->dtype;
  if (!n->state || (!dtype_is_float(t) && !dtype_is_complex(t))) return;
  const error_bound *b = &bounds[i->opcode];
  const bool is_complex = i->operand_count > 0 && dtype_is_complex(instruction_operand_shape(i, 0)->dtype);
  double relative = (is_complex ? b->modulus : b->ulps) * epsilon(t);
  if (dtypes[t].is_narrow_float) relative = fmax(relative, b->narrow);
  if (relative > 0) disturb(n, t, relative, count, wide, NULL);
}

static double size_at(dtype t, const void *wide, int64_t k) {
  return dtype_is_complex(t) ? cabs(((const double complex *)wide)[k]) : fabs(((const double *)wide)[k]);
}

void noise_on_step(noise *n, const instruction *i, int64_t count, void *wide, const void *const *operands) {
  const dtype t = i->shape->dtype;
  if (!n->state || (!dtype_is_float(t) && !dtype_is_complex(t))) return;
  noise_on_results(n, i, count, wide);
  if (i->opcode != HLO_ADD && i->opcode != HLO_SUBTRACT && i->opcode != HLO_MULTIPLY && i->opcode != HLO_DIVIDE) return;
  double sizes[WIDE_LANES];
  const bool adds = i->opcode == HLO_ADD || i->opcode == HLO_SUBTRACT;
  for (int64_t k = 0; k < count; k++)
    sizes[k] = adds ? fmax(size_at(t, operands[0], k), size_at(t, operands[1], k)) : 0;
  disturb(n, t, epsilon(t), count, wide, sizes);
}

void noise_on_factors(noise *n, dtype factor, dtype sum, int64_t depth, int64_t count, void *wide) {
  if (!n->state || (!dtype_is_float(factor) && !dtype_is_complex(factor))) return;
  if (depth > 1) disturb(n, factor, epsilon(sum) * (1 + sqrt((double)depth)), count, wide, NULL);
}
