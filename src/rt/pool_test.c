// Every item is visited once, whatever the number of threads; only one OpenMP runtime is loaded.
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt/buffer.h"
#include "rt/executor.h"
#include "rt/pool.h"

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

static void test_buffers_are_recycled(void **state) {
  (void)state;
  buffer_cache *c = buffer_cache_create();
  void *small = buffer_take(c, 100), *large = buffer_take(c, 5 << 20), *empty = buffer_take(c, 0);
  assert_true(small && large && empty);
  assert_int_equal((uintptr_t)small % 64, 0);
  assert_int_equal((uintptr_t)large % (2 << 20), 0);
  buffer_give(c, large);
  assert_ptr_equal(buffer_take(c, 4 << 20), large);
  assert_ptr_not_equal(buffer_take(c, 5 << 20), large);
  assert_null(buffer_take(c, SIZE_MAX));
  buffer_cache_destroy(c);
}

static void add_tiles(void *const *buffers, int64_t begin, int64_t end) {
  const int *in = buffers[0];
  int *out = buffers[1];
  for (int64_t i = begin; i < end; i++) out[i] = in[i] + 1;
}

static void test_executor_chains_kernels(void **state) {
  (void)state;
  program_slice slices[] = {
      {PROGRAM_PARAMETER, 0, 4 * ITEMS}, {PROGRAM_RESULT, 0, 4 * ITEMS}, {PROGRAM_RESULT, 1, 4 * ITEMS}};
  int first[] = {0, 1}, second[] = {1, 2};
  program_kernel kernels[] = {
      {.name = "first", .slice_count = 2, .slices = first, .tile_count = ITEMS, .tile_bytes = 1000},
      {.name = "second", .slice_count = 2, .slices = second, .tile_count = ITEMS, .tile_bytes = 8},
  };
  program p = {.slice_count = 3, .slices = slices, .kernel_count = 2, .kernels = kernels};
  kernel_fn entries[] = {add_tiles, add_tiles};
  executable e = {&p, entries, 2};
  int *in = calloc(ITEMS, sizeof *in), *middle = calloc(ITEMS, sizeof *in), *out = calloc(ITEMS, sizeof *in);
  for (int i = 0; i < ITEMS; i++) in[i] = 3 * i;
  void *parameters[] = {in}, *results[] = {middle, out};
  assert_true(status_is_ok(executor_run(&e, parameters, results)));
  for (int i = 0; i < ITEMS; i++) assert_int_equal(out[i], 3 * i + 2);
  free(in);
  free(middle);
  free(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_item_once),
      cmocka_unit_test(test_one_openmp_runtime),
      cmocka_unit_test(test_buffers_are_recycled),
      cmocka_unit_test(test_executor_chains_kernels),
  };
  return cmocka_run_group_tests_name("rt/pool", tests, NULL, NULL);
}
