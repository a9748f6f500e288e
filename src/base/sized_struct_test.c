// Structs from callers with an older header, with a newer one, and with none.
#include "base/sized_struct.h"

#include <string.h>

#include "base/testing.h"

typedef struct older {
  size_t struct_size;
  int64_t first;
} older;

typedef struct known {
  size_t struct_size;
  int64_t first;
  void *second;
} known;

typedef struct newer {
  size_t struct_size;
  int64_t first;
  void *second;
  char third[16];
} newer;

static void expect_invalid(heddle_status s, const char *message) {
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  if (!strstr(heddle_status_message(s), message)) fail_msg("%s", heddle_status_message(s));
  heddle_status_free(s);
}

// What lies behind the shorter struct is not read.
static void test_older(void **state) {
  (void)state;
  struct {
    older given;
    void *other;
  } memory = {{sizeof(older), 7}, &memory};
  known k;
  memset(&k, 0xff, sizeof k);
  assert_true(status_is_ok(sized_struct_take("known", &memory.given, &k, sizeof k)));
  assert_true(k.struct_size == sizeof k && k.first == 7 && !k.second);
  const known from = {sizeof from, 9, state};
  assert_true(status_is_ok(sized_struct_fill("known", &memory.given, &from, sizeof from)));
  assert_true(memory.given.struct_size == sizeof(older) && memory.given.first == 9 && memory.other == &memory);
}

static void test_newer(void **state) {
  (void)state;
  newer n = {.struct_size = sizeof n, .first = 7, .second = state};
  known k;
  assert_true(status_is_ok(sized_struct_take("known", &n, &k, sizeof k)));
  assert_true(k.struct_size == sizeof k && k.first == 7 && k.second == state);
  n.third[15] = 1;
  expect_invalid(sized_struct_take("known", &n, &k, sizeof k), "known of struct_size 40 with a field set at byte 39");
  const known from = {sizeof from, 9, NULL};
  assert_true(status_is_ok(sized_struct_fill("known", &n, &from, sizeof from)));
  assert_true(n.struct_size == sizeof n && n.first == 9 && !n.second && !n.third[15]);
}

static void test_none(void **state) {
  (void)state;
  known k = {.first = 7};
  assert_true(status_is_ok(sized_struct_take("known", NULL, &k, sizeof k)));
  assert_true(k.struct_size == sizeof k && k.first == 0);
  static const size_t wrong[] = {0, 7, 12, 4104, SIZE_MAX, SIZE_MAX - 7};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    known given = {.struct_size = wrong[i], .first = 7};
    expect_invalid(sized_struct_take("known", &given, &k, sizeof k), "known of struct_size");
    expect_invalid(sized_struct_fill("known", &given, &k, sizeof k), "known of struct_size");
  }
  expect_invalid(sized_struct_fill("known", NULL, &k, sizeof k), "null");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_older), cmocka_unit_test(test_newer),
                                     cmocka_unit_test(test_none)};
  return cmocka_run_group_tests_name("base/sized_struct", tests, NULL, NULL);
}
