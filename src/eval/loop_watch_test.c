// Loops that never end are refused, in the turn in which that is certain; those that end, or may, go on.
#include "eval/testing.h"

// A loop over (i, x, p) with p = true, whose next i is `next` and whose condition is `holds`.
static const char *loop(arena *a, const char *holds, const char *next) {
  return arena_printf(a,
                      "HloModule m\n"
                      "flip { p = s32[] parameter(0)\n m = s32[] constant(-1)\n ROOT r = s32[] xor(p, m) }\n"
                      "holds {\n"
                      "  t = (s32[], f32[2], pred[]) parameter(0)\n"
                      "  i = s32[] get-tuple-element(t), index=0\n"
                      "  p = pred[] get-tuple-element(t), index=2\n"
                      "  n = s32[] constant(1000)\n"
                      "  less = pred[] compare(i, n), direction=LT\n"
                      "  ROOT r = pred[] %s\n"
                      "}\n"
                      "next {\n"
                      "  t = (s32[], f32[2], pred[]) parameter(0)\n"
                      "  i = s32[] get-tuple-element(t), index=0\n"
                      "  x = f32[2] get-tuple-element(t), index=1\n"
                      "  p = pred[] get-tuple-element(t), index=2\n"
                      "  one = s32[] constant(1)\n"
                      "  seven = s32[] constant(7)\n"
                      "  y = f32[2] add(x, x)\n"
                      "  j = s32[] %s\n"
                      "  ROOT r = (s32[], f32[2], pred[]) tuple(j, y, p)\n"
                      "}\n"
                      "ENTRY e {\n"
                      "  i = s32[] constant(0)\n"
                      "  x = f32[2] constant({1, 2})\n"
                      "  p = pred[] constant(true)\n"
                      "  t = (s32[], f32[2], pred[]) tuple(i, x, p)\n"
                      "  w = (s32[], f32[2], pred[]) while(t), condition=holds, body=next\n"
                      "  ROOT r = s32[] get-tuple-element(w), index=0\n"
                      "}\n",
                      holds, next);
}

static void expect_endless(const char *holds, const char *next, const char *message) {
  arena *a = arena_create();
  testing_expect_error(loop(a, holds, next), NULL, HEDDLE_INVALID, message);
  arena_destroy(a);
}

static void test_what_never_ends(void **state) {
  (void)state;
  expect_endless("constant(true)", "add(i, one)", "never ends: what its condition hangs on is in turn 2 as it was in");
  expect_endless("and(p, p)", "add(i, one)", "test:29:3");  // all else changes
  expect_endless("and(less, p)", "copy(i)", "in turn 2 as it was in turn 1");
  expect_endless("and(less, p)", "remainder(i, seven)", "turn 2 as it was in turn 1");
  expect_endless("and(less, p)", "call(i), to_apply=flip", "in turn 4 as it was in turn 2");
}

static void test_what_ends(void **state) {
  (void)state;
  arena *a = arena_create();
  testing_expect(loop(a, "and(less, p)", "add(i, one)"), "1000");
  testing_expect(loop(a, "and(less, less)", "add(i, seven)"), "1001");
  arena_destroy(a);
}

// What does not follow from the state may end the loop at any time, and a state that is always new some day.
static void test_what_may_end(void **state) {
  (void)state;
  arena *a = arena_create();
  const eval_options few = {.max_steps = 5000};
  testing_expect_error(loop(a, "and(less, p)", "rng(one, seven), distribution=rng_uniform"), &few, HEDDLE_INVALID,
                       "stopped after 5000 steps");
  testing_expect_error(loop(a, "and(less, p)", "subtract(i, one)"), &few, HEDDLE_INVALID, "stopped after 5000 steps");
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_never_ends),
      cmocka_unit_test(test_what_ends),
      cmocka_unit_test(test_what_may_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
