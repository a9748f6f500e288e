// Scatter in place: kernels against the interpreter.

#include "target/hero_testing.h"

static const kernel_alias in_place[] = {{0, 0}, {1, 1}};

static const char *const combiners[] = {
    "ROOT r = $[] parameter(1)\n  x = $[] parameter(0)\n",
    "x = $[] parameter(0)\n  y = $[] parameter(1)\n  ROOT r = $[] add(x, y)\n",
    "x = $[] parameter(0)\n  y = $[] parameter(1)\n  ROOT r = $[] multiply(x, y)\n",
    "x = $[] parameter(0)\n  y = $[] parameter(1)\n  s = $[] subtract(x, y)\n  ROOT r = $[] multiply(s, s)\n",
};

typedef struct scatter_case {
  const char *type, *array, *indices, *extent;  // updates: [count, window]
  int count, entries, combiner;
  bool is_unique;
} scatter_case;

// Indices reach a little beyond the array, so that some windows are skipped.
static char *source_of(arena *a, const scatter_case *c) {
  text out = {0}, dims = {0}, moved = {0};
  int rank = 1;
  for (const char *p = c->extent; *p; p++) rank += *p == ',';
  for (int d = 0; d < rank; d++) text_printf(&dims, "%s%d", d ? "," : "", d + 1);
  for (int d = 0; d < c->entries; d++) text_printf(&moved, "%s%d", d ? "," : "", d);
  text_puts(&out, "HloModule m\ncombine {\n  ");
  for (const char *p = combiners[c->combiner]; *p; p++) {
    if (*p == '$') text_puts(&out, c->type);
    else text_putc(&out, *p);
  }
  text_printf(&out,
              "}\nENTRY e {\n  p = %s[%s] parameter(0)\n  i = %s[%d,%d] parameter(1)\n  u = %s[%d,%s] parameter(2)\n"
              "  ROOT r = %s[%s] scatter(p, i, u), update_window_dims={%s}, inserted_window_dims={}, "
              "scatter_dims_to_operand_dims={%s}, index_vector_dim=1, unique_indices=%s, to_apply=combine\n}\n",
              c->type, c->array, c->indices, c->count, c->entries, c->type, c->count, c->extent, c->type, c->array,
              text_cstr(&dims), text_cstr(&moved), c->is_unique ? "true" : "false");
  char *source = arena_strdup(a, text_cstr(&out), strlen(text_cstr(&out)));
  text_free(&out), text_free(&dims), text_free(&moved);
  return source;
}

static void check(const scatter_case *c, int index_limit, scatter_tiling tiling) {
  arena *a = arena_create();
  const char *source = source_of(a, c);
  const int limits[] = {3, index_limit, 3};
  hero_testing t = hero_testing_start(source, 1, in_place);
  if (t.plan->hero != HERO_SCATTER) fail_msg("%s\nis a %s", source, kernel_hero_name(t.plan->hero));
  const hero_scatter *h = &t.plan->details.scatter;
  assert_int_equal(h->tiling, tiling);
  hero_testing_check(&t, source, limits);
  hero_testing_end(&t);
  arena_destroy(a);
}

static void test_shapes(void **state) {
  (void)state;
  static const struct {
    scatter_case c;
    int limit;
  } cases[] = {
      {{"f32", "20", "s32", "1", 50, 1, 1, false}, 22},       {{"f32", "20", "s32", "6", 9, 1, 1, false}, 18},
      {{"f32", "11,67", "s32", "1,67", 40, 1, 1, false}, 12}, {{"f32", "11,67", "s64", "3,67", 9, 1, 3, false}, 12},
      {{"f32", "11,67", "u8", "2,33", 9, 2, 1, false}, 12},   {{"f32", "7,5,40", "u32", "1,2,40", 20, 2, 0, false}, 8},
      {{"f32", "7,5,40", "s8", "2,3,17", 6, 3, 1, false}, 6}, {{"f32", "1", "s32", "1", 1, 1, 1, false}, 1},
      {{"f32", "4,8", "s32", "4,8", 3, 0, 1, false}, 1},      {{"f32", "4,8", "s32", "1,8", 0, 1, 1, false}, 4},
      {{"f32", "4,0", "s32", "1,0", 3, 1, 1, false}, 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(&cases[i].c, cases[i].limit, SCATTER_SERIAL);
}

static void test_types_and_combiners(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "bf16", "f16", "f64", "f8e4m3fn", "s4", "u2", "s8", "u32", "c64"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    scatter_case c = {types[i], "9,35", "s32", "1,35", 14, 1, (int)(i % 4), false};
    check(&c, 10, SCATTER_SERIAL);
    c.combiner = (int)((i + 1) % 4);
    check(&c, 10, SCATTER_SERIAL);
  }
  check(&(scatter_case){"pred", "9,35", "s32", "1,35", 14, 1, 0, false}, 10, SCATTER_SERIAL);
}

static void test_parallel_forms(void **state) {
  (void)state;
  check(&(scatter_case){"f32", "5,1100", "s32", "1,1100", 40, 1, 1, false}, 6, SCATTER_BY_COLUMN);
  check(&(scatter_case){"f64", "5,3,700", "s32", "1,2,700", 30, 2, 3, false}, 6, SCATTER_BY_COLUMN);
  check(&(scatter_case){"f32", "300,130", "s32", "1,130", 400, 1, 1, false}, 303, SCATTER_BY_OWNER);
  check(&(scatter_case){"s32", "301,2,70", "s32", "1,2,70", 200, 1, 3, false}, 305, SCATTER_BY_OWNER);
}

// A core that asks of every update whether it is its own loses more by wrong guesses than a short window takes.
static void test_short_windows(void **state) {
  (void)state;
  check(&(scatter_case){"f32", "300,8", "s32", "1,8", 4000, 1, 1, false}, 303, SCATTER_SERIAL);
  check(&(scatter_case){"s32", "301", "s32", "1", 20000, 1, 3, false}, 305, SCATTER_SERIAL);
}

// Every index once, each window apart from the others.
static void test_unique_indices(void **state) {
  (void)state;
  const char *source =
      "HloModule m\ncombine {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = f32[] subtract(x, y)\n}\n"
      "ENTRY e {\n  p = f32[4000,9] parameter(0)\n  n = s32[3000,1] iota(), iota_dimension=0\n  c = s32[] "
      "constant(-1)\n"
      "  b = s32[3000,1] broadcast(c), dimensions={}\n  i = s32[3000,1] subtract(n, b)\n  u = f32[3000,1,9] "
      "parameter(1)\n"
      "  v = f32[3000,1,9] negate(u)\n"
      "  ROOT r = f32[4000,9] scatter(p, i, v), update_window_dims={1,2}, inserted_window_dims={}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=combine\n}\n";
  hero_testing t = hero_testing_start(source, 1, in_place);
  assert_int_equal(t.plan->details.scatter.tiling, SCATTER_BY_UPDATE);
  assert_true(t.plan->launch.tiles > 1);
  hero_testing_check(&t, source, NULL);
  hero_testing_end(&t);
}

static void test_several_operands(void **state) {
  (void)state;
  const int limits[] = {3, 3, 12, 3, 3};
  hero_testing_run(
      "HloModule m\ncombine {\n  a = f32[] parameter(0)\n  b = s32[] parameter(1)\n  c = f32[] parameter(2)\n"
      "  d = s32[] parameter(3)\n  x = f32[] maximum(a, c)\n  e = f32[] convert(d)\n  f = f32[] add(x, e)\n"
      "  y = s32[] add(b, d)\n  ROOT t = (f32[], s32[]) tuple(f, y)\n}\n"
      "ENTRY e {\n  p = f32[10,40] parameter(0)\n  q = s32[10,40] parameter(1)\n  i = s32[17,1] parameter(2)\n"
      "  u = f32[17,1,40] parameter(3)\n  v = s32[17,1,40] parameter(4)\n"
      "  ROOT r = (f32[10,40], s32[10,40]) scatter(p, q, i, u, v), update_window_dims={1,2}, "
      "inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=combine\n}\n",
      HERO_SCATTER, 2, in_place, limits);
}

static void test_without_shared_memory_it_is_refused(void **state) {
  (void)state;
  arena *a = arena_create();
  const scatter_case c = {"f32", "20", "s32", "1", 50, 1, 1, false};
  module *m = NULL;
  kernel_plan *plan = NULL;
  hero_testing_require(hlo_parse(a, "test.hlo", str_from(source_of(a, &c)), &m), "scatter");
  target_description target = target_cpu(2);
  heddle_status status = kernel_plan_create(a, m->entry, "kernel", &target, 0, NULL, &plan);
  assert_int_equal(heddle_status_code(status), HEDDLE_UNIMPLEMENTED);
  heddle_status_free(status);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_types_and_combiners),
      cmocka_unit_test(test_parallel_forms),
      cmocka_unit_test(test_short_windows),
      cmocka_unit_test(test_unique_indices),
      cmocka_unit_test(test_several_operands),
      cmocka_unit_test(test_without_shared_memory_it_is_refused),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
