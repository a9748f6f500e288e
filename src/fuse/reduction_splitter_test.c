// Reductions in two steps give what they give in one.
#include "fuse/reduction_splitter.h"

#include "kernel/testing.h"

static literal *evaluate(arena *a, const module *m) {
  const shape *s = m->entry->parameters.data[0]->shape;
  literal *argument = NULL, *result = NULL;
  testing_require(literal_create(a, s, &argument), "argument");
  for (int64_t i = 0; i < shape_element_count(s); i++) {
    if (dtype_is_float(s->dtype)) literal_set_double(argument, i, (double)(i % 5));
    else literal_set_int(argument, i, i % 5);
  }
  testing_require(eval_module(a, m, 1, &argument, &result), "evaluation");
  return result;
}

static int count_reduces(const module *m) {
  int count = 0;
  for (int n = 0; n < m->entry->instructions.size; n++) {
    const instruction *i = m->entry->instructions.data[n];
    count += i->opcode == HLO_REDUCE && (i->users.size > 0 || i == m->entry->root);
  }
  return count;
}

// The entry's reductions afterwards, by number.
static void check(const char *type, const char *from, const char *to, const char *dims, const char *op, int reduces) {
  arena *a = arena_create();
  const char *source = arena_printf(
      a,
      "HloModule m\nr { a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT c = %s[] %s(a, b)\n}\n"
      "ENTRY e { p = %s[%s] parameter(0)\n  z = %s[] constant(1)\n  q = %s[%s] reduce(p, z), dimensions={%s}, "
      "to_apply=r\n  ROOT n = %s[%s] negate(q)\n}\n",
      type, type, type, op, type, from, type, type, to, dims, type, to);
  module *m = testing_parse(a, source);
  const literal *wanted = evaluate(a, m);
  assert_int_equal(reduction_splitter_run(m->entry, &target_any_cpu), reduces > 1);
  testing_require(computation_sort(a, m->entry), source);
  testing_require(module_verify(m), source);
  assert_int_equal(count_reduces(m), reduces);
  testing_require(literal_compare(evaluate(a, m), wanted, 1e-6, 0), source);
  arena_destroy(a);
}

static void test_splits(void **state) {
  (void)state;
  check("f32", "600000", "", "0", "add", 2);
  check("f32", "600011", "", "0", "add", 3);  // a prime
  check("bf16", "600000", "", "0", "add", 2);
  check("s32", "3,70000,2", "3,2", "1", "add", 2);
  check("s32", "70,1,5000,3", "1,3", "0,2", "maximum", 2);
  check("f32", "2,2000,100", "2", "1,2", "maximum", 2);
  check("f32", "5000,60", "60", "0", "minimum", 2);
  check("f32", "100,70000,3", "100,3", "1", "add", 2);  // side by side only
}

static void test_leaves_alone(void **state) {
  (void)state;
  check("f32", "300,1000", "300", "1", "add", 1);
  check("f32", "300,1000", "1000", "0", "add", 1);
  check("f32", "1000", "", "0", "add", 1);
  check("f32", "600000", "", "0", "subtract", 1);
}

// Chunks of the first dim of `from`, whose elements `dims` are summed up; 0: it is one kernel.
static int64_t grid_chunks(const char *from, const char *to, const char *dims) {
  arena *a = arena_create();
  const target_description target = target_gpu();
  module *m = testing_parse(a, arena_printf(a,
                                            "HloModule m\nr { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                                            "  ROOT c = f32[] add(a, b)\n}\nENTRY e { p = f32[%s] parameter(0)\n"
                                            "  z = f32[] constant(0)\n  q = f32[%s] reduce(p, z), dimensions={%s}, "
                                            "to_apply=r\n  ROOT n = f32[%s] negate(q)\n}\n",
                                            from, to, dims, to));
  int64_t chunks = 0;
  if (reduction_splitter_run(m->entry, &target)) {
    for (int n = 0; n < m->entry->instructions.size; n++) {
      const instruction *i = m->entry->instructions.data[n];
      if (i->opcode == HLO_RESHAPE && i->shape->rank == 3 - (*to == 0) && !chunks) chunks = i->shape->dims[0];
    }
  }
  arena_destroy(a);
  return chunks;
}

static void test_fills_a_grid(void **state) {
  (void)state;
  assert_in_range(grid_chunks("10000000", "", "0"), 264, 1056);
  assert_in_range(grid_chunks("1000000,8", "8", "0"), 264, 1056);
  assert_in_range(grid_chunks("2000,512", "512", "0"), 15, 62);  // of 32 elements at least
  assert_int_equal(grid_chunks("2000,65536", "65536", "0"), 0);  // there are blocks enough
  assert_int_equal(grid_chunks("200,5000", "200", "1"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_splits), cmocka_unit_test(test_leaves_alone),
                                     cmocka_unit_test(test_fills_a_grid)};
  return cmocka_run_group_tests(tests, 0, 0);
}
