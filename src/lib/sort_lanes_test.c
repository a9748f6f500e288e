// Sorted by vectors is sorted by qsort, whatever the order, the number and the values of the items.
#include "lib/sort_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/testing.h"

static int compare_u32(const void *l, const void *r) {
  const uint32_t x = *(const uint32_t *)l, y = *(const uint32_t *)r;
  return (x > y) - (x < y);
}

static int compare_u64(const void *l, const void *r) {
  const uint64_t x = *(const uint64_t *)l, y = *(const uint64_t *)r;
  return (x > y) - (x < y);
}

static uint64_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state ^ *state >> 29;
}

typedef enum pattern { RANDOM, FEW_VALUES, EQUAL, RISING, FALLING, SAWTOOTH, POWERS, LARGEST, PATTERNS } pattern;

static uint64_t item_of(pattern p, int64_t i, int64_t count, uint64_t *state) {
  switch (p) {
    case RANDOM: return draw(state);
    case FEW_VALUES: return draw(state) % 3 * 0x9e3779b97f4a7c15u;
    case EQUAL: return 7;
    case RISING: return (uint64_t)i;
    case FALLING: return (uint64_t)(count - i);
    case SAWTOOTH: return (uint64_t)(i % 100);
    case POWERS: return (uint64_t)1 << draw(state) % 64;  // halves of the samples say nothing of the rest
    default: return draw(state) % 5 ? UINT64_MAX : UINT64_MAX - 1;
  }
}

typedef bool (*sort_fn)(int item_bytes, void *items, void *spare, int64_t count);

static bool run_avx2(int item_bytes, void *items, void *spare, int64_t count) {
  if (!cpu_level_has_avx2()) return false;
  sort_lanes_run_avx2(item_bytes, items, spare, count);
  return true;
}

static void check_with(sort_fn sort, pattern p, int64_t count) {
  uint64_t state = (uint64_t)(p * 1000 + count), *wide = malloc((size_t)(count + 1) * 8),
           *spare = malloc((size_t)count * 8 + 8);
  uint64_t *wanted = malloc((size_t)count * 8 + 8);
  for (int64_t i = 0; i < count; i++) wanted[i] = wide[i] = item_of(p, i, count, &state);
  wide[count] = 12345;  // behind the end
  qsort(wanted, (size_t)count, 8, compare_u64);
  if (!sort(8, wide, spare, count)) skip();
  assert_memory_equal(wide, wanted, (size_t)count * 8);
  assert_int_equal(wide[count], 12345);

  uint32_t *narrow = (uint32_t *)wide, *narrow_wanted = (uint32_t *)wanted;
  for (int64_t i = 0; i < count; i++)
    narrow_wanted[i] = narrow[i] = (uint32_t)(item_of(p, i, count, &state) >> (p == RANDOM ? 32 : 0));
  narrow[count] = 12345;
  qsort(narrow_wanted, (size_t)count, 4, compare_u32);
  assert_true(sort(4, narrow, spare, count));
  assert_memory_equal(narrow, narrow_wanted, (size_t)count * 4);
  assert_int_equal(narrow[count], 12345);
  free(wide);
  free(spare);
  free(wanted);
}

static void check(pattern p, int64_t count) {
  check_with(run_avx2, p, count);
  check_with(sort_lanes_run, p, count);
}

static void test_all_small_counts(void **state) {
  (void)state;
  for (pattern p = RANDOM; p < PATTERNS; p++)
    for (int64_t count = 0; count < 300; count++) check(p, count);
}

static void test_large_counts(void **state) {
  (void)state;
  for (pattern p = RANDOM; p < PATTERNS; p++) {
    for (int64_t count = 300; count < 1100; count += 9) check(p, count);
    for (int64_t whole = 128; whole <= 2048; whole += 128)  // as many as some network has, and one less or more
      for (int64_t count = whole - 1; count <= whole + 1; count++) check(p, count);
    check(p, 4097);
    check(p, 100003);
  }
}

// Whatever is sampled is least: each division takes off what is equal to it, until halves are divided.
static void test_samples_that_divide_badly(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  uint32_t *items = malloc(COUNT * 4), *spare = malloc(COUNT * 4), *wanted = malloc(COUNT * 4);
  for (uint32_t i = 0; i < COUNT; i++) items[i] = 1000000 + i % 977 * i;
  for (uint32_t step = COUNT / 16, k = 0; k < 16; k++) items[k * step + step / 2] = k;
  memcpy(wanted, items, COUNT * 4);
  qsort(wanted, COUNT, 4, compare_u32);
  if (!sort_lanes_run(4, items, spare, COUNT)) skip();
  assert_memory_equal(items, wanted, COUNT * 4);
  free(items);
  free(spare);
  free(wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_small_counts),
      cmocka_unit_test(test_large_counts),
      cmocka_unit_test(test_samples_that_divide_badly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
