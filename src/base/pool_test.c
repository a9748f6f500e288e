// Every item is visited once, whatever the number of threads; only one OpenMP runtime is loaded.
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "base/testing.h"

enum { ITEMS = 10007 };
static atomic_int visits[ITEMS];

static void visit(void *argument, int64_t begin, int64_t end) {
  atomic_int *counts = argument;
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&counts[i], 1);
}

static void test_every_item_once(void **state) {
  (void)state;
  for (int threads = 1; threads <= 5; threads++) {
    for (int64_t count = 0; count <= ITEMS; count = count * 7 + 1) {
      memset(visits, 0, sizeof visits);
      pool_run(threads, count, visit, visits);
      for (int i = 0; i < ITEMS; i++) assert_int_equal(atomic_load(&visits[i]), i < count);
    }
  }
}

static void test_one_openmp_runtime(void **state) {
  (void)state;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  char line[512];
  int gomp = 0, omp = 0;
  while (fgets(line, sizeof line, maps)) {
    gomp += strstr(line, "libgomp") != NULL;
    omp += strstr(line, "libomp") != NULL || strstr(line, "libiomp") != NULL;
  }
  fclose(maps);
  assert_true(gomp > 0);
  assert_int_equal(omp, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_item_once),
      cmocka_unit_test(test_one_openmp_runtime),
  };
  return cmocka_run_group_tests_name("base/pool", tests, NULL, NULL);
}
