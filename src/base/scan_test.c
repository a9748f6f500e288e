// What is taken moves the cursor; what is not there leaves it.
#include "base/scan.h"

#include "base/testing.h"

static void test_parts_in_order(void **state) {
  (void)state;
  scan s = {STR(" {'key' : \"it's\", 12 ,\n9223372036854775807}\t")};
  str text;
  int64_t number;
  assert_false(scan_number(&s, &number));
  assert_true(scan_take(&s, "{"));
  assert_false(scan_take(&s, "key"));
  assert_true(scan_quoted(&s, &text) && str_is(text, "key"));
  assert_true(scan_take(&s, ":") && scan_quoted(&s, &text) && str_is(text, "it's"));
  assert_true(scan_take(&s, ",") && scan_number(&s, &number));
  assert_int_equal(number, 12);
  assert_false(scan_quoted(&s, &text));
  assert_false(scan_at_end(&s));
  assert_true(scan_take(&s, ",") && scan_number(&s, &number));
  assert_int_equal(number, INT64_MAX);
  assert_true(scan_take(&s, "}") && scan_at_end(&s));
  assert_false(scan_take(&s, "}"));
}

static void test_what_does_not_end_or_fit(void **state) {
  (void)state;
  scan open = {STR("'open")}, long_number = {STR("9223372036854775808")}, empty = {STR("")};
  str text;
  int64_t number;
  assert_false(scan_quoted(&open, &text));
  assert_true(scan_take(&open, "'open"));
  assert_false(scan_number(&long_number, &number));
  assert_false(scan_quoted(&empty, &text) || scan_number(&empty, &number) || scan_take(&empty, "x"));
  assert_true(scan_at_end(&empty));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_in_order),
                                     cmocka_unit_test(test_what_does_not_end_or_fit)};
  return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
