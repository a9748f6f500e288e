// Lines by offset, and carets below lines of any length.
#include "base/caret.h"

#include "base/testing.h"

static void test_lines(void **state) {
  (void)state;
  str source = STR("one\ntwo\r\nthree");
  assert_true(str_equal(caret_line_at(source, 0), STR("one")));
  assert_true(str_equal(caret_line_at(source, 3), STR("one")));
  assert_true(str_equal(caret_line_at(source, 5), STR("two")));
  assert_true(str_equal(caret_line_at(source, source.size), STR("three")));
}

static void test_added_below_the_message(void **state) {
  (void)state;
  heddle_status s = status_at(HEDDLE_INVALID, ((source_location){"f", 2, 3}), "found x");
  s = caret_add(status_context(s, "in here"), STR("first\nabcdef\n"));
  assert_non_null(strstr(heddle_status_message(s), "found x\n  abcdef\n    ^\n"));
  assert_non_null(strstr(heddle_status_message(s), "in here"));
  heddle_status_free(s);
}

static void test_long_lines_are_cut(void **state) {
  (void)state;
  text line = {0}, out = {0};
  for (int i = 0; i < 500; i++) text_putc(&line, i == 249 ? 'X' : '.');
  caret_append(&out, text_view(&line), 250);
  const char *mark = strchr(text_cstr(&out), 'X'), *caret = strchr(text_cstr(&out), '^');
  const char *newline = strchr(text_cstr(&out), '\n');
  assert_true(out.size < 250);
  assert_int_equal(mark - out.data, caret - newline - 1);
  text_free(&line);
  text_free(&out);
}

static void test_places_outside_the_source(void **state) {
  (void)state;
  heddle_status s = caret_add(status_at(HEDDLE_INVALID, ((source_location){"f", 9, 1}), "found x"), STR("one line"));
  assert_null(strchr(heddle_status_message(s), '^'));
  heddle_status_free(s);
  assert_true(status_is_ok(caret_add(status_ok(), STR("x"))));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_added_below_the_message),
      cmocka_unit_test(test_long_lines_are_cut),
      cmocka_unit_test(test_places_outside_the_source),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
