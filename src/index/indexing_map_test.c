#include "index/indexing_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static arena *a;

static int setup(void **state) {
  (void)state;
  a = arena_create();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  arena_destroy(a);
  return 0;
}

static const indexing_map *parse(const char *source) {
  const indexing_map *m = NULL;
  heddle_status status = indexing_map_parse(a, str_from(source), &m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  return m;
}

static void expect_text(const indexing_map *m, const char *wanted) {
  text out = {0};
  indexing_map_print(&out, m);
  assert_string_equal(text_cstr(&out), wanted);
  text_free(&out);
}

// GELU's output, bf16[6,512,4096], by threads of 4 elements: the linear index taken apart and put together again.
static void linear_index_survives_delinearizing(void **state) {
  (void)state;
  const int64_t sizes[] = {6, 512, 4096};
  const indexing_map *linear = parse(
      "(th_x, bl_x)[vector_index] -> (bl_x * 512 + th_x * 4 + vector_index), "
      "domain: th_x in [0, 127], bl_x in [0, 24575], vector_index in [0, 3]");
  const affine_expr *indices[3];
  indexing_delinearize(a, 3, sizes, linear->results[0], indices);
  const indexing_map *m = indexing_map_simplify(a, indexing_map_with_results(a, linear, 3, indices));
  expect_text(m,
              "(th_x, bl_x)[vector_index] -> (bl_x floordiv 4096, (bl_x floordiv 8) mod 512, "
              "(bl_x mod 8) * 512 + th_x * 4 + vector_index), "
              "domain: th_x in [0, 127], bl_x in [0, 24575], vector_index in [0, 3]");
  const affine_expr *again = indexing_linearize(a, 3, sizes, m->results);
  expect_text(indexing_map_simplify(a, indexing_map_with_results(a, m, 1, &again)),
              "(th_x, bl_x)[vector_index] -> (th_x * 4 + bl_x * 512 + vector_index), "
              "domain: th_x in [0, 127], bl_x in [0, 24575], vector_index in [0, 3]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_index_survives_delinearizing),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
