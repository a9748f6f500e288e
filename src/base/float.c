// Encoding and decoding of narrow floats.
//
// One generic pair of functions serves every format: both work on the bits of a double with integer arithmetic, so they
// round exactly once, do not depend on the rounding mode, and need no libm. A positive pattern of any format, read as
// an integer, grows with its value; rounding may therefore carry out of the mantissa into the exponent without a
// special case, and overflow is one comparison with the largest finite pattern.
#include "base/float.h"

#include <math.h>
#include <string.h>

const float_format float_formats[FLOAT_KIND_COUNT] = {
    [FLOAT_F16] = {"f16", 5, 10, 15, FLOAT_IEEE},
    [FLOAT_BF16] = {"bf16", 8, 7, 127, FLOAT_IEEE},
    [FLOAT_F8E5M2] = {"f8e5m2", 5, 2, 15, FLOAT_IEEE},
    [FLOAT_F8E4M3] = {"f8e4m3", 4, 3, 7, FLOAT_IEEE},
    [FLOAT_F8E4M3FN] = {"f8e4m3fn", 4, 3, 7, FLOAT_FN},
    [FLOAT_F8E4M3B11FNUZ] = {"f8e4m3b11fnuz", 4, 3, 11, FLOAT_FNUZ},
    [FLOAT_F8E5M2FNUZ] = {"f8e5m2fnuz", 5, 2, 16, FLOAT_FNUZ},
    [FLOAT_F8E4M3FNUZ] = {"f8e4m3fnuz", 4, 3, 8, FLOAT_FNUZ},
    [FLOAT_F8E3M4] = {"f8e3m4", 3, 4, 3, FLOAT_IEEE},
    [FLOAT_F8E8M0FNU] = {"f8e8m0fnu", 8, 0, 127, FLOAT_E8M0},
    [FLOAT_F4E2M1FN] = {"f4e2m1fn", 2, 1, 1, FLOAT_FINITE},
    [FLOAT_F6E2M3FN] = {"f6e2m3fn", 2, 3, 1, FLOAT_FINITE},
    [FLOAT_F6E3M2FN] = {"f6e3m2fn", 3, 2, 3, FLOAT_FINITE},
};

// The largest number that f32 rounds to zero.
#define F32_ZEROES 0x1p-150

enum { F64_MANTISSA = 52, F64_BIAS = 1023, F64_TOP = 0x7ff };

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t float_bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// 2 to a power that a double holds as a normal number.
static double power_of_two(int exponent) { return double_of((uint64_t)(exponent + F64_BIAS) << F64_MANTISSA); }

static uint32_t low_ones(int count) { return ((uint32_t)1 << count) - 1; }

// Everything but the sign.
static uint32_t magnitude_mask(const float_format *f) { return low_ones(f->exponent_bits + f->mantissa_bits); }

static uint32_t infinity_magnitude(const float_format *f) { return low_ones(f->exponent_bits) << f->mantissa_bits; }

static uint32_t largest_finite(const float_format *f) {
  switch (f->specials) {
    case FLOAT_IEEE: return infinity_magnitude(f) - 1;
    case FLOAT_FN:
    case FLOAT_E8M0: return magnitude_mask(f) - 1;
    case FLOAT_FNUZ:
    case FLOAT_FINITE: break;
  }
  return magnitude_mask(f);
}

double float_decode(float_kind kind, uint32_t bits) {
  const float_format *f = &float_formats[kind];
  uint32_t magnitude = bits & magnitude_mask(f);
  bool negative = f->specials != FLOAT_E8M0 && (bits >> (f->exponent_bits + f->mantissa_bits) & 1);
  if (f->specials == FLOAT_FNUZ && negative && magnitude == 0) return NAN;
  if (magnitude > largest_finite(f)) {
    bool is_infinity = f->specials == FLOAT_IEEE && magnitude == infinity_magnitude(f);
    return copysign(is_infinity ? INFINITY : NAN, negative ? -1 : 1);
  }
  int exponent = (int)(magnitude >> f->mantissa_bits);
  uint32_t mantissa = magnitude & low_ones(f->mantissa_bits);
  bool subnormal = exponent == 0 && f->specials != FLOAT_E8M0;
  double unit = power_of_two((subnormal ? 1 : exponent) - f->bias - f->mantissa_bits);
  double value = unit * (subnormal ? mantissa : mantissa + low_ones(f->mantissa_bits) + 1);
  return negative ? -value : value;
}

// mantissa / 2^shift to the nearest integer, ties to even.
static uint64_t shift_to_nearest(uint64_t mantissa, int shift) {
  if (shift > F64_MANTISSA + 2) return 0;  // below half of one
  uint64_t floor = mantissa >> shift;
  uint64_t rest = mantissa & (((uint64_t)1 << shift) - 1);
  uint64_t half = (uint64_t)1 << (shift - 1);
  return floor + (rest > half || (rest == half && (floor & 1)));
}

// Pattern without sign of a finite value given by the bits of its absolute value; may lie beyond largest_finite.
static uint32_t round_magnitude(const float_format *f, uint64_t bits) {
  int exponent = (int)(bits >> F64_MANTISSA);
  uint64_t mantissa = bits & (((uint64_t)1 << F64_MANTISSA) - 1);
  if (exponent) mantissa |= (uint64_t)1 << F64_MANTISSA;
  else exponent = 1;
  // The field a normal result would have; a smaller value is counted in units of the smallest subnormal.
  int field = exponent - F64_BIAS + f->bias;
  int smallest = f->specials == FLOAT_E8M0 ? 0 : 1;
  if (field < smallest) {
    int shift = F64_MANTISSA - f->mantissa_bits + smallest - field;
    uint64_t rounded = shift_to_nearest(mantissa, shift);
    return f->specials == FLOAT_E8M0 ? 0 : (uint32_t)rounded;
  }
  uint64_t rounded = shift_to_nearest(mantissa, F64_MANTISSA - f->mantissa_bits);
  // `rounded` carries the hidden bit, which is worth one exponent step.
  uint64_t pattern = ((uint64_t)(field - 1) << f->mantissa_bits) + rounded;
  return pattern > UINT32_MAX ? UINT32_MAX : (uint32_t)pattern;
}

static uint32_t nan_pattern(const float_format *f, uint32_t sign) {
  switch (f->specials) {
    case FLOAT_IEEE: return sign | infinity_magnitude(f) | (uint32_t)1 << (f->mantissa_bits - 1);
    case FLOAT_FN: return sign | magnitude_mask(f);
    case FLOAT_E8M0: return magnitude_mask(f);
    case FLOAT_FNUZ:
    case FLOAT_FINITE: break;
  }
  return magnitude_mask(f) + 1;
}

static uint32_t overflow_pattern(const float_format *f, uint32_t sign) {
  if (f->specials == FLOAT_IEEE) return sign | infinity_magnitude(f);
  if (f->specials == FLOAT_FINITE) return sign | largest_finite(f);
  return nan_pattern(f, sign);
}

uint32_t float_encode(float_kind kind, double value) {
  const float_format *f = &float_formats[kind];
  uint64_t bits = bits_of(value);
  uint32_t sign = bits >> 63 ? magnitude_mask(f) + 1 : 0;
  bits &= UINT64_MAX >> 1;
  if (isnan(value)) return nan_pattern(f, sign);
  if (f->specials == FLOAT_E8M0 && (sign || value <= F32_ZEROES)) return nan_pattern(f, 0);
  if (isinf(value)) return overflow_pattern(f, sign);
  uint32_t magnitude = round_magnitude(f, bits);
  if (magnitude > largest_finite(f)) return overflow_pattern(f, sign);
  if (f->specials == FLOAT_FNUZ && magnitude == 0) return 0;
  return sign | magnitude;
}

float float_bf16_to_f32(uint16_t bits) { return float_of((uint32_t)bits << 16); }

uint16_t float_f32_to_bf16(float value) {
  uint32_t bits = float_bits_of(value);
  if (isnan(value)) return (uint16_t)((bits >> 16 & 0x8000) | 0x7fc0);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The 15 magnitude bits, moved to where a float has them, are worth 2^-112 of their value (127 - 15 = 112), for
// subnormals too.
float float_f16_to_f32(uint16_t bits) {
  uint32_t magnitude = (uint32_t)(bits & 0x7fff) << 13;
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
  if ((bits & 0x7c00) == 0x7c00) return float_of(sign | 0x7f800000 | magnitude);
  return float_of(sign | float_bits_of(float_of(magnitude) * 0x1p112f));
}

uint16_t float_f32_to_f16(float value) {
  uint32_t bits = float_bits_of(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (isnan(value)) return (uint16_t)(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00);  // 65520: half way past the largest finite half
  if (magnitude < 0x38800000)  // 2^-14: adding 0.5 leaves the subnormal, rounded by the FPU, in the low bits
    return (uint16_t)(sign | (float_bits_of(float_of(magnitude) + 0.5f) - 0x3f000000));
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return (uint16_t)(sign | ((rounded >> 13) - (112u << 10)));
}

uint16_t float_f64_to_f16(double value) { return (uint16_t)float_encode(FLOAT_F16, value); }
uint16_t float_f64_to_bf16(double value) { return (uint16_t)float_encode(FLOAT_BF16, value); }
