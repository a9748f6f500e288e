// Bounds of elements: nothing where operations are exact, little where they are not, everything where a discontinuity
// lies within reach.
#include "tools/result_bounds.h"

#include <math.h>

#include "base/arena_testing.h"
#include "hlo/text.h"
#include "tools/smith_sight.h"

static module *parse(arena *a, const char *source) {
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(source), &m)));
  return m;
}

// The module has no parameters. Whether its first result may have `value` as element 0.
static bool lets_pass_as(arena *a, bool is_exact, const char *source, double value) {
  const module *m = parse(a, source);
  const argument_list none = {0};
  result_bounds bounds;
  assert_true(status_is_ok(result_bounds_find(a, m, &none, is_exact, 0, &bounds)));
  literal *found = literal_copy(a, bounds.result);
  literal_set_double(found, 0, value);
  heddle_status s = result_bounds_compare(a, &bounds, found);
  const bool passes = status_is_ok(s);
  heddle_status_free(s);
  return passes;
}

static bool lets_pass(arena *a, const char *source, double value) { return lets_pass_as(a, true, source, value); }

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

// Both parts of a product in f32 are infinite before they meet; where each result is infinite, none is decided.
static void test_overflows(void **state) {
  static const char product[] =
      "ENTRY e { x = c64[1] constant({(1e30, 1e30)}) y = c64[1] multiply(x, x) ROOT r = f32[1] real(y) }";
  assert_true(lets_pass(*state, product, NAN));
  assert_true(lets_pass(*state, product, 0));
  static const char running[] =
      "mul { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] multiply(a, b) }\n"
      "ENTRY e { x = f32[4] constant({1e30, 1e30, 1e-30, 1e-30}) one = f32[] constant(1)\n"
      "  y = f32[] reduce(x, one), dimensions={0}, to_apply=mul ROOT r = f32[1] reshape(y) }";
  assert_true(lets_pass(*state, running, INFINITY));
}

// x - x is nothing, however x was rounded; a pole at exactly that place is within reach, one elsewhere is not.
static void test_poles(void **state) {
  static const char near[] =
      "ENTRY e { x = f32[1] constant({3}) y = f32[1] log(x) z = f32[1] exponential(y) w = f32[1] subtract(z, x)\n"
      "  one = f32[1] constant({1}) ROOT r = f32[1] divide(one, w) }";
  assert_true(lets_pass(*state, near, INFINITY));
  static const char away[] =
      "ENTRY e { x = f32[1] constant({3}) y = f32[1] log(x) z = f32[1] constant({1.0985}) w = f32[1] subtract(y, z)\n"
      "  one = f32[1] constant({1}) ROOT r = f32[1] divide(one, w) }";
  assert_false(lets_pass(*state, away, INFINITY));
}

// By default each element of the module's only result, a vector, may be `value`.
static void check_each_may_be(arena *a, const char *source, double value) {
  const module *m = parse(a, source);
  const argument_list none = {0};
  result_bounds bounds;
  assert_true(status_is_ok(result_bounds_find(a, m, &none, false, 0, &bounds)));
  literal *found = literal_copy(a, bounds.result);
  for (int64_t k = 0; k < shape_element_count(found->shape); k++) literal_set_double(found, k, value);
  assert_true(status_is_ok(result_bounds_compare(a, &bounds, found)));
}

// By default a chain in bf16 keeps what its roundings lose, but converts of the program round.
static void test_excess_precision(void **state) {
  static const char chain[] =
      "ENTRY e { x = bf16[1] constant({256}) y = bf16[1] constant({1}) s = bf16[1] add(x, y) t = bf16[1] add(s, y)\n"
      "  ROOT r = bf16[1] subtract(t, x) }";
  assert_true(lets_pass_as(*state, false, chain, 2));
  assert_false(lets_pass_as(*state, true, chain, 2));
  assert_false(lets_pass_as(*state, false, chain, 200));
  static const char converted[] =
      "ENTRY e { x = f32[1] constant({257}) y = bf16[1] convert(x) ROOT s = f32[1] convert(y) }";
  assert_true(lets_pass_as(*state, false, converted, 256));
  assert_false(lets_pass_as(*state, false, converted, 257));
  static const char exact[] =
      "ENTRY e { x = bf16[1] constant({3}) y = bf16[1] constant({5}) ROOT s = bf16[1] multiply(x, y) }";
  assert_false(lets_pass_as(*state, false, exact, 15.0625));
  static const char large[] =
      "ENTRY e { x = f16[1] constant({60000}) s = f16[1] add(x, x) y = f16[1] constant({0.25})\n"
      "  ROOT r = f16[1] multiply(s, y) }";
  assert_true(lets_pass_as(*state, false, large, 30000));
  assert_false(lets_pass_as(*state, true, large, 30000));
  // Without infinities it is NaN that may not be there, whichever element draws what.
  static const char largest[] =
      "ENTRY e { x = f8e5m2fnuz[] constant(-57344) xs = f8e5m2fnuz[256] broadcast(x), dimensions={}\n"
      "  s = f8e5m2fnuz[256] multiply(xs, xs) ROOT r = f8e5m2fnuz[256] sign(s) }";
  check_each_may_be(*state, largest, 1);
  // What is moved within the range stays in it.
  static const char next_to_it[] =
      "ENTRY e { x = f8e5m2fnuz[] constant(-57344) xs = f8e5m2fnuz[256] broadcast(x), dimensions={}\n"
      "  one = f8e5m2fnuz[] constant(1) ones = f8e5m2fnuz[256] broadcast(one), dimensions={}\n"
      "  y = f8e5m2fnuz[256] add(xs, ones) s = f8e5m2fnuz[256] multiply(y, y) ROOT r = f8e5m2fnuz[256] sign(s) }";
  check_each_may_be(*state, next_to_it, 1);
}

// Compiled code stays within the bounds, in both numerics.
static void check_compiled(arena *a, const char *source) {
  enum { ARGUMENT_SEED = 42 };
  const module *m = parse(a, source);
  argument_list arguments;
  assert_true(status_is_ok(argument_list_random(a, m, ARGUMENT_SEED, false, &arguments)));
  for (int is_exact = 0; is_exact < 2; is_exact++) {
    const compile_options options = {.exact = is_exact, .threads = 1};
    result_bounds bounds;
    literal *found;
    assert_true(status_is_ok(result_bounds_find(a, m, &arguments, is_exact, 0, &bounds)));
    assert_true(status_is_ok(execute_module(a, m, PLATFORM_CPU, &options, &arguments, &found)));
    heddle_status s = result_bounds_compare(a, &bounds, found);
    if (!status_is_ok(s)) fail_msg("%s\n%s", source, heddle_status_message(s));
  }
}

// What random modules failed at once.
static void test_compiled(void **state) {
  static const char *const sources[] = {
      // A product of c64 that overflows on the way.
      "mul { a = c64[] parameter(0) b = c64[] parameter(1) ROOT s = c64[] multiply(a, b) }\n"
      "ENTRY e { x = c64[40] parameter(0) big = c64[] constant((3e10, 1e10)) b = c64[40] broadcast(big), "
      "dimensions={}\n"
      "  p = c64[40] multiply(x, b) one = c64[] constant((1, 0))\n"
      "  ROOT r = c64[] reduce(p, one), dimensions={0}, to_apply=mul }",
      // A quotient that is one: a pole.
      "ENTRY e { p = c128[6,6] parameter(0) l = c128[6,6] log(p) q = c128[6,6] divide(l, l)\n"
      "  ROOT r = c128[6,6] atanh(q) }",
      // Angles that are small, or next to the cut.
      "ENTRY e { p = c64[2,6] parameter(0) c = c64[] constant((1e10, -0.3125))\n"
      "  b = c64[2,6] broadcast(c), dimensions={} ROOT r = c64[2,6] atan2(p, b) }",
      "ENTRY e { y = c128[6] constant({(0,0), (1,-1), (-1,1), (0,1e-10), (1,0), (1,1)})\n"
      "  x = c128[6] constant({(-0,-1), (-3.5,-3.5), (-3.5,-3.5), (-1,1), (-0,-3.5), (-1,1)})\n"
      "  ROOT r = c128[6] atan2(y, x) }",
      "ENTRY e { y = c64[1,2] constant({{(0,0), (0,0)}}) p = c64[1,2] parameter(0) ROOT r = c64[1,2] atan2(y, p) }",
      // Close to the middle between two numbers.
      "ENTRY e { p = f16[200] parameter(0) ROOT r = f16[200] logistic(p) }",
      // Where the exponential within it overflows.
      "ENTRY e { p = f32[6] parameter(0) c = f32[6] constant({-89, -90, -92, -95, -100, -102})\n"
      "  x = f32[6] add(c, p) ROOT r = f32[6] logistic(x) }",
      "ENTRY e { p = f64[4] parameter(0) c = f64[4] constant({-711, -720, -730, -740})\n"
      "  x = f64[4] add(c, p) ROOT r = f64[4] logistic(x) }",
      // Overflow without infinities, where the default goes on.
      "ENTRY e { x = f8e4m3fnuz[3] constant({-56, 100, 3}) y = f8e4m3fnuz[3] multiply(x, x)\n"
      "  z = f8e4m3fnuz[3] multiply(y, y) one = f8e4m3fnuz[3] constant({1, 1, 1}) s = f8e4m3fnuz[3] subtract(one, z)\n"
      "  ROOT r = s64[3] convert(s) }",
      // Without infinities, where the default computes in f32, which has them.
      "ENTRY e { p = f8e4m3b11fnuz[6,4] parameter(0) a = f8e4m3b11fnuz[6,4] atanh(p)\n"
      "  ROOT c = pred[6,4] compare(a, a), direction=LE }",
      "ENTRY e { p = f8e4m3b11fnuz[50] parameter(0) e = f8e4m3b11fnuz[50] exponential-minus-one(p)\n"
      "  ROOT c = c128[50] convert(e) }",
  };
  for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) check_compiled(*state, sources[k]);
}

// Errors of transforms are small against all of their elements, those of factors against all of the matrix.
static void test_transforms(void **state) {
  static const char fft[] =
      "ENTRY e { x = f32[1,8] constant({{1, 2, 3, 4, 5, 6, 7, 9}}) f = c64[1,5] fft(x), fft_type=RFFT, fft_length={8}\n"
      "  r = f32[1,5] real(f) ROOT s = f32[5] reshape(r) }";
  check_compiled(*state, fft);
  assert_true(lets_pass(*state, fft, 37 * (1 + 0x1p-23)));
  assert_false(lets_pass(*state, fft, 37 * (1 + 0x1p-18)));
  static const char cholesky[] =
      "ENTRY e { x = f32[2,2] constant({{4, 2}, {2, 3}}) f = f32[2,2] cholesky(x), lower=true\n"
      "  ROOT s = f32[4] reshape(f) }";
  check_compiled(*state, cholesky);
  assert_true(lets_pass(*state, cholesky, 2 * (1 + 0x1p-23)));
  assert_false(lets_pass(*state, cholesky, 2 * (1 + 0x1p-17)));
}

// One mistake in a module of several operations is seen.
static void test_mutants(void **state) {
  const module *m = parse(*state,
                          "ENTRY e { x = f32[4] constant({1, 2, 3, 4}) y = f32[4] constant({0.5, 4, -1, 0.1})\n"
                          "  a = f32[4] exponential(x) b = f32[4] multiply(a, y) c = f32[4] subtract(b, x)\n"
                          "  d = f32[4] tanh(c) ROOT s = f32[2] slice(d), slice={[1:3]} }");
  const argument_list none = {0};
  result_bounds bounds;
  assert_true(status_is_ok(result_bounds_find(*state, m, &none, true, 0, &bounds)));
  smith_sight sight = {0};
  smith_sight_measure(m, &none, &bounds, 200, 0, NULL, &sight);
  assert_true(sight.changed > 50);
  assert_int_equal(sight.refused, sight.changed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_exact_operations), TESTING_IN_ARENA(test_functions),
      TESTING_IN_ARENA(test_discontinuities),  TESTING_IN_ARENA(test_sums),
      TESTING_IN_ARENA(test_overflows),        TESTING_IN_ARENA(test_poles),
      TESTING_IN_ARENA(test_excess_precision), TESTING_IN_ARENA(test_compiled),
      TESTING_IN_ARENA(test_transforms),       TESTING_IN_ARENA(test_mutants),
  };
  return cmocka_run_group_tests_name("tools/result_bounds", tests, NULL, NULL);
}
