// Which instructions have the same value everywhere, and which one.
#include "opt/uniform.h"

#include <math.h>

#include "base/arena_testing.h"
#include "hlo/text.h"

static const instruction *root_of(arena *a, const char *source) {
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(source), &m)));
  return m->entry->root;
}

static void test_broadcasts_are_their_element(void **state) {
  const instruction *i = root_of(
      *state, "ENTRY e { c = u8[1] constant({255}) r = u8[] reshape(c) ROOT b = u8[2,3] broadcast(r), dimensions={} }");
  assert_true(uniform_is_int(i, 255));
  assert_true(uniform_is_int(i, -1));
  assert_false(uniform_is_int(i, 0));
  assert_true(uniform_is_highest(i));
  assert_false(uniform_is_lowest(i));
  assert_false(uniform_is_float(i, 255));
}

static void test_zeros_have_signs(void **state) {
  const instruction *i = root_of(*state, "ENTRY e { ROOT c = f32[] constant(-0) }");
  assert_true(uniform_is_float(i, -0.0));
  assert_false(uniform_is_float(i, 0.0));
  assert_false(uniform_is(i, 0));
  const instruction *z = root_of(*state, "ENTRY e { ROOT c = c64[] constant((-0, 0)) }");
  assert_false(uniform_is_float(z, -0.0));
  assert_false(uniform_is_float(z, 0.0));
}

static void test_extremes(void **state) {
  assert_true(uniform_is_lowest(root_of(*state, "ENTRY e { ROOT c = s4[] constant(-8) }")));
  assert_true(uniform_is_highest(root_of(*state, "ENTRY e { ROOT c = s4[] constant(7) }")));
  assert_true(uniform_is_highest(root_of(*state, "ENTRY e { ROOT c = u64[] constant(18446744073709551615) }")));
  assert_true(uniform_is_lowest(root_of(*state, "ENTRY e { ROOT c = s64[] constant(-9223372036854775808) }")));
  assert_true(uniform_is_lowest(root_of(*state, "ENTRY e { ROOT c = bf16[] constant(-inf) }")));
  assert_true(uniform_is_highest(root_of(*state, "ENTRY e { ROOT c = pred[] constant(true) }")));
  assert_false(uniform_is_lowest(root_of(*state, "ENTRY e { ROOT c = f32[] constant(nan) }")));
}

static void test_others_are_unknown(void **state) {
  assert_null(uniform_value(root_of(*state, "ENTRY e { ROOT c = s32[2] constant({3, 4}) }")));
  assert_null(uniform_value(root_of(*state, "ENTRY e { ROOT p = s32[] parameter(0) }")));
  assert_null(uniform_value(root_of(*state, "ENTRY e { ROOT c = s32[1] constant({...}) }")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_broadcasts_are_their_element),
      TESTING_IN_ARENA(test_zeros_have_signs),
      TESTING_IN_ARENA(test_extremes),
      TESTING_IN_ARENA(test_others_are_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
