// Levels have the names and features that others give them, and the process keeps to its own.
#include "base/cpu_level.h"

#include <string.h>

#include "base/testing.h"

static void test_names(void **state) {
  (void)state;
  cpu_level level;
  assert_true(cpu_level_find("native", &level) && level == CPU_LEVEL_NATIVE);
  assert_true(cpu_level_find("x86-64-v3", &level) && level == CPU_LEVEL_V3);
  assert_false(cpu_level_find("x86-64-v5", &level));
  assert_false(cpu_level_find("", &level));
}

static void test_levels_hold_those_below(void **state) {
  (void)state;
  for (int k = CPU_LEVEL_V3; k < CPU_LEVEL_COUNT; k++) {
    const char *below = cpu_levels[k - 1].features;
    assert_int_equal(strncmp(cpu_levels[k].features, below, strlen(below)), 0);
    if (cpu_level_runs((cpu_level)k)) assert_true(cpu_level_runs((cpu_level)(k - 1)));
  }
  assert_true(cpu_level_runs(CPU_LEVEL_NATIVE));
}

static void test_limits(void **state) {
  (void)state;
  const bool has_avx2 = cpu_level_has_avx2();
  cpu_level_limit(CPU_LEVEL_V2);
  assert_int_equal(cpu_level_now(), CPU_LEVEL_V2);
  assert_false(cpu_level_has_avx2());
  cpu_level_limit(CPU_LEVEL_NATIVE);
  assert_int_equal(cpu_level_has_avx2(), has_avx2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_levels_hold_those_below),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests_name("base/cpu_level", tests, NULL, NULL);
}
