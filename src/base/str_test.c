// Views and growing text.
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/testing.h"

static void test_views(void **state) {
  (void)state;
  assert_true(str_equal(STR("abc"), str_from("abc")));
  assert_false(str_equal(STR("abc"), STR("abd")));
  assert_false(str_equal(STR("abc"), STR("ab")));
  assert_true(str_equal((str){0}, STR("")));
  assert_true(str_is(STR("reduce"), "reduce"));
  assert_true(str_starts_with(STR("reduce-window"), "reduce"));
  assert_false(str_starts_with(STR("red"), "reduce"));
  arena *a = arena_create();
  str copy = str_copy(a, (str){"abcdef", 3});
  assert_int_equal(copy.size, 3);
  assert_string_equal(copy.data, "abc");
  arena_destroy(a);
}

static void test_hash_is_fnv_1a(void **state) {
  (void)state;
  assert_true(str_hash(STR("")) == 0xcbf29ce484222325u);
  assert_true(str_hash(STR("a")) == 0xaf63dc4c8601ec8cu);
  assert_true(str_hash(STR("foobar")) == 0x85944171f73967e8u);
}

static void test_text_grows(void **state) {
  (void)state;
  text t = {0};
  assert_string_equal(text_cstr(&t), "");
  assert_int_equal(text_view(&t).size, 0);
  for (int i = 0; i < 5000; i++) {
    text_printf(&t, "%d,", i % 10);
    text_putc(&t, 'x');
  }
  assert_int_equal(t.size, 15000);
  for (int i = 0; i < 5000; i++) {
    assert_int_equal(t.data[3 * i], '0' + i % 10);
    assert_memory_equal(t.data + 3 * i + 1, ",x", 2);
  }
  assert_int_equal(t.data[t.size], 0);
  text_free(&t);
  text_indent(&t, 3);
  text_append(&t, STR("end"));
  assert_string_equal(text_cstr(&t), "   end");
  text_printf(&t, "%s", "");
  assert_int_equal(t.size, 6);
  text_free(&t);
}

static void test_quoting(void **state) {
  (void)state;
  text t = {0};
  text_quote(&t, STR("a\"b\\c\n\td\x01\x7f\xc3\xa9"));
  assert_string_equal(text_cstr(&t), "\"a\\\"b\\\\c\\n\\td\\x01\\x7f\xc3\xa9\"");
  text_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_views),
      cmocka_unit_test(test_hash_is_fnv_1a),
      cmocka_unit_test(test_text_grows),
      cmocka_unit_test(test_quoting),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
