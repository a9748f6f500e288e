// The search for the least limit: it ends where one byte decides, asks little, and stops when its time is up.
#include "supertile/least_limit.h"

#include "base/testing.h"

typedef struct questions {
  int64_t least;
  int asked, most;
  bool is_slow;  // to find out that something does not fit takes too long
} questions;

static heddle_status ask(void *argument, int64_t limit, least_limit_answer *answer, bool *goes_on) {
  questions *q = argument;
  *answer = limit >= q->least ? LEAST_LIMIT_FITS : q->is_slow ? LEAST_LIMIT_UNKNOWN : LEAST_LIMIT_FAILS;
  *goes_on = ++q->asked < q->most;
  return status_ok();
}

static least_limit found(int64_t least, int64_t guess, int most, int *asked) {
  questions q = {.least = least, .most = most};
  least_limit between = {1000, 1000000};
  assert_true(status_is_ok(least_limit_find(&between, guess, ask, &q)));
  *asked = q.asked;
  return between;
}

static void test_every_place(void **state) {
  (void)state;
  for (int64_t least = 1001; least <= 1000000; least += 997) {
    int asked;
    const least_limit between = found(least, 0, 1000, &asked);
    assert_int_equal(between.fitting, least);
    assert_int_equal(between.failing, least - 1);
    assert_true(asked <= 21);
  }
}

static void test_guess(void **state) {
  (void)state;
  int asked;
  assert_int_equal(found(5000, 5000, 1000, &asked).fitting, 5000);
  assert_int_equal(asked, 2);
  assert_int_equal(found(5000, 7000, 1000, &asked).fitting, 5000);
  assert_int_equal(found(5000, 3, 1000, &asked).fitting, 5000);
  assert_int_equal(found(1001, 1001, 1000, &asked).fitting, 1001);
}

static void test_end(void **state) {
  (void)state;
  int asked;
  const least_limit between = found(5000, 0, 3, &asked);
  assert_int_equal(asked, 3);
  assert_true(between.failing < 5000 && between.fitting >= 5000 && between.fitting - between.failing > 1);
}

static heddle_status fail_to_ask(void *argument, int64_t limit, least_limit_answer *answer, bool *goes_on) {
  (void)argument, (void)limit, (void)answer, (void)goes_on;
  return status_error(HEDDLE_CANCELLED, "no more");
}

// What is not found out is not said to fail.
static void test_unknown(void **state) {
  (void)state;
  questions q = {.least = 5000, .most = 1000, .is_slow = true};
  least_limit between = {1000, 1000000};
  assert_true(status_is_ok(least_limit_find(&between, 6000, ask, &q)));
  assert_int_equal(between.failing, 1000);
  assert_int_equal(between.fitting, 5999);
  assert_int_equal(q.asked, 3);
}

static void test_error(void **state) {
  (void)state;
  least_limit between = {1, 100};
  heddle_status s = least_limit_find(&between, 0, fail_to_ask, NULL);
  assert_int_equal(heddle_status_code(s), HEDDLE_CANCELLED);
  heddle_status_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_place), cmocka_unit_test(test_guess),
                                     cmocka_unit_test(test_end), cmocka_unit_test(test_unknown),
                                     cmocka_unit_test(test_error)};
  return cmocka_run_group_tests_name("supertile/least_limit", tests, NULL, NULL);
}
