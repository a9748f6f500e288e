// What programs ask of their arguments, and that they get it.
#include "tools/fake_arguments.h"

#include <math.h>

#include "base/arena_testing.h"
#include "hlo/text.h"

static argument_list make(arena *a, const char *text) {
  module *m;
  argument_list arguments;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(text), &m)));
  assert_true(status_is_ok(fake_arguments(a, m, 42, false, &arguments)));
  return arguments;
}

static void check_range(const literal *l, int64_t lowest, int64_t highest) {
  bool differs = false;
  for (int64_t i = 0; i < shape_element_count(l->shape); i++) {
    assert_in_range(literal_get_int(l, i) - lowest, 0, highest - lowest);
    differs |= literal_get_int(l, i) != literal_get_int(l, 0);
  }
  assert_true(differs || shape_element_count(l->shape) == 1);
}

static void test_indices(void **state) {
  const argument_list x = make(*state,
                               "HloModule m\n"
                               "ENTRY e {\n"
                               "  p = f32[100,7] parameter(0)\n"
                               "  i = s8[50,2] parameter(1)\n"
                               "  j = s32[] parameter(2)\n"
                               "  t = (s32[], f32[40]) parameter(3)\n"
                               "  w = s8[2,50] transpose(i), dimensions={1,0}\n"
                               "  g = f32[50,90] gather(p, w), offset_dims={1}, collapsed_slice_dims={1},"
                               " start_index_map={0,1}, index_vector_dim=0, slice_sizes={90,1}\n"
                               "  k = s32[] get-tuple-element(t), index=0\n"
                               "  z = s32[] constant(0)\n"
                               "  s = f32[30,7] dynamic-slice(p, j, z), dynamic_slice_sizes={30,7}\n"
                               "  r = s32[1] reshape(k)\n"
                               "  q = s32[] reshape(r)\n"
                               "  f = f32[40] get-tuple-element(t), index=1\n"
                               "  h = f32[3] dynamic-slice(f, q), dynamic_slice_sizes={3}\n"
                               "  ROOT o = (f32[50,90], f32[30,7], f32[3]) tuple(g, s, h)\n"
                               "}\n");
  // Behind a transpose the vectors are not known: the least room counts.
  check_range(x.values[1], 0, 6);
  check_range(x.values[2], 0, 70);
  check_range(x.values[3]->elements[0], 0, 37);
}

// Vectors of components with ranges of their own, different ones, in order.
static void test_promised_indices(void **state) {
  const argument_list x = make(*state,
                               "HloModule m\n"
                               "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                               "  ROOT s = f32[] add(x, y)\n}\n"
                               "ENTRY e {\n"
                               "  p = f32[5,9] parameter(0)\n"
                               "  i = s32[32,2] parameter(1)\n"
                               "  u = f32[32,2] parameter(2)\n"
                               "  ROOT s = f32[5,9] scatter(p, i, u), update_window_dims={1},"
                               " inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1,"
                               " indices_are_sorted=true, unique_indices=true, to_apply=add\n"
                               "}\n");
  const literal *i = x.values[1];
  for (int64_t k = 0; k < 32; k++) {
    const int64_t row = literal_get_int(i, 2 * k), column = literal_get_int(i, 2 * k + 1);
    assert_in_range(row, 0, 4);
    assert_in_range(column, 0, 7);
    if (k > 0) assert_true(row * 8 + column > literal_get_int(i, 2 * k - 2) * 8 + literal_get_int(i, 2 * k - 1));
  }
}

// Keys without duplicates, as few as fit into the type; values that reductions start with; a key of random numbers.
static void test_sorts_reductions_keys(void **state) {
  const argument_list x = make(*state,
                               "HloModule m\n"
                               "less {\n  a = s8[] parameter(0)\n  b = s8[] parameter(1)\n  c = s32[] parameter(2)\n"
                               "  d = s32[] parameter(3)\n  ROOT s = pred[] compare(a, b), direction=LT\n}\n"
                               "max {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                               "  ROOT s = f32[] maximum(x, y)\n}\n"
                               "mul {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                               "  ROOT s = f32[] multiply(x, y)\n}\n"
                               "ENTRY e {\n"
                               "  k = s8[256] parameter(0)\n"
                               "  v = s32[256] parameter(1)\n"
                               "  i = f32[] parameter(2)\n"
                               "  j = f32[] parameter(3)\n"
                               "  r = u64[2] parameter(4)\n"
                               "  p = f32[256] convert(v)\n"
                               "  s = (s8[256], s32[256]) sort(k, v), dimensions={0}, to_apply=less\n"
                               "  m = f32[] reduce(p, i), dimensions={0}, to_apply=max\n"
                               "  n = f32[] reduce(p, j), dimensions={0}, to_apply=mul\n"
                               "  b = (u64[2], u32[5]) rng-bit-generator(r), algorithm=rng_three_fry\n"
                               "  ROOT o = ((s8[256], s32[256]), f32[], f32[], (u64[2], u32[5])) tuple(s, m, n, b)\n"
                               "}\n");
  bool seen[256] = {0};
  for (int64_t k = 0; k < 256; k++) {
    const int64_t key = literal_get_int(x.values[0], k) + 128;
    assert_false(seen[key]);
    seen[key] = true;
  }
  assert_true(literal_get_double(x.values[2], 0) == -HUGE_VAL);
  assert_true(literal_get_double(x.values[3], 0) == 1);
  assert_true((uint64_t)literal_get_int(x.values[4], 0) > UINT32_MAX);
}

// Through calls and loops, there and back.
static void test_calls(void **state) {
  const argument_list x = make(*state,
                               "HloModule m\n"
                               "same {\n  ROOT v = s32[] parameter(0)\n}\n"
                               "body {\n"
                               "  t = (s32[], f32[90], s32[]) parameter(0)\n"
                               "  i = s32[] get-tuple-element(t), index=0\n"
                               "  f = f32[90] get-tuple-element(t), index=1\n"
                               "  c = s32[] get-tuple-element(t), index=2\n"
                               "  d = s32[] call(c), to_apply=same\n"
                               "  u = f32[10] constant({...})\n"
                               "  n = f32[90] dynamic-update-slice(f, u, d)\n"
                               "  one = s32[] constant(1)\n"
                               "  k = s32[] add(i, one)\n"
                               "  ROOT r = (s32[], f32[90], s32[]) tuple(k, n, c)\n"
                               "}\n"
                               "condition {\n"
                               "  t = (s32[], f32[90], s32[]) parameter(0)\n"
                               "  i = s32[] get-tuple-element(t), index=0\n"
                               "  n = s32[] constant(3)\n"
                               "  ROOT r = pred[] compare(i, n), direction=LT\n"
                               "}\n"
                               "ENTRY e {\n"
                               "  t = (s32[], f32[90], s32[]) parameter(0)\n"
                               "  q = s32[] parameter(1)\n"
                               "  w = (s32[], f32[90], s32[]) while(t), condition=condition, body=body\n"
                               "  d = s32[] call(q), to_apply=same\n"
                               "  f = f32[90] get-tuple-element(w), index=1\n"
                               "  ROOT s = f32[60] dynamic-slice(f, d), dynamic_slice_sizes={60}\n"
                               "}\n");
  check_range(x.values[0]->elements[2], 0, 80);
  check_range(x.values[1], 0, 30);
}

static void test_matrices_and_sizes(void **state) {
  const argument_list x = make(*state,
                               "HloModule m\n"
                               "ENTRY e {\n"
                               "  a = f64[2,6,6] parameter(0)\n"
                               "  n = s32[] parameter(1)\n"
                               "  c = f64[2,6,6] cholesky(a), lower=true\n"
                               "  ROOT s = f64[2,<=6,6] set-dimension-size(c, n), dimensions={1}\n"
                               "}\n");
  const literal *a = x.values[0];
  for (int64_t i = 0; i < 36; i++)
    assert_true(literal_get_double(a, 36 + i) == literal_get_double(a, 36 + i % 6 * 6 + i / 6));
  assert_true(literal_get_double(a, 71) >= 6);
  check_range(x.values[1], 0, 6);
}

static void test_devices(void **state) {
  static const char text[] =
      "HloModule m, num_partitions=2\n"
      "ENTRY e {\n"
      "  p = f32[4] parameter(0)\n"
      "  ROOT r = f32[%d] custom-call(p), custom_call_target=\"%s\", sharding={devices=[2]<=[2]}\n"
      "}\n";
  assert_int_equal(make(*state, arena_printf(*state, text, 8, "SPMDShardToFullShape")).count, 1);
  assert_int_equal(make(*state, arena_printf(*state, text, 4, "Sharding")).count, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_indices),
      TESTING_IN_ARENA(test_promised_indices),
      TESTING_IN_ARENA(test_sorts_reductions_keys),
      TESTING_IN_ARENA(test_calls),
      TESTING_IN_ARENA(test_matrices_and_sizes),
      TESTING_IN_ARENA(test_devices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
