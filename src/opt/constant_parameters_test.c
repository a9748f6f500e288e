// Constants become parameters: the program means the same on their values, and nothing is left to fold.
#include "opt/constant_parameters.h"

#include "opt/testing.h"

static module *parse(arena *a, const char *source) {
  module *m;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  return m;
}

static int count_constants(const computation *c) {
  int count = 0;
  for (int k = 0; k < c->instructions.size; k++) count += c->instructions.data[k]->opcode == HLO_CONSTANT;
  return count;
}

// Runs `source`, which has `given` parameters, before and behind; `left` constants stay in its entry.
static void expect_same(const char *source, int given, int added, int left) {
  arena *a = arena_create();
  module *before = parse(a, source), *after = module_clone(a, before);
  constant_values values = {0};
  testing_require(constant_parameters_run(a, after, &values), source);
  testing_require(module_verify(after), source);
  assert_int_equal(values.size, added);
  assert_int_equal(after->entry->parameters.size, given + added);
  assert_int_equal(count_constants(after->entry), left);
  uint64_t seed = 1;
  literal *arguments[16], *wanted, *found;
  for (int k = 0; k < given; k++) arguments[k] = testing_argument(a, before->entry->parameters.data[k]->shape, &seed);
  for (int k = 0; k < added; k++) arguments[given + k] = values.data[k];
  testing_require(eval_module(a, before, given, arguments, &wanted), source);
  testing_require(eval_module(a, after, given + added, arguments, &found), source);
  assert_true(testing_same(found, wanted));
  arena_destroy(a);
}

static void test_constants_of_calls(void **state) {
  (void)state;
  expect_same(
      "HloModule m\n"
      "inputs { ROOT x = f32[3] constant({1, 2, 3}) }\n"
      "f { p = f32[3] parameter(0) two = f32[] constant(2) twos = f32[3] broadcast(two), dimensions={}\n"
      "  ROOT y = f32[3] multiply(p, twos) }\n"
      "ENTRY e { q = f32[3] parameter(0) x = f32[3] call(), to_apply=inputs y = f32[3] call(x), to_apply=f\n"
      "  ROOT z = f32[3] add(y, q) }",
      1, 2, 0);
}

static void test_root_and_layout(void **state) {
  (void)state;
  expect_same("HloModule m\nENTRY e { ROOT c = s32[2,2]{0,1} constant({{1, 2}, {3, 4}}) }", 0, 1, 0);
  expect_same(
      "HloModule m, entry_computation_layout={(f32[2,2]{0,1})->f32[2,2]{1,0}}\n"
      "ENTRY e { p = f32[2,2]{0,1} parameter(0) c = f32[2,2]{0,1} constant({{1, 2}, {3, 4}})\n"
      "  ROOT s = f32[2,2]{1,0} subtract(c, p) }",
      1, 1, 0);
}

// What an operation must know, what others wait for and what loops hold stays.
static void test_what_stays(void **state) {
  (void)state;
  expect_same(
      "HloModule m\n"
      "ENTRY e { p = f32[4] parameter(0) n = s32[] constant(3) d = f32[<=4] set-dimension-size(p, n), dimensions={0}\n"
      "  z = f32[] constant(0) ROOT r = f32[<=4] negate(d) }",
      1, 1, 1);
  expect_same(
      "HloModule m\n"
      "b { t = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)\n"
      "  j = s32[] add(i, one) x = f32[2] get-tuple-element(t), index=1 y = f32[2] add(x, x)\n"
      "  ROOT r = (s32[], f32[2]) tuple(j, y) }\n"
      "c { t = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(3)\n"
      "  ROOT r = pred[] compare(i, n), direction=LT }\n"
      "ENTRY e { p = f32[2] parameter(0) z = s32[] constant(0) k = s32[] constant(1)\n"
      "  s = s32[] add(z, z), control-predecessors={k} t = (s32[], f32[2]) tuple(s, p)\n"
      "  w = (s32[], f32[2]) while(t), condition=c, body=b ROOT r = f32[2] get-tuple-element(w), index=1 }",
      1, 1, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_constants_of_calls), cmocka_unit_test(test_root_and_layout),
                                     cmocka_unit_test(test_what_stays)};
  return cmocka_run_group_tests_name("opt/constant_parameters", tests, NULL, NULL);
}
