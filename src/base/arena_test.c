// The arena: alignment, zeroing, growth across chunks, reset, exhaustion.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "base/testing.h"
#include "base/vec.h"

static void test_alignment_and_zeroing(void **state) {
  (void)state;
  arena *a = arena_create();
  for (size_t size = 0; size < 20000; size = size * 3 / 2 + 1) {
    unsigned char *p = arena_alloc(a, size);
    assert_int_equal((uintptr_t)p % (size >= 4096 ? 64 : 16), 0);
    for (size_t i = 0; i < size; i++) assert_int_equal(p[i], 0);
    memset(p, 0xab, size);
  }
  arena_destroy(a);
}

static void test_allocations_do_not_overlap(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  arena *a = arena_create();
  unsigned char *blocks[COUNT];
  size_t total = 0;
  for (int i = 0; i < COUNT; i++) {
    size_t size = (size_t)(i * 37 % 1500);
    blocks[i] = arena_alloc(a, size);
    memset(blocks[i], i & 0xff, size);
    total += size ? size : 1;
  }
  assert_int_equal(arena_used(a), total);
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < i * 37 % 1500; j++) assert_int_equal(blocks[i][j], i & 0xff);
  arena_destroy(a);
}

static void test_an_oversized_block_leaves_the_current_chunk_in_use(void **state) {
  (void)state;
  arena *a = arena_create();
  char *before = arena_alloc(a, 16);
  assert_non_null(arena_alloc(a, 8 << 20));
  char *after = arena_alloc(a, 16);
  assert_true(after > before && after - before <= 64);
  arena_destroy(a);
}

static void test_reset_reuses_memory_and_zeroes_it(void **state) {
  (void)state;
  arena *a = arena_create();
  char *first = arena_strdup(a, "text", 4);
  arena_alloc(a, 1 << 20);
  arena_reset(a);
  assert_int_equal(arena_used(a), 0);
  for (int round = 0; round < 3; round++) {
    char *p = arena_alloc(a, 64 << 10);
    for (int i = 0; i < 64 << 10; i++) assert_int_equal(p[i], 0);
    memset(p, 1, 64 << 10);
    arena_reset(a);
  }
  (void)first;
  arena_destroy(a);
  arena_destroy(NULL);
}

static void test_text_and_vectors(void **state) {
  (void)state;
  arena *a = arena_create();
  assert_string_equal(arena_strdup(a, "abcdef", 3), "abc");
  assert_string_equal(arena_printf(a, "%s-%d", "x", 42), "x-42");
  VEC(int) numbers = {0};
  for (int i = 0; i < 1000; i++) vec_push(a, &numbers, i * i);
  assert_int_equal(numbers.size, 1000);
  for (int i = 0; i < 1000; i++) assert_int_equal(numbers.data[i], i * i);
  assert_int_equal(vec_last(&numbers), 999 * 999);
  assert_int_equal(vec_pop(&numbers), 999 * 999);
  assert_int_equal(numbers.size, 999);
  arena_destroy(a);
}

static heddle_status overflow(void *a) {
  arena_array(a, double, SIZE_MAX / 4);
  fail_msg("a product that overflows was allocated");
  return status_ok();
}

static void test_exhaustion(void **state) {
  (void)state;
  arena *a = arena_create();
  assert_null(arena_try_alloc(a, SIZE_MAX));
  assert_null(arena_try_alloc(a, SIZE_MAX / 2));
  heddle_status s = guard_run(overflow, NULL, a);
  assert_int_equal(heddle_status_code(s), HEDDLE_OUT_OF_MEMORY);
  heddle_status_free(s);
  assert_non_null(arena_alloc(a, 8));  // still usable
  arena_destroy(a);
}

static heddle_status keep_and_end(void *kept) {
  arena *a = arena_create();
  *(char **)kept = arena_strdup(a, "kept", 4);
  arena_keep(a);
  *((arena **)kept + 1) = a;
  arena_array(a, double, SIZE_MAX / 4);
  return status_ok();
}

static void test_what_is_kept_outlives_its_guard(void **state) {
  (void)state;
  void *kept[2];
  heddle_status s = guard_run(keep_and_end, NULL, kept);
  assert_int_equal(heddle_status_code(s), HEDDLE_OUT_OF_MEMORY);
  heddle_status_free(s);
  assert_string_equal(kept[0], "kept");
  assert_non_null(arena_alloc(kept[1], 1 << 20));
  arena_destroy(kept[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alignment_and_zeroing),
      cmocka_unit_test(test_allocations_do_not_overlap),
      cmocka_unit_test(test_an_oversized_block_leaves_the_current_chunk_in_use),
      cmocka_unit_test(test_reset_reuses_memory_and_zeroes_it),
      cmocka_unit_test(test_text_and_vectors),
      cmocka_unit_test(test_exhaustion),
      cmocka_unit_test(test_what_is_kept_outlives_its_guard),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
