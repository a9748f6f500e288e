// What is loaded, and what is said of what cannot be.
#include "lib/external.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/testing.h"

static bool is_mapped(const char *name) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  bool is = false;
  while (maps && fgets(line, sizeof line, maps)) is |= strstr(line, name) != NULL;
  if (maps) fclose(maps);
  return is;
}

// Nothing is loaded until it is asked for.
static void test_loads_when_needed(void **state) {
  (void)state;
  assert_false(is_mapped("libfftw3.so") || is_mapped("libdnnl") || is_mapped("libopenblas") || is_mapped("libgomp"));
  assert_true(status_is_ok(external_need(EXTERNAL_FFTW)));
  assert_true(is_mapped("libfftw3.so"));
  assert_false(is_mapped("libdnnl"));
  assert_true(status_is_ok(external_need_all(1 << EXTERNAL_FFTW | 1 << EXTERNAL_ONEDNN)));
  assert_true(is_mapped("libdnnl"));
  assert_true(status_is_ok(external_need_all(~0u)));
  for (int k = 0; k < EXTERNAL_FUNCTION_COUNT; k++) assert_non_null(external_functions[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_loads_when_needed)};
  return cmocka_run_group_tests_name("lib/external", tests, NULL, NULL);
}
