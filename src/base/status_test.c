// Errors: what they say, and that ownership passes through.
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

static void test_success(void **state) {
  (void)state;
  heddle_status status = status_ok();
  assert_int_equal(heddle_status_code(status), HEDDLE_OK);
  assert_string_equal(heddle_status_message(status), "");
  assert_string_equal(status_brief(status), "");
  status = status_append(status_context(status, "while %s", "nothing"), "more");
  assert_true(status_is_ok(status));
  heddle_status_free(status);
}

static void test_message_has_location_and_notes(void **state) {
  (void)state;
  char file[] = "a.hlo";
  heddle_status status = status_at(HEDDLE_INVALID, ((source_location){file, 3, 14}), "found %s, wanted %d", "x", 7);
  memset(file, '?', strlen(file));  // the name was copied
  status = status_append(status, "  x\n  ^\n");
  status = status_context(status, "while reading %s", "module m");
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_string_equal(status_brief(status), "found x, wanted 7");
  assert_string_equal(heddle_status_message(status),
                      "a.hlo:3:14: error: found x, wanted 7\n  x\n  ^\nnote: while reading module m\n");
  assert_string_equal(status_where(status).file, "a.hlo");
  assert_int_equal(status_where(status).line, 3);
  assert_int_equal(status_where(status).column, 14);
  heddle_status_free(status);
}

static void test_file_without_line(void **state) {
  (void)state;
  heddle_status status = status_at(HEDDLE_UNIMPLEMENTED, ((source_location){"b.hlo", 0, 0}), "no");
  assert_string_equal(heddle_status_message(status), "b.hlo: error: no\n");
  heddle_status_free(status);
}

static void test_byte_of_a_file_that_is_no_text(void **state) {
  (void)state;
  heddle_status status = status_at(HEDDLE_INVALID, ((source_location){"b.mlirbc", 0, 8}), "found %d", 3);
  assert_string_equal(heddle_status_message(status), "b.mlirbc: error: at byte 7: found 3\n");
  heddle_status_free(status);
}

static void test_internal_errors_name_their_origin(void **state) {
  (void)state;
  heddle_status status = status_error(HEDDLE_INTERNAL, "cannot be");
  const char *message = heddle_status_message(status);
  assert_ptr_equal(strstr(message, "internal error: cannot be\nnote: raised at "), message);
  assert_non_null(strstr(message, "status_test.c:"));
  heddle_status_free(status);
}

static heddle_status fail_below(int depth) {
  if (depth == 0) return status_error(HEDDLE_DEVICE_FAILED, "bottom");
  TRY(fail_below(depth - 1));
  return status_ok();
}

static void test_place_given_later(void **state) {
  (void)state;
  heddle_status s = status_context(status_error(HEDDLE_INVALID, "wrong"), "while trying");
  s = status_locate(s, (source_location){"a.hlo", 3, 5});
  assert_string_equal(heddle_status_message(s), "a.hlo:3:5: error: wrong\nnote: while trying\n");
  assert_int_equal(status_where(s).line, 3);
  s = status_locate(s, (source_location){"b.hlo", 1, 1});
  assert_int_equal(status_where(s).line, 3);
  heddle_status_free(s);
  assert_true(status_is_ok(status_locate(status_ok(), (source_location){"a.hlo", 3, 5})));
  s = status_locate(status_error(HEDDLE_INVALID, "wrong"), (source_location){"b.mlirbc", 0, 8});
  assert_string_equal(heddle_status_message(s), "b.mlirbc: error: at byte 7: wrong\n");
  heddle_status_free(s);
}

static void test_try_passes_errors_on(void **state) {
  (void)state;
  heddle_status status = fail_below(5);
  assert_int_equal(heddle_status_code(status), HEDDLE_DEVICE_FAILED);
  assert_string_equal(status_brief(status), "bottom");
  heddle_status_free(status);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_success),
      cmocka_unit_test(test_message_has_location_and_notes),
      cmocka_unit_test(test_file_without_line),
      cmocka_unit_test(test_byte_of_a_file_that_is_no_text),
      cmocka_unit_test(test_internal_errors_name_their_origin),
      cmocka_unit_test(test_try_passes_errors_on),
      cmocka_unit_test(test_place_given_later),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
