// Which comparators are lists of keys.
#include "plan/sort_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/text.h"

// `body` is the comparator's; keys are given as "operand:descending:order" with spaces between, "" for none.
static void expect(const char *body, const char *wanted) {
  arena *a = arena_create();
  text source = {0};
  text_printf(&source, "HloModule m\nENTRY e {\n%s\n}\n", body);
  module *m;
  heddle_status status = hlo_parse(a, "test.hlo", text_view(&source), &m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  sort_keys keys;
  text found = {0};
  if (sort_keys_find(a, m->entry, &keys))
    for (int k = 0; k < keys.count; k++)
      text_printf(&found, "%s%d:%d:%d", k ? " " : "", (int)keys.operands[k], (int)keys.descending[k],
                  (int)keys.orders[k]);
  assert_string_equal(text_cstr(&found), wanted);
  text_free(&found);
  text_free(&source);
  arena_destroy(a);
}

#define TWO(type) "x = " type "[] parameter(0)\n y = " type "[] parameter(1)\n"

static void test_plain_comparisons(void **state) {
  (void)state;
  expect(TWO("s32") "ROOT r = pred[] compare(x, y), direction=LT", "0:0:0");
  expect(TWO("s32") "ROOT r = pred[] compare(x, y), direction=GT", "0:1:0");
  expect(TWO("u8") "ROOT r = pred[] compare(y, x), direction=LT", "0:1:0");
  expect(TWO("f32") "ROOT r = pred[] compare(x, y), direction=LT", "0:0:2");
  expect(TWO("f32") "ROOT r = pred[] compare(x, y), direction=GT, type=TOTALORDER", "0:1:1");
  expect(TWO("f32") "u = s32[] parameter(2)\n v = s32[] parameter(3)\n ROOT r = pred[] compare(u, v), direction=LT",
         "1:0:0");
}

#define JOINED(name, from)                                                                                    \
  name "_is_nan = pred[] compare(" from ", " from "), direction=NE\n " name "_is_zero = pred[] compare(" from \
       ", zero), direction=EQ\n " name "_0 = f32[] select(" name "_is_zero, zero, " from ")\n " name          \
       "_1 = f32[] select(" name "_is_nan, nan, " name "_0)\n"
#define CONSTANTS "zero = f32[] constant(0)\n nan = f32[] constant(nan)\n"

static void test_joined_zeros_and_nan(void **state) {
  (void)state;
  expect(CONSTANTS TWO("f32") JOINED("x", "x")
             JOINED("y", "y") "ROOT r = pred[] compare(x_1, y_1), direction=LT, type=TOTALORDER",
         "0:0:0");
  expect(CONSTANTS TWO("f32") JOINED("x", "x") JOINED("y", "y") "ROOT r = pred[] compare(x_1, y_1), direction=LT",
         "0:0:2");
  expect(CONSTANTS TWO("f32") JOINED("x", "x")
             JOINED("y", "y") "ROOT r = pred[] compare(x_0, y_0), direction=LT, type=TOTALORDER",
         "");
  expect(CONSTANTS TWO("f32") JOINED("x", "x") "ROOT r = pred[] compare(x_1, y), direction=LT, type=TOTALORDER", "");
}

#define BITS(name, from)                                                                                           \
  name "_b = s32[] bitcast-convert(" from ")\n " name "_n = pred[] compare(" name "_b, low), direction=LT\n " name \
       "_f = s32[] xor(" name "_b, max)\n " name "_k = s32[] select(" name "_n, " name "_f, " name "_b)\n"

static void test_total_order_in_integers(void **state) {
  (void)state;
  expect("low = s32[] constant(0)\n max = s32[] constant(2147483647)\n" TWO("f32") BITS("x", "x")
             BITS("y", "y") "ROOT r = pred[] compare(x_k, y_k), direction=LT",
         "0:0:1");
  expect("low = s32[] constant(0)\n max = s32[] constant(2147483647)\n" CONSTANTS TWO("f32") JOINED("x", "x")
             JOINED("y", "y") BITS("x", "x_1") BITS("y", "y_1") "ROOT r = pred[] compare(x_k, y_k), direction=GT",
         "0:1:0");
  expect("low = s32[] constant(0)\n max = s32[] constant(7)\n" TWO("f32") BITS("x", "x")
             BITS("y", "y") "ROOT r = pred[] compare(x_k, y_k), direction=LT",
         "");
}

#define FOUR TWO("s32") "u = f32[] parameter(2)\n v = f32[] parameter(3)\n"

static void test_several_keys(void **state) {
  (void)state;
  expect(FOUR
         "less = pred[] compare(x, y), direction=LT\n same = pred[] compare(x, y), direction=EQ\n"
         "next = pred[] compare(u, v), direction=GT, type=TOTALORDER\n"
         "both = pred[] and(next, same)\n ROOT r = pred[] or(both, less)",
         "0:0:0 1:1:1");
  expect(FOUR
         "less = pred[] compare(u, v), direction=LT\n same = pred[] compare(v, u), direction=EQ\n"
         "next = pred[] compare(x, y), direction=LT\n"
         "both = pred[] and(same, next)\n ROOT r = pred[] or(less, both)",
         "1:0:2 0:0:0");
  // Equal in another sense than less; equal of another operand.
  expect(FOUR
         "less = pred[] compare(u, v), direction=LT\n same = pred[] compare(u, v), direction=EQ, type=TOTALORDER\n"
         "next = pred[] compare(x, y), direction=LT\n"
         "both = pred[] and(same, next)\n ROOT r = pred[] or(less, both)",
         "");
  expect(FOUR
         "less = pred[] compare(u, v), direction=LT\n same = pred[] compare(x, y), direction=EQ\n"
         "next = pred[] compare(x, y), direction=LT\n"
         "both = pred[] and(same, next)\n ROOT r = pred[] or(less, both)",
         "");
}

static void test_other_comparators(void **state) {
  (void)state;
  expect(TWO("s32") "ROOT r = pred[] compare(x, y), direction=LE", "");
  expect(TWO("s32") "ROOT r = pred[] compare(x, x), direction=LT", "");
  expect(TWO("s32") "a = s32[] abs(x)\n b = s32[] abs(y)\n ROOT r = pred[] compare(a, b), direction=LT", "");
  expect(TWO("c64") "a = f32[] real(x)\n b = f32[] real(y)\n ROOT r = pred[] compare(a, b), direction=LT", "");
  expect(TWO("s32") "u = s32[] parameter(2)\n v = s32[] parameter(3)\n ROOT r = pred[] compare(x, v), direction=LT",
         "");
  expect(TWO("bf16") "a = f32[] convert(x)\n b = f32[] convert(y)\n ROOT r = pred[] compare(a, b), direction=LT",
         "0:0:2");
  expect(TWO("f32") "a = bf16[] convert(x)\n b = bf16[] convert(y)\n ROOT r = pred[] compare(a, b), direction=LT", "");
  expect(TWO("s32") "ROOT r = pred[] constant(false)", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_comparisons),       cmocka_unit_test(test_joined_zeros_and_nan),
      cmocka_unit_test(test_total_order_in_integers), cmocka_unit_test(test_several_keys),
      cmocka_unit_test(test_other_comparators),
  };
  return cmocka_run_group_tests_name("plan/sort_keys", tests, NULL, NULL);
}
