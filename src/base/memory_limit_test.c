// What amounts of memory may look like, and how many bytes they are.
#include "base/memory_limit.h"

#include "base/testing.h"

static int64_t bytes_of(const char *text, memory_level level) {
  memory_limit l;
  heddle_status s = memory_limit_parse(text, &l);
  const bool is_read = status_is_ok(s);
  heddle_status_free(s);
  return is_read ? memory_limit_bytes(&l, level, 1000) : -1;
}

static void test_amounts(void **state) {
  (void)state;
  assert_int_equal(bytes_of("65536", MEMORY_DRAM), 65536);
  assert_int_equal(bytes_of("512KiB", MEMORY_DRAM), 512 * 1024);
  assert_int_equal(bytes_of("1.5MiB", MEMORY_DRAM), 3 * 512 * 1024);
  assert_int_equal(bytes_of("2GiB", MEMORY_DRAM), (int64_t)2 << 30);
  assert_int_equal(bytes_of("25%", MEMORY_DRAM), 250);
  assert_int_equal(bytes_of("12.5%", MEMORY_DRAM), 125);
  assert_true(bytes_of("65536", MEMORY_L2) == INT64_MAX);
  assert_int_equal(bytes_of("1000%", MEMORY_DRAM), 10000);
  assert_int_equal(bytes_of("0.01%", MEMORY_DRAM), 0);
  memory_limit most;
  assert_int_equal(heddle_status_code(memory_limit_parse("999999999999999%", &most)), HEDDLE_OK);
  assert_int_equal(memory_limit_bytes(&most, MEMORY_DRAM, (int64_t)1 << 40), 1000000000000000000);
}

static void test_levels(void **state) {
  (void)state;
  assert_int_equal(bytes_of("l2=512KiB,dram=50%", MEMORY_L2), 512 * 1024);
  assert_int_equal(bytes_of("l2=512KiB,dram=50%", MEMORY_DRAM), 500);
  assert_true(bytes_of("l2=1", MEMORY_DRAM) == INT64_MAX);
}

static void test_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"",      "0",     "-1",   "KiB",      "1KB",   "1 KiB", "1e3",
                                      "1.2.3", "100%%", "nan%", "l2=",      "l2=1,", "l3=1",  "l2=1,l2=2",
                                      "=",     ",",     "0.5",  "1e400GiB", "dram",  "l2",    "9999999999999999999999"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
    if (bytes_of(texts[k], MEMORY_DRAM) != -1) fail_msg("%s is taken", texts[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_amounts), cmocka_unit_test(test_levels),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
