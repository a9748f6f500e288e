// Maps that reach every element once, and what is said of others.
#include "tools/bijection.h"

#include "base/arena_testing.h"
#include "hlo/text.h"

// Null if every element of `array` is reached once, else the error's first line.
static const char *check(arena *a, const char *map_text, const char *array, int64_t *points) {
  const indexing_map *map;
  const shape *s;
  assert_true(status_is_ok(indexing_map_parse(a, str_from(map_text), &map)));
  assert_true(status_is_ok(shape_parse(a, str_from(array), &s)));
  heddle_status status = bijection_check(a, map, s, points);
  if (status_is_ok(status)) return NULL;
  const char *message = arena_printf(a, "%s", status_brief(status));
  heddle_status_free(status);
  return message;
}

static void test_exactly_once(void **state) {
  arena *a = *state;
  int64_t points;
  assert_null(check(a, "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 2], s0 in [0, 3]", "f32[12]", &points));
  assert_int_equal(points, 12);
  // The constraint cuts the last tile short.
  assert_null(check(a,
                    "(d0)[s0] -> ((d0 * 4 + s0) floordiv 5, (d0 * 4 + s0) mod 5), domain: d0 in [0, 2], s0 in [0, 3], "
                    "d0 * 4 + s0 in [0, 9]",
                    "f32[2,5]", &points));
  assert_int_equal(points, 10);
  assert_null(check(a, "() -> ()", "f32[]", &points));
  assert_int_equal(points, 1);
  assert_null(check(a, "KNOWN EMPTY", "f32[0]", &points));
}

static void test_wrong_counts(void **state) {
  arena *a = *state;
  int64_t points;
  assert_string_equal(check(a, "(d0) -> (d0), domain: d0 in [0, 2]", "f32[4]", &points),
                      "element {3} is reached 0 times, wanted once");
  assert_string_equal(check(a, "(d0)[s0] -> (d0, 1), domain: d0 in [0, 1], s0 in [0, 2]", "f32[2,2]", &points),
                      "element {0, 0} is reached 0 times, wanted once");
  assert_string_equal(check(a, "(d0)[s0] -> (d0), domain: d0 in [0, 1], s0 in [0, 2]", "f32[2]", &points),
                      "element {0} is reached 3 times, wanted once");
  assert_string_equal(check(a, "(d0) -> (d0), domain: d0 in [0, 4]", "f32[4]", &points),
                      "a point lies outside of the array");
  assert_string_equal(check(a, "KNOWN EMPTY", "f32[4]", &points), "no element is reached");
}

static void test_what_cannot_be_counted(void **state) {
  arena *a = *state;
  int64_t points;
  assert_string_equal(check(a, "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 3]", "f32[4]", &points),
                      "the index map depends on run-time values");
  assert_non_null(
      strstr(check(a, "(d0) -> (d0), domain: d0 in [0, 999999999]", "f32[1000000000]", &points), "more than"));
}

static const char module_text[] =
    "HloModule m\n"
    "ENTRY e {\n"
    "  p = f32[30,7] parameter(0)\n"
    "  q = f32[30] parameter(1)\n"
    "  b = f32[30,7] broadcast(q), dimensions={0}\n"
    "  s = f32[30,7] add(p, b)\n"
    "  t = f32[7,30] transpose(s), dimensions={1,0}\n"
    "  ROOT r = f32[7,30] negate(t)\n"
    "}\n";

static const instruction *find(const kernel_plan *kernel, const char *name) {
  const instruction_list *all = &kernel->computation->instructions;
  for (int i = 0; i < all->size; i++)
    if (str_is(all->data[i]->name, name)) return all->data[i];
  return NULL;
}

static void check_kernel(arena *a, plan_target target) {
  module *m;
  program_plan *plan;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(module_text), &m)));
  assert_true(status_is_ok(plan_kernels(a, m, target, &plan)));
  const kernel_plan *kernel = plan->kernels[0];
  const indexing_map *map;
  int64_t points;
  const instruction *sum = find(kernel, "s");
  assert_true(status_is_ok(bijection_map_to_instruction(a, kernel, &target, sum, &map)));
  assert_true(status_is_ok(bijection_check(a, map, sum->shape, &points)));
  assert_int_equal(points, 210);
  assert_true(status_is_ok(bijection_map_to_operand(a, kernel, &target, sum, 0, &map)));
  assert_true(status_is_ok(bijection_check(a, map, sum->operands[0]->shape, &points)));
  // The broadcast's operand is read seven times over.
  const instruction *broadcast = find(kernel, "b");
  assert_true(status_is_ok(bijection_map_to_operand(a, kernel, &target, broadcast, 0, &map)));
  heddle_status status = bijection_check(a, map, broadcast->operands[0]->shape, &points);
  assert_string_equal(status_brief(status), "element {0} is reached 7 times, wanted once");
  heddle_status_free(status);
  status = bijection_map_to_operand(a, kernel, &target, sum, 2, &map);
  assert_string_equal(status_brief(status), "s has no operand 2");
  heddle_status_free(status);
}

static void test_kernels(void **state) {
  check_kernel(*state, plan_target_cpu(2));
  check_kernel(*state, plan_target_gpu());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_exactly_once),
      TESTING_IN_ARENA(test_wrong_counts),
      TESTING_IN_ARENA(test_what_cannot_be_counted),
      TESTING_IN_ARENA(test_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
