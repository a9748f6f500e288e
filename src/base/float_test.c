// Every pattern of every format, and rounding against an independent search over the decoded values.
#include "base/float.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/testing.h"

static int total_bits(float_kind kind) {
  const float_format *f = &float_formats[kind];
  return f->exponent_bits + f->mantissa_bits + (f->specials != FLOAT_E8M0);
}

static bool same_value(double a, double b) {
  return isnan(a) ? isnan(b) : !isnan(b) && a == b && !signbit(a) == !signbit(b);
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state;
}

static void test_every_pattern_round_trips(void **state) {
  (void)state;
  for (int kind = 0; kind < FLOAT_KIND_COUNT; kind++) {
    for (uint32_t bits = 0; bits < (uint32_t)1 << total_bits(kind); bits++) {
      double value = float_decode(kind, bits);
      uint32_t back = float_encode(kind, value);
      if (!isnan(value)) assert_int_equal(back, bits);
      else assert_true(isnan(float_decode(kind, back)) && !signbit(float_decode(kind, back)) == !signbit(value));
    }
  }
}

typedef struct known_value {
  float_kind kind;
  uint32_t bits;
  double value;
} known_value;

// Smallest subnormal, smallest normal, one, largest, and each format's specials, from the formats' definitions.
// clang-format off
static const known_value known_values[] = {
    {FLOAT_F16, 0x0001, 0x1p-24},          {FLOAT_F16, 0x0400, 0x1p-14},
    {FLOAT_F16, 0x3c00, 1},                {FLOAT_F16, 0x7bff, 65504},
    {FLOAT_F16, 0xfc00, -INFINITY},        {FLOAT_F16, 0x7e00, NAN},
    {FLOAT_BF16, 0x0001, 0x1p-133},        {FLOAT_BF16, 0x0080, 0x1p-126},
    {FLOAT_BF16, 0x3f80, 1},               {FLOAT_BF16, 0x7f7f, 0x1.fep127},
    {FLOAT_BF16, 0x7f80, INFINITY},        {FLOAT_BF16, 0xffc0, NAN},
    {FLOAT_F8E5M2, 0x01, 0x1p-16},         {FLOAT_F8E5M2, 0x7b, 57344},
    {FLOAT_F8E5M2, 0x7c, INFINITY},        {FLOAT_F8E5M2, 0x7d, NAN},
    {FLOAT_F8E4M3, 0x01, 0x1p-9},          {FLOAT_F8E4M3, 0x77, 240},
    {FLOAT_F8E4M3, 0xf8, -INFINITY},       {FLOAT_F8E4M3, 0x79, NAN},
    {FLOAT_F8E4M3FN, 0x01, 0x1p-9},        {FLOAT_F8E4M3FN, 0x7e, 448},
    {FLOAT_F8E4M3FN, 0x78, 256},           {FLOAT_F8E4M3FN, 0xff, NAN},
    {FLOAT_F8E4M3B11FNUZ, 0x01, 0x1p-13},  {FLOAT_F8E4M3B11FNUZ, 0x7f, 30},
    {FLOAT_F8E4M3B11FNUZ, 0x58, 1},        {FLOAT_F8E4M3B11FNUZ, 0x80, NAN},
    {FLOAT_F8E5M2FNUZ, 0x01, 0x1p-17},     {FLOAT_F8E5M2FNUZ, 0x7f, 57344},
    {FLOAT_F8E5M2FNUZ, 0x40, 1},           {FLOAT_F8E5M2FNUZ, 0x80, NAN},
    {FLOAT_F8E4M3FNUZ, 0x01, 0x1p-10},     {FLOAT_F8E4M3FNUZ, 0x7f, 240},
    {FLOAT_F8E4M3FNUZ, 0x40, 1},           {FLOAT_F8E4M3FNUZ, 0x80, NAN},
    {FLOAT_F8E3M4, 0x01, 0x1p-6},          {FLOAT_F8E3M4, 0x6f, 15.5},
    {FLOAT_F8E3M4, 0x70, INFINITY},        {FLOAT_F8E3M4, 0x71, NAN},
    {FLOAT_F8E8M0FNU, 0x00, 0x1p-127},     {FLOAT_F8E8M0FNU, 0x7f, 1},
    {FLOAT_F8E8M0FNU, 0xfe, 0x1p127},      {FLOAT_F8E8M0FNU, 0xff, NAN},
    {FLOAT_F4E2M1FN, 0x1, 0.5},            {FLOAT_F4E2M1FN, 0x2, 1},
    {FLOAT_F4E2M1FN, 0x7, 6},              {FLOAT_F4E2M1FN, 0x8, -0.0},
    {FLOAT_F6E2M3FN, 0x01, 0.125},         {FLOAT_F6E2M3FN, 0x1f, 7.5},
    {FLOAT_F6E2M3FN, 0x08, 1},             {FLOAT_F6E2M3FN, 0x3f, -7.5},
    {FLOAT_F6E3M2FN, 0x01, 0.0625},        {FLOAT_F6E3M2FN, 0x1f, 28},
    {FLOAT_F6E3M2FN, 0x0c, 1},             {FLOAT_F6E3M2FN, 0x20, -0.0},
};
// clang-format on

static void test_known_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof known_values / sizeof *known_values; i++) {
    const known_value *k = &known_values[i];
    double found = float_decode(k->kind, k->bits);
    if (isnan(k->value) ? !isnan(found) : found != k->value)
      fail_msg("%s %#x: found %g, wanted %g", float_formats[k->kind].name, k->bits, found, k->value);
  }
}

// Overflow, infinities, NaN, zeros: pattern of a huge value, +inf, -inf, NaN, -0 per format.
static const struct {
  float_kind kind;
  uint32_t huge, minus_huge, infinity, minus_infinity, nan, minus_zero;
} specials[] = {
    {FLOAT_F16, 0x7c00, 0xfc00, 0x7c00, 0xfc00, 0x7e00, 0x8000},
    {FLOAT_BF16, 0x7f80, 0xff80, 0x7f80, 0xff80, 0x7fc0, 0x8000},
    {FLOAT_F8E5M2, 0x7c, 0xfc, 0x7c, 0xfc, 0x7e, 0x80},
    {FLOAT_F8E4M3, 0x78, 0xf8, 0x78, 0xf8, 0x7c, 0x80},
    {FLOAT_F8E4M3FN, 0x7f, 0xff, 0x7f, 0xff, 0x7f, 0x80},
    {FLOAT_F8E4M3B11FNUZ, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00},
    {FLOAT_F8E5M2FNUZ, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00},
    {FLOAT_F8E4M3FNUZ, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00},
    {FLOAT_F8E3M4, 0x70, 0xf0, 0x70, 0xf0, 0x78, 0x80},
    {FLOAT_F8E8M0FNU, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
    {FLOAT_F4E2M1FN, 0x7, 0xf, 0x7, 0xf, 0x8, 0x8},
    {FLOAT_F6E2M3FN, 0x1f, 0x3f, 0x1f, 0x3f, 0x20, 0x20},
    {FLOAT_F6E3M2FN, 0x1f, 0x3f, 0x1f, 0x3f, 0x20, 0x20},
};

static void test_specials(void **state) {
  (void)state;
  assert_int_equal(sizeof specials / sizeof *specials, FLOAT_KIND_COUNT);
  for (int i = 0; i < FLOAT_KIND_COUNT; i++) {
    float_kind kind = specials[i].kind;
    assert_int_equal(float_encode(kind, 0x1p900), specials[i].huge);
    assert_int_equal(float_encode(kind, -0x1p900), specials[i].minus_huge);
    assert_int_equal(float_encode(kind, INFINITY), specials[i].infinity);
    assert_int_equal(float_encode(kind, -INFINITY), specials[i].minus_infinity);
    assert_int_equal(float_encode(kind, (double)NAN), specials[i].nan);
    assert_int_equal(float_encode(kind, -0.0), specials[i].minus_zero);
  }
  assert_int_equal(float_encode(FLOAT_F8E8M0FNU, 0), 0xff);
  assert_int_equal(float_encode(FLOAT_F8E8M0FNU, -1), 0xff);
  assert_int_equal(float_encode(FLOAT_F8E8M0FNU, 0x1p-900), 0xff);
  assert_int_equal(float_encode(FLOAT_F8E8M0FNU, 0x1p-150), 0xff);
  assert_int_equal(float_encode(FLOAT_F8E8M0FNU, nextafter(0x1p-150, 1)), 0);
}

// Patterns lo and lo + 1 are neighbours: everything between them goes to the nearer, the middle to the even one (the
// larger one in f8e8m0fnu, where every pattern is a power of two and the hidden bit is the only digit).
static void check_between(float_kind kind, uint32_t lo, double low, double high) {
  double middle = low + (high - low) / 2;
  uint32_t even = kind == FLOAT_F8E8M0FNU || (lo & 1) ? lo + 1 : lo;
  if (float_encode(kind, nextafter(middle, 0)) != lo || float_encode(kind, nextafter(middle, INFINITY)) != lo + 1 ||
      float_encode(kind, middle) != even)
    fail_msg("%s: rounding between %#x and %#x", float_formats[kind].name, lo, lo + 1);
}

static void test_rounding_to_nearest_even(void **state) {
  (void)state;
  for (int kind = 0; kind < FLOAT_KIND_COUNT; kind++) {
    uint32_t sign = (uint32_t)1 << (total_bits(kind) - 1);
    for (uint32_t lo = 0; isfinite(float_decode(kind, lo)); lo++) {
      double low = float_decode(kind, lo), high = float_decode(kind, lo + 1);
      bool last = !isfinite(high) || (lo + 1 == sign && kind != FLOAT_F8E8M0FNU);
      if (last && float_formats[kind].specials == FLOAT_FINITE) break;
      // Past the largest value the next step would lie as far away as the last one did.
      if (last) high = kind == FLOAT_F8E8M0FNU ? 2 * low : 2 * low - float_decode(kind, lo - 1);
      if (last && float_formats[kind].specials == FLOAT_FNUZ) {
        assert_int_equal(float_encode(kind, nextafter(low + (high - low) / 2, 0)), lo);
        assert_int_equal(float_encode(kind, low + (high - low) / 2), 0x80);
      } else {
        check_between(kind, lo, low, high);
      }
      if (last) break;
      if (kind != FLOAT_F8E8M0FNU)
        assert_int_equal(float_encode(kind, -nextafter(high, 0)), float_encode(kind, nextafter(high, 0)) | sign);
    }
  }
}

static void test_rounding_happens_once(void **state) {
  (void)state;
  // Just above the middle of two halves by less than an f32 can tell: through f32 it would be a tie.
  assert_int_equal(float_f64_to_f16(1 + 0x1p-11 + 0x1p-40), 0x3c01);
  assert_int_equal(float_f64_to_f16(1 + 0x1p-11), 0x3c00);
  assert_int_equal(float_f64_to_bf16(1 + 0x1p-8 + 0x1p-40), 0x3f81);
  assert_int_equal(float_f64_to_bf16(1 + 0x1p-8), 0x3f80);
}

static void test_fast_decoding_is_exact(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    assert_true(same_value(float_f16_to_f32((uint16_t)bits), float_decode(FLOAT_F16, bits)));
    assert_true(same_value(float_bf16_to_f32((uint16_t)bits), float_decode(FLOAT_BF16, bits)));
    if (!isnan(float_f16_to_f32((uint16_t)bits)))
      assert_int_equal(float_f32_to_f16(float_f16_to_f32((uint16_t)bits)), bits);
    if (!isnan(float_bf16_to_f32((uint16_t)bits)))
      assert_int_equal(float_f32_to_bf16(float_bf16_to_f32((uint16_t)bits)), bits);
  }
}

static void check_fast_encoding(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  if (float_f32_to_f16(value) != float_encode(FLOAT_F16, value) ||
      float_f32_to_bf16(value) != float_encode(FLOAT_BF16, value))
    fail_msg("fast and generic encoding of %a (%#x) differ", (double)value, bits);
}

static void test_fast_encoding_is_the_generic_one(void **state) {
  (void)state;
  // The upper half of a float decides almost everything; the lower half is put around the places where rounding turns.
  static const uint32_t low_halves[] = {0, 1, 0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff};
  uint32_t seed = 20240607;
  for (uint32_t high = 0; high < 0x10000; high++) {
    for (size_t i = 0; i < sizeof low_halves / sizeof *low_halves; i++) check_fast_encoding(high << 16 | low_halves[i]);
    check_fast_encoding(high << 16 | next_random(&seed) >> 16);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_pattern_round_trips),
      cmocka_unit_test(test_known_values),
      cmocka_unit_test(test_specials),
      cmocka_unit_test(test_rounding_to_nearest_even),
      cmocka_unit_test(test_rounding_happens_once),
      cmocka_unit_test(test_fast_decoding_is_exact),
      cmocka_unit_test(test_fast_encoding_is_the_generic_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
