// Dynamic dimensions: what lies beyond the actual size does not count.
#include "eval/testing.h"

// `d` is s32[<=4] with the elements 1, 2, 3; `m` is s32[<=3,2] with the rows 1 2 and 3 4.
static void expect(const char *body, const char *expected) {
  text source = {0};
  text_printf(&source,
              "HloModule m\nadd { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n"
              "less { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GT }\n"
              "twice { a = s32[] parameter(0)\n ROOT r = s32[] add(a, a) }\n"
              "sum { a = s32[4] parameter(0)\n z = s32[] constant(0)\n"
              " ROOT r = s32[] reduce(a, z), dimensions={0}, to_apply=add }\n"
              "ENTRY e {\nx = s32[4] constant({1,2,3,4})\n three = s32[] constant(3)\n two = s32[] constant(2)\n"
              "zero = s32[] constant(0)\n y = s32[3,2] constant({{1,2},{3,4},{5,6}})\n"
              "d = s32[<=4] set-dimension-size(x, three), dimensions={0}\n"
              "m = s32[<=3,2] set-dimension-size(y, two), dimensions={0}\n%s\n}\n",
              body);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void expect_error(const char *body, heddle_code code, const char *message) {
  text source = {0};
  text_printf(&source, "HloModule m\nENTRY e {\nx = s32[4] constant({1,2,3,4})\n three = s32[] constant(3)\n%s\n}\n",
              body);
  testing_expect_error(text_cstr(&source), NULL, code, message);
  text_free(&source);
}

static void test_sizes(void **state) {
  (void)state;
  expect("ROOT r = s32[<=4] copy(d)", "{1, 2, 3}");
  expect("ROOT r = s32[] get-dimension-size(d), dimensions={0}", "3");
  expect("ROOT r = s32[4] set-dimension-size(d, four), dimensions={0}\n four = s32[] constant(4)", "{1, 2, 3, 0}");
  expect("ROOT r = (s32[<=4], s32[<=3,2]) tuple(d, m)", "({1, 2, 3}, {{1, 2}, {3, 4}})");
  expect_error("n = s32[] constant(5)\n ROOT r = s32[<=4] set-dimension-size(x, n), dimensions={0}", HEDDLE_INVALID,
               "set to size 5, beyond its bound 4");
  expect_error("ROOT r = s32[4] set-dimension-size(x, three), dimensions={0}", HEDDLE_INVALID, "declared to be 4");
}

static void test_elementwise(void **state) {
  (void)state;
  expect("ROOT r = s32[<=4] negate(d)", "{-1, -2, -3}");
  expect("ROOT r = s32[<=4] add(d, x)", "{2, 4, 6}");
  expect("ROOT r = s32[<=4] add(x, d)", "{2, 4, 6}");
  expect("p = pred[<=4] compare(d, x), direction=EQ\n ROOT r = s32[<=4] select(p, x, d)", "{1, 2, 3}");
  expect("ROOT r = s32[<=4] clamp(two, d, three)", "{2, 2, 3}");
  expect("ROOT r = f32[<=4] convert(d)", "{1, 2, 3}");
  expect("ROOT r = s32[<=4] all-reduce(d), to_apply=add", "{1, 2, 3}");
  expect("ROOT r = (s32[<=4], s32[<=4]) all-reduce(d, d), to_apply=add", "({1, 2, 3, 0}, {1, 2, 3, 0})");
  expect("ROOT r = s32[<=4] map(d), dimensions={0}, to_apply=twice", "{2, 4, 6}");
}

static void test_moves(void **state) {
  (void)state;
  expect("ROOT r = s32[2,<=4] broadcast(d), dimensions={1}", "{{1, 2, 3}, {1, 2, 3}}");
  expect("ROOT r = s32[2,<=3] transpose(m), dimensions={1,0}", "{{1, 3}, {2, 4}}");
  expect("ROOT r = s32[<=6] reshape(m)", "{1, 2, 3, 4}");
  expect("r = s32[<=6] reshape(m)\n ROOT b = s32[<=3,2] reshape(r)", "{{1, 2}, {3, 4}}");
  expect("ROOT r = s32[<=3,1,2] reshape(m)", "{{{1, 2}}, {{3, 4}}}");
  expect("ROOT r = s32[6] reshape(m)", "{1, 2, 3, 4, 0, 0}");
  expect("ROOT r = s32[<=4] reverse(d), dimensions={0}", "{3, 2, 1}");
  expect("ROOT r = s32[<=8] concatenate(d, x), dimensions={0}", "{1, 2, 3, 1, 2, 3, 4}");
  expect("ROOT r = s32[<=6] pad(d, zero), padding=1_1", "{0, 1, 2, 3, 0}");
  expect("ROOT r = s32[<=4] slice(d), slice={[0:4]}", "{1, 2, 3}");
  expect("ROOT r = s32[<=2] slice(d), slice={[1:3]}", "{2, 3}");
  expect("ROOT r = s32[<=3,1] slice(m), slice={[0:3], [1:2]}", "{{2}, {4}}");
  expect(
      "i = s32[1] constant({1})\n j = s32[] constant(1)\n k = s32[1] constant({7})\n"
      "ROOT r = s32[<=4] dynamic-update-slice(d, k, j)",
      "{1, 7, 3}");
  expect(
      "ROOT r = s32[2,<=3] dynamic-reshape(c, two, two)\n c = s32[<=4] set-dimension-size(x, four), dimensions={0}\n"
      "four = s32[] constant(4)",
      "{{1, 2}, {3, 4}}");
}

static void test_reductions(void **state) {
  (void)state;
  expect("ROOT r = s32[] reduce(d, zero), dimensions={0}, to_apply=add", "6");
  expect("ROOT r = s32[2] reduce(m, zero), dimensions={0}, to_apply=add", "{4, 6}");
  expect("ROOT r = s32[<=3] reduce(m, zero), dimensions={1}, to_apply=add", "{3, 7}");
  expect("ROOT r = s32[] dot(d, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "14");
  expect("ROOT r = s32[2,2] dot(m, m), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "{{10, 14}, {14, 20}}");
  expect("ROOT r = s32[<=4] sort(d), dimensions={0}, to_apply=less", "{3, 2, 1}");
  expect("ROOT r = s32[<=3] reduce-window(d, zero), window={size=2}, to_apply=add", "{3, 5}");
}

// A callee that declares its parameter static sees zeros; sizes travel through calls, loops and branches.
static void test_calls(void **state) {
  (void)state;
  expect("ROOT r = s32[] call(d), to_apply=sum", "6");
  testing_expect(
      "HloModule m\n"
      "more { s = s32[<=4] parameter(0)\n n = s32[] get-dimension-size(s), dimensions={0}\n one = s32[] constant(1)\n"
      " ROOT r = pred[] compare(n, one), direction=GT }\n"
      "less { s = s32[<=4] parameter(0)\n n = s32[] get-dimension-size(s), dimensions={0}\n one = s32[] constant(1)\n"
      " k = s32[] subtract(n, one)\n ROOT r = s32[<=4] set-dimension-size(s, k), dimensions={0} }\n"
      "ENTRY e { x = s32[4] constant({1,2,3,4})\n four = s32[] constant(3)\n"
      " d = s32[<=4] set-dimension-size(x, four), dimensions={0}\n"
      " ROOT r = s32[<=4] while(d), condition=more, body=less }\n",
      "{1}");
}

// Arguments may be smaller than a dynamic parameter says, and of any size where there is no bound.
static void test_arguments(void **state) {
  (void)state;
  const char *source =
      "HloModule m\nENTRY e { x = s32[<=4] parameter(0)\n y = s32[?] parameter(1)\n a = s32[<=4] negate(x)\n"
      " b = s32[?] negate(y)\n ROOT r = (s32[<=4], s32[?]) tuple(a, b) }\n";
  arena *a = arena_create();
  module *m;
  literal *arguments[2], *result;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  testing_require(literal_parse(a, STR("{1, 2}"), shape_array(a, DTYPE_S32, 1, (int64_t[]){2}), &arguments[0]), source);
  testing_require(literal_parse(a, STR("{1, 2, 3, 4, 5}"), shape_array(a, DTYPE_S32, 1, (int64_t[]){5}), &arguments[1]),
                  source);
  testing_require(eval_module(a, m, 2, arguments, &result), source);
  assert_int_equal(result->elements[0]->shape->dims[0], 2);
  assert_int_equal(result->elements[1]->shape->dims[0], 5);
  assert_int_equal(literal_get_int(result->elements[1], 4), -5);
  arguments[0] = arguments[1];
  heddle_status status = eval_module(a, m, 2, arguments, &result);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  heddle_status_free(status);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),      cmocka_unit_test(test_elementwise), cmocka_unit_test(test_moves),
      cmocka_unit_test(test_reductions), cmocka_unit_test(test_calls),       cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
