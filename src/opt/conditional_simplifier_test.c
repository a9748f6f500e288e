// Conditionals that stand for exponentially many branches.
#include "opt/passes.h"

#include "eval/testing.h"

// Each computation calls the one before it twice: written out, more than there is memory for.
static void test_nests_are_not_written_out(void **state) {
  (void)state;
  enum { LEVELS = 64 };
  arena *a = arena_create();
  text t = {0};
  text_puts(&t, "f0 { p = f32[4] parameter(0) ROOT r = f32[4] sine(p) }\n");
  for (int k = 1; k < LEVELS; k++) {
    text_printf(&t,
                "f%d { p = f32[4] parameter(0) s = f32[1] slice(p), slice={[0:1]} q = f32[] reshape(s)\n"
                "  z = f32[] constant(%d) c = pred[] compare(q, z), direction=LT\n"
                "  a = f32[4] conditional(c, p, p), true_computation=f%d, false_computation=f%d\n"
                "  ROOT b = f32[4] conditional(c, a, a), true_computation=f%d, false_computation=f%d }\n",
                k, k, k - 1, k - 1, k - 1, k - 1);
  }
  text_printf(&t, "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] call(p), to_apply=f%d }\n", LEVELS - 1);
  module *m;
  testing_require(hlo_parse(a, "test.hlo", str_from(text_cstr(&t)), &m), "parse");
  int64_t size = 0;
  testing_require(pass_apply(&opt_conditional_simplifier, m), "simplify");
  for (int c = 0; c < m->computations.size; c++) size += m->computations.data[c]->instructions.size;
  assert_in_range(size, 10 * LEVELS, 1 << 16);
  testing_require(module_verify(m), "verify");
  text_free(&t);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nests_are_not_written_out)};
  return cmocka_run_group_tests_name("opt/conditional_simplifier", tests, NULL, NULL);
}
