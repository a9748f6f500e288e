// convert, whose result may be of any class, and reduce-precision.
#include "eval/elementwise.h"

#include <math.h>
#include <string.h>

// A 64-bit integer as a double that rounds to the same f32, f16, … as the integer itself: what does not fit is cut to
// 53 bits with the last one set ("rounded to odd"), so that the later rounding sees that something was cut off.
static double sticky_double(uint64_t magnitude) {
  int excess = magnitude ? 11 - __builtin_clzll(magnitude) : 0;
  if (excess <= 0) return (double)magnitude;
  uint64_t cut = magnitude >> excess << excess;
  if (cut != magnitude) cut |= (uint64_t)1 << excess;
  return (double)cut;
}

static double int_to_double(int64_t v, bool is_signed, bool is_final) {
  if (is_final) return is_signed ? (double)v : (double)(uint64_t)v;
  if (!is_signed || v >= 0) return sticky_double((uint64_t)v);
  return -sticky_double(-(uint64_t)v);
}

void elementwise_convert_integer(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  const int64_t *xs = in[0];
  const bool is_signed = dtype_is_signed(call->operand);
  const bool is_final = call->result == DTYPE_F64 || call->result == DTYPE_C128;
  if (dtype_is_float(call->result)) {
    double *results = out;
    for (int64_t k = 0; k < count; k++) results[k] = int_to_double(xs[k], is_signed, is_final);
  } else if (dtype_is_complex(call->result)) {
    double complex *results = out;
    for (int64_t k = 0; k < count; k++) results[k] = int_to_double(xs[k], is_signed, is_final);
  } else {
    memcpy(out, xs, (size_t)count * sizeof *xs);
  }
}

// Saturates at the type's limits; NaN becomes 0.
static int64_t double_to_int(double v, int bits, bool is_signed) {
  if (isnan(v)) return 0;
  if (is_signed) {
    double limit = ldexp(1, bits - 1);
    if (v < -limit) return (int64_t)(UINT64_MAX << (bits - 1));
    if (v >= limit) return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
    return (int64_t)v;
  }
  if (v <= 0) return 0;
  if (v >= ldexp(1, bits)) return compute_wrap(-1, bits, false);
  return (int64_t)(uint64_t)v;
}

void elementwise_convert_float(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  const double *xs = in[0];
  const dtype_info *to = &dtypes[call->result];
  if (to->class == CLASS_FLOAT) {
    memcpy(out, xs, (size_t)count * sizeof *xs);
  } else if (to->class == CLASS_COMPLEX) {
    double complex *results = out;
    for (int64_t k = 0; k < count; k++) results[k] = compute_complex(xs[k], 0);
  } else if (to->class == CLASS_PRED) {
    int64_t *results = out;
    for (int64_t k = 0; k < count; k++) results[k] = xs[k] != 0;
  } else {
    int64_t *results = out;
    for (int64_t k = 0; k < count; k++) results[k] = double_to_int(xs[k], to->bits, to->class == CLASS_SIGNED);
  }
}

// Real results take the real part; a pred asks for both.
void elementwise_convert_complex(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  const double complex *xs = in[0];
  if (dtype_is_complex(call->result)) {
    memcpy(out, xs, (size_t)count * sizeof *xs);
    return;
  }
  if (call->result == DTYPE_PRED) {
    int64_t *results = out;
    for (int64_t k = 0; k < count; k++) results[k] = xs[k] != 0;
    return;
  }
  double reals[COMPUTE_LANES];
  for (int64_t k = 0; k < count; k++) reals[k] = creal(xs[k]);
  elementwise_convert_float(call, count, out, (const void *[]){reals});
}

// The layout of a real floating type: sign, exponent, mantissa from high to low.
typedef struct float_layout {
  int exponent_bits, mantissa_bits;
} float_layout;

static float_layout layout_of(dtype t) {
  if (t == DTYPE_F64) return (float_layout){11, 52};
  if (t == DTYPE_F32) return (float_layout){8, 23};
  const float_format *f = &float_formats[dtypes[t].narrow];
  return (float_layout){f->exponent_bits, f->mantissa_bits};
}

// The bits of a value as its own type holds it; decode is the way back.
static uint64_t encode(dtype t, double v) {
  uint64_t bits = 0;
  if (t == DTYPE_F64) memcpy(&bits, &v, sizeof v);
  else if (t == DTYPE_F32) memcpy(&bits, &(float){(float)v}, sizeof(float));
  else bits = float_encode(dtypes[t].narrow, v);
  return bits;
}

static double decode(dtype t, uint64_t bits) {
  if (t == DTYPE_F64) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
  }
  if (t == DTYPE_F32) {
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
  }
  return float_decode(dtypes[t].narrow, (uint32_t)bits);
}

// Rounds the mantissa to nearest even where it stands, so that subnormals lose bits too, and then takes exponents that
// the smaller format lacks to infinity or to zero.
static uint64_t reduce_bits(uint64_t bits, float_layout from, int exponent_bits, int mantissa_bits) {
  if (mantissa_bits < from.mantissa_bits) {
    int drop = from.mantissa_bits - mantissa_bits;
    uint64_t last = bits >> drop & 1;
    bits += ((uint64_t)1 << (drop - 1)) - 1 + last;
    bits = bits >> drop << drop;
  }
  if (exponent_bits >= from.exponent_bits) return bits;
  uint64_t sign = bits >> (from.exponent_bits + from.mantissa_bits) << (from.exponent_bits + from.mantissa_bits);
  int64_t top = ((int64_t)1 << from.exponent_bits) - 1;
  int64_t exponent = (int64_t)(bits >> from.mantissa_bits) & top;
  int64_t bias = top >> 1, smaller_bias = ((int64_t)1 << (exponent_bits - 1)) - 1;
  if (exponent > bias + smaller_bias) return sign | (uint64_t)top << from.mantissa_bits;
  if (exponent <= bias - smaller_bias) return sign;
  return bits;
}

// Types of eight bits and fewer take part as the wider type that holds them, as XLA does it: their subnormal numbers
// are normal there.
static dtype reduced_as(dtype t) {
  if (t == DTYPE_F8E8M0FNU) return DTYPE_F32;
  return dtypes[t].bits < 16 ? DTYPE_F16 : t;
}

void elementwise_reduce_precision(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  const double *xs = in[0];
  double *results = out;
  const dtype t = reduced_as(call->operand);
  const float_layout from = layout_of(t);
  const int exponent_bits = (int)call->instruction->attributes->exponent_bits;
  const int mantissa_bits = (int)call->instruction->attributes->mantissa_bits;
  for (int64_t k = 0; k < count; k++) {
    if (isnan(xs[k])) results[k] = xs[k];
    else results[k] = decode(t, reduce_bits(encode(t, xs[k]), from, exponent_bits, mantissa_bits));
  }
}
