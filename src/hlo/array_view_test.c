// Which elements of an array slices and reshapes of it show, walked one by one, and what no strides walk.
#include "hlo/array_view.h"

#include <string.h>

#include "base/testing.h"
#include "hlo/text.h"

static const instruction *root_of(arena *a, const char *body) {
  module *m;
  heddle_status s = hlo_parse(a, "test", str_from(body), &m);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  return m->entry->root;
}

static bool view_of(arena *a, const char *body, array_view *out) { return array_view_of(root_of(a, body), out); }

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

#define MOVING(x, steps)                                          \
  "HloModule m\nENTRY e { x = f32[" x                             \
  "] parameter(0) i = s32[] parameter(1) k = s64[] parameter(2) " \
  "zero = s32[] constant(0) two = s32[] constant(2) far = s32[] constant(99) " steps " }"

// Dynamic slices: places that are constants are held within the array, one more may be a number that a run has.
static void test_moving_views(void **state) {
  (void)state;
  arena *a = arena_create();
  array_view v;
  static const char *const plain = MOVING("4,6", "ROOT y = f32[4,3] dynamic-slice(x, i, i), dynamic_slice_sizes={4,3}");
  assert_true(view_of(a, plain, &v));
  assert_int_equal(v.array->opcode, HLO_DYNAMIC_SLICE);
  assert_true(array_view_of_moving(root_of(a, plain), &v));
  expect(&v, 2, (int64_t[]){4, 3}, (int64_t[]){6, 1}, 0);
  assert_true(v.start.value->opcode == HLO_PARAMETER && v.start.scale == 1 && v.start.base == 0);
  assert_true(v.start.most == 3 && v.start.stride == 1);

  const instruction *root =
      root_of(a, MOVING("5,4,6",
                        "m = s32[] multiply(i, two) p = s32[] add(two, m) q = s32[] multiply(p, far) "
                        "y = f32[1,4,6] dynamic-slice(x, q, zero, zero), dynamic_slice_sizes={1,4,6} "
                        "z = f32[4,6] reshape(y) "
                        "ROOT w = f32[2,5] dynamic-slice(z, far, two), dynamic_slice_sizes={2,5}"));
  assert_true(array_view_of_moving(root, &v));
  expect(&v, 2, (int64_t[]){2, 5}, (int64_t[]){6, 1}, 2 * 6 + 1);
  assert_true(v.start.value->opcode == HLO_PARAMETER && v.start.scale == 198 && v.start.base == 198);
  assert_true(v.start.most == 4 && v.start.stride == 24);
  arena_destroy(a);
}

// Two places that move, and numbers that are no s32.
static void test_what_moves_too_much(void **state) {
  (void)state;
  arena *a = arena_create();
  array_view v;
  static const char *const bodies[] = {
      MOVING("4,6", "ROOT y = f32[2,3] dynamic-slice(x, i, i), dynamic_slice_sizes={2,3}"),
      MOVING("4,6", "ROOT y = f32[4,3] dynamic-slice(x, k, k), dynamic_slice_sizes={4,3}"),
      MOVING("4,6",
             "y = f32[2,6] dynamic-slice(x, i, zero), dynamic_slice_sizes={2,6} "
             "ROOT z = f32[1,6] dynamic-slice(y, i, zero), dynamic_slice_sizes={1,6}"),
      MOVING("4,6", "y = f32[4,3] dynamic-slice(x, zero, i), dynamic_slice_sizes={4,3} ROOT z = f32[12] reshape(y)")};
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++)
    assert_false(array_view_of_moving(root_of(a, bodies[k]), &v));
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
      cmocka_unit_test(test_moving_views),
      cmocka_unit_test(test_what_moves_too_much),
      cmocka_unit_test(test_long_chains),
  };
  return cmocka_run_group_tests_name("hlo/array_view", tests, NULL, NULL);
}
