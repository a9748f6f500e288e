// Values count as long as somebody still needs them.
#include "kernel/live_values.h"

#include "kernel/testing.h"

static int registers(const char *entry) {
  arena *a = arena_create();
  module *m = testing_parse(a, arena_printf(a, "HloModule m\nENTRY e {\n%s}\n", entry));
  const int found = live_values_registers(a, &m->entry->instructions);
  arena_destroy(a);
  return found;
}

static void test_a_chain_needs_two(void **state) {
  (void)state;
  assert_int_equal(registers("  p = f32[8] parameter(0)\n  a = f32[8] negate(p)\n  b = f32[8] exponential(a)\n"
                             "  ROOT c = f32[8] negate(b)\n"),
                   2);
}

static void test_what_is_needed_later_stays(void **state) {
  (void)state;
  // p, a and b, while c is computed.
  assert_int_equal(registers("  p = f32[8] parameter(0)\n  a = f32[8] negate(p)\n  b = f32[8] exponential(p)\n"
                             "  c = f32[8] add(a, b)\n  d = f32[8] add(c, p)\n  ROOT e = f32[8] add(d, a)\n"),
                   4);
}

static void test_wide_values_take_more(void **state) {
  (void)state;
  assert_int_equal(registers("  p = c128[8] parameter(0)\n  ROOT a = c128[8] negate(p)\n"), 8);
}

static void test_scalars_take_none(void **state) {
  (void)state;
  assert_int_equal(registers("  p = f32[8] parameter(0)\n  s = f32[] parameter(1)\n"
                             "  b = f32[8] broadcast(s), dimensions={}\n  ROOT a = f32[8] add(p, b)\n"),
                   2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_chain_needs_two),
      cmocka_unit_test(test_what_is_needed_later_stays),
      cmocka_unit_test(test_wide_values_take_more),
      cmocka_unit_test(test_scalars_take_none),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
