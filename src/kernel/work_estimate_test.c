// What is read in loops multiplies, what is shared does not.
#include "kernel/work_estimate.h"
#include "kernel/testing.h"
#include "kernel/written_kernels.h"

static double estimate(const char *source) {
  arena *a = arena_create();
  instruction_list order;
  testing_require(computation_post_order(a, testing_parse(a, source)->entry, &order), source);
  double work = work_estimate(a, &order);
  arena_destroy(a);
  return work;
}

static void test_chain_is_linear(void **state) {
  (void)state;
  // parameter, negate, negate, add: the shared value counts once
  assert_true(estimate("HloModule m\nENTRY e { p = f32[8] parameter(0) n = f32[8] negate(p) m = f32[8] negate(n) "
                       "ROOT a = f32[8] add(n, m) }") == 4);
}

static void test_nested_dots_multiply(void **state) {
  (void)state;
  double one = estimate(
      "HloModule m\nENTRY e { p = f32[64,64] parameter(0) "
      "ROOT d = f32[64,64] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0} }");
  double two = estimate(
      "HloModule m\nENTRY e { p = f32[64,64] parameter(0) "
      "d = f32[64,64] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
      "ROOT f = f32[64,64] dot(d, p), lhs_contracting_dims={1}, rhs_contracting_dims={0} }");
  assert_true(one >= 64 && one < 64 * 4);
  assert_true(two >= 64 * 64 && two < 64 * 64 * 4);
}

static void test_endless_kernel_is_refused(void **state) {
  (void)state;
  arena *a = arena_create();
  text source = {0};
  text_puts(&source, "HloModule m\nENTRY e {\n p0 = f32[512,512] parameter(0)\n");
  for (int i = 1; i <= 8; i++)
    text_printf(&source, " %sp%d = f32[512,512] dot(p%d, p0), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
                i == 8 ? "ROOT " : "", i, i - 1);
  text_puts(&source, "}\n");
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "chain.hlo", text_view(&source), &m)));
  written_kernels *plan;
  assert_true(status_is_ok(written_kernels_plan(a, m, target_cpu(2), &plan)));
  heddle_status s = kernel_check_work(plan->kernels[0]);
  assert_int_equal(heddle_status_code(s), HEDDLE_UNIMPLEMENTED);
  assert_int_equal(status_where(s).line, 11);
  heddle_status_free(s);
  text_free(&source);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain_is_linear),
      cmocka_unit_test(test_nested_dots_multiply),
      cmocka_unit_test(test_endless_kernel_is_refused),
  };
  return cmocka_run_group_tests_name("kernel/work_estimate", tests, NULL, NULL);
}
