// reduce-window, select-and-scatter, convolution, sort and rng-bit-generator on small modules.
#include "eval/testing.h"

static void expect(const char *body, const char *expected) {
  text source = {0};
  text_printf(&source,
              "HloModule m\n"
              "add_s { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n"
              "take { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] copy(b) }\n"
              "ge { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GE }\n"
              "lt { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=LT }\n"
              "lt_first { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s8[] parameter(2)\n"
              "  d = s8[] parameter(3)\n ROOT r = pred[] compare(a, b), direction=LT }\n"
              "ENTRY e {\n%s\n}\n",
              body);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void test_reduce_window(void **state) {
  (void)state;
  expect(
      "x = s32[5] constant({1,2,3,4,5})\n z = s32[] constant(0)\n"
      "ROOT r = s32[3] reduce-window(x, z), window={size=3}, to_apply=add_s",
      "{6, 9, 12}");
  // Padding takes no part, so the initial value counts once.
  expect(
      "x = s32[4] constant({1,2,3,4})\n z = s32[] constant(100)\n"
      "ROOT r = s32[3] reduce-window(x, z), window={size=2 stride=2 pad=1_1}, to_apply=add_s",
      "{101, 105, 104}");
  expect(
      "x = s32[3] constant({1,2,3})\n z = s32[] constant(0)\n"
      "ROOT r = s32[3] reduce-window(x, z), window={size=3 lhs_dilate=2}, to_apply=add_s",
      "{3, 2, 5}");
  expect(
      "x = s32[2,4] constant({{1,2,3,4},{5,6,7,8}})\n z = s32[] constant(0)\n"
      "ROOT r = s32[1,2] reduce-window(x, z), window={size=2x2 rhs_dilate=1x2}, to_apply=add_s",
      "{{16, 20}}");
  // The last element of the window, in row-major order; none leaves the initial value.
  expect(
      "x = s32[2] constant({7,8})\n z = s32[] constant(-1)\n"
      "ROOT r = s32[4] reduce-window(x, z), window={size=1 pad=1_1}, to_apply=take",
      "{-1, 7, 8, -1}");
  expect(
      "i = s32[700] iota(), iota_dimension=0\n z = s32[] constant(0)\n"
      "w = s32[699] reduce-window(i, z), window={size=2}, to_apply=add_s\n ROOT r = s32[2] slice(w), "
      "slice={[300:699:398]}",
      "{601, 1397}");
}

// A sum rounds once, at its end. A recurrence rounds as it is written: here 2048 + 1 is 2048 in f16.
static void test_roundings(void **state) {
  (void)state;
  static const char source[] =
      "HloModule m\n"
      "sum { a = f16[] parameter(0)\n b = f16[] parameter(1)\n ROOT r = f16[] add(a, b) }\n"
      "sum_of_squares { a = f16[] parameter(0)\n b = f16[] parameter(1)\n s = f16[] multiply(b, b)\n"
      "  ROOT r = f16[] add(a, s) }\n"
      "recurrence { a = f16[] parameter(0)\n b = f16[] parameter(1)\n c = f16[] constant(2048)\n"
      "  s = f16[] add(a, b)\n ROOT r = f16[] subtract(s, c) }\n"
      "ENTRY e {\n"
      "x = f16[2] constant({1,1})\n z = f16[] constant(2048)\n"
      "p = f16[1] reduce-window(x, z), window={size=2}, to_apply=sum\n"
      "q = f16[1] reduce-window(x, z), window={size=2}, to_apply=sum_of_squares\n"
      "r = f16[2] reduce-window(x, z), window={size=1}, to_apply=recurrence\n"
      "s = f16[] reduce(x, z), dimensions={0}, to_apply=sum\n"
      "ROOT t = (f16[1], f16[1], f16[2], f16[]) tuple(p, q, r, s)\n}\n";
  testing_expect(source, "({2050}, {2050}, {0, 0}, 2050)");
}

static void test_select_and_scatter(void **state) {
  (void)state;
  expect(
      "x = s32[4] constant({1,5,5,2})\n s = s32[2] constant({10,20})\n z = s32[] constant(3)\n"
      "ROOT r = s32[4] select-and-scatter(x, s, z), window={size=2 stride=2}, select=ge, scatter=add_s",
      "{3, 13, 23, 3}");
  // Overlapping windows; of equal elements the first stays.
  expect(
      "x = s32[3] constant({4,4,1})\n s = s32[2] constant({10,20})\n z = s32[] constant(0)\n"
      "ROOT r = s32[3] select-and-scatter(x, s, z), window={size=2}, select=ge, scatter=add_s",
      "{10, 20, 0}");
}

static void test_convolution(void **state) {
  (void)state;
  expect(
      "x = f32[1,1,5] constant({{{1,2,3,4,5}}})\n k = f32[1,1,2] constant({{{1,10}}})\n"
      "ROOT r = f32[1,1,4] convolution(x, k), window={size=2}, dim_labels=bf0_oi0->bf0",
      "{{{21, 32, 43, 54}}}");
  expect(
      "x = f32[1,1,3] constant({{{1,2,3}}})\n k = f32[1,1,2] constant({{{1,10}}})\n"
      "ROOT r = f32[1,1,4] convolution(x, k), window={size=2 pad=1_1 rhs_reversal=1}, dim_labels=bf0_oi0->bf0",
      "{{{1, 12, 23, 30}}}");
  expect(
      "x = s32[1,3,2] constant({{{1,2},{3,4},{5,6}}})\n k = s32[2,1,2] constant({{{1,10}},{{100,1000}}})\n"
      "ROOT r = s32[1,2,2] convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f, feature_group_count=2",
      "{{{301, 4020}, {503, 6040}}}");
  expect(
      "x = s32[2,1,1] constant({{{2}},{{3}}})\n k = s32[2,1,1] constant({{{10}},{{100}}})\n"
      "ROOT r = s32[1,2,1] convolution(x, k), window={size=1}, dim_labels=bf0_oi0->bf0, batch_group_count=2",
      "{{{20}, {300}}}");
  expect(
      "x = f32[1,1,2] constant({{{1,2}}})\n k = f32[1,1,2] constant({{{1,10}}})\n"
      "ROOT r = f32[1,1,2] convolution(x, k), window={size=2 lhs_dilate=2}, dim_labels=bf0_oi0->bf0",
      "{{{1, 20}}}");
  expect(
      "x = f32[2,3] constant({{1,2,3},{4,5,6}})\n k = f32[3,1] constant({{1},{10},{100}})\n"
      "ROOT r = f32[2,1] convolution(x, k), dim_labels=bf_io->bf",
      "{{321}, {654}}");
}

static void test_sort(void **state) {
  (void)state;
  expect("x = s32[2,3] constant({{3,1,2},{-1,5,-7}})\n ROOT r = s32[2,3] sort(x), dimensions={1}, to_apply=lt",
         "{{1, 2, 3}, {-7, -1, 5}}");
  expect("x = s32[2,3] constant({{3,1,2},{-1,5,-7}})\n ROOT r = s32[2,3] sort(x), dimensions={0}, to_apply=lt",
         "{{-1, 1, -7}, {3, 5, 2}}");
  expect(
      "x = s32[5] constant({2,1,2,1,0})\n y = s8[5] constant({0,1,2,3,4})\n"
      "ROOT r = (s32[5], s8[5]) sort(x, y), dimensions={0}, is_stable=true, to_apply=lt_first",
      "({0, 1, 1, 2, 2}, {4, 1, 3, 0, 2})");
  // Not an order: some permutation, here of equal elements.
  expect("x = s32[4] constant({5,5,5,5})\n ROOT r = s32[4] sort(x), dimensions={0}, to_apply=ge", "{5, 5, 5, 5}");
}

// Words of Random123's known answers: key and counter all zeros.
static void test_random_bits(void **state) {
  (void)state;
  expect(
      "s = u64[2] constant({0, 0})\n"
      "ROOT r = (u64[2], u32[2]) rng-bit-generator(s), algorithm=rng_three_fry",
      "({0, 1}, {1797259609, 2579123966})");
  expect(
      "s = u64[3] constant({0, 0, 0})\n"
      "ROOT r = (u64[3], u32[4]) rng-bit-generator(s), algorithm=rng_philox",
      "({0, 1, 0}, {1713891541, 3781805453, 3159862348, 2600524760})");
  // The counter carries into its upper word; 64-bit results take two words each.
  expect(
      "s = u64[3] constant({0, 18446744073709551615, 5})\n b = (u64[3], u64[3]) rng-bit-generator(s), "
      "algorithm=rng_philox\n ROOT r = u64[3] get-tuple-element(b), index=0",
      "{0, 1, 6}");
  expect(
      "s = u64[2] constant({0, 0})\n b = (u64[2], u8[3]) rng-bit-generator(s), algorithm=rng_three_fry\n"
      "ROOT r = u64[2] get-tuple-element(b), index=0",
      "{0, 2}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reduce_window), cmocka_unit_test(test_roundings), cmocka_unit_test(test_select_and_scatter),
      cmocka_unit_test(test_convolution),   cmocka_unit_test(test_sort),      cmocka_unit_test(test_random_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
