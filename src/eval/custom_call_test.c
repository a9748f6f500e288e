// Custom calls other than LAPACK's: attributes, checks, identities, top-k in its several guises, refusals.
#include "eval/testing.h"

static const char header[] =
    "HloModule m\n"
    "gt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n i = s32[] parameter(2)\n j = s32[] parameter(3)\n"
    "  ROOT r = pred[] compare(a, b), direction=GT }\n"
    "lt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=LT }\n";

static void expect(const char *body, const char *expected) {
  text source = {0};
  text_printf(&source, "%sENTRY e {\n%s\n}\n", header, body);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void expect_error(const char *body, heddle_code code, const char *message) {
  text source = {0};
  text_printf(&source, "%sENTRY e {\n%s\n}\n", header, body);
  testing_expect_error(text_cstr(&source), NULL, code, message);
  text_free(&source);
}

// A check between two arrays of one type; null: it holds.
static void check(const char *type, const char *l, const char *r, const char *call, const char *message) {
  text body = {0};
  text_printf(&body,
              "a = %s constant(%s)\n b = %s constant(%s)\n"
              "c = () custom-call(a, b), custom_call_target=\"check.expect_%s\n ROOT r = s32[] constant(1)",
              type, l, type, r, call);
  if (message) expect_error(text_cstr(&body), HEDDLE_MISMATCH, message);
  else expect(text_cstr(&body), "1");
  text_free(&body);
}

// The checks run though nobody uses their result.
static void test_check_equal(void **state) {
  (void)state;
  check("s32[2]", "{1, 2}", "{1, 2}", "eq\"", NULL);
  check("s32[2]", "{1, 2}", "{1, 3}", "eq\"",
        "1 of 2 elements differ (a mismatch), the first at [1]: found 2, wanted 3");
  check("f32[3]", "{nan, -0, inf}", "{nan, 0, inf}", "eq\"", NULL);
  check("f32[2]", "{nan, inf}", "{1, -inf}", "eq\"", "2 of 2 elements differ");
  check("c64[2]", "{(1,2), (3,nan)}", "{(1,2), (3,nan)}", "eq\"", NULL);
  check("c64[2]", "{(1,2), (3,nan)}", "{(1,2), (3,4)}", "eq\"", "the first at [1]");
  check("bf16[]", "1", "1", "eq\"", NULL);
  check("pred[2]", "{true, false}", "{true, true}", "eq\"", "found false, wanted true");
}

static void test_check_close(void **state) {
  (void)state;
  check("f32[]", "1", "1.0000004", "close\"", NULL);  // 3 units
  check("f32[]", "1", "1.0000005", "close\"", "differ");
  check("f32[2]", "{nan, inf}", "{nan, inf}", "close\"", NULL);
  check("f32[]", "inf", "3.4028235e38", "close\"", "differ");
  check("f64[2]", "{0, -0}", "{-0, 4.9e-324}", "close\"", NULL);
  check("f16[]", "1", "1.004", "close\"", "differ");
  check("f16[]", "1", "1.004", "close\", backend_config={max_ulp_difference = 4 : i64}", NULL);
  check("f16[]", "1", "1.004", "close\", backend_config={\"max_ulp_difference\": 4, \"min_ulp_difference\": 4}", NULL);
  check("f16[]", "1", "1", "close\", backend_config={min_ulp_difference = 1 : ui64}", "differ");
  check("f32[]", "inf", "-inf",
        "close\", backend_config={max_ulp_difference = 18446744073709551615 : ui64, "
        "min_ulp_difference = 18446744073709551615 : ui64}",
        NULL);
  check("c64[]", "(1, 2)", "(1.0000001, 2.0000002)", "close\"", NULL);
  check("c64[]", "(1, 2)", "(1.0000001, 2.1)", "close\"", "differ");
  check("f8e4m3fn[2]", "{1, 0}", "{1.375, -0}", "close\"", NULL);
  check("f8e8m0fnu[]", "1", "8", "close\"", NULL);
  check("f8e8m0fnu[]", "1", "16", "close\"", "differ");
}

static void test_check_almost_equal(void **state) {
  (void)state;
  check("f32[2]", "{1000, nan}", "{1000.0009, nan}", "almost_eq\"", NULL);
  check("f32[]", "1", "1.002", "almost_eq\"", "differ");
  check("f32[]", "1", "1.002", "almost_eq\", backend_config={tolerance = 0.1 : f64}", NULL);
  check("f32[]", "1", "1.002", "almost_eq\", backend_config={note = \"a, tolerance = 9\", tolerance = 0.001}",
        "differ");
  check("c128[]", "(1, 2)", "(1.0005, 1.9995)", "almost_eq\"", NULL);
  check("f32[]", "inf", "1", "almost_eq\"", "differ");
}

static void test_check_result(void **state) {
  (void)state;
  expect("a = f32[2] constant({nan, 1})\n ROOT r = pred[] custom-call(a, a), custom_call_target=\"check.eq\"", "true");
  expect_error(
      "a = f32[2] constant({2, 1})\n b = f32[3] constant({2, 1, 0})\n"
      "ROOT r = pred[] custom-call(a, b), custom_call_target=\"check.eq\"",
      HEDDLE_MISMATCH, "the shape differs: found f32[2], wanted f32[3]");
}

// Wherever they stand, as long as nobody says that a call is without effect.
static void test_effects(void **state) {
  (void)state;
  const char *functions =
      "HloModule m\n"
      "inner { p = s32[] parameter(0)\n one = s32[] constant(1)\n"
      "  c = () custom-call(p, one), custom_call_target=\"check.expect_eq\"\n ROOT r = s32[] copy(p) }\n"
      "outer { p = s32[] parameter(0)\n ROOT r = s32[] call(p), to_apply=inner }\n";
  text source = {0};
  text_printf(&source,
              "%sENTRY e { x = s32[] constant(2)\n c = s32[] call(x), to_apply=outer\n ROOT r = s32[] constant(1) }",
              functions);
  testing_expect_error(text_cstr(&source), NULL, HEDDLE_MISMATCH, "1 of 1 elements differ");
  text_free(&source);
  text_printf(&source,
              "%sENTRY e { x = s32[] constant(1)\n c = s32[] call(x), to_apply=outer\n"
              "d = s32[] custom-call(x), custom_call_target=\"nowhere\"\n ROOT r = s32[] constant(1) }",
              functions);
  testing_expect(text_cstr(&source), "1");
  text_free(&source);
  expect_error(
      "x = s32[] custom-call(), custom_call_target=\"nowhere\", custom_call_has_side_effect=true\n"
      "ROOT r = s32[] constant(1)",
      HEDDLE_UNIMPLEMENTED, "nowhere");
}

static void test_shape_assertion(void **state) {
  (void)state;
  expect("p = pred[] constant(true)\n ROOT c = () custom-call(p), custom_call_target=\"shape_assertion\"", "()");
  expect_error(
      "p = pred[] constant(false)\n n = s32[] constant(3)\n"
      "ROOT c = () custom-call(p, n), custom_call_target=\"shape_assertion\", "
      "backend_config={error_message = \"n must be even\"}",
      HEDDLE_INVALID, "a shape assertion fails: n must be even");
}

static void test_probes(void **state) {
  (void)state;
  const char *loop =
      "HloModule m\n"
      "next { p = s32[] parameter(0)\n one = s32[] constant(1)\n s = s32[] add(p, one)\n"
      "  ROOT r = s32[] custom-call(s), custom_call_target=\"interpreter.probe\", "
      "custom_call_has_side_effect=true, backend_config={probe_id = \"sum\"} }\n"
      "less { p = s32[] parameter(0)\n two = s32[] constant(2)\n ROOT r = pred[] compare(p, two), direction=LT }\n"
      "ENTRY e { z = s32[] constant(0)\n w = s32[] while(z), condition=less, body=next\n"
      "two = s32[] constant(2)\n c = () custom-call(two), custom_call_target=\"check.expect_serialized_eq\", "
      "control-predecessors={w}, ";
  text source = {0};
  text_printf(&source, "%sbackend_config={iter = 1 : i32, probe_id = \"sum\"}\n ROOT r = s32[] constant(1) }", loop);
  testing_expect(text_cstr(&source), "1");
  text_free(&source);
  text_printf(&source, "%sbackend_config={probe_id = \"sum\"}\n ROOT r = s32[] constant(1) }", loop);
  testing_expect_error(text_cstr(&source), NULL, HEDDLE_INVALID, "found 2, wanted 1");
  text_free(&source);
  text_printf(&source, "%sbackend_config={iter = 2, probe_id = \"sum\"}\n ROOT r = s32[] constant(1) }", loop);
  testing_expect_error(text_cstr(&source), NULL, HEDDLE_INVALID, "did not run so often");
  text_free(&source);
}

static void test_identity(void **state) {
  (void)state;
  const char *const targets[] = {"Sharding",   "SPMDFullToShardShape",      "xla.sdy.FuncResultSharding",
                                 "MoveToHost", "annotate_device_placement", "LayoutConstraint",
                                 "Pin"};
  for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
    text body = {0};
    text_printf(&body, "a = s32[2] constant({1, 2})\n ROOT r = s32[2] custom-call(a), custom_call_target=\"%s\"",
                targets[k]);
    expect(text_cstr(&body), "{1, 2}");
    text_free(&body);
  }
  expect(
      "a = s32[] constant(1)\n b = f32[] constant(2)\n"
      "ROOT r = (s32[], f32[]) custom-call(a, b), custom_call_target=\"xla.sdy.GlobalToLocalShape\"",
      "(1, 2)");
  expect("a = s32[] constant(1)\n ROOT r = () custom-call(a), custom_call_target=\"InspectSharding\"", "()");
  expect_error("a = s32[2] constant({1, 2})\n ROOT r = s32[1] custom-call(a), custom_call_target=\"Sharding\"",
               HEDDLE_UNIMPLEMENTED, "not the operand's");
  expect("ROOT r = s32[2] custom-call(), custom_call_target=\"AllocateBuffer\"", "{0, 0}");
}

static void test_x64(void **state) {
  (void)state;
  expect(
      "a = u64[2] constant({4294967298, 5})\n l = u32[2] custom-call(a), custom_call_target=\"X64SplitLow\"\n"
      "h = u32[2] custom-call(a), custom_call_target=\"X64SplitHigh\"\n"
      "c = u64[2] custom-call(l, h), custom_call_target=\"X64Combine\"\n"
      "ROOT r = (u32[2], u32[2], u64[2]) tuple(l, h, c)",
      "({2, 5}, {1, 0}, {4294967298, 5})");
  expect(
      "a = f64[] constant(1.000000001)\n h = f32[] custom-call(a), custom_call_target=\"X64SplitHigh\"\n"
      "ROOT r = (f32[]) tuple(h)",
      "(1)");
  expect_error("a = u64[] constant(5)\n ROOT l = u16[] custom-call(a), custom_call_target=\"X64SplitLow\"",
               HEDDLE_UNIMPLEMENTED, "32-bit halves");
}

static void test_top_k(void **state) {
  (void)state;
  const char *x = "x = f32[2,4] constant({{3, 1, nan, 2}, {-5, 7, 0, 7}})\n";
  text body = {0};
  text_printf(&body,
              "%sROOT r = (f32[2,2], s32[2,2]) custom-call(x), custom_call_target=\"TopK\", called_computations={gt}",
              x);
  expect(text_cstr(&body), "({{nan, 3}, {7, 7}}, {{2, 0}, {1, 3}})");
  text_free(&body);
  text_printf(&body,
              "%sROOT r = (f32[2,2], s32[2,2]) custom-call(x), custom_call_target=\"TopK\", called_computations={lt}",
              x);
  expect(text_cstr(&body), "({{1, 2}, {-5, 0}}, {{1, 3}, {0, 2}})");
  text_free(&body);
  text_printf(&body,
              "%sROOT r = (f32[2,2], s32[2,2]) custom-call(x), custom_call_target=\"mhlo.topk\", "
              "backend_config={k = 2 : i64, largest = false}",
              x);
  expect(text_cstr(&body), "({{1, 2}, {-5, 0}}, {{1, 3}, {0, 2}})");
  text_free(&body);
  expect_error("x = f32[2] constant({1, 2})\n ROOT r = (f32[3], s32[3]) custom-call(x), custom_call_target=\"TopK\"",
               HEDDLE_INVALID, "the result's shape");
}

static void test_approximate_top_k(void **state) {
  (void)state;
  const char *x =
      "x = f32[4] constant({3, 1, 4, 2})\n i = s32[4] iota(), iota_dimension=0\n n = f32[] constant(-inf)\n"
      "m = s32[] constant(-1)\n";
  text body = {0};
  text_printf(&body,
              "%sROOT r = (f32[2], s32[2]) custom-call(x, i, n, m), custom_call_target=\"ApproxTopK\", "
              "called_computations={gt}, backend_config={top_k = 2 : i64, reduction_dim = 0 : i64}",
              x);
  expect(text_cstr(&body), "({4, 3}, {2, 0})");
  text_free(&body);
  text_printf(&body,
              "%sROOT r = (f32[5], s32[5]) custom-call(x, i, n, m), custom_call_target=\"PartialReduce\", "
              "called_computations={gt}, backend_config={\"reduction_dim\": 0}",
              x);
  expect(text_cstr(&body), "({4, 3, 2, 1, -inf}, {2, 0, 3, 1, -1})");
  text_free(&body);
  text_printf(&body, "%sROOT r = f32[2] custom-call(x, m), custom_call_target=\"ApproxTopK\", called_computations={lt}",
              x);
  expect_error(text_cstr(&body), HEDDLE_INVALID, "do not fit together");
  text_free(&body);
}

static void test_dynamic(void **state) {
  (void)state;
  const char *d =
      "x = s32[4] constant({3, 1, 4, 2})\n n = s32[] constant(2)\n"
      "d = s32[<=4] custom-call(x, n), custom_call_target=\"SliceToDynamic\"\n";
  text body = {0};
  text_printf(&body,
              "%ss = s32[<=4] custom-call(d), custom_call_target=\"Sharding\"\n"
              "ROOT r = (s32[4], s32[]) custom-call(s), custom_call_target=\"PadToStatic\"",
              d);
  expect(text_cstr(&body), "({3, 1, 0, 0}, 2)");
  text_free(&body);
  text_printf(&body,
              "%sx2 = s32[4] constant({3, 2, 9, 9})\n"
              "e = s32[<=4] custom-call(x2, n), custom_call_target=\"SliceToDynamic\"\n"
              "c = () custom-call(d, e), custom_call_target=\"check.expect_eq\"\n ROOT r = s32[] constant(1)",
              d);
  expect_error(text_cstr(&body), HEDDLE_MISMATCH, "1 of 2 elements differ");
  text_free(&body);
  expect_error(
      "x = s32[2] constant({3, 1})\n n = s32[] constant(3)\n"
      "ROOT d = s32[<=4] custom-call(x, n), custom_call_target=\"SliceToDynamic\"",
      HEDDLE_INVALID, "sizes that do not fit");
}

static void test_operations(void **state) {
  (void)state;
  expect("x = f32[2] constant({0, 0})\n ROOT r = f32[2] custom-call(x), custom_call_target=\"mhlo.tan\"", "{0, 0}");
  expect("x = f64[] constant(0)\n ROOT r = f64[] custom-call(x), custom_call_target=\"mhlo.cosh\"", "1");
  expect_error("x = f32[2] constant({0, 0})\n ROOT r = f32[3] custom-call(x), custom_call_target=\"mhlo.erf\"",
               HEDDLE_UNIMPLEMENTED, "do not fit");
}

static void test_refusals(void **state) {
  (void)state;
  expect_error("ROOT r = s32[] custom-call(), custom_call_target=\"nowhere\"", HEDDLE_UNIMPLEMENTED,
               "the target \"nowhere\" is unknown");
  expect_error("ROOT r = s32[] custom-call(), custom_call_target=\"xla_ffi_python_cpu_callback\"", HEDDLE_UNIMPLEMENTED,
               "calls back into the Python program");
  expect_error("ROOT r = s32[] custom-call(), custom_call_target=\"__cublas$gemm\"", HEDDLE_UNIMPLEMENTED,
               "a library of another platform");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_check_equal),
      cmocka_unit_test(test_check_close),
      cmocka_unit_test(test_check_almost_equal),
      cmocka_unit_test(test_check_result),
      cmocka_unit_test(test_effects),
      cmocka_unit_test(test_shape_assertion),
      cmocka_unit_test(test_probes),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_x64),
      cmocka_unit_test(test_top_k),
      cmocka_unit_test(test_approximate_top_k),
      cmocka_unit_test(test_dynamic),
      cmocka_unit_test(test_operations),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
