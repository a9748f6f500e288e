// What a guard hides from its function, and gives back behind it.
#include "base/ambient.h"

#include <langinfo.h>

#include "base/guard.h"
#include "base/testing.h"

static heddle_status see_plain(void *argument) {
  int *calls = argument;
  assert_int_equal(fegetround(), FE_TONEAREST);
  assert_true(uselocale((locale_t)0) != LC_GLOBAL_LOCALE);
  assert_string_equal(nl_langinfo(RADIXCHAR), ".");
  assert_string_equal(nl_langinfo(CODESET), "ANSI_X3.4-1968");
  if (++*calls < 3) return guard_run(see_plain, NULL, calls);
  if (*calls == 3) heap_end(false);
  return status_ok();
}

static void test_guard(void **state) {
  (void)state;
  if (!setlocale(LC_ALL, "C.utf8")) skip();
  fesetround(FE_UPWARD);
  int calls = 0;
  heddle_status s = guard_run(see_plain, NULL, &calls);
  heddle_status_free(s);
  assert_int_equal(calls, 3);
  assert_int_equal(fegetround(), FE_UPWARD);
  assert_true(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
  assert_string_equal(nl_langinfo(CODESET), "UTF-8");
  fesetround(FE_TONEAREST);
  setlocale(LC_ALL, "C");
}

static void test_arithmetic(void **state) {
  (void)state;
  volatile double one = 1, three = 3;
  const double third = one / three;
  fesetround(FE_UPWARD);
  const ambient_arithmetic outer = ambient_enter_arithmetic();
  assert_true(one / three == third);
  ambient_leave_arithmetic(outer);
  assert_true(one / three > third);
  fesetround(FE_TONEAREST);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_guard), cmocka_unit_test(test_arithmetic)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
