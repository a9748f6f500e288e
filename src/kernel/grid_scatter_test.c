// Which form a scatter takes on a grid of threads, and with which figures.
#include "kernel/grid_scatter.h"

#include "kernel/testing.h"

typedef struct planned {
  arena *arena;
  const hero_grid_scatter *scatter;
  const kernel_plan *plan;
} planned;

static planned plan(const char *type, const char *combiner, const char *shapes, const char *more, const char *chip) {
  planned p = {.arena = arena_create()};
  const kernel_alias first = {0, 0};
  target_description target;
  assert_true(target_find(str_from(chip), &target));
  const char *source =
      arena_printf(p.arena,
                   "HloModule m\nby { a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  %s }\nENTRY e {\n%s, "
                   "update_window_dims={1,2},"
                   " inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=by%s\n}\n",
                   type, type, combiner, shapes, more);
  module *m = testing_parse(p.arena, source);
  kernel_plan *k;
  testing_require(kernel_plan_create(p.arena, m->entry, "k", &target, 1, &first, &k), source);
  assert_int_equal(k->hero, HERO_SCATTER);
  p.plan = k;
  p.scatter = &k->details.grid_scatter;
  return p;
}

static const char add_f32[] = "ROOT r = f32[] add(a, b)";
static const char rows[] =
    "  p = f32[650,32] parameter(0)\n  i = s32[9000,1] parameter(1)\n  u = f32[9000,1,32] parameter(2)\n"
    "  ROOT r = f32[650,32] scatter(p, i, u)";

static void expect_form(const char *type, const char *combiner, const char *more, const char *chip,
                        grid_scatter_form form, bool by_instruction) {
  arena *a = arena_create();
  const char *shapes = arena_printf(a,
                                    "  p = %s[650,32] parameter(0)\n  i = s32[90,1] parameter(1)\n"
                                    "  u = %s[90,1,32] parameter(2)\n  ROOT r = %s[650,32] scatter(p, i, u)",
                                    type, type, type);
  const planned p = plan(type, combiner, shapes, more, chip);
  if (p.scatter->form != form || p.scatter->by_instruction != by_instruction)
    fail_msg("%s %s%s on %s: %s", type, combiner, more, chip, p.plan->reason);
  arena_destroy(p.arena);
  arena_destroy(a);
}

static void test_combiners(void **state) {
  (void)state;
  static const char unique[] = ", unique_indices=true";
  expect_form("f32", add_f32, "", "sm_75", GRID_SCATTER_ATOMIC, true);
  expect_form("f32", add_f32, unique, "sm_75", GRID_SCATTER_PLAIN, false);
  expect_form("f32", "ROOT r = f32[] multiply(a, b)", "", "sm_90", GRID_SCATTER_ATOMIC, false);
  expect_form("f32", "ROOT r = f32[] minimum(b, a)", "", "sm_90", GRID_SCATTER_ATOMIC, true);
  expect_form("f32", "ROOT r = f32[] subtract(a, b)", "", "sm_90", GRID_SCATTER_IN_ORDER, false);
  expect_form("f32", "ROOT r = f32[] copy(b)", "", "sm_90", GRID_SCATTER_IN_ORDER, false);
  expect_form("f32", "ROOT r = f32[] negate(a)", "", "sm_90", GRID_SCATTER_ATOMIC, false);
  expect_form("f16", "ROOT r = f16[] add(a, b)", "", "sm_75", GRID_SCATTER_ATOMIC, true);
  expect_form("bf16", "ROOT r = bf16[] add(a, b)", "", "sm_80", GRID_SCATTER_ATOMIC, false);
  expect_form("bf16", "ROOT r = bf16[] add(a, b)", "", "sm_90a", GRID_SCATTER_ATOMIC, true);
  expect_form("c128", "ROOT r = c128[] add(a, b)", "", "sm_90", GRID_SCATTER_ATOMIC, true);
  expect_form("c128", "ROOT r = c128[] multiply(a, b)", "", "sm_90", GRID_SCATTER_IN_ORDER, false);
  expect_form("c64", "ROOT r = c64[] multiply(a, b)", "", "sm_90", GRID_SCATTER_ATOMIC, false);
  expect_form("s64", "ROOT r = s64[] maximum(a, b)", "", "sm_90", GRID_SCATTER_ATOMIC, true);
  expect_form("s16", "ROOT r = s16[] maximum(a, b)", "", "sm_90", GRID_SCATTER_ATOMIC, false);
  expect_form("u4", "ROOT r = u4[] add(a, b)", unique, "sm_90", GRID_SCATTER_ATOMIC, false);
}

static void test_elements(void **state) {
  (void)state;
  const planned p = plan("f32", add_f32, rows, "", "sm_90");
  assert_int_equal(p.scatter->vector, 1);
  assert_int_equal(p.plan->launch.blocks_x, 2250);
  arena_destroy(p.arena);
  const planned u = plan("f32", add_f32, rows, ", unique_indices=true", "sm_90");
  assert_int_equal(u.scatter->vector, 4);
  assert_int_equal(u.plan->launch.elements, 9000 * 32);
  assert_int_equal(u.plan->launch.blocks_x, 563);
  arena_destroy(u.arena);
}

static void test_runs(void **state) {
  (void)state;
  const planned p = plan("f32", add_f32, rows, ", indices_are_sorted=true", "sm_90");
  assert_int_equal(p.scatter->form, GRID_SCATTER_RUNS);
  // A run for each place, of which there are more than warps that the cores want.
  assert_int_equal(p.scatter->updates_per_thread, 14);
  assert_int_equal(p.plan->launch.elements, 643 * 32);
  arena_destroy(p.arena);
}

static void test_owners(void **state) {
  (void)state;
  const planned p = plan("f32", "ROOT r = f32[] copy(b)", rows, "", "sm_90");
  assert_int_equal(p.scatter->form, GRID_SCATTER_IN_ORDER);
  assert_int_equal(p.scatter->columns, 32);
  assert_int_equal(p.scatter->owners * p.scatter->rows_per_owner, 650);
  arena_destroy(p.arena);
  static const char large[] =
      "  p = f32[1000003,1] parameter(0)\n  i = s32[9000,1] parameter(1)\n  u = f32[9000,1,1] parameter(2)\n"
      "  ROOT r = f32[1000003,1] scatter(p, i, u)";
  const planned l = plan("f32", "ROOT r = f32[] copy(b)", large, "", "sm_90");
  assert_int_equal(l.scatter->rows_per_owner, 4);
  assert_int_equal(l.scatter->owners, 250001);
  arena_destroy(l.arena);
}

static void test_no_updates(void **state) {
  (void)state;
  static const char none[] =
      "  p = f32[650,32] parameter(0)\n  i = s32[0,1] parameter(1)\n  u = f32[0,1,32] parameter(2)\n"
      "  ROOT r = f32[650,32] scatter(p, i, u)";
  const planned p = plan("f32", add_f32, none, "", "sm_90");
  assert_true(launch_is_empty(&p.plan->launch));
  arena_destroy(p.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_combiners), cmocka_unit_test(test_elements),   cmocka_unit_test(test_runs),
      cmocka_unit_test(test_owners),    cmocka_unit_test(test_no_updates),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
