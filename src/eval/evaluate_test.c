// The driver: limits, refusals, order and depth, single instructions, memory given back.
#include "eval/evaluate.h"

#include "eval/testing.h"

static const char endless[] =
    "HloModule m\n"
    "yes { p = u64[1] parameter(0)\n a = u64[] reshape(p)\n n = u64[] constant(0)\n"
    " ROOT r = pred[] compare(a, n), direction=GE }\n"
    "any { p = u64[1] parameter(0)\n s = u64[2] rng-get-and-update-state(), delta=1\n"
    " ROOT r = u64[1] slice(s), slice={[0:1]} }\n"
    "ENTRY e { x = u64[1] constant({0})\n ROOT r = u64[1] while(x), condition=yes, body=any }\n";

static void test_step_limit(void **state) {
  (void)state;
  testing_expect_error(endless, &(eval_options){.max_steps = 1000}, HEDDLE_INVALID, "1000 steps");
}

static void test_memory_limit(void **state) {
  (void)state;
  const char *big =
      "HloModule m\nENTRY e {\n  x = f32[] constant(0)\n  ROOT r = f32[1000] broadcast(x), dimensions={}\n}\n";
  testing_expect_error(big, &(eval_options){.max_bytes = 3999}, HEDDLE_OUT_OF_MEMORY, "test:4:");
  testing_expect_error(
      "HloModule m\nENTRY e {\n  x = f32[] constant(0)\n"
      "  ROOT r = f32[1000000,1000000,1000] broadcast(x), dimensions={}\n}\n",
      NULL, HEDDLE_OUT_OF_MEMORY, "4000000000000000 bytes");
}

// Ten thousand arrays of 40 kB in a row need the memory of a few.
static void test_memory_is_reused(void **state) {
  (void)state;
  text source = {0};
  text_puts(&source, "HloModule m\nENTRY e {\n  x0 = s32[10000] iota(), iota_dimension=0\n");
  for (int k = 1; k < 10000; k++) text_printf(&source, "  x%d = s32[10000] negate(x%d)\n", k, k - 1);
  text_puts(&source, "  ROOT r = s32[1] slice(x9999), slice={[9:10]}\n}\n");
  arena *a = arena_create();
  module *m;
  literal *result;
  testing_require(hlo_parse(a, "test", text_view(&source), &m), "chain");
  testing_require(eval_computation(a, m->entry, &(eval_options){.max_bytes = 200000}, 0, NULL, &result), "chain");
  assert_int_equal(literal_get_int(result, 0), -9);
  arena_destroy(a);
  text_free(&source);
}

static void test_refusals(void **state) {
  (void)state;
  testing_expect_error("HloModule m\nENTRY e {\n  x = c64[] constant((1,0))\n  ROOT r = c64[] remainder(x, x)\n}\n",
                       NULL, HEDDLE_UNIMPLEMENTED, "test:4:");
  testing_expect_error("HloModule m\nENTRY e {\n  x = c64[] constant((1,0))\n  ROOT rem = c64[] remainder(x, x)\n}\n",
                       NULL, HEDDLE_UNIMPLEMENTED, "remainder rem");
  assert_true(eval_supports(HLO_ADD));
  assert_true(eval_supports(HLO_PARAMETER));
}

// What nothing needs does not run.
static void test_dead_code(void **state) {
  (void)state;
  testing_expect(
      "HloModule m\nENTRY e {\n  x = c64[] constant((1,0))\n  d = c64[] remainder(x, x)\n"
      "  ROOT r = c64[] negate(x)\n}\n",
      "(-1, -0)");
}

// A chain of calls, each to the next; text order is callees first.
static char *nested_calls(arena *a, int depth) {
  text source = {0};
  text_puts(&source, "HloModule m\nf0 { p = s32[] parameter(0)\n ROOT r = s32[] negate(p) }\n");
  for (int k = 1; k < depth; k++)
    text_printf(&source, "f%d { p = s32[] parameter(0)\n ROOT r = s32[] call(p), to_apply=f%d }\n", k, k - 1);
  text_printf(&source, "ENTRY e { x = s32[] constant(3)\n ROOT r = s32[] call(x), to_apply=f%d }\n", depth - 1);
  char *copy = arena_strdup(a, source.data, source.size);
  text_free(&source);
  return copy;
}

static void test_call_depth(void **state) {
  (void)state;
  arena *a = arena_create();
  testing_expect(nested_calls(a, 900), "-3");
  testing_expect_error(nested_calls(a, 1100), NULL, HEDDLE_INVALID, "more than 1000 deep");
  arena_destroy(a);
}

static void test_arguments(void **state) {
  (void)state;
  const char *source =
      "HloModule m\nENTRY e {\n  x = f32[2] parameter(1)\n  y = s32[] parameter(0)\n"
      "  z = f32[] convert(y)\n  w = f32[2] broadcast(z), dimensions={}\n  ROOT r = f32[2] add(x, w)\n}\n";
  arena *a = arena_create();
  module *m;
  literal *x, *y, *result;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  testing_require(literal_parse(a, STR("{1, 2}"), m->entry->parameters.data[1]->shape, &x), source);
  testing_require(literal_parse(a, STR("5"), m->entry->parameters.data[0]->shape, &y), source);
  testing_require(eval_module(a, m, 2, (literal *[]){y, x}, &result), source);
  assert_true(literal_get_double(result, 1) == 7);
  heddle_status status = eval_module(a, m, 1, (literal *[]){y}, &result);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  heddle_status_free(status);
  status = eval_module(a, m, 2, (literal *[]){x, y}, &result);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(status), "argument 0 is f32[2], wanted s32[]"));
  heddle_status_free(status);
  arena_destroy(a);
}

static void test_single_instruction(void **state) {
  (void)state;
  const char *source = "HloModule m\nENTRY e {\n  x = s32[2] parameter(0)\n  ROOT r = s32[2] multiply(x, x)\n}\n";
  arena *a = arena_create();
  module *m;
  literal *x, *result;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  testing_require(literal_parse(a, STR("{3, -4}"), m->entry->root->shape, &x), source);
  testing_require(eval_instruction(a, m->entry->root, NULL, (literal *[]){x, x}, &result), source);
  assert_int_equal(literal_get_int(result, 0), 9);
  assert_int_equal(literal_get_int(result, 1), 16);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_step_limit),       cmocka_unit_test(test_memory_limit),
      cmocka_unit_test(test_memory_is_reused), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_dead_code),        cmocka_unit_test(test_call_depth),
      cmocka_unit_test(test_arguments),        cmocka_unit_test(test_single_instruction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
