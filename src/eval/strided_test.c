// Strided copies against the plain definition, on random boxes.
#include "eval/strided.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

enum { AREA = 4096, MAX_RANK = 5, MAX_SIZE = 16 };

static uint64_t seed = 77;

static int64_t pick(int64_t bound) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(seed >> 33) % bound;
}

static void copy_plainly(int size, int rank, const int64_t *dims, char *to, const int64_t *to_strides, const char *from,
                         const int64_t *from_strides) {
  if (rank == 0) {
    memcpy(to, from, (size_t)size);
    return;
  }
  for (int64_t k = 0; k < dims[0]; k++)
    copy_plainly(size, rank - 1, dims + 1, to + k * to_strides[0] * size, to_strides + 1,
                 from + k * from_strides[0] * size, from_strides + 1);
}

// The result is dense in a random order of dims; the source has any strides, negative and zero ones included.
static void test_random_boxes(void **state) {
  (void)state;
  static char from[2 * AREA * MAX_SIZE], found[AREA * MAX_SIZE], wanted[AREA * MAX_SIZE];
  for (size_t k = 0; k < sizeof from; k++) from[k] = (char)pick(256);
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int round = 0; round < 3000; round++) {
    const int size = 1 << pick(5), rank = (int)pick(MAX_RANK + 1);
    int64_t dims[MAX_RANK], to[MAX_RANK], source[MAX_RANK], stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
      dims[d] = pick(20) == 0 ? 0 : 1 + pick(4);
      to[d] = stride;
      stride *= dims[d] ? dims[d] : 1;
      const int64_t choices[] = {to[d], -to[d], 0, pick(200) - 100};
      source[d] = choices[pick(4)];
    }
    memset(found, 0, sizeof found);
    memset(wanted, 0, sizeof wanted);
    const char *middle = from + AREA * size;
    strided_copy(size, rank, dims, found, to, middle, source);
    copy_plainly(size, rank, dims, wanted, to, middle, source);
    assert_memory_equal(found, wanted, sizeof found);
  }
}

static void test_walk(void **state) {
  (void)state;
  const int64_t dims[] = {2, 1, 3}, strides[] = {3, 3, 1};
  int64_t index[3] = {0};
  for (int64_t k = 0; k < 5; k++) {
    assert_int_equal(strided_offset(3, index, strides), k);
    assert_true(strided_next(3, dims, index));
  }
  assert_false(strided_next(3, dims, index));
  assert_int_equal(strided_offset(3, index, strides), 0);
  assert_true(strided_is_empty(2, (int64_t[]){3, 0}));
  assert_false(strided_is_empty(0, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_boxes), cmocka_unit_test(test_walk)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
