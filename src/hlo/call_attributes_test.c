// Attributes of custom calls as MLIR and as JSON write them, one by name and all of them.
#include <string.h>

#include "base/testing.h"
#include "hlo/call_attributes.h"

static const named_attribute *named(const named_attribute *list, int count, const char *name) {
  for (int k = 0; k < count; k++)
    if (strcmp(list[k].name, name) == 0) return &list[k];
  fail_msg("no %s", name);
  return NULL;
}

static void test_list(void **state) {
  (void)state;
  arena *a = arena_create();
  const named_attribute *list;
  const str config =
      STR("{uplo = 76 : ui8, name = \"x, = }\", tall = true, tolerance = 2.5e-3 : f64, dims = [1, 2, -3], "
          "sizes = array<i64: 4, 5>, none = array<i64>, mask = dense<[7, 8]> : tensor<2xi64>, other = @callee}");
  const int count = call_attributes(a, config, &list);
  assert_int_equal(count, 9);
  assert_int_equal(named(list, count, "uplo")->ints[0], 76);
  assert_string_equal(named(list, count, "name")->text, "x, = }");
  assert_int_equal(named(list, count, "tall")->ints[0], 1);
  assert_true(named(list, count, "tolerance")->kind == NAMED_DOUBLE &&
              named(list, count, "tolerance")->number == 2.5e-3);
  assert_int_equal(named(list, count, "dims")->count, 3);
  assert_int_equal(named(list, count, "dims")->ints[2], -3);
  assert_int_equal(named(list, count, "sizes")->ints[1], 5);
  assert_int_equal(named(list, count, "none")->count, 0);
  assert_int_equal(named(list, count, "none")->kind, NAMED_INTS);
  assert_int_equal(named(list, count, "mask")->ints[0], 7);
  assert_string_equal(named(list, count, "other")->text, "@callee");
  arena_destroy(a);
}

static void test_json(void **state) {
  (void)state;
  arena *a = arena_create();
  const named_attribute *list;
  const int count = call_attributes(a, STR("{\"uplo\": 85, \"inner\": {\"a\": 1}, \"list\": []}"), &list);
  assert_int_equal(count, 3);
  assert_int_equal(named(list, count, "uplo")->ints[0], 85);
  assert_string_equal(named(list, count, "inner")->text, "{\"a\": 1}");
  assert_int_equal(named(list, count, "list")->count, 0);
  arena_destroy(a);
}

static void test_by_name(void **state) {
  (void)state;
  const str config = STR("{a = \"L\", b = 3.0 : f64, c = \"long\", d = false}");
  int64_t whole = -1;
  str word = {0};
  assert_true(call_attribute_int(config, "a", &whole) && whole == 'L');
  assert_true(call_attribute_int(config, "b", &whole) && whole == 3);
  assert_false(call_attribute_int(config, "c", &whole));
  assert_int_equal(whole, 3);
  assert_true(call_attribute_int(config, "d", &whole) && whole == 0);
  assert_false(call_attribute_int(config, "e", &whole));
  assert_true(call_attribute_text(config, "c", &word) && str_is(word, "long"));
  assert_false(call_attribute_text(config, "d", &word));
}

// Text that is no dictionary, or breaks off, is no crash.
static void test_broken(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      "{",
                                      "}",
                                      "{=",
                                      "{a",
                                      "{a =",
                                      "{a = [1",
                                      "{a = \"",
                                      "{a = array<",
                                      "{a = array<i64: 1",
                                      "{,,,}",
                                      "{a = 1,,b = 2}",
                                      "{a = [[1], [2]]}",
                                      "{ = 3}",
                                      "text",
                                      "{a = dense<"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    arena *a = arena_create();
    const named_attribute *list;
    const int count = call_attributes(a, str_from(texts[k]), &list);
    for (int n = 0; n < count; n++) assert_true(list[n].name[0] != 0);
    arena_destroy(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_list),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_by_name),
      cmocka_unit_test(test_broken),
  };
  return cmocka_run_group_tests_name("hlo/call_attributes", tests, NULL, NULL);
}
