// What nobody needs goes; what has effects, and what that needs, stays.
#include "opt/passes.h"

#include "base/arena_testing.h"
#include "hlo/text.h"

// Cleans the module and expects what is left of it, printed without header and layouts.
static void expect(arena *a, const char *before, const char *after) {
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(before), &m)));
  assert_true(status_is_ok(pass_apply(&opt_dead_code, m)));
  assert_true(status_is_ok(module_verify(m)));
  text t = {0};
  for (int i = 0; i < m->computations.size; i++)
    hlo_print_computation(&t, m->computations.data[i], (hlo_print_options){0});
  assert_string_equal(text_cstr(&t), after);
  text_free(&t);
}

static void test_chains_go(void **state) {
  expect(*state,
         "ENTRY e { p = f32[] parameter(0) q = f32[] parameter(1) a = f32[] negate(p) b = f32[] abs(a)\n"
         "  c = f32[] add(a, b) ROOT r = f32[] sine(p) }",
         "ENTRY e {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] sine(p)\n}\n");
}

static void test_uncalled_computations_go(void **state) {
  expect(*state,
         "f { x = f32[] parameter(0) ROOT y = f32[] negate(x) }\n"
         "g { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=f }\n"
         "h { x = f32[] parameter(0) ROOT y = f32[] abs(x) }\n"
         "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] map(p), dimensions={0}, to_apply=h }",
         "h {\n  x = f32[] parameter(0)\n  ROOT y = f32[] abs(x)\n}\n"
         "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] map(p), dimensions={0}, to_apply=h\n}\n");
}

static void test_effects_stay(void **state) {
  static const char text_with_effects[] =
      "ENTRY e {\n  p = f32[] parameter(0)\n  c = f32[] custom-call(p), custom_call_target=\"log\", "
      "custom_call_has_side_effect=true\n  ROOT r = f32[] sine(p), control-predecessors={c}\n}\n";
  expect(*state, text_with_effects, text_with_effects);
}

// What is only waited for goes, and what waited for it waits for what that one waited for.
static void test_waits_are_passed_on(void **state) {
  expect(*state,
         "ENTRY e { p = f32[] parameter(0) c = f32[] custom-call(p), custom_call_target=\"log\", "
         "custom_call_has_side_effect=true v = f32[] negate(p), control-predecessors={c}\n"
         "  w = f32[] abs(p), control-predecessors={v} ROOT r = f32[] sine(p), control-predecessors={w, c} }",
         "ENTRY e {\n  p = f32[] parameter(0)\n  c = f32[] custom-call(p), custom_call_target=\"log\", "
         "custom_call_has_side_effect=true\n  ROOT r = f32[] sine(p), control-predecessors={c}\n}\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_chains_go),
      TESTING_IN_ARENA(test_uncalled_computations_go),
      TESTING_IN_ARENA(test_effects_stay),
      TESTING_IN_ARENA(test_waits_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
