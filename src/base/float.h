// Bit-level number formats that C lacks: half, bfloat16, the 8- and 4-bit floats, and rounding among them.
//
// Every format is described by one row of `float_formats`; encode and decode are generic over that row, exact, and
// round to nearest, ties to even. Conversions go through double, which holds every narrow value exactly; f64 -> narrow
// rounds once (not through f32).
#ifndef HEDDLE_BASE_FLOAT_H_
#define HEDDLE_BASE_FLOAT_H_

#include <stdbool.h>
#include <stdint.h>

typedef enum float_kind {
  FLOAT_F16,
  FLOAT_BF16,
  FLOAT_F8E5M2,
  FLOAT_F8E4M3,
  FLOAT_F8E4M3FN,
  FLOAT_F8E4M3B11FNUZ,
  FLOAT_F8E5M2FNUZ,
  FLOAT_F8E4M3FNUZ,
  FLOAT_F8E3M4,
  FLOAT_F8E8M0FNU,
  FLOAT_F4E2M1FN,
  FLOAT_F6E2M3FN,
  FLOAT_F6E3M2FN,
  FLOAT_KIND_COUNT
} float_kind;

// How the top exponent and the sign of zero are used.
typedef enum float_specials {
  FLOAT_IEEE,    // infinities and NaNs as in IEEE 754
  FLOAT_FN,      // no infinity; the all-ones pattern is NaN
  FLOAT_FNUZ,    // no infinity, no -0; the sign bit alone is NaN
  FLOAT_FINITE,  // neither infinity nor NaN (f4e2m1fn): both saturate
  FLOAT_E8M0,    // no sign, no mantissa, no zero; 0xff is NaN
} float_specials;

typedef struct float_format {
  const char *name;  // as HLO spells it
  int exponent_bits;
  int mantissa_bits;
  int bias;
  float_specials specials;
} float_format;

extern const float_format float_formats[FLOAT_KIND_COUNT];

double float_decode(float_kind kind, uint32_t bits);
// What f32 rounds to zero (up to 2^-150) is NaN in f8e8m0fnu, which has no zero and is computed with in f32; ml_dtypes
// and XLA convert through f32. Overflow gives infinity where the format has one, else NaN, else (f4, f6) the largest
// value of that sign; NaN in f4 and f6 gives negative zero's pattern, as XLA does for f4.
uint32_t float_encode(float_kind kind, double value);

// Fast paths for the two everyday formats; same results as the generic ones.
float float_bf16_to_f32(uint16_t bits);
uint16_t float_f32_to_bf16(float value);
float float_f16_to_f32(uint16_t bits);
uint16_t float_f32_to_f16(float value);
uint16_t float_f64_to_f16(double value);
uint16_t float_f64_to_bf16(double value);

#endif
