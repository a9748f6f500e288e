// dot with operands of several types, ragged-dot, scaled-dot; scan.
#include "eval/testing.h"

static void expect(const char *body, const char *expected) {
  text source = {0};
  text_printf(&source, "HloModule m\nENTRY e {\n%s\n}\n", body);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void test_mixed_types(void **state) {
  (void)state;
  static const char *const types[][3] = {{"s8", "s8", "s32"},     {"u8", "s8", "s32"},           {"s4", "s8", "s32"},
                                         {"bf16", "bf16", "f32"}, {"f8e4m3fn", "f8e5m2", "f32"}, {"f16", "f32", "f32"},
                                         {"u4", "u4", "u8"},      {"f32", "f32", "f64"},         {"s8", "s8", "f32"},
                                         {"u8", "s8", "f32"},     {"s32", "s32", "f32"}};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    text body = {0};
    text_printf(&body,
                "x = %s[1,3] constant({{1,2,4}})\n y = %s[3,1] constant({{4},{2},{3}})\n"
                "ROOT r = %s[1,1] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                types[k][0], types[k][1], types[k][2]);
    expect(text_cstr(&body), "{{20}}");
    text_free(&body);
  }
  expect(
      "x = u8[2] constant({255,255})\n y = s8[2] constant({-128,1})\n"
      "ROOT r = s32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
      "-32385");
}

// Groups along a free dim of lhs; with sizes of their own per batch; along a contracting and a batch dim.
static void test_ragged(void **state) {
  (void)state;
  expect(
      "l = s32[3] constant({1,0,2})\n x = f32[4,2] constant({{1,2},{3,4},{5,6},{7,8}})\n"
      "w = f32[3,2,1] constant({{{1},{10}},{{100},{inf}},{{2},{3}}})\n"
      "ROOT r = f32[4,1] ragged-dot(x, w, l), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
      "lhs_ragged_dims={0}, rhs_group_dims={0}",
      "{{21}, {18}, {28}, {0}}");
  expect(
      "l = s32[2,2] constant({{1,1},{0,1}})\n x = s32[2,2,1] constant({{{1},{2}},{{3},{4}}})\n"
      "w = s32[2,2,1,1] constant({{{{10}},{{100}}},{{{5}},{{7}}}})\n"
      "ROOT r = s32[2,2,1] ragged-dot(x, w, l), lhs_contracting_dims={2}, rhs_contracting_dims={2}, "
      "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_ragged_dims={1}, rhs_group_dims={0}",
      "{{{10}, {10}}, {{21}, {0}}}");
  expect(
      "l = s32[2] constant({1,2})\n x = f32[2,3] constant({{1,2,3},{4,5,6}})\n"
      "w = f32[3,1] constant({{1},{10},{100}})\n"
      "ROOT r = f32[2,2,1] ragged-dot(x, w, l), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
      "lhs_ragged_dims={1}, rhs_group_dims={}",
      "{{{1}, {4}}, {{320}, {650}}}");
  expect(
      "l = s32[1] constant({1})\n x = s32[2,1] constant({{2},{3}})\n w = s32[2,1] constant({{4},{5}})\n"
      "ROOT r = s32[2] ragged-dot(x, w, l), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
      "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_ragged_dims={0}, rhs_group_dims={}",
      "{8, 15}");
  testing_expect_error(
      "HloModule m\nENTRY e { l = s32[3,1] constant({{1},{0},{2}})\n x = f32[4,2] constant({{1,2},{3,4},{5,6},{7,8}})\n"
      "w = f32[1,2,1] constant({{{1},{10}}})\n"
      "ROOT r = f32[4,1] ragged-dot(x, w, l), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
      "lhs_ragged_dims={0}, rhs_group_dims={0} }",
      NULL, HEDDLE_UNIMPLEMENTED, "group sizes of this shape");
}

// Every scale stands for two columns of lhs and for one column of rhs.
static void test_scaled(void **state) {
  (void)state;
  expect(
      "x = f8e4m3fn[1,4] constant({{1,2,3,4}})\n y = f4e2m1fn[4,2] constant({{1,1},{1,1},{1,1},{1,2}})\n"
      "sx = f8e8m0fnu[1,2] constant({{2,0.5}})\n sy = f8e8m0fnu[1,2] constant({{1,4}})\n"
      "ROOT r = f32[1,2] scaled-dot(x, y, sx, sy), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "{{9.5, 46}}");
}

static void test_scan(void **state) {
  (void)state;
  const char *format =
      "HloModule m\nbody { x = s32[%s] parameter(0)\n c = s32[] parameter(1)\n y = s32[] reshape(x)\n"
      " n = s32[] add(y, c)\n p = s32[] multiply(y, c)\n o = s32[%s] reshape(p)\n"
      " ROOT r = (s32[%s], s32[]) tuple(o, n) }\n"
      "ENTRY e { x = s32[4] constant({1,2,3,4})\n i = s32[] constant(10)\n"
      " ROOT r = (s32[4], s32[]) scan(x, i), dimensions={0}, num_carries=1, is_reverse=%s, to_apply=body }\n";
  text source = {0};
  text_printf(&source, format, "", "", "", "false");
  testing_expect(text_cstr(&source), "({10, 22, 39, 64}, 20)");
  text_free(&source);
  text_printf(&source, format, "1", "1", "1", "true");
  testing_expect(text_cstr(&source), "({19, 34, 42, 40}, 20)");
  text_free(&source);
  testing_expect_error(
      "HloModule m\nbody { x = s32[2] parameter(0)\n c = s32[] parameter(1)\n ROOT r = (s32[2], s32[]) tuple(x, c) }\n"
      "ENTRY e { x = s32[4] constant({1,2,3,4})\n i = s32[] constant(10)\n"
      " ROOT r = (s32[4], s32[]) scan(x, i), dimensions={0}, num_carries=1, to_apply=body }\n",
      NULL, HEDDLE_INVALID, "do not fit together");
}

static void test_complex_order(void **state) {
  (void)state;
  const char *xy =
      "x = c64[4] constant({(1,5),(2,0),(2,1),(-1,0)})\n y = c64[4] constant({(2,0),(1,9),(2,-1),(-1,0)})\n";
  text body = {0};
  text_printf(&body, "%sROOT r = c64[4] maximum(x, y)", xy);
  expect(text_cstr(&body), "{(2,0), (2,0), (2,1), (-1,0)}");
  text_free(&body);
  text_printf(&body, "%sROOT r = c64[4] minimum(x, y)", xy);
  expect(text_cstr(&body), "{(1,5), (1,9), (2,-1), (-1,0)}");
  text_free(&body);
  text_printf(&body, "%slo = c64[] constant((1,9))\n hi = c64[] constant((2,0))\n ROOT r = c64[4] clamp(lo, x, hi)",
              xy);
  expect(text_cstr(&body), "{(1,9), (2,0), (2,0), (1,9)}");
  text_free(&body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mixed_types), cmocka_unit_test(test_ragged),        cmocka_unit_test(test_scaled),
      cmocka_unit_test(test_scan),        cmocka_unit_test(test_complex_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
