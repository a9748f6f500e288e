// One instruction of a program as a program of its own.
#include "tools/isolate.h"

#include "base/arena_testing.h"
#include "hlo/text.h"

static const char module_text[] =
    "HloModule m, entry_computation_layout={(f32[4,3])->(f32[4], f32[4,3])}\n"
    "add {\n"
    "  x = f32[] parameter(0)\n"
    "  y = f32[] parameter(1)\n"
    "  ROOT s = f32[] add(x, y)\n"
    "}\n"
    "ENTRY e {\n"
    "  p = f32[4,3] parameter(0)\n"
    "  zero = f32[] constant(0)\n"
    "  square = f32[4,3] multiply(p, p)\n"
    "  sums = f32[4] reduce(square, zero), dimensions={1}, to_apply=add\n"
    "  ROOT t = (f32[4], f32[4,3]) tuple(sums, square)\n"
    "}\n";

static module *parse(arena *a) {
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(module_text), &m)));
  return m;
}

static void test_what_is_worth_it(void **state) {
  arena *a = *state;
  const instruction_list *all = &parse(a)->entry->instructions;
  const bool wanted[] = {false, false, true, true, false};
  assert_int_equal(all->size, 5);
  for (int i = 0; i < 5; i++) assert_int_equal(isolate_is_worth_it(all->data[i]), wanted[i]);
}

// The isolated module's text is `wanted`, and it is a module that parses and verifies.
static void expect_text(arena *a, const module *m, const char *wanted) {
  assert_true(status_is_ok(module_verify(m)));
  text t = {0};
  hlo_print_computation(&t, m->entry, (hlo_print_options){0});
  assert_string_equal(text_cstr(&t), wanted);
  text_free(&t);
  hlo_print(&t, m, HLO_PRINT_FULL);
  module *again;
  assert_true(status_is_ok(hlo_parse(a, "again", text_view(&t), &again)));
  text_free(&t);
}

static void test_operands_become_parameters(void **state) {
  arena *a = *state;
  expect_text(a, isolate_instruction(a, parse(a), 2),
              "ENTRY isolated {\n  p = f32[4,3] parameter(0)\n  ROOT square = f32[4,3] multiply(p, p)\n}\n");
}

static void test_constants_stay(void **state) {
  arena *a = *state;
  expect_text(a, isolate_instruction(a, parse(a), 3),
              "ENTRY isolated {\n  square = f32[4,3] parameter(0)\n  zero = f32[] constant(0)\n"
              "  ROOT sums = f32[4] reduce(square, zero), dimensions={1}, to_apply=add\n}\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_what_is_worth_it),
      TESTING_IN_ARENA(test_operands_become_parameters),
      TESTING_IN_ARENA(test_constants_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
