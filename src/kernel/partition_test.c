// What goes into one function and what becomes a function of its own.
#include "kernel/partition.h"

#include "kernel/testing.h"
#include "kernel/written_kernels.h"

// As the loop has it, which calls no parts of its own: one function yields all outputs.
static partition *split(arena *a, const char *source) {
  written_kernels *plan = 0;
  testing_require(written_kernels_plan(a, testing_parse(a, source), target_gpu(), &plan), source);
  kernel_plan loop = *plan->kernels[0];
  loop.hero = HERO_LOOP;
  loop.part_count = loop.body_count = 0;
  partition *p = 0;
  testing_require(partition_kernel(a, &loop, &p), source);
  return p;
}

static void expect(const char *source, const char *wanted) {
  arena *a = arena_create();
  text out = {0};
  partition_print(&out, split(a, source));
  assert_string_equal(text_cstr(&out), wanted);
  text_free(&out);
  arena_destroy(a);
}

// The example of the emitters' description: log is needed at two places, so it is a function; transpose has one user
// and shares add's. With the entry function that makes three.
static void test_log_transpose_add(void **state) {
  (void)state;
  expect(
      "f { p = f32[20,20] parameter(0)\n l = f32[20,20] log(p)\n t = f32[20,20] transpose(l), dimensions={1,0}\n"
      " ROOT a = f32[20,20] add(l, t) }",
      "function @f of f over f32[20,20]\n  result a\n  body: t a\n"
      "function @f_l of f over f32[20,20]\n  result l\n  body: l\n");
}

static void test_equal_maps_share_a_function(void **state) {
  (void)state;
  // Two transposes that undo each other reach the exponential where the addition reaches it.
  expect(
      "f { p = f32[20,30] parameter(0)\n l = f32[20,30] exponential(p)\n t = f32[30,20] transpose(l), "
      "dimensions={1,0}\n"
      " u = f32[20,30] transpose(t), dimensions={1,0}\n ROOT a = f32[20,30] add(l, u) }",
      "function @f of f over f32[20,30]\n  result a\n  body: l t u a\n");
}

static void test_slice_and_pad(void **state) {
  (void)state;
  expect(
      "f { p = f32[20] parameter(0)\n a = f32[20] add(p, p)\n z = f32[] constant(0)\n"
      " s = f32[19] slice(a), slice={[0:19]}\n q = f32[20] pad(s, z), padding=0_1\n"
      " ROOT r = f32[20] multiply(a, q) }",
      "function @f of f over f32[20]\n  result r\n  body: q r\n  within q: s\n"
      "function @f_a of f over f32[20]\n  result a\n  body: a\n");
}

// Both reductions read x at the same indices, but in loops of their own.
static void test_loops_do_not_share_values(void **state) {
  (void)state;
  arena *a = arena_create();
  partition *p = split(a,
                       "HloModule m\nr { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
                       "ENTRY f { p = f32[8,16] parameter(0)\n x = f32[8,16] exponential(p)\n z = f32[] constant(0)\n"
                       " u = f32[8] reduce(x, z), dimensions={1}, to_apply=r\n"
                       " v = f32[8] reduce(x, z), dimensions={1}, to_apply=r\n ROOT w = f32[8] add(u, v) }\n");
  assert_int_equal(p->function_count, 3);
  assert_string_equal(p->functions[0]->name, "f");
  assert_string_equal(p->functions[1]->name, "f_x");
  assert_string_equal(p->functions[2]->name, "r");
  arena_destroy(a);
}

static void test_multi_output_by_reshape(void **state) {
  (void)state;
  expect(
      "f { p = f32[4,6] parameter(0)\n n = f32[4,6] negate(p)\n r = f32[24] reshape(n)\n"
      " ROOT t = (f32[4,6], f32[24]) tuple(n, r) }",
      "function @f of f over f32[4,6]\n  result n\n"
      "  result r at (d0, d1) -> (d0 * 6 + d1), domain: d0 in [0, 3], d1 in [0, 5]\n  body: n r\n");
}

static void test_gather_indices_are_read_often(void **state) {
  (void)state;
  arena *a = arena_create();
  partition *p = split(a,
                       "f { o = f32[10,20] parameter(0)\n i = s32[5,2] parameter(1)\n j = s32[5,2] negate(i)\n"
                       " ROOT g = f32[5,3,4] gather(o, j), offset_dims={1,2}, collapsed_slice_dims={},\n"
                       "   start_index_map={0,1}, index_vector_dim=1, slice_sizes={3,4} }");
  assert_int_equal(p->function_count, 2);
  assert_string_equal(p->functions[1]->name, "f_j");
  arena_destroy(a);
}

// y = log(y); y = y + transpose(y), n times.
static char *chain(arena *a, int n, const char *op) {
  text source = {0};
  text_puts(&source, "f { y0 = f32[64,64] parameter(0)\n");
  for (int i = 0; i < n; i++) {
    text_printf(&source, "l%d = f32[64,64] log(y%d)\n t%d = f32[64,64] %s\n", i, i, i, arena_printf(a, op, i));
    text_printf(&source, "%sy%d = f32[64,64] add(l%d, t%d)\n", i == n - 1 ? "ROOT " : "", i + 1, i, i);
  }
  text_puts(&source, "}");
  char *copy = arena_strdup(a, source.data, source.size);
  text_free(&source);
  return copy;
}

static int placed(const partition *p) {
  int count = 0;
  for (int s = 0; s < p->scope_count; s++) count += p->scopes[s]->order.size;
  return count;
}

static void test_chains_are_linear(void **state) {
  (void)state;
  arena *a = arena_create();
  for (int n = 1; n <= 64; n++) {
    partition *p = split(a, chain(a, n, "transpose(l%d), dimensions={1,0}"));
    assert_int_equal(p->function_count, n + 1);
    assert_int_equal(placed(p), 3 * n);
  }
  arena_destroy(a);
}

static void test_elementwise_chains_split_at_the_cap(void **state) {
  (void)state;
  arena *a = arena_create();
  partition *p = split(a, chain(a, 6667, "negate(l%d)"));
  assert_int_equal(placed(p), 20001);
  assert_true(p->function_count > 10);
  assert_true(p->function_count < 30);
  arena_destroy(a);
}

// pad(slice(pad(slice(…)))): scopes nest, but only so deep.
static void test_scope_depth_is_bounded(void **state) {
  (void)state;
  arena *a = arena_create();
  text source = {0};
  text_puts(&source, "f { y0 = f32[64] parameter(0)\n z = f32[] constant(0)\n");
  for (int i = 0; i < 100; i++) {
    text_printf(&source, "s%d = f32[63] slice(y%d), slice={[0:63]}\n", i, i);
    text_printf(&source, "%sy%d = f32[64] pad(s%d, z), padding=0_1\n", i == 99 ? "ROOT " : "", i + 1, i);
  }
  text_puts(&source, "}");
  partition *p = split(a, text_cstr(&source));
  for (int s = 0; s < p->scope_count; s++) {
    if (p->scopes[s]->order.size > 0) assert_in_range(p->scopes[s]->depth, 0, 8);
  }
  assert_int_equal(placed(p), 200);
  text_free(&source);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_log_transpose_add),       cmocka_unit_test(test_equal_maps_share_a_function),
      cmocka_unit_test(test_slice_and_pad),           cmocka_unit_test(test_loops_do_not_share_values),
      cmocka_unit_test(test_multi_output_by_reshape), cmocka_unit_test(test_gather_indices_are_read_often),
      cmocka_unit_test(test_chains_are_linear),       cmocka_unit_test(test_elementwise_chains_split_at_the_cap),
      cmocka_unit_test(test_scope_depth_is_bounded),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
