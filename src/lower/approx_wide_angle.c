// Large angles of f64 in quarter turns, for machines without a C library, as Payne and Hanek reduced them: of 2/pi only
// the bits matter that neither multiply to whole turns nor to nothing.
//
// |x| = m 2^e with a 53-bit integer m. Of 192 bits of 2/pi, the first of which makes two quarter turns, the product
// with m is taken modulo four quarter turns: 190 bits behind the point, of which 137 are right. As no f64 number is
// closer to a multiple of pi/2 than 2^-61 of it, 76 remain. All of it is done in digits of 32 bits.
#include <math.h>

#include "lower/approx_wide.h"

#define HALF_PI 0x1.921fb54442d18p+0
#define HALF_PI_REST 0x1.1a62633145c07p-54

enum {
  WORDS = 38,
  WINDOW = 7,
  DIGITS = 6,
  FIRST_FIELD = 1043,  // the biased exponent, of 2^20, whose window begins with the table: behind 34 zeros there
};

static const uint32_t two_over_pi[WORDS] = {
    0x00000000, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea,
    0xf7aef158, 0x6dc91b8e, 0x909374b8, 0x01924bba, 0x82746487, 0x3f877ac7, 0x2c4a69cf, 0xba208d7d,
    0x4baed121, 0x3a671c09, 0xad17df90, 0x4e64758e, 0x60d4ce7d, 0x272117e2, 0xef7e4a0e, 0xc7fe25ff,
    0xf7816603, 0xfbcbc462, 0xd6829b47, 0xdb4d9fb3, 0xc9f2c26d, 0xd3d18fd9, 0xa797fa8b, 0x5d49eeb1,
    0xfaf97c5e, 0xcf41ce7d, 0xe294a4ba, 0x9afed7ec, 0x47e35742, 0x1580cc11};

static MlirValue shift_right(approx *a, MlirValue x, uint64_t bits) {
  return approx_int(a, "shrui", x, approx_i64(a, bits));
}

static MlirValue low_half(approx *a, MlirValue x) { return approx_int(a, "andi", x, approx_i64(a, 0xffffffff)); }

// The words from `start` on, different in every lane: five conditional moves of all that may still be wanted.
static void select_words(approx *a, MlirValue start, MlirValue *words) {
  int count = WORDS;
  for (int i = 0; i < WORDS; i++) words[i] = approx_i64(a, two_over_pi[i]);
  for (uint64_t step = 16; step > 0; step /= 2) {
    MlirValue bit = approx_int(a, "andi", start, approx_i64(a, step));
    MlirValue is_taken = ir_cmpi(a->b, "ne", bit, approx_i64(a, 0));
    count -= (int)step;
    for (int i = 0; i < count; i++) words[i] = ir_select(a->b, is_taken, words[i + (int)step], words[i]);
  }
}

// The window's digits, from the least on.
static void window_of(approx *a, MlirValue field, MlirValue *digits) {
  // Lanes of small angles are computed too, and thrown away: keep their position in the table.
  MlirValue position = approx_int(a, "subi", field, approx_i64(a, FIRST_FIELD));
  position = approx_int(a, "andi", position, approx_i64(a, 1023));
  MlirValue words[WORDS], shift = approx_int(a, "andi", position, approx_i64(a, 31));
  select_words(a, shift_right(a, position, 5), words);
  for (int i = 0; i + 1 < WINDOW; i++) {
    MlirValue both = approx_int(a, "ori", approx_int(a, "shli", words[i], approx_i64(a, 32)), words[i + 1]);
    digits[DIGITS - 1 - i] = shift_right(a, approx_int(a, "shli", both, shift), 32);
  }
}

// digits * m, modulo their 192 bits.
static void multiply(approx *a, MlirValue *digits, MlirValue m) {
  MlirValue low = low_half(a, m), high = shift_right(a, m, 32), carry = approx_i64(a, 0), product[DIGITS];
  for (int i = 0; i < DIGITS; i++) {
    MlirValue one = approx_int(a, "muli", digits[i], low), sum = approx_int(a, "addi", carry, low_half(a, one));
    MlirValue next = shift_right(a, one, 32);
    if (i > 0) {
      MlirValue two = approx_int(a, "muli", digits[i - 1], high);
      sum = approx_int(a, "addi", sum, low_half(a, two));
      next = approx_int(a, "addi", next, shift_right(a, two, 32));
    }
    product[i] = low_half(a, sum);
    carry = approx_int(a, "addi", next, shift_right(a, sum, 32));
  }
  for (int i = 0; i < DIGITS; i++) digits[i] = product[i];
}

// x + y, where |x| >= |y| or x is 0, and what rounding it lost.
static MlirValue add(approx *a, MlirValue x, MlirValue y, MlirValue *lost) {
  MlirValue sum = approx_add(a, x, y);
  *lost = approx_sub(a, y, approx_sub(a, sum, x));
  return sum;
}

// The digits as a fraction of a quarter turn, in two parts.
static MlirValue fraction_of(approx *a, const MlirValue *digits, MlirValue *low) {
  MlirValue part[DIGITS], lost, sum;
  for (int i = 0; i < DIGITS; i++) {
    MlirValue unit = approx_f64(a, ldexp(1, 32 * i - 190));
    part[i] = approx_mul(a, ir_cast(a->b, "arith.uitofp", a->f64, digits[i]), unit);
  }
  MlirValue first = add(a, part[5], part[4], &lost), second = add(a, lost, part[3], &lost);
  MlirValue third = add(a, lost, part[2], &lost), rest = approx_add(a, lost, part[1]);
  first = add(a, first, second, &second);
  second = add(a, second, third, &third);
  sum = approx_add(a, second, approx_add(a, third, rest));
  return add(a, first, sum, low);
}

void approx_wide_large_angle(approx *a, MlirValue x, MlirValue *r, MlirValue *rest, MlirValue *quadrant) {
  MlirValue bits = approx_bits(a, approx_abs(a, x)), zero = approx_i64(a, 0), digits[DIGITS];
  window_of(a, shift_right(a, bits, 52), digits);
  MlirValue mantissa = approx_int(a, "andi", bits, approx_i64(a, 0xfffffffffffff));
  multiply(a, digits, approx_int(a, "ori", mantissa, approx_i64(a, (uint64_t)1 << 52)));

  // To the nearest quarter turn: of what is above a half, the two's complement (but for a unit) counts down.
  MlirValue top = approx_int(a, "addi", digits[DIGITS - 1], approx_i64(a, (uint64_t)1 << 29));
  MlirValue turns = approx_int(a, "andi", shift_right(a, top, 30), approx_i64(a, 3));
  MlirValue half = approx_int(a, "andi", digits[DIGITS - 1], approx_i64(a, (uint64_t)1 << 29));
  MlirValue is_above = ir_cmpi(a->b, "ne", half, zero);
  MlirValue flip = ir_select(a->b, is_above, approx_i64(a, 0xffffffff), zero);
  for (int i = 0; i < DIGITS; i++) digits[i] = approx_int(a, "xori", digits[i], flip);
  digits[DIGITS - 1] = approx_int(a, "andi", digits[DIGITS - 1], approx_i64(a, ((uint64_t)1 << 30) - 1));

  MlirValue low, high = fraction_of(a, digits, &low), unit = approx_f64(a, HALF_PI);
  MlirValue product = approx_mul(a, high, unit), tail = approx_fma(a, high, unit, approx_negate(a, product));
  tail = approx_fma(a, high, approx_f64(a, HALF_PI_REST), approx_fma(a, low, unit, tail));
  MlirValue sum = add(a, product, tail, &tail);

  // Negative angles turn the other way; infinities and NaN have no angle.
  MlirValue is_negative = approx_compare(a, "olt", x, approx_f64(a, 0));
  MlirValue is_opposite = approx_int(a, "xori", is_negative, is_above);
  MlirValue is_finite = approx_compare(a, "olt", approx_abs(a, x), approx_f64(a, INFINITY));
  *rest = ir_select(a->b, is_opposite, approx_negate(a, tail), tail);
  sum = ir_select(a->b, is_opposite, approx_negate(a, sum), sum);
  *r = ir_select(a->b, is_finite, sum, approx_f64(a, NAN));
  *quadrant = ir_select(a->b, is_negative, approx_int(a, "subi", zero, turns), turns);
}
