// Bounds of elements: nothing where operations are exact, little where they are not, everything where a discontinuity
// lies within reach.
#include "tools/result_bounds.h"

#include "base/arena_testing.h"
#include "hlo/text.h"
#include "tools/smith_sight.h"

static module *parse(arena *a, const char *source) {
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(source), &m)));
  return m;
}

// The module has no parameters. Whether its first result may have `value` as element 0.
static bool lets_pass(arena *a, const char *source, double value) {
  const module *m = parse(a, source);
  const argument_list none = {0};
  result_bounds bounds;
  assert_true(status_is_ok(result_bounds_find(a, m, &none, 0, &bounds)));
  literal *found = literal_copy(a, bounds.result);
  literal_set_double(found, 0, value);
  heddle_status s = result_bounds_compare(a, &bounds, found);
  const bool passes = status_is_ok(s);
  heddle_status_free(s);
  return passes;
}

static void test_exact_operations(void **state) {
  static const char source[] =
      "ENTRY e { x = f32[1] constant({0.1}) y = f32[1] constant({0.3}) ROOT s = f32[1] add(x, y) }";
  assert_true(lets_pass(*state, source, 0.1f + 0.3f));
  assert_false(lets_pass(*state, source, 0.1f + 0.3f + 0x1p-25f));
  static const char narrow[] =
      "ENTRY e { x = f32[1] constant({257}) y = bf16[1] convert(x) ROOT s = bf16[1] negate(y) }";
  assert_true(lets_pass(*state, narrow, -256));
  assert_false(lets_pass(*state, narrow, -258));
}

static void test_functions(void **state) {
  static const char source[] = "ENTRY e { x = f32[1] constant({1}) ROOT s = f32[1] exponential(x) }";
  const double e = 2.718281828459045;
  assert_true(lets_pass(*state, source, e * (1 + 0x1p-22)));
  assert_false(lets_pass(*state, source, e * (1 + 0x1p-18)));
  // What cancels keeps the absolute error.
  static const char cancelled[] =
      "ENTRY e { x = f32[1] constant({1}) y = f32[1] exponential(x) z = f32[1] constant({2.7182817}) "
      "ROOT s = f32[1] subtract(y, z) }";
  assert_true(lets_pass(*state, cancelled, 0x1p-22));
  assert_false(lets_pass(*state, cancelled, 0x1p-17));
  // A bf16 far from the middle between two neighbours is certain, whatever f32 made of it.
  static const char narrow[] =
      "ENTRY e { x = f32[1] constant({1}) y = f32[1] exponential(x) ROOT s = bf16[1] convert(y) }";
  assert_true(lets_pass(*state, narrow, 2.71875));
  assert_false(lets_pass(*state, narrow, 2.734375));
}

static void test_discontinuities(void **state) {
  static const char certain[] =
      "ENTRY e { x = f32[1] constant({1}) y = f32[1] exponential(x) z = f32[1] constant({2.7}) "
      "ROOT c = pred[1] compare(y, z), direction=GT }";
  assert_true(lets_pass(*state, certain, 1));
  assert_false(lets_pass(*state, certain, 0));
  static const char close[] =
      "ENTRY e { x = f32[1] constant({1}) y = f32[1] exponential(x) z = f32[1] constant({2.7182817}) "
      "ROOT c = pred[1] compare(y, z), direction=GT }";
  assert_true(lets_pass(*state, close, 0));
  assert_true(lets_pass(*state, close, 1));
  static const char whole[] =
      "ENTRY e { x = f32[1] constant({2}) y = f32[1] exponential(x) ROOT c = s32[1] convert(y) }";
  assert_true(lets_pass(*state, whole, 7));
  assert_false(lets_pass(*state, whole, 8));
}

static void test_sums(void **state) {
  static const char source[] =
      "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
      "ENTRY e { x = f32[3] constant({1000, 0.1, -1000}) zero = f32[] constant(0)\n"
      "  y = f32[] reduce(x, zero), dimensions={0}, to_apply=add ROOT r = f32[1] reshape(y) }";
  assert_true(lets_pass(*state, source, 0.09997559));  // in order, in f32
  assert_false(lets_pass(*state, source, 0.11));
  static const char greatest[] =
      "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }\n"
      "ENTRY e { x = f32[3] constant({1, 0.1, -1}) zero = f32[] constant(0)\n"
      "  y = f32[] reduce(x, zero), dimensions={0}, to_apply=max ROOT r = f32[1] reshape(y) }";
  assert_false(lets_pass(*state, greatest, 1 + 0x1p-23));
  static const char product[] =
      "ENTRY e { x = f32[1,2] constant({{1000, -1000}}) y = f32[2,1] constant({{0.7}, {0.7000001}})\n"
      "  d = f32[1,1] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = f32[1] reshape(d) }";
  assert_true(lets_pass(*state, product, -0.00012));
  assert_false(lets_pass(*state, product, -0.1));
}

// One mistake in a module of several operations is seen.
static void test_mutants(void **state) {
  const module *m = parse(*state,
                          "ENTRY e { x = f32[4] constant({1, 2, 3, 4}) y = f32[4] constant({0.5, 4, -1, 0.1})\n"
                          "  a = f32[4] exponential(x) b = f32[4] multiply(a, y) c = f32[4] subtract(b, x)\n"
                          "  d = f32[4] tanh(c) ROOT s = f32[2] slice(d), slice={[1:3]} }");
  const argument_list none = {0};
  result_bounds bounds;
  assert_true(status_is_ok(result_bounds_find(*state, m, &none, 0, &bounds)));
  smith_sight sight = {0};
  smith_sight_measure(m, &none, &bounds, 200, 0, NULL, &sight);
  assert_true(sight.changed > 50);
  assert_int_equal(sight.refused, sight.changed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_exact_operations), TESTING_IN_ARENA(test_functions),
      TESTING_IN_ARENA(test_discontinuities),  TESTING_IN_ARENA(test_sums),
      TESTING_IN_ARENA(test_mutants),
  };
  return cmocka_run_group_tests_name("tools/result_bounds", tests, NULL, NULL);
}
