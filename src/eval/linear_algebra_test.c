// cholesky and triangular-solve on matrices whose answers are exact.
#include "eval/testing.h"

static void expect(const char *body, const char *expected) {
  text source = {0};
  text_printf(&source, "HloModule m\nENTRY e {\n%s\n}\n", body);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void test_cholesky(void **state) {
  (void)state;
  // The other triangle is neither read nor kept.
  expect("a = f32[2,2] constant({{4, 99}, {2, 5}})\n ROOT r = f32[2,2] cholesky(a), lower=true", "{{2, 0}, {1, 2}}");
  expect("a = f64[2,2] constant({{4, 2}, {99, 5}})\n ROOT r = f64[2,2] cholesky(a), lower=false", "{{2, 1}, {0, 2}}");
  expect("a = bf16[1,1] constant({{9}})\n ROOT r = bf16[1,1] cholesky(a), lower=true", "{{3}}");
  expect("a = f32[0,0] constant({})\n ROOT r = f32[0,0] cholesky(a), lower=true", "{}");
  expect("a = f32[0,2,2] constant({})\n ROOT r = f32[0,2,2] cholesky(a), lower=true", "{}");
}

static void test_cholesky_complex(void **state) {
  (void)state;
  expect("a = c64[2,2] constant({{(4,0), (9,9)}, {(2,2), (6,0)}})\n ROOT r = c64[2,2] cholesky(a), lower=true",
         "{{(2,0), (0,0)}, {(1,1), (2,0)}}");
  expect("a = c128[2,2] constant({{(4,0), (2,-2)}, {(9,9), (6,0)}})\n ROOT r = c128[2,2] cholesky(a), lower=false",
         "{{(2,0), (1,-1)}, {(0,0), (2,0)}}");
}

static void test_cholesky_fails(void **state) {
  (void)state;
  // One matrix of a batch that is not positive definite becomes NaN, the others stay.
  expect(
      "a = f32[3,2,2] constant({{{4, 2}, {2, 5}}, {{1, 2}, {2, 1}}, {{1, nan}, {nan, 1}}})\n"
      "ROOT r = f32[3,2,2] cholesky(a), lower=true",
      "{{{2, 0}, {1, 2}}, {{nan, nan}, {nan, nan}}, {{nan, nan}, {nan, nan}}}");
}

static void solve(const char *a, const char *b, const char *attributes, const char *expected) {
  text body = {0};
  text_printf(&body, "a = f32[2,2] constant(%s)\n b = f32[2,2] constant(%s)\n", a, b);
  text_printf(&body, "ROOT r = f32[2,2] triangular-solve(a, b), %s", attributes);
  expect(text_cstr(&body), expected);
  text_free(&body);
}

static void test_triangular_solve(void **state) {
  (void)state;
  // The other triangle holds NaN: it must not be read.
  const char *lower = "{{2, nan}, {1, 4}}", *upper = "{{2, 1}, {nan, 4}}", *b = "{{2, 4}, {9, 10}}";
  solve(lower, b, "left_side=true, lower=true, transpose_a=NO_TRANSPOSE", "{{1, 2}, {2, 2}}");
  solve(lower, b, "left_side=true, lower=true, transpose_a=TRANSPOSE", "{{-0.125, 0.75}, {2.25, 2.5}}");
  solve(upper, b, "left_side=true, lower=false, transpose_a=NO_TRANSPOSE", "{{-0.125, 0.75}, {2.25, 2.5}}");
  solve(upper, b, "left_side=true, lower=false, transpose_a=ADJOINT", "{{1, 2}, {2, 2}}");
  solve(lower, b, "left_side=false, lower=true, transpose_a=NO_TRANSPOSE", "{{0.5, 1}, {3.25, 2.5}}");
  solve(lower, b, "left_side=false, lower=true, transpose_a=TRANSPOSE", "{{1, 0.75}, {4.5, 1.375}}");
  solve(upper, b, "left_side=false, lower=false, transpose_a=NO_TRANSPOSE", "{{1, 0.75}, {4.5, 1.375}}");
}

static void test_unit_diagonal(void **state) {
  (void)state;
  solve("{{nan, nan}, {3, nan}}", "{{1, 2}, {4, 5}}",
        "left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE", "{{1, 2}, {1, -1}}");
  solve("{{0, 0}, {3, 2}}", "{{1, 0}, {4, 5}}", "left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
        "{{inf, nan}, {-inf, nan}}");
}

static void test_complex_solve(void **state) {
  (void)state;
  expect(
      "a = c64[1,1] constant({{(0,2)}})\n b = c64[1,2] constant({{(4,2), (2,4)}})\n"
      "ROOT r = c64[1,2] triangular-solve(a, b), left_side=true, lower=true, transpose_a=TRANSPOSE",
      "{{(1,-2), (2,-1)}}");
  expect(
      "a = c64[1,1] constant({{(0,2)}})\n b = c64[1,2] constant({{(4,2), (2,4)}})\n"
      "ROOT r = c64[1,2] triangular-solve(a, b), left_side=true, lower=true, transpose_a=ADJOINT",
      "{{(-1,2), (-2,1)}}");
}

static void test_batches(void **state) {
  (void)state;
  expect(
      "a = f64[2,1,1] constant({{{2}}, {{4}}})\n b = f64[2,1,2] constant({{{2, 4}}, {{4, 8}}})\n"
      "ROOT r = f64[2,1,2] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
      "{{{1, 2}}, {{1, 2}}}");
  expect(
      "a = f64[0,0] constant({})\n b = f64[0,2] constant({})\n"
      "ROOT r = f64[0,2] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
      "{}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cholesky),       cmocka_unit_test(test_cholesky_complex),
      cmocka_unit_test(test_cholesky_fails), cmocka_unit_test(test_triangular_solve),
      cmocka_unit_test(test_unit_diagonal),  cmocka_unit_test(test_complex_solve),
      cmocka_unit_test(test_batches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
