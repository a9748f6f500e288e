#include "base/cpu_features.h"

#include "base/cpu_level.h"
#include "base/testing.h"

static void test_needed(void **state) {
  (void)state;
  arena *a = arena_create();
  assert_string_equal(cpu_features_needed(a, "x86-64", STR("+avx2,-xop,+sha,+fma,+fast-bextr,-avx512f")), "+avx2,+fma");
  assert_string_equal(cpu_features_needed(a, "aarch64", STR("+neon,+avx2")), "+neon");
  assert_string_equal(cpu_features_needed(a, "pdp-11", STR("+neon")), "");
  assert_int_equal(cpu_features_count(STR("+avx2,-xop,+fma")), 2);
  arena_destroy(a);
}

static void test_missing(void **state) {
  (void)state;
  arena *a = arena_create();
  assert_string_equal(cpu_features_missing(a, STR("")), "");
  assert_string_equal(cpu_features_missing(a, STR("-avx2,+no-such-thing,+another")), "no-such-thing, another");
  for (int level = CPU_LEVEL_V2; level < CPU_LEVEL_COUNT && strcmp(cpu_features_machine(), "x86-64") == 0; level++) {
    const str features = str_from(cpu_levels[level].features);
    assert_int_equal(cpu_features_missing(a, features)[0] == 0, cpu_level_runs((cpu_level)level));
    assert_string_equal(cpu_features_needed(a, "x86-64", features), cpu_levels[level].features);
  }
  arena_destroy(a);
}

// A list of a megabyte takes as much as its names, not as much as all their beginnings.
static void test_takes_long_lists(void **state) {
  (void)state;
  enum { NAMES = 1 << 18 };
  arena *a = arena_create();
  text list = {0};
  for (int k = 0; k < NAMES; k++) text_puts(&list, "+no,");
  assert_int_equal(strlen(cpu_features_missing(a, text_view(&list))), 4 * NAMES - 2);
  assert_int_equal(cpu_features_count(text_view(&list)), NAMES);
  text_free(&list);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_needed), cmocka_unit_test(test_missing),
                                     cmocka_unit_test(test_takes_long_lists)};
  return cmocka_run_group_tests_name("base/cpu_features", tests, NULL, NULL);
}
