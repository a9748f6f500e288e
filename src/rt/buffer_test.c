// Memory given back is what the next taker of that size gets.
#include <stdlib.h>

#include "base/testing.h"
#include "rt/buffer.h"

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

// Sizes of all magnitudes, and many more buffers than a list could be searched for: in time that grows with their
// number, half a million take and give well below a second; with the square of it, minutes.
static void test_many_buffers(void **state) {
  (void)state;
  enum { COUNT = 500000 };
  buffer_cache *c = buffer_cache_create();
  void **taken = calloc(COUNT, sizeof *taken);
  assert_non_null(taken);
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < COUNT; k++) {
      const size_t bytes = (size_t)(k % 30) * 16;
      taken[k] = buffer_take(c, bytes);
      assert_non_null(taken[k]);
      *(int *)taken[k] = k;
    }
    for (int k = 0; k < COUNT; k++) assert_int_equal(*(int *)taken[k], k);
    for (int k = 0; k < COUNT; k++) buffer_give(c, taken[k]);
  }
  free(taken);
  buffer_cache_destroy(c);
}

// What is handed out holds what was asked for and not much more; a buffer given back twice is still one buffer.
static void test_sizes(void **state) {
  (void)state;
  buffer_cache *c = buffer_cache_create();
  for (size_t bytes = 1; bytes < (size_t)1 << 27; bytes += bytes / 3 + 1) {
    char *first = buffer_take(c, bytes);
    assert_non_null(first);
    first[0] = first[bytes - 1] = 1;
    buffer_give(c, first);
    buffer_give(c, first);
    char *again = buffer_take(c, bytes), *other = buffer_take(c, bytes);
    assert_ptr_equal(again, first);
    assert_ptr_not_equal(other, first);
    buffer_give(c, again);
    if (bytes >= 1024) assert_ptr_not_equal(buffer_take(c, bytes / 4), first);
  }
  buffer_cache_destroy(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_buffers_are_recycled),
      cmocka_unit_test(test_many_buffers),
      cmocka_unit_test(test_sizes),
  };
  return cmocka_run_group_tests_name("rt/buffer", tests, NULL, NULL);
}
