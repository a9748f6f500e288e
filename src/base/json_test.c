// Strings of any bytes, numbers that read back, and what stands between members.
#include "base/json.h"

#include <math.h>

#include "base/testing.h"

static void expect(text *t, const char *wanted) {
  assert_string_equal(text_cstr(t), wanted);
  text_free(t);
}

static void test_strings(void **state) {
  (void)state;
  text t = {0};
  json_string(&t, STR("a\"\\\n\t\x01 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  expect(&t, "\"a\\\"\\\\\\n\\u0009\\u0001 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
  json_string(&t, STR("\xff \xc3 \xc0\x80 \xed\xa0\x80 \xe2\x82"));
  expect(&t, "\"\\ufffd \\ufffd \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\"");
}

static void test_numbers(void **state) {
  (void)state;
  text t = {0};
  json_number(&t, 0.1);
  expect(&t, "0.1");
  json_number(&t, 1e300);
  expect(&t, "1e+300");
  json_number(&t, 1.0 / 3);
  expect(&t, "0.3333333333333333");
  json_number(&t, (double)NAN);
  expect(&t, "null");
}

static void test_members(void **state) {
  (void)state;
  text t = {0};
  json_writer w = {.out = &t};
  json_begin(&w, NULL, '{');
  json_begin(&w, "none", '[');
  json_end(&w, ']');
  json_begin(&w, "list", '[');
  json_put_int(&w, NULL, -3);
  json_put_bool(&w, NULL, true);
  json_end(&w, ']');
  json_put_string(&w, "name", STR("x"));
  json_put_number(&w, "half", 0.5);
  json_end(&w, '}');
  expect(&t, "{\n  \"none\": [],\n  \"list\": [\n    -3,\n    true\n  ],\n  \"name\": \"x\",\n  \"half\": 0.5\n}\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_strings), cmocka_unit_test(test_numbers),
                                     cmocka_unit_test(test_members)};
  return cmocka_run_group_tests_name("base/json", tests, NULL, NULL);
}
