// Operations other than elementwise ones, each at its corners, as small modules.
#include "eval/testing.h"

// A module of one entry computation.
static void expect(const char *body, const char *expected) {
  text source = {0};
  text_printf(&source,
              "HloModule m\n"
              "add_f { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
              "add_s { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n"
              "take { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] copy(b) }\n"
              "ENTRY e {\n%s\n}\n",
              body);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void test_iota(void **state) {
  (void)state;
  expect("ROOT r = s32[2,3] iota(), iota_dimension=1", "{{0, 1, 2}, {0, 1, 2}}");
  expect("ROOT r = bf16[2,3] iota(), iota_dimension=0", "{{0, 0, 0}, {1, 1, 1}}");
  expect("ROOT r = c64[3] iota(), iota_dimension=0", "{(0, 0), (1, 0), (2, 0)}");
  expect("ROOT r = s2[4] iota(), iota_dimension=0", "{0, 1, -2, -1}");
}

static void test_moves(void **state) {
  (void)state;
  expect("x = s32[2] constant({7, 8})\n ROOT r = s32[2,3] broadcast(x), dimensions={0}", "{{7, 7, 7}, {8, 8, 8}}");
  expect("x = s32[] constant(5)\n ROOT r = s32[2,2] broadcast(x), dimensions={}", "{{5, 5}, {5, 5}}");
  expect("x = s8[2,3] constant({{1,2,3},{4,5,6}})\n ROOT r = s8[3,2] transpose(x), dimensions={1,0}",
         "{{1, 4}, {2, 5}, {3, 6}}");
  expect("x = c128[2,1] constant({{(1,2)},{(3,4)}})\n ROOT r = c128[1,2] transpose(x), dimensions={1,0}",
         "{{(1, 2), (3, 4)}}");
  expect("x = s32[2,3] constant({{1,2,3},{4,5,6}})\n ROOT r = s32[2,3] reverse(x), dimensions={0,1}",
         "{{6, 5, 4}, {3, 2, 1}}");
  expect("x = s32[2,3] constant({{1,2,3},{4,5,6}})\n ROOT r = s32[3,2] reshape(x)", "{{1, 2}, {3, 4}, {5, 6}}");
  expect("x = s32[0,3] constant({})\n ROOT r = s32[3,0] transpose(x), dimensions={1,0}", "{{}, {}, {}}");
}

static void test_bitcast(void **state) {
  (void)state;
  expect("x = s32[2,3]{1,0} constant({{1,2,3},{4,5,6}})\n ROOT r = s32[3,2]{0,1} bitcast(x)",
         "{{1, 4}, {2, 5}, {3, 6}}");
  expect("x = s32[2,3]{0,1} constant({{1,2,3},{4,5,6}})\n ROOT r = s32[6]{0} bitcast(x)", "{1, 4, 2, 5, 3, 6}");
  expect("x = s32[2,3]{1,0} constant({{1,2,3},{4,5,6}})\n ROOT r = s32[3,2]{1,0} bitcast(x)",
         "{{1, 2}, {3, 4}, {5, 6}}");
  expect("x = f32[2]{0} constant({1, -2})\n ROOT r = s32[2]{0} bitcast(x)", "{1065353216, -1073741824}");
  // Tiles of two rows and two columns; the columns behind the third are a gap.
  expect("x = s32[2,4]{1,0:T(2,2)} constant({{1,2,3,4},{5,6,7,8}})\n ROOT r = s32[8]{0} bitcast(x)",
         "{1, 2, 5, 6, 3, 4, 7, 8}");
  expect("x = s32[2,3]{1,0:T(2,2)} constant({{1,2,3},{5,6,7}})\n ROOT r = s32[3,2]{0,1:T(2,2)} bitcast(x)",
         "{{1, 5}, {2, 6}, {3, 7}}");
  expect("x = s32[8]{0} constant({1,2,3,4,5,6,7,8})\n ROOT r = s32[4,2]{1,0:T(2,2)(2,1)} bitcast(x)",
         "{{1, 3}, {2, 4}, {5, 7}, {6, 8}}");
  expect("x = s4[4]{0} constant({1,2,3,4})\n ROOT r = u8[2]{0} bitcast(x)", "{33, 67}");
  testing_expect_error(
      "HloModule m\nENTRY e {\n  x = f32[2,2]{1,0:T(*,2)} constant({{1,2},{3,4}})\n"
      "  ROOT r = f32[4]{0} bitcast(x)\n}\n",
      NULL, HEDDLE_UNIMPLEMENTED, "test:4:");
}

static void test_slices(void **state) {
  (void)state;
  expect("x = s32[2,5] constant({{0,1,2,3,4},{5,6,7,8,9}})\n ROOT r = s32[1,3] slice(x), slice={[1:2], [0:5:2]}",
         "{{5, 7, 9}}");
  expect("x = s32[3] constant({1,2,3})\n y = s32[] constant(0)\n ROOT r = s32[7] pad(x, y), padding=1_1_1",
         "{0, 1, 0, 2, 0, 3, 0}");
  expect("x = s32[4] constant({1,2,3,4})\n y = s32[] constant(9)\n ROOT r = s32[3] pad(x, y), padding=-2_1",
         "{3, 4, 9}");
  expect("x = s32[4] constant({1,2,3,4})\n y = s32[] constant(9)\n ROOT r = s32[5] pad(x, y), padding=-1_-1_1",
         "{9, 2, 9, 3, 9}");
  expect("x = s32[2] constant({1,2})\n y = s32[] constant(9)\n ROOT r = s32[3] pad(x, y), padding=-3_4", "{9, 9, 9}");
  expect("x = s32[0] constant({})\n y = s32[] constant(9)\n ROOT r = s32[2] pad(x, y), padding=1_1", "{9, 9}");
  expect(
      "x = s32[1,2] constant({{1,2}})\n y = s32[1,1] constant({{3}})\n z = s32[1,0] constant({{}})\n"
      "ROOT r = s32[1,3] concatenate(x, z, y), dimensions={1}",
      "{{1, 2, 3}}");
}

static void test_dynamic_slices(void **state) {
  (void)state;
  expect(
      "x = s32[5] constant({0,1,2,3,4})\n i = s32[] constant(4)\n"
      "ROOT r = s32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
      "{2, 3, 4}");
  expect(
      "x = s32[5] constant({0,1,2,3,4})\n i = s32[] constant(-7)\n"
      "ROOT r = s32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
      "{0, 1, 2}");
  expect(
      "x = s32[5] constant({0,1,2,3,4})\n i = u64[] constant(18446744073709551615)\n"
      "ROOT r = s32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
      "{2, 3, 4}");
  expect(
      "x = s32[2,3] constant({{1,2,3},{4,5,6}})\n u = s32[1,2] constant({{8,9}})\n i = u8[] constant(1)\n"
      "j = u8[] constant(255)\n ROOT r = s32[2,3] dynamic-update-slice(x, u, i, j)",
      "{{1, 2, 3}, {4, 8, 9}}");
  expect("x = s32[] constant(1)\n u = s32[] constant(2)\n ROOT r = s32[] dynamic-update-slice(x, u)", "2");
}

static void test_reduce(void **state) {
  (void)state;
  const char *x = "x = s32[2,3] constant({{1,2,3},{4,5,6}})\n z = s32[] constant(10)\n";
  text source = {0};
  text_printf(&source, "%s ROOT r = s32[2] reduce(x, z), dimensions={1}, to_apply=add_s", x);
  expect(text_cstr(&source), "{16, 25}");
  text_free(&source);
  text_printf(&source, "%s ROOT r = s32[3] reduce(x, z), dimensions={0}, to_apply=add_s", x);
  expect(text_cstr(&source), "{15, 17, 19}");
  text_free(&source);
  // The order is row-major: the last element wins.
  text_printf(&source, "%s ROOT r = s32[] reduce(x, z), dimensions={0,1}, to_apply=take", x);
  expect(text_cstr(&source), "6");
  text_free(&source);
  expect(
      "x = f32[0,2] constant({})\n z = f32[] constant(3)\n"
      "ROOT r = f32[2] reduce(x, z), dimensions={0}, to_apply=add_f",
      "{3, 3}");
  // 2^24 + 1 + 1 + … is only seen by a sum wider than f32.
  expect(
      "x = f32[4] constant({16777216, 1, 1, 1})\n z = f32[] constant(0)\n"
      "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add_f",
      "16777220");
}

// The largest element and its place; and a reducer that swaps its results.
static void test_variadic_reduce(void **state) {
  (void)state;
  testing_expect(
      "HloModule m\n"
      "best { v0 = f32[] parameter(0)\n i0 = s32[] parameter(1)\n v1 = f32[] parameter(2)\n i1 = s32[] parameter(3)\n"
      " gt = pred[] compare(v1, v0), direction=GT\n v = f32[] select(gt, v1, v0)\n i = s32[] select(gt, i1, i0)\n"
      " ROOT t = (f32[], s32[]) tuple(v, i) }\n"
      "ENTRY e { x = f32[2,3] constant({{1, 9, 9}, {-3, -1, -2}})\n i = s32[2,3] iota(), iota_dimension=1\n"
      " lo = f32[] constant(-inf)\n z = s32[] constant(-1)\n"
      " ROOT r = (f32[2], s32[2]) reduce(x, i, lo, z), dimensions={1}, to_apply=best }\n",
      "({9, -1}, {1, 1})");
  testing_expect(
      "HloModule m\n"
      "swap { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] parameter(2)\n d = s32[] parameter(3)\n"
      " ROOT t = (s32[], s32[]) tuple(b, a) }\n"
      "ENTRY e { x = s32[3] constant({0, 0, 0})\n p = s32[] constant(1)\n q = s32[] constant(2)\n"
      " ROOT r = (s32[], s32[]) reduce(x, x, p, q), dimensions={0}, to_apply=swap }\n",
      "(2, 1)");
}

// A reducer that is more than elementwise operations: with a loop, and with a call.
static void test_reducers_with_calls(void **state) {
  (void)state;
  testing_expect(
      "HloModule m\n"
      "less { p = (s32[], s32[]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n z = s32[] constant(0)\n"
      " ROOT r = pred[] compare(i, z), direction=GT }\n"
      "next { p = (s32[], s32[]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " s = s32[] get-tuple-element(p), index=1\n one = s32[] constant(1)\n j = s32[] subtract(i, one)\n"
      " t = s32[] add(s, one)\n ROOT r = (s32[], s32[]) tuple(j, t) }\n"
      "count { a = s32[] parameter(0)\n b = s32[] parameter(1)\n t = (s32[], s32[]) tuple(b, a)\n"
      " w = (s32[], s32[]) while(t), condition=less, body=next\n ROOT r = s32[] get-tuple-element(w), index=1 }\n"
      "ENTRY e { x = s32[2,300] iota(), iota_dimension=1\n z = s32[] constant(5)\n"
      " ROOT r = s32[2] reduce(x, z), dimensions={1}, to_apply=count }\n",
      "{44855, 44855}");
  testing_expect(
      "HloModule m\n"
      "twice { a = s32[] parameter(0)\n ROOT r = s32[] add(a, a) }\n"
      "sum { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] call(b), to_apply=twice\n"
      " ROOT r = s32[] add(a, c) }\n"
      "ENTRY e { x = s32[4] iota(), iota_dimension=0\n z = s32[] constant(0)\n"
      " ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=sum }\n",
      "12");
}

static void test_dot(void **state) {
  (void)state;
  expect(
      "x = f32[2,3] constant({{1,2,3},{4,5,6}})\n y = f32[3,2] constant({{1,0},{0,1},{1,1}})\n"
      "ROOT r = f32[2,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "{{4, 5}, {10, 11}}");
  expect(
      "x = s32[2,2,2] constant({{{1,2},{3,4}},{{5,6},{7,8}}})\n y = s32[2,2] constant({{1,10},{100,1000}})\n"
      "ROOT r = s32[2,2] dot(x, y), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={1}",
      "{{21, 65}, {4300, 8700}}");
  expect(
      "x = s8[2] constant({100, 100})\n y = s8[2] constant({100, 100})\n"
      "ROOT r = s32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
      "20000");
  expect(
      "x = bf16[3] constant({256, 1, 1})\n y = bf16[3] constant({1, 1, 1})\n"
      "ROOT r = bf16[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
      "258");
  expect(
      "x = pred[2,2] constant({{1,0},{0,0}})\n y = pred[2] constant({1,1})\n"
      "ROOT r = pred[2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "{1, 0}");
  expect(
      "x = c64[1] constant({(1, 2)})\n y = c64[1] constant({(3, -4)})\n"
      "ROOT r = c64[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
      "(11, 2)");
  expect(
      "x = f32[2,0] constant({{},{}})\n y = f32[0,2] constant({})\n"
      "ROOT r = f32[2,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "{{0, 0}, {0, 0}}");
  expect("x = f32[2] constant({1, 2})\n y = f32[2] constant({3, 4})\n ROOT r = f32[2,2] dot(x, y)", "{{3, 4}, {6, 8}}");
}

static void test_gather(void **state) {
  (void)state;
  // Rows, the last index clamped; then windows whose start is clamped so that they fit.
  expect(
      "x = s32[3,2] constant({{1,2},{3,4},{5,6}})\n i = s32[3] constant({2, 0, 9})\n"
      "ROOT r = s32[3,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1,2}",
      "{{5, 6}, {1, 2}, {5, 6}}");
  expect(
      "x = s32[3,3] constant({{1,2,3},{4,5,6},{7,8,9}})\n i = s32[2,2] constant({{2,2},{-1,1}})\n"
      "ROOT r = s32[2,2,2] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, "
      "index_vector_dim=1, slice_sizes={2,2}",
      "{{{5, 6}, {8, 9}}, {{2, 3}, {5, 6}}}");
  expect(
      "x = s32[2,3] constant({{1,2,3},{4,5,6}})\n i = s32[2,1] constant({{2},{0}})\n"
      "ROOT r = s32[2] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, "
      "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}",
      "{3, 4}");
}

static void test_scatter(void **state) {
  (void)state;
  expect(
      "x = s32[4] constant({1,2,3,4})\n i = s32[4,1] constant({{1},{1},{4},{-1}})\n"
      "u = s32[4] constant({10,20,30,40})\n ROOT r = s32[4] scatter(x, i, u), update_window_dims={}, "
      "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add_s",
      "{1, 32, 3, 4}");
  // A window that sticks out is left out as a whole.
  expect(
      "x = s32[4] constant({0,0,0,0})\n i = s32[2,1] constant({{0},{3}})\n"
      "u = s32[2,2] constant({{1,2},{3,4}})\n ROOT r = s32[4] scatter(x, i, u), update_window_dims={1}, "
      "inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=take",
      "{1, 2, 0, 0}");
  expect(
      "x = s32[2,2] constant({{0,0},{0,0}})\n i = s32[2,1] constant({{1},{0}})\n"
      "u = s32[2] constant({5,6})\n ROOT r = s32[2,2] scatter(x, i, u), update_window_dims={}, "
      "inserted_window_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, "
      "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=take",
      "{{0, 5}, {6, 0}}");
  testing_expect(
      "HloModule m\n"
      "both { a = s32[] parameter(0)\n b = f32[] parameter(1)\n c = s32[] parameter(2)\n d = f32[] parameter(3)\n"
      " p = s32[] add(a, c)\n q = f32[] multiply(b, d)\n ROOT t = (s32[], f32[]) tuple(p, q) }\n"
      "ENTRY e { x = s32[2] constant({1,2})\n y = f32[2] constant({3,4})\n i = s32[1] constant({1})\n"
      " u = s32[1] constant({10})\n v = f32[1] constant({0.5})\n"
      " ROOT r = (s32[2], f32[2]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both }\n",
      "({1, 12}, {3, 2})");
}

static void test_conditional(void **state) {
  (void)state;
  static const struct {
    const char *index, *expected;
  } rows[] = {{"0", "10"}, {"1", "20"}, {"2", "30"}, {"3", "30"}, {"-1", "30"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    text source = {0};
    text_printf(&source,
                "HloModule m\n"
                "b0 { a = s32[] parameter(0)\n ROOT r = s32[] copy(a) }\n"
                "b1 { a = s32[] parameter(0)\n ROOT r = s32[] add(a, a) }\n"
                "b2 { a = s32[] parameter(0)\n t = s32[] add(a, a)\n ROOT r = s32[] add(t, a) }\n"
                "ENTRY e { i = s32[] constant(%s)\n x = s32[] constant(10)\n"
                " ROOT r = s32[] conditional(i, x, x, x), branch_computations={b0, b1, b2} }\n",
                rows[k].index);
    testing_expect(text_cstr(&source), rows[k].expected);
    text_free(&source);
  }
  testing_expect(
      "HloModule m\nt { a = s32[] parameter(0)\n ROOT r = s32[] negate(a) }\n"
      "f { a = s32[] parameter(0)\n ROOT r = s32[] copy(a) }\n"
      "ENTRY e { p = pred[] constant(true)\n x = s32[] constant(1)\n y = s32[] constant(2)\n"
      " ROOT r = s32[] conditional(p, x, y), true_computation=t, false_computation=f }\n",
      "-1");
}

static void test_calls_and_tuples(void **state) {
  (void)state;
  testing_expect(
      "HloModule m\npair { a = s32[] parameter(0)\n b = f32[2] parameter(1)\n ROOT r = (f32[2], s32[]) tuple(b, a) }\n"
      "ENTRY e { x = s32[] constant(4)\n y = f32[2] constant({1, 2})\n"
      " f = (f32[2], s32[]) fusion(x, y), kind=kLoop, calls=pair\n g = f32[2] get-tuple-element(f), index=0\n"
      " b = (f32[2], s32[]) opt-barrier(f)\n ROOT r = ((f32[2], s32[]), f32[2]) tuple(b, g) }\n",
      "(({1, 2}, 4), {1, 2})");
  testing_expect(
      "HloModule m\nscale { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] constant(2)\n"
      " m = f32[] multiply(a, c)\n ROOT r = f32[] add(m, b) }\n"
      "ENTRY e { x = f32[2,2] constant({{1,2},{3,4}})\n"
      " ROOT r = f32[2,2] map(x, x), dimensions={0,1}, to_apply=scale }\n",
      "{{3, 6}, {9, 12}}");
}

// Where terms cancel one sees whether sums round on their way: short ones of f32 do, others do not.
static void test_rounding_of_sums(void **state) {
  (void)state;
  expect(
      "x = f32[3] constant({100000000, 1, -100000000})\n y = f32[3] constant({1, 1, 1})\n"
      "ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
      "0");
  expect(
      "x = c64[3] constant({(0,100000000), (0,1), (0,-100000000)})\n y = c64[3] constant({(1,0), (1,0), (1,0)})\n"
      "ROOT r = c64[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
      "(0, 0)");
  expect(
      "x = f32[3] constant({100000000, 1, -100000000})\n z = f32[] constant(0)\n"
      "ROOT r = f32[1] reduce-window(x, z), window={size=3}, to_apply=add_f",
      "{0}");
  expect(
      "x = f32[3] constant({100000000, 1, -100000000})\n z = f32[] constant(0)\n"
      "p = f32[17] pad(x, z), padding=0_14\n o = f32[] constant(1)\n y = f32[17] broadcast(o), dimensions={}\n"
      "d = f32[] dot(p, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      "w = f32[1] reduce-window(p, z), window={size=17}, to_apply=add_f\n ROOT r = (f32[], f32[1]) tuple(d, w)",
      "(1, {1})");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rounding_of_sums),
      cmocka_unit_test(test_iota),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_bitcast),
      cmocka_unit_test(test_slices),
      cmocka_unit_test(test_dynamic_slices),
      cmocka_unit_test(test_reduce),
      cmocka_unit_test(test_variadic_reduce),
      cmocka_unit_test(test_reducers_with_calls),
      cmocka_unit_test(test_dot),
      cmocka_unit_test(test_gather),
      cmocka_unit_test(test_scatter),
      cmocka_unit_test(test_conditional),
      cmocka_unit_test(test_calls_and_tuples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
