// Which dots are products of matrices where they lie, and by which strides.
#include "hlo/dot_form.h"

#include "base/testing.h"
#include "hlo/text.h"

static const instruction *root_of(arena *a, const char *text) {
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(text), &m)));
  return m->entry->root;
}

// Of the entry's root: a dot, or the transpose of one.
static bool form_of(const char *body, dot_form *out) {
  arena *a = arena_create();
  const instruction *root = root_of(a, body);
  const bool is_turned = root->opcode == HLO_TRANSPOSE;
  const bool fits = dot_form_of(is_turned ? root->operands[0] : root, is_turned ? root : NULL, NULL, out);
  arena_destroy(a);
  return fits;
}

#define DOT(name, result, lhs, rhs, dims)                                                                     \
  "HloModule m\nENTRY e { x = f32[" lhs "] parameter(0) y = f32[" rhs "] parameter(1) " name " = f32[" result \
  "] dot(x, y), " dims

static void expect_strides(const dot_strides *s, int64_t leading, int64_t member, int64_t group) {
  assert_int_equal(s->leading, leading);
  assert_int_equal(s->member, member);
  assert_int_equal(s->group, group);
}

static void test_dense(void **state) {
  (void)state;
  dot_form f;
  assert_true(form_of(DOT("ROOT d", "2,3,4,6", "2,3,5,4", "2,3,5,6",
                          "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={2}, "
                          "rhs_contracting_dims={2} }"),
                      &f));
  assert_true(f.is_dense && f.transpose_lhs && !f.transpose_rhs);
  assert_true(f.batch == 6 && f.m == 4 && f.n == 6 && f.k == 5 && f.group == 6);
}

static void test_side_by_side(void **state) {
  (void)state;
  dot_form f;
  assert_true(form_of(DOT("d", "2,3,7,9", "2,7,3,8", "2,9,3,8",
                          "lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
                          "rhs_contracting_dims={3} ROOT t = f32[2,7,3,9] transpose(d), dimensions={0,2,1,3} }"),
                      &f));
  assert_true(!f.is_dense && !f.transpose_lhs && f.transpose_rhs);
  assert_true(f.batch == 6 && f.m == 7 && f.n == 9 && f.k == 8 && f.group == 3);
  expect_strides(&f.lhs, 24, 8, 168);
  expect_strides(&f.rhs, 24, 8, 216);
  expect_strides(&f.result, 27, 9, 189);
}

// Dims of size 1 have no stride, wherever they stand.
static void test_ones(void **state) {
  (void)state;
  dot_form f;
  assert_true(form_of(DOT("ROOT d", "1,7,9", "7,1,8", "8,9,1",
                          "lhs_batch_dims={1}, rhs_batch_dims={2}, lhs_contracting_dims={2}, "
                          "rhs_contracting_dims={0} }"),
                      &f));
  assert_true(f.is_dense && f.group == 1);
}

// Operands that are slices: only strides and offsets change, and what is no matrix that way is none.
static void test_views(void **state) {
  (void)state;
  static const char *const text =
      "HloModule m\nENTRY e { x = f32[7,72] parameter(0) q = f32[7,24] slice(x), slice={[0:7], [24:48]} "
      "k = f32[4,24] slice(x), slice={[0:7:2], [48:72]} q1 = f32[7,3,8] reshape(q) k1 = f32[4,3,8] reshape(k) "
      "ROOT d = f32[3,7,4] dot(q1, k1), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={2} }";
  arena *a = arena_create();
  const instruction *dot = root_of(a, text);
  array_view views[2];
  dot_form f;
  for (int k = 0; k < 2; k++) assert_true(array_view_of(dot->operands[k], &views[k]));
  assert_true(dot_form_of(dot, NULL, views, &f));
  assert_true(!f.is_dense && f.batch == 3 && f.m == 7 && f.n == 4 && f.k == 8);
  expect_strides(&f.lhs, 72, 8, 24);
  expect_strides(&f.rhs, 144, 8, 24);
  expect_strides(&f.result, 4, 28, 84);
  assert_true(f.lhs.offset == 24 && f.rhs.offset == 48 && f.result.offset == 0);
  assert_true(dot_form_of(dot, NULL, NULL, &f));
  expect_strides(&f.lhs, 24, 8, 24);
  views[0].strides[2] = 2;  // neither rows nor depth lie together
  assert_false(dot_form_of(dot, NULL, views, &f));
  arena_destroy(a);
}

// Rows that follow one another, from a place on that a run says.
static void test_moving_view(void **state) {
  (void)state;
  static const char *const text =
      "HloModule m\nENTRY e { x = f32[9,24] parameter(0) k = f32[24,8] parameter(1) i = s32[] parameter(2) "
      "zero = s32[] constant(0) q = f32[7,24] dynamic-slice(x, i, zero), dynamic_slice_sizes={7,24} "
      "ROOT d = f32[7,8] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={0} }";
  arena *a = arena_create();
  const instruction *dot = root_of(a, text);
  array_view views[2];
  dot_form f;
  for (int k = 0; k < 2; k++) assert_true(array_view_of_moving(dot->operands[k], &views[k]));
  assert_true(dot_form_of(dot, NULL, views, &f));
  assert_true(!f.is_dense && f.lhs.offset == 0 && f.lhs.leading == 24);
  assert_true(dot_form_of(dot, NULL, NULL, &f));
  assert_true(f.is_dense);
  arena_destroy(a);
}

static void test_refused(void **state) {
  (void)state;
  dot_form f;
  // Free dims apart; neither rows nor depth with stride 1; groups of different sizes; a result whose columns are apart.
  assert_false(
      form_of(DOT("ROOT d", "3,4,6", "3,5,4", "5,6", "lhs_contracting_dims={1}, rhs_contracting_dims={0} }"), &f));
  assert_false(form_of(DOT("ROOT d", "3,7,6", "7,8,3", "3,8,6",
                           "lhs_batch_dims={2}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
                           "rhs_contracting_dims={1} }"),
                       &f));
  assert_false(form_of(DOT("ROOT d", "2,3,4,9,7", "2,9,3,4,8", "2,3,7,4,8",
                           "lhs_batch_dims={0,2,3}, rhs_batch_dims={0,1,3}, lhs_contracting_dims={4}, "
                           "rhs_contracting_dims={4} }"),
                       &f));
  assert_false(form_of(DOT("d", "7,9", "7,8", "8,9",
                           "lhs_contracting_dims={1}, rhs_contracting_dims={0} "
                           "ROOT t = f32[9,7] transpose(d), dimensions={1,0} }"),
                       &f));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dense), cmocka_unit_test(test_side_by_side), cmocka_unit_test(test_ones),
      cmocka_unit_test(test_views), cmocka_unit_test(test_moving_view),  cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests_name("hlo/dot_form", tests, NULL, NULL);
}
