// Shapes: sizes that saturate, comparisons, layouts, text.
#include "hlo/shape.h"

#include "base/arena_testing.h"

#define DIMS(...) \
  (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }

static const shape *with_order(arena *a, const shape *s, const int64_t *minor_to_major) {
  layout *l = arena_new(a, layout);
  l->minor_to_major = minor_to_major;
  return shape_with_layout(a, s, l);
}

static void expect_invalid(const shape *s, const char *message) {
  heddle_status status = shape_check(s, SOURCE_UNKNOWN);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  if (!strstr(heddle_status_message(status), message)) fail_msg("%s", heddle_status_message(status));
  heddle_status_free(status);
}

static void test_sizes(void **state) {
  const shape *s = shape_array(*state, DTYPE_F32, DIMS(2, 3, 4));
  assert_int_equal(shape_element_count(s), 24);
  assert_int_equal(shape_byte_size(s), 96);
  int64_t strides[3];
  shape_strides(s, strides);
  assert_int_equal(strides[0], 12);
  assert_int_equal(strides[1], 4);
  assert_int_equal(strides[2], 1);
  assert_int_equal(shape_element_count(shape_scalar(*state, DTYPE_S4)), 1);
  const shape *pair[] = {s, shape_token(*state)};
  assert_int_equal(shape_byte_size(shape_tuple(*state, 2, pair)), 96);
  assert_int_equal(shape_element_count(shape_tuple(*state, 2, pair)), 0);
}

static void test_huge_sizes_saturate(void **state) {
  const shape *s = shape_array(*state, DTYPE_F32, DIMS(INT64_MAX, INT64_MAX));
  assert_int_equal(shape_element_count(s), INT64_MAX);
  assert_int_equal(shape_byte_size(s), INT64_MAX);
  expect_invalid(s, "multiply to more than 2^62");
  expect_invalid(shape_array(*state, DTYPE_F32, DIMS(((int64_t)1 << 60) + 1)), "multiply to more than 2^62");
  heddle_status_free(shape_check(shape_array(*state, DTYPE_F32, DIMS((int64_t)1 << 60)), SOURCE_UNKNOWN));
  const shape *empty = shape_array(*state, DTYPE_F32, DIMS(INT64_MAX, 0, INT64_MAX));
  assert_int_equal(shape_element_count(empty), 0);
  expect_invalid(empty, "multiply to more than 2^62");
  expect_invalid(shape_array(*state, DTYPE_S8, DIMS(4, INT64_MAX / 2, 0)), "multiply to more than 2^62");
  assert_true(status_is_ok(shape_check(shape_array(*state, DTYPE_S8, DIMS(0, (int64_t)1 << 62)), SOURCE_UNKNOWN)));
  int64_t strides[3];
  shape_strides(empty, strides);
  assert_int_equal(strides[0], 0);
  const shape *large = shape_array(*state, DTYPE_S8, DIMS((int64_t)1 << 62));
  const shape *pair[] = {large, large};
  expect_invalid(shape_tuple(*state, 2, pair), "add up to more than 2^62");
}

static void test_malformed_shapes(void **state) {
  expect_invalid(shape_array(*state, DTYPE_F32, DIMS(2, -3)), "dimension 1 of a shape is -3");
  expect_invalid(shape_array(*state, DTYPE_F32, DIMS(-1)), "dimension 0 of a shape is -1");
  int64_t many[SHAPE_MAX_RANK + 1] = {0};
  expect_invalid(shape_array(*state, DTYPE_F32, SHAPE_MAX_RANK + 1, many), "rank 65");
  const shape *s = shape_array(*state, DTYPE_F32, DIMS(2, 3));
  expect_invalid(with_order(*state, s, (const int64_t[]){1, 1}), "found dimension 1 at position 1");
  expect_invalid(with_order(*state, s, (const int64_t[]){0, 2}), "found dimension 2 at position 1");
}

static void test_deep_tuples_are_refused(void **state) {
  const shape *s = shape_scalar(*state, DTYPE_F32);
  for (int i = 0; i < SHAPE_MAX_NESTING; i++) s = shape_tuple(*state, 1, &s);
  assert_true(status_is_ok(shape_check(s, SOURCE_UNKNOWN)));
  for (int i = 0; i < 100000; i++) s = shape_tuple(*state, 1, &s);
  expect_invalid(s, "nested more than");
  assert_false(shape_compatible(s, shape_copy(*state, s)));
  assert_false(shape_equal(s, shape_copy(*state, s)));
  assert_true(shape_is_static(s));
  assert_true(strlen(shape_text(*state, s)) < 4 * SHAPE_MAX_NESTING);
}

static void test_comparisons(void **state) {
  const shape *s = shape_array(*state, DTYPE_F32, DIMS(2, 3)), *t = shape_array(*state, DTYPE_F32, DIMS(2, 3));
  assert_true(shape_equal(s, t));
  assert_true(shape_equal(with_order(*state, s, (const int64_t[]){1, 0}), t));
  const shape *columns = with_order(*state, s, (const int64_t[]){0, 1});
  assert_false(shape_equal(columns, t));
  assert_true(shape_compatible(columns, t));
  assert_false(shape_layout_is_default(columns));
  assert_true(shape_layout_is_default(t));
  assert_false(shape_compatible(s, shape_with_dtype(*state, s, DTYPE_F64)));
  assert_false(shape_compatible(s, shape_array(*state, DTYPE_F32, DIMS(3, 2))));
  shape dynamic = *s;
  dynamic.dynamic_dims = 1;
  assert_true(shape_compatible(&dynamic, s));
  assert_false(shape_equal(&dynamic, s));
  assert_false(shape_is_static(&dynamic));
  const shape *one = shape_tuple(*state, 1, &s), *other = shape_tuple(*state, 1, &columns);
  assert_true(shape_compatible(one, other));
  assert_false(shape_equal(one, other));
  assert_false(shape_compatible(one, s));
  assert_false(shape_compatible(one, shape_tuple(*state, 0, NULL)));
}

static void test_layout_parts_count(void **state) {
  const shape *s = shape_array(*state, DTYPE_S4, DIMS(2, 3));
  static const int64_t order[] = {1, 0}, tile[] = {8, INT64_MIN};
  static const layout_tile tiles[] = {{2, tile}};
  layout plain = {.minor_to_major = order}, tiled = {.minor_to_major = order, .tile_count = 1, .tiles = tiles};
  layout space = {.minor_to_major = order, .memory_space = 1}, padded = {.minor_to_major = order, .tail_padding = 1};
  const shape *p = shape_with_layout(*state, s, &plain);
  assert_true(shape_equal(p, shape_with_layout(*state, s, &padded)));
  assert_false(shape_equal(p, shape_with_layout(*state, s, &tiled)));
  assert_false(shape_equal(p, shape_with_layout(*state, s, &space)));
  assert_true(
      shape_equal(shape_with_layout(*state, s, &tiled), shape_copy(*state, shape_with_layout(*state, s, &tiled))));
  assert_true(shape_layout_is_default(shape_with_layout(*state, s, &space)));
  assert_false(shape_layout_is_default(shape_with_layout(*state, s, &tiled)));
}

static void expect_text(const shape *s, const char *wanted) {
  text t = {0};
  shape_print(&t, s, true);
  assert_string_equal(text_cstr(&t), wanted);
  text_free(&t);
}

static void test_text(void **state) {
  const shape *s = shape_array(*state, DTYPE_BF16, DIMS(2, 3));
  assert_string_equal(shape_text(*state, s), "bf16[2,3]");
  expect_text(with_order(*state, s, (const int64_t[]){0, 1}), "bf16[2,3]{0,1}");
  expect_text(with_order(*state, shape_scalar(*state, DTYPE_F32), (const int64_t[]){0}), "f32[]");
  static const int64_t order[] = {1, 0}, outer[] = {8, 128}, inner[] = {INT64_MIN, 1};
  static const layout_tile tiles[] = {{2, outer}, {2, inner}};
  layout all = {order, 2, tiles, 5, 4, 16, STR("D(D,C)#(u32)SC(1:200)")};
  expect_text(shape_with_layout(*state, s, &all), "bf16[2,3]{1,0:D(D,C)T(8,128)(*,1)L(16)#(u32)E(4)S(5)SC(1:200)}");
  shape dynamic = {.dtype = DTYPE_F32, .rank = 2, .dims = (const int64_t[]){8, -1}, .dynamic_dims = 3};
  expect_text(&dynamic, "f32[<=8,?]");
  const shape *f = shape_scalar(*state, DTYPE_F32);
  const shape *seven[] = {f, f, f, f, f, shape_token(*state), shape_tuple(*state, 0, NULL)};
  expect_text(shape_tuple(*state, 7, seven), "(f32[], f32[], f32[], f32[], f32[], /*index=5*/token[], ())");
}

static void test_reshapes_that_move_dims_of_one_element_are_told(void **state) {
  const shape *from = shape_array(*state, DTYPE_F32, DIMS(2, 1, 3)),
              *to = shape_array(*state, DTYPE_F32, DIMS(1, 2, 3, 1)),
              *other = shape_array(*state, DTYPE_F32, DIMS(3, 2)),
              *longer = shape_array(*state, DTYPE_F32, DIMS(2, 3, 2));
  int dims[SHAPE_MAX_RANK];
  assert_true(shape_moves_unit_dims(from, to, dims));
  assert_int_equal(dims[0], 1);
  assert_int_equal(dims[1], -1);
  assert_int_equal(dims[2], 2);
  assert_false(shape_moves_unit_dims(from, other, dims));
  assert_false(shape_moves_unit_dims(from, longer, dims));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_sizes),
      TESTING_IN_ARENA(test_huge_sizes_saturate),
      TESTING_IN_ARENA(test_malformed_shapes),
      TESTING_IN_ARENA(test_deep_tuples_are_refused),
      TESTING_IN_ARENA(test_comparisons),
      TESTING_IN_ARENA(test_layout_parts_count),
      TESTING_IN_ARENA(test_text),
      TESTING_IN_ARENA(test_reshapes_that_move_dims_of_one_element_are_told),
  };
  return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
