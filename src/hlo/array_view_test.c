// Which elements of an array slices and reshapes of it show, walked one by one, and what no strides walk.
#include "hlo/array_view.h"

#include <string.h>

#include "base/testing.h"
#include "hlo/text.h"

// Of the entry's root.
static bool view_of(arena *a, const char *body, array_view *out) {
  module *m;
  heddle_status s = hlo_parse(a, "test", str_from(body), &m);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  return array_view_of(m->entry->root, out);
}

#define ENTRY(x, steps) "HloModule m\nENTRY e { x = f32[" x "] parameter(0) " steps " }"

static void expect(const array_view *v, int rank, const int64_t *sizes, const int64_t *strides, int64_t offset) {
  assert_int_equal(v->rank, rank);
  assert_int_equal(v->offset, offset);
  assert_int_equal(v->array->opcode, HLO_PARAMETER);
  for (int d = 0; d < rank; d++) {
    assert_int_equal(v->sizes[d], sizes[d]);
    if (sizes[d] > 1) assert_int_equal(v->strides[d], strides[d]);
  }
}

static void test_views(void **state) {
  (void)state;
  static const struct {
    const char *body;
    int rank;
    int64_t sizes[4], strides[4], offset;
  } rows[] = {
      {ENTRY("4,6", "ROOT y = f32[4,6] bitcast(x)"), 2, {4, 6}, {6, 1}, 0},
      {ENTRY("4,6", "ROOT y = f32[2,3] slice(x), slice={[1:4:2], [3:6]}"), 2, {2, 3}, {12, 1}, 9},
      {ENTRY("4,6", "y = f32[4,4] slice(x), slice={[0:4], [2:6]} ROOT z = f32[4,2,2] reshape(y)"),
       3,
       {4, 2, 2},
       {6, 2, 1},
       2},
      {ENTRY("4,6", "y = f32[2,6] slice(x), slice={[2:4], [0:6]} ROOT z = f32[3,1,4] reshape(y)"),
       3,
       {3, 1, 4},
       {4, 4, 1},
       12},
      {ENTRY("2,3,4",
             "y = f32[2,3,1] slice(x), slice={[0:2], [0:3], [3:4]} z = f32[6] reshape(y) ROOT w = f32[2] slice(z), "
             "slice={[1:6:4]}"),
       1,
       {2},
       {16},
       7},
      {ENTRY("4,6", "y = f32[4,3] slice(x), slice={[0:4], [1:6:2]} ROOT z = f32[6,2] reshape(y)"),
       2,
       {6, 2},
       {4, 2},
       1},
      {ENTRY("4,6", "y = f32[1,1] slice(x), slice={[3:4], [5:6]} ROOT z = f32[] reshape(y)"), 0, {0}, {0}, 23},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    arena *a = arena_create();
    array_view v;
    assert_true(view_of(a, rows[k].body, &v));
    expect(&v, rows[k].rank, rows[k].sizes, rows[k].strides, rows[k].offset);
    arena_destroy(a);
  }
}

static void test_other_operations_are_arrays(void **state) {
  (void)state;
  arena *a = arena_create();
  array_view v;
  assert_true(view_of(a, ENTRY("4,6", "y = f32[4,6] negate(x) ROOT z = f32[4,2] slice(y), slice={[0:4], [1:3]}"), &v));
  assert_int_equal(v.array->opcode, HLO_NEGATE);
  assert_true(view_of(a, ENTRY("4,6", "ROOT y = s32[4,6] bitcast(x)"), &v));
  assert_int_equal(v.array->opcode, HLO_BITCAST);
  arena_destroy(a);
}

// Dims that a slice has torn apart are not joined; a view without elements shows nothing.
static void test_what_is_no_view(void **state) {
  (void)state;
  arena *a = arena_create();
  array_view v;
  assert_false(view_of(a, ENTRY("4,6", "y = f32[4,4] slice(x), slice={[0:4], [0:4]} ROOT z = f32[16] reshape(y)"), &v));
  assert_false(
      view_of(a, ENTRY("4,6", "y = f32[4,4] slice(x), slice={[0:4], [0:4]} ROOT z = f32[2,8] reshape(y)"), &v));
  assert_false(
      view_of(a, ENTRY("4,6", "y = f32[4,2] slice(x), slice={[0:4], [1:5:2]} ROOT z = f32[2,4] reshape(y)"), &v));
  assert_false(view_of(a, ENTRY("4,6", "ROOT y = f32[0,6] slice(x), slice={[4:4], [0:6]}"), &v));
  arena_destroy(a);
}

// The way up is bounded.
static void test_long_chains(void **state) {
  (void)state;
  arena *a = arena_create();
  text t = {0};
  array_view v;
  text_puts(&t, "HloModule m\nENTRY e { x0 = f32[40] parameter(0) ");
  for (int k = 1; k <= 20; k++)
    text_printf(&t, "%sx%d = f32[%d] slice(x%d), slice={[1:%d]} ", k == 20 ? "ROOT " : "", k, 40 - k, k - 1, 41 - k);
  text_puts(&t, "}");
  assert_false(view_of(a, text_cstr(&t), &v));
  text_free(&t);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_views),
      cmocka_unit_test(test_other_operations_are_arrays),
      cmocka_unit_test(test_what_is_no_view),
      cmocka_unit_test(test_long_chains),
  };
  return cmocka_run_group_tests_name("hlo/array_view", tests, NULL, NULL);
}
