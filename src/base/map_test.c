// Both maps against plain arrays.
#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/testing.h"

enum { COUNT = 5000 };

static void *number(intptr_t i) { return (void *)i; }

static void test_string_keys(void **state) {
  (void)state;
  arena *a = arena_create();
  str_map m = {0};
  assert_null(str_map_get(&m, STR("absent")));
  assert_false(str_map_has(&m, STR("")));
  for (intptr_t i = 0; i < COUNT; i++) str_map_put(a, &m, str_from(arena_printf(a, "key.%d", (int)i)), number(i));
  assert_int_equal(m.size, COUNT);
  for (intptr_t i = 0; i < COUNT; i += 3) str_map_put(a, &m, str_from(arena_printf(a, "key.%d", (int)i)), number(-i));
  assert_int_equal(m.size, COUNT);
  for (intptr_t i = 0; i < COUNT; i++) {
    str key = str_from(arena_printf(a, "key.%d", (int)i));
    assert_true(str_map_has(&m, key));
    assert_ptr_equal(str_map_get(&m, key), number(i % 3 ? i : -i));
    key.size--;  // another key, or an earlier number
    assert_int_equal(str_map_has(&m, key), i >= 10);
  }
  assert_null(str_map_get(&m, STR("absent")));
  arena_destroy(a);
}

static void test_the_empty_string_and_null_values(void **state) {
  (void)state;
  arena *a = arena_create();
  str_map m = {0};
  str_map_put(a, &m, (str){0}, NULL);
  assert_int_equal(m.size, 1);
  assert_true(str_map_has(&m, STR("")));
  assert_null(str_map_get(&m, STR("")));
  arena_destroy(a);
}

static void test_pointer_keys(void **state) {
  (void)state;
  arena *a = arena_create();
  ptr_map m = {0};
  assert_null(ptr_map_get(&m, &m));
  static char keys[COUNT * 64];
  for (intptr_t i = 0; i < COUNT; i++) ptr_map_put(a, &m, &keys[i * 64], number(i));
  ptr_map_put(a, &m, NULL, number(7));
  ptr_map_put(a, &m, keys, number(9));
  assert_int_equal(m.size, COUNT + 1);
  for (intptr_t i = 1; i < COUNT; i++) {
    assert_ptr_equal(ptr_map_get(&m, &keys[i * 64]), number(i));
    assert_false(ptr_map_has(&m, &keys[i * 64 + 1]));
  }
  assert_ptr_equal(ptr_map_get(&m, NULL), number(7));
  assert_ptr_equal(ptr_map_get(&m, keys), number(9));
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_string_keys),
      cmocka_unit_test(test_the_empty_string_and_null_values),
      cmocka_unit_test(test_pointer_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
