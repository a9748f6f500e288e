// Memory of tiled arrays, counted by hand.
#include "hlo/tiled_layout.h"

#include "base/testing.h"
#include "hlo/text.h"

static const shape *parse(arena *a, const char *source) {
  const shape *s;
  heddle_status status = shape_parse(a, str_from(source), &s);
  if (!status_is_ok(status)) fail_msg("%s: %s", source, heddle_status_message(status));
  return s;
}

static void expect_element_count(const char *source, int64_t wanted) {
  arena *a = arena_create();
  assert_int_equal(tiled_layout_element_count(parse(a, source)), wanted);
  arena_destroy(a);
}

static void test_places(void **state) {
  (void)state;
  expect_element_count("f32[3,5]", 15);
  expect_element_count("f32[3,5]{1,0:T(2,4)}", 2 * 2 * 8);
  expect_element_count("f32[3,5]{0,1:T(2,4)}", 3 * 1 * 8);
  expect_element_count("bf16[3,5]{1,0:T(8,128)(2,1)}", 8 * 128);
  expect_element_count("bf16[]{:T(128)}", 128);
  expect_element_count("f32[100]{0:T(8,128)}", 8 * 128);
  expect_element_count("f32[0,5]{1,0:T(8,128)}", 0);
  expect_element_count("f32[3,5]{1,0:T(*,4)}", -1);
  expect_element_count("f32[1152921504606846976,1]{1,0:T(8,128)}", INT64_MAX);
}

static void expect_pair(const char *l, const char *r, bool agree, bool matter) {
  arena *a = arena_create();
  const shape *x = parse(a, l), *y = parse(a, r);
  assert_int_equal(tiled_layout_agree(x, y), agree);
  assert_int_equal(tiled_layout_agree(y, x), agree);
  assert_int_equal(tiled_layout_matters(x, y), matter);
  assert_int_equal(tiled_layout_matters(y, x), matter);
  arena_destroy(a);
}

static void expect_known(const char *l, const char *r, bool wanted) {
  arena *a = arena_create();
  assert_int_equal(tiled_layout_is_known(parse(a, l), parse(a, r)), wanted);
  arena_destroy(a);
}

static void test_known(void **state) {
  (void)state;
  expect_known("f32[2,2]{1,0:T(*,2)}", "f32[4]{0}", false);
  expect_known("f32[2,2]{1,0:T(*,2)}", "s32[2,2]{1,0:T(*,2)}", true);
  expect_known("f32[2,2]{1,0:T(2,2)}", "f32[4]{0}", true);
}

static void test_pairs(void **state) {
  (void)state;
  expect_pair("u32[10]{0:T(128)}", "u32[5]{0:T(128)}", true, true);
  expect_pair("f32[1,6,8]{2,1,0:T(2,4)}", "f32[6,8]{1,0:T(2,4)}", true, false);
  expect_pair("f32[12,8]{1,0:T(2,4)}", "f32[6,2,8]{2,1,0:T(2,4)}", true, true);
  expect_pair("f32[12,8]{1,0:T(2,4)(2,1)}", "f32[12,8]{1,0:T(2,4)}", true, true);
  expect_pair("f32[6,8]{1,0:T(2,4)}", "s32[6,8]{1,0:T(2,4)}", true, false);
  expect_pair("f32[6,8]{1,0:T(2,4)}", "f32[48]{0}", true, true);
  expect_pair("f32[8]{0:T(128)}", "f32[2,4]{1,0:T(8,128)}", false, false);
  expect_pair("f32[8]", "f32[2,4]", true, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
