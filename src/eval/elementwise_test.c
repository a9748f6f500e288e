// Elementwise operations at the corners of their types: one row per operation and type.
#include "eval/testing.h"

typedef struct operand {
  const char *shape, *value;
} operand;

typedef struct row {
  const char *shape;  // of the result
  const char *op;     // with attributes after a comma
  operand operands[3];
  const char *expected;
} row;

static void check_rows(const row *rows, size_t count) {
  for (size_t k = 0; k < count; k++) {
    const row *r = &rows[k];
    text source = {0};
    text_puts(&source, "HloModule m\nENTRY e {\n");
    size_t name_size = strcspn(r->op, ",");
    text_printf(&source, "  ROOT r = %s %.*s(", r->shape, (int)name_size, r->op);
    for (int j = 0; j < 3 && r->operands[j].shape; j++) text_printf(&source, "%sx%d", j ? ", " : "", j);
    text_printf(&source, ")%s\n", r->op + name_size);
    for (int j = 0; j < 3 && r->operands[j].shape; j++)
      text_printf(&source, "  x%d = %s constant(%s)\n", j, r->operands[j].shape, r->operands[j].value);
    text_puts(&source, "}\n");
    testing_expect(text_cstr(&source), r->expected);
    text_free(&source);
  }
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

static void test_integer_wrapping(void **state) {
  (void)state;
  static const row rows[] = {
      {"s2[2]", "add", {{"s2[2]", "{1, -2}"}, {"s2[2]", "{1, -1}"}}, "{-2, 1}"},
      {"u2[2]", "add", {{"u2[2]", "{3, 2}"}, {"u2[2]", "{1, 1}"}}, "{0, 3}"},
      {"s4[3]", "add", {{"s4[3]", "{7, -8, 3}"}, {"s4[3]", "{1, -1, 2}"}}, "{-8, 7, 5}"},
      {"u4[2]", "subtract", {{"u4[2]", "{0, 9}"}, {"u4[2]", "{1, 3}"}}, "{15, 6}"},
      {"s8[2]", "multiply", {{"s8[2]", "{100, -128}"}, {"s8[2]", "{3, -1}"}}, "{44, -128}"},
      {"u8[2]", "negate", {{"u8[2]", "{1, 0}"}}, "{255, 0}"},
      {"s16[2]", "abs", {{"s16[2]", "{-32768, -5}"}}, "{-32768, 5}"},
      {"s32[1]", "add", {{"s32[1]", "{2147483647}"}, {"s32[1]", "{1}"}}, "{-2147483648}"},
      {"u32[1]", "multiply", {{"u32[1]", "{4294967295}"}, {"u32[1]", "{4294967295}"}}, "{1}"},
      {"s64[1]", "negate", {{"s64[1]", "{-9223372036854775808}"}}, "{-9223372036854775808}"},
      {"u64[1]", "add", {{"u64[1]", "{18446744073709551615}"}, {"u64[1]", "{2}"}}, "{1}"},
      {"pred[4]", "add", {{"pred[4]", "{0,0,1,1}"}, {"pred[4]", "{0,1,0,1}"}}, "{0,1,1,1}"},
      {"pred[4]", "multiply", {{"pred[4]", "{0,0,1,1}"}, {"pred[4]", "{0,1,0,1}"}}, "{0,0,0,1}"},
      {"pred[4]", "maximum", {{"pred[4]", "{0,0,1,1}"}, {"pred[4]", "{0,1,0,1}"}}, "{0,1,1,1}"},
      {"pred[4]", "xor", {{"pred[4]", "{0,0,1,1}"}, {"pred[4]", "{0,1,0,1}"}}, "{0,1,1,0}"},
      {"pred[2]", "not", {{"pred[2]", "{0,1}"}}, "{1,0}"},
      {"u4[2]", "not", {{"u4[2]", "{0,5}"}}, "{15,10}"},
      {"s8[2]", "not", {{"s8[2]", "{0,5}"}}, "{-1,-6}"},
  };
  CHECK(rows);
}

static void test_integer_division(void **state) {
  (void)state;
  static const row rows[] = {
      {"s8[4]", "divide", {{"s8[4]", "{5, -128, -7, 7}"}, {"s8[4]", "{0, -1, 2, -2}"}}, "{-1, -128, -3, -3}"},
      {"u8[2]", "divide", {{"u8[2]", "{5, 200}"}, {"u8[2]", "{0, 3}"}}, "{255, 66}"},
      {"s4[2]", "divide", {{"s4[2]", "{-8, 7}"}, {"s4[2]", "{-1, 0}"}}, "{-8, -1}"},
      {"s64[2]",
       "divide",
       {{"s64[2]", "{-9223372036854775808, 3}"}, {"s64[2]", "{-1, 0}"}},
       "{-9223372036854775808, -1}"},
      {"u64[2]",
       "divide",
       {{"u64[2]", "{18446744073709551615, 1}"}, {"u64[2]", "{2, 0}"}},
       "{9223372036854775807, 18446744073709551615}"},
      {"s32[4]", "remainder", {{"s32[4]", "{5, -2147483648, -7, 7}"}, {"s32[4]", "{0, -1, 2, -2}"}}, "{5, 0, -1, 1}"},
      {"u16[2]", "remainder", {{"u16[2]", "{65535, 9}"}, {"u16[2]", "{10, 0}"}}, "{5, 9}"},
      {"u64[1]", "remainder", {{"u64[1]", "{18446744073709551615}"}, {"u64[1]", "{10}"}}, "{5}"},
  };
  CHECK(rows);
}

static void test_integer_bits(void **state) {
  (void)state;
  static const row rows[] = {
      {"s32[4]",
       "shift-left",
       {{"s32[4]", "{1, 1, 1, 3}"}, {"s32[4]", "{31, 32, -1, 30}"}},
       "{-2147483648, 0, 0, -1073741824}"},
      {"u8[3]", "shift-left", {{"u8[3]", "{255, 1, 1}"}, {"u8[3]", "{4, 7, 8}"}}, "{240, 128, 0}"},
      {"s8[4]",
       "shift-right-arithmetic",
       {{"s8[4]", "{-128, -128, 64, -1}"}, {"s8[4]", "{3, 8, 100, -1}"}},
       "{-16, -1, 0, -1}"},
      {"u8[2]", "shift-right-arithmetic", {{"u8[2]", "{128, 127}"}, {"u8[2]", "{1, 1}"}}, "{192, 63}"},
      {"s8[3]", "shift-right-logical", {{"s8[3]", "{-1, -1, -128}"}, {"s8[3]", "{4, 8, 7}"}}, "{15, 0, 1}"},
      {"s4[2]", "shift-right-logical", {{"s4[2]", "{-1, -8}"}, {"s4[2]", "{1, 3}"}}, "{7, 1}"},
      {"u64[3]",
       "shift-right-logical",
       {{"u64[3]", "{18446744073709551615, 1, 8}"}, {"u64[3]", "{63, 64, 3}"}},
       "{1, 0, 1}"},
      {"s64[2]",
       "shift-right-arithmetic",
       {{"s64[2]", "{-9223372036854775808, -1}"}, {"s64[2]", "{63, 64}"}},
       "{-1, -1}"},
      {"s4[3]", "popcnt", {{"s4[3]", "{-1, 0, 5}"}}, "{4, 0, 2}"},
      {"s32[2]", "popcnt", {{"s32[2]", "{-1, 7}"}}, "{32, 3}"},
      {"u8[3]", "count-leading-zeros", {{"u8[3]", "{0, 1, 255}"}}, "{8, 7, 0}"},
      {"s16[2]", "count-leading-zeros", {{"s16[2]", "{-1, 256}"}}, "{0, 7}"},
      {"u64[2]", "count-leading-zeros", {{"u64[2]", "{0, 1}"}}, "{64, 63}"},
      {"s32[2]", "mulhi", {{"s32[2]", "{2147483647, -2147483648}"}, {"s32[2]", "{2147483647, 2}"}}, "{1073741823, -1}"},
      {"u64[1]",
       "mulhi",
       {{"u64[1]", "{18446744073709551615}"}, {"u64[1]", "{18446744073709551615}"}},
       "{18446744073709551614}"},
      {"s64[1]",
       "mulhi",
       {{"s64[1]", "{-9223372036854775808}"}, {"s64[1]", "{-9223372036854775808}"}},
       "{4611686018427387904}"},
      {"u8[1]", "mulhi", {{"u8[1]", "{255}"}, {"u8[1]", "{255}"}}, "{254}"},
  };
  CHECK(rows);
}

static void test_integer_order(void **state) {
  (void)state;
  static const row rows[] = {
      {"u8[2]", "maximum", {{"u8[2]", "{200, 1}"}, {"u8[2]", "{100, 2}"}}, "{200, 2}"},
      {"u64[1]", "minimum", {{"u64[1]", "{18446744073709551615}"}, {"u64[1]", "{1}"}}, "{1}"},
      {"s8[3]", "sign", {{"s8[3]", "{-128, 0, 9}"}}, "{-1, 0, 1}"},
      {"u8[2]", "sign", {{"u8[2]", "{0, 255}"}}, "{0, 1}"},
      {"pred[2]", "compare, direction=LT", {{"u32[2]", "{4294967295, 1}"}, {"u32[2]", "{1, 4294967295}"}}, "{0, 1}"},
      {"pred[2]", "compare, direction=LT", {{"s32[2]", "{-1, 1}"}, {"s32[2]", "{1, -1}"}}, "{1, 0}"},
      {"pred[2]", "compare, direction=GE", {{"pred[2]", "{1, 0}"}, {"pred[2]", "{0, 1}"}}, "{1, 0}"},
      {"s32[6]",
       "power",
       {{"s32[6]", "{2, -1, -1, 1, 2, 0}"}, {"s32[6]", "{10, -3, -4, -5, -1, 0}"}},
       "{1024, -1, 1, 1, 0, 1}"},
      {"u8[2]", "power", {{"u8[2]", "{3, 2}"}, {"u8[2]", "{5, 255}"}}, "{243, 0}"},
      {"s32[4]", "clamp", {{"s32[]", "-1"}, {"s32[4]", "{-5, -1, 0, 9}"}, {"s32[]", "3"}}, "{-1, -1, 0, 3}"},
      {"u8[2]", "clamp", {{"u8[2]", "{10, 10}"}, {"u8[2]", "{5, 250}"}, {"u8[2]", "{200, 200}"}}, "{10, 200}"},
  };
  CHECK(rows);
}

static void test_float_rounding(void **state) {
  (void)state;
  static const row rows[] = {
      {"f32[2]", "add", {{"f32[2]", "{16777216, 1}"}, {"f32[2]", "{1, 1e-10}"}}, "{16777216, 1}"},
      {"bf16[2]", "add", {{"bf16[2]", "{256, 256}"}, {"bf16[2]", "{1, 3}"}}, "{256, 260}"},
      {"f16[3]", "multiply", {{"f16[3]", "{60000, 0.0001, -60000}"}, {"f16[3]", "{2, 0.0001, 2}"}}, "{inf, 0, -inf}"},
      {"f8e5m2[2]", "add", {{"f8e5m2[2]", "{1, 57344}"}, {"f8e5m2[2]", "{0.125, 57344}"}}, "{1, inf}"},
      {"f8e4m3fn[2]", "multiply", {{"f8e4m3fn[2]", "{448, 1.5}"}, {"f8e4m3fn[2]", "{2, 1.5}"}}, "{nan, 2.25}"},
      {"f4e2m1fn[2]", "add", {{"f4e2m1fn[2]", "{6, 1}"}, {"f4e2m1fn[2]", "{6, 0.5}"}}, "{6, 1.5}"},
      {"f64[1]", "divide", {{"f64[1]", "{1}"}, {"f64[1]", "{3}"}}, "{0.33333333333333331}"},
      {"f32[4]", "divide", {{"f32[4]", "{1, -1, 0, 1}"}, {"f32[4]", "{0, 0, 0, 3}"}}, "{inf, -inf, nan, 0.333333343}"},
      {"f32[4]", "remainder", {{"f32[4]", "{5.5, -5.5, 1, 3}"}, {"f32[4]", "{2, 2, 0, inf}"}}, "{1.5, -1.5, nan, 3}"},
      {"f32[3]", "sqrt", {{"f32[3]", "{2, -1, -0}"}}, "{1.41421354, nan, -0}"},
      {"f32[3]", "exponential", {{"f32[3]", "{1, -inf, 89}"}}, "{2.71828175, 0, inf}"},
      {"f64[2]", "log-plus-one", {{"f64[2]", "{1e-20, -1}"}}, "{1e-20, -inf}"},
      {"f32[2]", "exponential-minus-one", {{"f32[2]", "{1e-20, -inf}"}}, "{1e-20, -1}"},
      {"f32[3]", "logistic", {{"f32[3]", "{0, 1000, -1000}"}}, "{0.5, 1, 0}"},
      {"f32[2]", "rsqrt", {{"f32[2]", "{4, 0}"}}, "{0.5, inf}"},
      {"f32[2]", "cbrt", {{"f32[2]", "{-27, 8}"}}, "{-3, 2}"},
      {"f32[2]", "erf", {{"f32[2]", "{inf, 0.5}"}}, "{1, 0.520499885}"},
      {"f32[1]", "atan2", {{"f32[1]", "{-0}"}, {"f32[1]", "{-1}"}}, "{-3.14159274}"},
      {"f32[3]", "power", {{"f32[3]", "{-8, 0, nan}"}, {"f32[3]", "{3, 0, 0}"}}, "{-512, 1, 1}"},
  };
  CHECK(rows);
}

static void test_float_order(void **state) {
  (void)state;
  static const row rows[] = {
      {"f32[4]", "maximum", {{"f32[4]", "{nan, 1, -0, inf}"}, {"f32[4]", "{1, nan, 0, 2}"}}, "{nan, nan, 0, inf}"},
      {"f32[4]", "minimum", {{"f32[4]", "{nan, 1, 0, inf}"}, {"f32[4]", "{1, nan, -0, 2}"}}, "{nan, nan, -0, 2}"},
      {"f32[4]", "clamp", {{"f32[]", "0"}, {"f32[4]", "{nan, -1, 0.5, inf}"}, {"f32[]", "1"}}, "{nan, 0, 0.5, 1}"},
      {"f32[2]", "clamp", {{"f32[2]", "{nan, 2}"}, {"f32[2]", "{0, 0}"}, {"f32[2]", "{1, 1}"}}, "{nan, 1}"},
      {"pred[4]",
       "compare, direction=EQ",
       {{"f32[4]", "{nan, 0, 1, inf}"}, {"f32[4]", "{nan, -0, 2, inf}"}},
       "{0, 1, 0, 1}"},
      {"pred[2]", "compare, direction=NE", {{"f32[2]", "{nan, 0}"}, {"f32[2]", "{nan, -0}"}}, "{1, 0}"},
      {"pred[3]",
       "compare, direction=LT, type=TOTALORDER",
       {{"f32[3]", "{-0, inf, -nan}"}, {"f32[3]", "{0, nan, -inf}"}},
       "{1, 1, 1}"},
      {"pred[2]",
       "compare, direction=EQ, type=TOTALORDER",
       {{"bf16[2]", "{nan, -0}"}, {"bf16[2]", "{nan, 0}"}},
       "{1, 0}"},
      {"f32[4]", "sign", {{"f32[4]", "{-2, -0, nan, inf}"}}, "{-1, -0, nan, 1}"},
      {"f32[5]", "round-nearest-afz", {{"f32[5]", "{0.5, -0.5, 1.5, 2.5, -0.2}"}}, "{1, -1, 2, 3, -0}"},
      {"f32[5]", "round-nearest-even", {{"f32[5]", "{0.5, -0.5, 1.5, 2.5, -0.2}"}}, "{0, -0, 2, 2, -0}"},
      {"f32[2]", "ceil", {{"f32[2]", "{-0.5, 1.25}"}}, "{-0, 2}"},
      {"f32[2]", "floor", {{"f32[2]", "{-0.5, 1.25}"}}, "{-1, 1}"},
      {"pred[3]", "is-finite", {{"f16[3]", "{inf, nan, 65504}"}}, "{0, 0, 1}"},
      {"f32[2]", "negate", {{"f32[2]", "{0, -1}"}}, "{-0, 1}"},
      {"f32[2]", "abs", {{"f32[2]", "{-0, -inf}"}}, "{0, inf}"},
      {"f32[2]", "imag", {{"f32[2]", "{3, nan}"}}, "{0, 0}"},
  };
  CHECK(rows);
}

static void test_convert(void **state) {
  (void)state;
  static const row rows[] = {
      {"s32[5]",
       "convert",
       {{"f32[5]", "{1e20, -1e20, nan, -1.9, inf}"}},
       "{2147483647, -2147483648, 0, -1, 2147483647}"},
      {"s64[3]",
       "convert",
       {{"f64[3]", "{9.3e18, -inf, 4503599627370497}"}},
       "{9223372036854775807, -9223372036854775808, 4503599627370497}"},
      {"u64[3]",
       "convert",
       {{"f64[3]", "{1e30, -5, 18446744073709549568}"}},
       "{18446744073709551615, 0, 18446744073709549568}"},
      {"u8[4]", "convert", {{"f32[4]", "{255.9, 256, -1, nan}"}}, "{255, 255, 0, 0}"},
      {"s4[4]", "convert", {{"bf16[4]", "{7.5, 8, -9, -8}"}}, "{7, 7, -8, -8}"},
      {"s8[3]", "convert", {{"s32[3]", "{128, -129, 7}"}}, "{-128, 127, 7}"},
      {"u32[2]", "convert", {{"s8[2]", "{-1, 5}"}}, "{4294967295, 5}"},
      {"s64[1]", "convert", {{"u32[1]", "{4294967295}"}}, "{4294967295}"},
      {"pred[4]", "convert", {{"f32[4]", "{0, -0, nan, 0.1}"}}, "{0, 0, 1, 1}"},
      {"pred[2]", "convert", {{"s32[2]", "{256, 0}"}}, "{1, 0}"},
      {"f32[2]", "convert", {{"pred[2]", "{1, 0}"}}, "{1, 0}"},
      {"f32[1]", "convert", {{"u64[1]", "{18446744073709551615}"}}, "{18446744073709551616}"},
      // 2^54 + 2^30 + 1: through a double the last bit is lost, and with it the direction of the tie.
      {"f32[2]",
       "convert",
       {{"s64[2]", "{18014399583223809, -18014399583223809}"}},
       "{18014400656965632, -18014400656965632}"},
      {"bf16[3]", "convert", {{"f32[3]", "{1.00390625, 1.01171875, 1.00390637}"}}, "{1, 1.015625, 1.0078125}"},
      // Just above a tie of bf16 by less than an f32 can tell.
      {"bf16[1]", "convert", {{"f64[1]", "{1.00390625000000022}"}}, "{1.0078125}"},
      {"f16[3]", "convert", {{"f64[3]", "{1.00048828125000022, 65520, 65519.9}"}}, "{1.0009765625, inf, 65504}"},
      {"f8e4m3fn[3]", "convert", {{"f32[3]", "{464, 465, -1e9}"}}, "{448, nan, nan}"},
      {"f8e5m2fnuz[2]", "convert", {{"f32[2]", "{-0, 1e9}"}}, "{0, nan}"},
      {"c64[2]", "convert", {{"f32[2]", "{2, nan}"}}, "{(2, 0), (nan, 0)}"},
      {"c128[1]", "convert", {{"c64[1]", "{(1, -2)}"}}, "{(1, -2)}"},
  };
  CHECK(rows);
}

static void test_reduce_precision(void **state) {
  (void)state;
  static const row rows[] = {
      {"f32[6]",
       "reduce-precision, exponent_bits=5, mantissa_bits=10",
       {{"f32[6]", "{65519, 65520, 1e-6, -1e-6, nan, 1.00048828125}"}},
       "{65504, inf, 0, -0, nan, 1}"},
      {"f32[2]",
       "reduce-precision, exponent_bits=8, mantissa_bits=7",
       {{"f32[2]", "{1.01171875, -1.00390625}"}},
       "{1.015625, -1}"},
      {"f32[2]", "reduce-precision, exponent_bits=4, mantissa_bits=0", {{"f32[2]", "{nan, 1.5}"}}, "{nan, 2}"},
      {"bf16[1]", "reduce-precision, exponent_bits=8, mantissa_bits=3", {{"bf16[1]", "{1.0703125}"}}, "{1.125}"},
      // What is subnormal in eight bits is not in sixteen: below the range of e4m2, within that of e4m3.
      {"f8e4m3fn[2]",
       "reduce-precision, exponent_bits=4, mantissa_bits=2",
       {{"f8e4m3fn[2]", "{0.00390625, 1.125}"}},
       "{0, 1}"},
      {"f8e3m4[2]",
       "reduce-precision, exponent_bits=4, mantissa_bits=2",
       {{"f8e3m4[2]", "{0.015625, -0.09375}"}},
       "{0.015625, -0.09375}"},
      {"f64[1]", "reduce-precision, exponent_bits=8, mantissa_bits=23", {{"f64[1]", "{0.1}"}}, "{0.10000000149011612}"},
  };
  CHECK(rows);
}

// As XLA's compiled code and numpy: infinities behind a NaN are not looked for, nor signs that a factor i would take.
static void test_complex_specials(void **state) {
  (void)state;
  static const row rows[] = {
      {"c64[3]",
       "multiply",
       {{"c64[3]", "{(inf, inf), (inf, 1), (1e30, 0)}"}, {"c64[3]", "{(1, 0), (1, 1), (1e30, 0)}"}},
       "{(nan, nan), (inf, inf), (inf, 0)}"},
      {"c128[2]",
       "atan2",
       {{"c128[2]", "{(0, 0), (1, 1)}"}, {"c128[2]", "{(-0, -1), (-1, 1)}"}},
       "{(3.141592653589793, -0), (2.356194490192345, -inf)}"},
  };
  CHECK(rows);
}

static void test_complex(void **state) {
  (void)state;
  static const row rows[] = {
      {"c64[1]", "multiply", {{"c64[1]", "{(1, 2)}"}, {"c64[1]", "{(3, -4)}"}}, "{(11, 2)}"},
      {"c128[1]", "divide", {{"c128[1]", "{(11, 2)}"}, {"c128[1]", "{(3, -4)}"}}, "{(1, 2)}"},
      {"f32[2]", "abs", {{"c64[2]", "{(3, -4), (1e30, 1e30)}"}}, "{5, 1.41421354e+30}"},
      {"f32[1]", "real", {{"c64[1]", "{(3, -4)}"}}, "{3}"},
      {"f64[1]", "imag", {{"c128[1]", "{(3, -4)}"}}, "{-4}"},
      {"c64[2]", "complex", {{"f32[2]", "{1, inf}"}, {"f32[2]", "{-0, 2}"}}, "{(1, -0), (inf, 2)}"},
      {"c64[2]", "sign", {{"c64[2]", "{(3, -4), (0, 0)}"}}, "{(0.6, -0.8), (0, 0)}"},
      {"c64[1]", "sqrt", {{"c64[1]", "{(-4, 0)}"}}, "{(0, 2)}"},
      {"c64[2]", "power", {{"c64[2]", "{(0, 0), (0, 0)}"}, {"c64[2]", "{(0, 0), (2, 1)}"}}, "{(1, 0), (0, 0)}"},
      {"c128[1]", "log-plus-one", {{"c128[1]", "{(1e-20, 0)}"}}, "{(1e-20, 0)}"},
      {"c64[3]", "exponential", {{"c64[3]", "{(-inf, -1), (-inf, 2.5), (inf, -0)}"}}, "{(0, -0), (-0, 0), (inf, -0)}"},
      {"c64[4]",
       "exponential",
       {{"c64[4]", "{(inf, nan), (-inf, nan), (inf, inf), (-inf, -inf)}"}},
       "{(nan, nan), (nan, nan), (nan, nan), (nan, nan)}"},
      {"c128[1]", "exponential-minus-one", {{"c128[1]", "{(1e-20, 0)}"}}, "{(1e-20, 0)}"},
      {"pred[2]",
       "compare, direction=EQ",
       {{"c64[2]", "{(1, 2), (1, nan)}"}, {"c64[2]", "{(1, 2), (1, nan)}"}},
       "{1, 0}"},
      {"pred[2]", "compare, direction=NE", {{"c64[2]", "{(1, 2), (1, 3)}"}, {"c64[2]", "{(1, 2), (1, 2)}"}}, "{0, 1}"},
  };
  CHECK(rows);
}

static void test_select(void **state) {
  (void)state;
  static const row rows[] = {
      {"f32[2]", "select", {{"pred[2]", "{1, 0}"}, {"f32[2]", "{nan, 1}"}, {"f32[2]", "{2, -0}"}}, "{nan, -0}"},
      {"c128[2]",
       "select",
       {{"pred[]", "0"}, {"c128[2]", "{(1,1), (1,1)}"}, {"c128[2]", "{(2,1), (3,1)}"}},
       "{(2,1), (3,1)}"},
      {"s4[2]", "select", {{"pred[2]", "{0, 1}"}, {"s4[2]", "{1, -1}"}, {"s4[2]", "{-8, 3}"}}, "{-8, -1}"},
  };
  CHECK(rows);
}

static void test_bitcast_convert(void **state) {
  (void)state;
  static const row rows[] = {
      {"u32[3]", "bitcast-convert", {{"f32[3]", "{1, -0, inf}"}}, "{1065353216, 2147483648, 2139095040}"},
      {"f16[2]", "bitcast-convert", {{"s16[2]", "{15360, -32768}"}}, "{1, -0}"},
      {"u8[2,4]", "bitcast-convert", {{"u32[2]", "{67305985, 255}"}}, "{{1, 2, 3, 4}, {255, 0, 0, 0}}"},
      {"u32[2]", "bitcast-convert", {{"u16[2,2]", "{{1, 2}, {3, 0}}"}}, "{131073, 3}"},
      {"s4[2,2]", "bitcast-convert", {{"u8[2]", "{241, 40}"}}, "{{1, -1}, {-8, 2}}"},
      {"u8[1]", "bitcast-convert", {{"s4[1,2]", "{{-1, 1}}"}}, "{31}"},
      {"u4[2]", "bitcast-convert", {{"s4[2]", "{-1, 7}"}}, "{15, 7}"},
      {"u2[2,3]", "bitcast-convert", {{"f6e2m3fn[2]", "{1, -7.5}"}}, "{{0, 2, 0}, {3, 3, 3}}"},
      {"f6e2m3fn[2]", "bitcast-convert", {{"u2[2,3]", "{{0, 2, 0}, {3, 3, 3}}"}}, "{1, -7.5}"},
      {"f64[1]", "bitcast-convert", {{"u64[1]", "{4607182418800017408}"}}, "{1}"},
  };
  CHECK(rows);
}

// Longer than a block of lanes, and empty.
static void test_many_elements(void **state) {
  (void)state;
  testing_expect(
      "HloModule m\nENTRY e {\n  i = s32[1000] iota(), iota_dimension=0\n  s = s32[1000] multiply(i, i)\n"
      "  ROOT r = s32[3] slice(s), slice={[255:1000:372]}\n}\n",
      "{65025, 393129, 998001}");
  testing_expect("HloModule m\nENTRY e {\n  i = f32[0,3] iota(), iota_dimension=1\n  ROOT s = f32[0,3] sine(i)\n}\n",
                 "{}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integer_wrapping), cmocka_unit_test(test_integer_division),
      cmocka_unit_test(test_integer_bits),     cmocka_unit_test(test_integer_order),
      cmocka_unit_test(test_float_rounding),   cmocka_unit_test(test_float_order),
      cmocka_unit_test(test_convert),          cmocka_unit_test(test_reduce_precision),
      cmocka_unit_test(test_complex),          cmocka_unit_test(test_select),
      cmocka_unit_test(test_bitcast_convert),  cmocka_unit_test(test_many_elements),
      cmocka_unit_test(test_complex_specials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
