// Memory given back is what the next taker of that size gets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_buffers_are_recycled),
  };
  return cmocka_run_group_tests_name("rt/buffer", tests, NULL, NULL);
}
