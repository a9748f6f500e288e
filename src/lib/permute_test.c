// Every order of dims, reversals and steps, against an index at a time.
#include "lib/permute.h"

#include "lib/testing.h"

static void check(int size, int rank, const int64_t *dims, const int64_t *strides, int64_t base) {
  enum { BYTES = 1 << 17 };
  static uint8_t from[BYTES], to[BYTES];
  uint64_t seed = 5;
  for (int k = 0; k < BYTES; k++) from[k] = (uint8_t)testing_next(&seed);
  int64_t count = 1;
  for (int d = 0; d < rank; d++) count *= dims[d];
  memset(to, 0, sizeof to);
  permute(2, size, rank, dims, strides, from + base * size, to);
  for (int64_t k = 0; k < count; k++) {
    int64_t rest = k, at = base;
    for (int d = rank - 1; d >= 0; d--) {
      at += rest % dims[d] * strides[d];
      rest /= dims[d];
    }
    assert_memory_equal(to + k * size, from + at * size, (size_t)size);
  }
}

static void test_permutations(void **state) {
  (void)state;
  static const int64_t dims[4] = {3, 20, 1, 35}, turned[4] = {35, 20, 3, 1}, two[2] = {33, 40};
  for (int size = 1; size <= 16; size *= 2) {
    check(size, 4, dims, (int64_t[]){700, 35, 35, 1}, 0);
    check(size, 4, turned, (int64_t[]){1, 35, 700, 7}, 0);
    check(size, 4, dims, (int64_t[]){1, 3, 9, 60}, 0);
    check(size, 2, two, (int64_t[]){1, 33}, 0);
    check(size, 2, two, (int64_t[]){-40, 1}, 32 * 40);
    check(size, 2, two, (int64_t[]){40, -1}, 39);
    check(size, 2, two, (int64_t[]){2, 66}, 1);
    check(size, 2, two, (int64_t[]){0, 1}, 0);
    check(size, 0, NULL, NULL, 3);
    check(size, 1, (int64_t[]){0}, (int64_t[]){1}, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_permutations)};
  return cmocka_run_group_tests_name("lib/permute", tests, NULL, NULL);
}
