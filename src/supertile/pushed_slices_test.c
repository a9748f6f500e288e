// Slices are moved as far as what they are taken of is computed for them alone, and results stay the same bits.
#include "supertile/pushed_slices.h"

#include "opt/testing.h"

static module *parsed(arena *a, const char *body) {
  module *m;
  const char *source = arena_printf(a,
                                    "HloModule m\nENTRY e { x = f32[9,7] parameter(0) y = f32[7] parameter(1) "
                                    "i = s32[] parameter(2) j = s32[] parameter(3) %s }",
                                    body);
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  return m;
}

static literal *result_of(arena *a, const module *m) {
  literal *result, *arguments[4];
  uint64_t seed = 1;
  for (int k = 0; k < 4; k++) arguments[k] = testing_argument(a, m->entry->parameters.data[k]->shape, &seed);
  testing_require(eval_module(a, m, 4, arguments, &result), "the interpreter");
  return result;
}

// How many slices are taken of parameters, and how many of anything else.
static void expect_slices(const char *body, int of_parameters, int of_others) {
  arena *a = arena_create();
  module *before = parsed(a, body), *after = parsed(a, body);
  testing_require(pushed_slices_run(after), body);
  testing_require(module_verify(after), body);
  assert_true(testing_same(result_of(a, before), result_of(a, after)));
  int found[2] = {0};
  for (int k = 0; k < after->entry->instructions.size; k++) {
    const instruction *i = after->entry->instructions.data[k];
    if (i->opcode == HLO_DYNAMIC_SLICE) found[i->operands[0]->opcode != HLO_PARAMETER]++;
  }
  assert_int_equal(found[0], of_parameters);
  assert_int_equal(found[1], of_others);
  arena_destroy(a);
}

#define SLICE(of) "dynamic-slice(" of ", i, j), dynamic_slice_sizes={3,4}"

static void test_moved(void **state) {
  (void)state;
  expect_slices("n = f32[9,7] negate(x) ROOT r = f32[3,4] " SLICE("n"), 1, 0);
  expect_slices(
      "n = f32[9,7] negate(x) e = f32[9,7] exponential(n) s = f32[9,7] add(e, x) ROOT r = f32[3,4] " SLICE("s"), 1, 0);
  expect_slices("b = f32[9,7] broadcast(y), dimensions={1} s = f32[9,7] multiply(x, b) ROOT r = f32[3,4] " SLICE("s"),
                2, 0);
  expect_slices(
      "z = f32[] constant(2) b = f32[9,7] broadcast(z), dimensions={} p = pred[9,7] compare(x, b), "
      "direction=LT s = f32[9,7] select(p, x, b) ROOT r = f32[3,4] " SLICE("s"),
      1, 0);
  expect_slices(
      "z = f32[] constant(-1) o = f32[] constant(1) s = f32[9,7] clamp(z, x, o) ROOT r = f32[3,4] " SLICE("s"), 1, 0);
}

static void test_left(void **state) {
  (void)state;
  // Somebody else reads it, or it is no operation of single elements.
  expect_slices("n = f32[9,7] negate(x) s = f32[3,4] " SLICE("n") " ROOT r = (f32[9,7], f32[3,4]) tuple(n, s)", 0, 1);
  expect_slices("n = f32[9,7] reverse(x), dimensions={0} ROOT r = f32[3,4] " SLICE("n"), 0, 1);
  expect_slices("n = f32[9,7] negate(x) s = f32[3,4] " SLICE("n") " t = f32[2,7] dynamic-slice(n, j, i), "
                "dynamic_slice_sizes={2,7} ROOT r = (f32[2,7], f32[3,4]) tuple(t, s)",
                0, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_moved), cmocka_unit_test(test_left)};
  return cmocka_run_group_tests_name("supertile/pushed_slices", tests, NULL, NULL);
}
