// LAPACK's custom calls, in JAX's present form and in the older one. Where a factor is exact it is compared; elsewhere
// the module multiplies the factors and checks itself.
#include "eval/testing.h"

static const char start[] =
    "HloModule m\nENTRY e {\n"
    "zero = s32[] constant(0)\n one = s32[] constant(1)\n two = s32[] constant(2)\n v = u8[] constant(86)\n"
    "n = u8[] constant(78)\n"
    "a = f32[2,2] constant({{4, 2}, {2, 5}})\n";

static void expect(const char *body, const char *expected) {
  text source = {0};
  text_printf(&source, "%s%s\n}\n", start, body);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void expect_error(const char *body, heddle_code code, const char *message) {
  text source = {0};
  text_printf(&source, "%s%s\n}\n", start, body);
  testing_expect_error(text_cstr(&source), NULL, code, message);
  text_free(&source);
}

// The body leaves what was found and what was wanted in `found` and `wanted`.
static void expect_almost(const char *body) {
  text source = {0};
  text_printf(&source,
              "%s\n check = () custom-call(found, wanted), custom_call_target=\"check.expect_almost_eq\", "
              "backend_config={tolerance = 0.000002 : f64}\n ROOT r = s32[] constant(1)",
              body);
  expect(text_cstr(&source), "1");
  text_free(&source);
}

#define DOT(to, type, l, r) to " = " type " dot(" l ", " r "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
#define DOT_TRANSPOSED(to, type, l, r) \
  to " = " type " dot(" l ", " r "), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
#define PART(to, type, index) to " = " type " get-tuple-element(f), index=" index "\n"

static void test_potrf(void **state) {
  (void)state;
  expect(
      "ROOT r = (f32[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_spotrf_ffi\", "
      "backend_config={uplo = 76 : ui8}",
      "({{2, 2}, {1, 2}}, 0)");
  expect(
      "ROOT r = (f32[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_spotrf_ffi\", "
      "backend_config={\"uplo\": 85}",
      "({{2, 1}, {2, 2}}, 0)");
  expect(
      "b = c128[2,1,1] constant({{{(9,0)}}, {{(-1,0)}}})\n"
      "ROOT r = (c128[2,1,1], s32[2]) custom-call(b), custom_call_target=\"lapack_zpotrf_ffi\", "
      "backend_config={uplo = \"L\"}",
      "({{{(3,0)}}, {{(-1,0)}}}, {0, 1})");
  expect("ROOT r = (f32[2,2], s32[]) custom-call(one, one, two, a), custom_call_target=\"lapack_spotrf\"",
         "({{2, 2}, {1, 2}}, 0)");
}

static void test_getrf(void **state) {
  (void)state;
  expect(
      "b = f64[2,3] constant({{1, 2, 3}, {4, 4, 8}})\n"
      "ROOT r = (f64[2,3], s32[2], s32[]) custom-call(b), custom_call_target=\"lapack_dgetrf_ffi\", "
      "backend_config={}",
      "({{4, 4, 8}, {0.25, 1, 1}}, {2, 2}, 0)");
  expect(
      "b = c64[3,1] constant({{(1,0)}, {(0,4)}, {(2,0)}})\n"
      "ROOT r = (c64[3,1], s32[1], s32[]) custom-call(b), custom_call_target=\"lapack_cgetrf_ffi\"",
      "({{(0,4)}, {(0,-0.25)}, {(0,-0.5)}}, {2}, 0)");
  expect(
      "b = f32[2,2,2] constant({{{0, 0}, {0, 1}}, {{2, 1}, {1, 1}}})\n"
      "ROOT r = (f32[2,2,2], s32[2,2], s32[2]) custom-call(two, two, two, b), custom_call_target=\"lapack_sgetrf\"",
      "({{{0, 0}, {0, 1}}, {{2, 1}, {0.5, 0.5}}}, {{1, 2}, {1, 2}}, {1, 0})");
  expect(
      "b = f32[0,2,2] constant({})\n"
      "ROOT r = (f32[0,2,2], s32[0,2], s32[0]) custom-call(b), custom_call_target=\"lapack_sgetrf_ffi\"",
      "({}, {}, {})");
}

static void test_qr(void **state) {
  (void)state;
  const char *b = "b = f32[2,1] constant({{3}, {4}})\n";
  text body = {0};
  text_printf(&body, "%sROOT f = (f32[2,1], f32[1]) custom-call(b), custom_call_target=\"lapack_sgeqrf_ffi\"", b);
  expect(text_cstr(&body), "({{-5}, {0.5}}, {1.6})");
  text_free(&body);
  text_printf(&body,
              "%sROOT f = (f32[2,1], f32[1], s32[], f32[7]) custom-call(one, two, one, two, b), "
              "custom_call_target=\"lapack_sgeqrf\"",
              b);
  expect(text_cstr(&body), "({{-5}, {0.5}}, {1.6}, 0, {0, 0, 0, 0, 0, 0, 0})");
  text_free(&body);
  expect_almost(
      "q = f32[2,1] constant({{-5}, {0.5}})\n t = f32[1] constant({1.6})\n"
      "found = f32[2,1] custom-call(q, t), custom_call_target=\"lapack_sorgqr_ffi\"\n"
      "wanted = f32[2,1] constant({{-0.6}, {-0.8}})");
  expect_almost(
      "q = c64[2,1] constant({{(-5,0)}, {(0.5,0)}})\n t = c64[1] constant({(1.6,0)})\n"
      "f = (c64[2,1], s32[], c64[3]) custom-call(one, two, one, one, one, q, t), "
      "custom_call_target=\"lapack_cungqr\"\n" PART("found", "c64[2,1]",
                                                    "0") "wanted = c64[2,1] constant({{(-0.6,0)}, {(-0.8,0)}})");
  expect_almost(
      "q = f32[2,1] constant({{-5}, {0.5}})\n t = f32[1] constant({1.6})\n"
      "c = f32[2,2] constant({{3, 6}, {4, 8}})\n"
      "found = f32[2,2] custom-call(q, t, c), custom_call_target=\"lapack_sormqr_ffi\", "
      "backend_config={left = true, transpose = true}\n"
      "wanted = f32[2,2] constant({{-5, -10}, {0, 0}})");
  expect_almost(
      "q = c128[2,1] constant({{(-5,0)}, {(0.5,0)}})\n t = c128[1] constant({(1.6,0)})\n"
      "c = c128[1,2] constant({{(0,3), (0,4)}})\n"
      "found = c128[1,2] custom-call(q, t, c), custom_call_target=\"lapack_zunmqr_ffi\", "
      "backend_config={left = false, transpose = false}\n"
      "wanted = c128[1,2] constant({{(0,-5), (0,0)}})");
}

static void test_pivoted_qr(void **state) {
  (void)state;
  const char *b =
      "b = f64[2,2] constant({{1, 3}, {0, 4}})\n p = s32[2] constant({0, 0})\n"
      "wanted = s32[2] constant({2, 1})\n";
  text body = {0};
  text_printf(&body,
              "%sf = (f64[2,2], s32[2], f64[2]) custom-call(b, p), custom_call_target=\"lapack_dgeqp3_ffi\"\n"
              "q = f64[2,2] get-tuple-element(f), index=0\n"
              "s = f64[1,1] slice(q), slice={[0:1], [0:1]}\n w = f64[1,1] constant({{-5}})\n"
              "c = () custom-call(s, w), custom_call_target=\"check.expect_close\"\n"
              "ROOT r = s32[2] get-tuple-element(f), index=1",
              b);
  expect(text_cstr(&body), "{2, 1}");
  text_free(&body);
  text_printf(&body,
              "%sf = (f64[2,2], s32[2], f64[2], s32[], f64[9]) custom-call(one, two, two, two, b, p), "
              "custom_call_target=\"lapack_dgeqp3\"\nROOT r = s32[2] get-tuple-element(f), index=1",
              b);
  expect(text_cstr(&body), "{2, 1}");
  text_free(&body);
}

static void test_trsm(void **state) {
  (void)state;
  const char *b = "t = f32[2,2] constant({{2, nan}, {1, 4}})\n b = f32[2,1] constant({{2}, {9}})\n";
  text body = {0};
  text_printf(&body,
              "%sROOT r = f32[2,1] custom-call(t, b), custom_call_target=\"lapack_strsm_ffi\", "
              "backend_config={diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}",
              b);
  expect(text_cstr(&body), "{{1}, {2}}");
  text_free(&body);
  text_printf(&body,
              "%sh = f32[] constant(2)\nROOT r = f32[2,1] custom-call(one, one, zero, zero, two, one, one, h, t, b), "
              "custom_call_target=\"blas_strsm\"",
              b);
  expect(text_cstr(&body), "{{2}, {4}}");
  text_free(&body);
  expect(
      "t = c64[1,1] constant({{(0,2)}})\n b = c64[1,1] constant({{(4,2)}})\n"
      "ROOT r = c64[1,1] custom-call(t, b), custom_call_target=\"lapack_ctrsm_ffi\", "
      "backend_config={diag = 78 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}",
      "{{(-1,2)}}");
}

static void test_singular_values(void **state) {
  (void)state;
  const char *const calls[] = {
      "f = (f32[2,3], f32[2], f32[2,2], f32[2,3], s32[]) custom-call(b), custom_call_target=\"lapack_sgesdd_ffi\", "
      "backend_config={mode = 83 : ui8}\n",
      "f = (f32[2,3], f32[2], f32[2,2], f32[2,3], s32[]) custom-call(b), custom_call_target=\"lapack_sgesvd_ffi\", "
      "backend_config={mode = 83 : ui8}\n",
      "f = (f32[2,3], f32[2], f32[2,2], f32[2,3], s32[], s32[4], f32[9]) custom-call(zero, one, one, two, two, two, "
      "b), custom_call_target=\"lapack_sgesdd\"\n",
  };
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    text body = {0};
    text_printf(
        &body,
        "b = f32[2,3] constant({{1, 2, 3}, {0, 4, 0}})\n wanted = f32[2,3] copy(b)\n%s" PART("s", "f32[2]", "1") PART(
            "u", "f32[2,2]", "2")
            PART("w", "f32[2,3]", "3") "t = f32[2,2] broadcast(s), dimensions={1}\n us = f32[2,2] multiply(u, t)\n" DOT(
                "found", "f32[2,3]", "us", "w"),
        calls[k]);
    expect_almost(text_cstr(&body));
    text_free(&body);
  }
  expect(
      "b = c64[1,2] constant({{(3,0), (0,4)}})\n"
      "f = (c64[1,2], f32[1], c64[1,1], c64[2,2], s32[]) custom-call(b), "
      "custom_call_target=\"lapack_cgesdd_ffi\", backend_config={mode = 78 : ui8}\n"
      "ROOT s = f32[1] get-tuple-element(f), index=1",
      "{5}");
  expect(
      "b = f32[1,1] constant({{nan}})\n"
      "f = (f32[1,1], f32[1], f32[1,1], f32[1,1], s32[]) custom-call(b), "
      "custom_call_target=\"lapack_sgesdd_ffi\", backend_config={mode = 65 : ui8}\n"
      "ROOT s = s32[] get-tuple-element(f), index=4",
      "-4");
}

static void test_symmetric_eigenvalues(void **state) {
  (void)state;
  const char *const calls[] = {
      "f = (f32[2,2], f32[2], s32[]) custom-call(b), custom_call_target=\"lapack_ssyevd_ffi\", "
      "backend_config={mode = 86 : ui8, uplo = 76 : ui8}\n",
      "f = (f32[2,2], f32[2], s32[], f32[9], s32[9]) custom-call(one, one, two, b), "
      "custom_call_target=\"lapack_ssyevd\"\n",
  };
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    text body = {0};
    text_printf(
        &body,
        "b = f32[2,2] constant({{4, nan}, {2, 5}})\n wanted = f32[2,2] copy(a)\n%s" PART("x", "f32[2,2]", "0") PART(
            "w", "f32[2]",
            "1") "t = f32[2,2] broadcast(w), dimensions={1}\n xw = f32[2,2] multiply(x, t)\n" DOT_TRANSPOSED("found",
                                                                                                             "f32[2,2]",
                                                                                                             "xw", "x"),
        calls[k]);
    expect_almost(text_cstr(&body));
    text_free(&body);
  }
  expect(
      "b = c128[1,1] constant({{(4,7)}})\n"
      "ROOT f = (c128[1,1], f64[1], s32[]) custom-call(b), custom_call_target=\"lapack_zheevd_ffi\", "
      "backend_config={mode = 86 : ui8, uplo = 85 : ui8}",
      "({{(1,0)}}, {4}, 0)");
}

// Eigenvalues 1 ± 2i: a x = x w, with w put together from its parts.
static void test_eigenvalues(void **state) {
  (void)state;
  const char *const calls[] = {
      "f = (f32[2], f32[2], c64[2,2], c64[2,2], s32[]) custom-call(b), custom_call_target=\"lapack_sgeev_ffi\", "
      "backend_config={compute_left = 78 : ui8, compute_right = 86 : ui8}\n" PART("re", "f32[2]", "0")
          PART("im", "f32[2]", "1") PART("x", "c64[2,2]", "3"),
      "f = (f32[2,2], f32[2,2], f32[2,2], f32[2], f32[2], c64[2,2], c64[2,2], s32[]) custom-call(one, two, n, v, b), "
      "custom_call_target=\"lapack_sgeev\"\n" PART("re", "f32[2]", "3") PART("im", "f32[2]", "4")
          PART("x", "c64[2,2]", "6"),
  };
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    text body = {0};
    text_printf(&body,
                "b = f32[2,2] constant({{1, 2}, {-2, 1}})\n c = c64[2,2] convert(b)\n%s"
                "w = c64[2] complex(re, im)\n t = c64[2,2] broadcast(w), dimensions={1}\n"
                "wanted = c64[2,2] multiply(x, t)\n" DOT("found", "c64[2,2]", "c", "x")
                "m = f32[] constant(-2)\n p = f32[2] constant({2, -2})\n"
                "q = () custom-call(im, p), custom_call_target=\"check.expect_close\"",
                calls[k]);
    expect_almost(text_cstr(&body));
    text_free(&body);
  }
  expect(
      "b = c64[1,1] constant({{(4,7)}})\n"
      "ROOT f = (c64[1], c64[1,1], c64[1,1], s32[]) custom-call(b), custom_call_target=\"lapack_cgeev_ffi\", "
      "backend_config={compute_left = 86 : ui8, compute_right = 86 : ui8}",
      "({(4,7)}, {{(1,0)}}, {{(1,0)}}, 0)");
  expect(
      "b = c64[1,1] constant({{(4,7)}})\n"
      "f = (c64[1,1], f32[2], c64[1], c64[1,1], c64[1,1], s32[]) custom-call(one, one, v, v, b), "
      "custom_call_target=\"lapack_cgeev\"\nROOT r = c64[1] get-tuple-element(f), index=2",
      "{(4,7)}");
}

static void test_schur(void **state) {
  (void)state;
  const char *const calls[] = {
      "f = (f32[2,2], f32[2,2], f32[2], f32[2], s32[], s32[]) custom-call(b), "
      "custom_call_target=\"lapack_sgees_ffi\", backend_config={mode = 86 : ui8, sort = 78 : ui8}\n" PART(
          "z", "f32[2,2]", "1"),
      "f = (f32[2,2], f32[2], f32[2], f32[2,2], s32[], s32[]) custom-call(one, two, v, n, b), "
      "custom_call_target=\"lapack_sgees\"\n" PART("z", "f32[2,2]", "3"),
  };
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    text body = {0};
    text_printf(&body,
                "b = f32[2,2] constant({{1, 2}, {3, 4}})\n wanted = f32[2,2] copy(b)\n%s" PART("t", "f32[2,2]", "0")
                    DOT("zt", "f32[2,2]", "z", "t") DOT_TRANSPOSED("found", "f32[2,2]", "zt", "z"),
                calls[k]);
    expect_almost(text_cstr(&body));
    text_free(&body);
  }
  expect_error(
      "f = (f32[2,2], f32[2,2], f32[2], f32[2], s32[], s32[]) custom-call(a), "
      "custom_call_target=\"lapack_sgees_ffi\", backend_config={mode = 86 : ui8, sort = 83 : ui8}\n"
      "ROOT r = f32[2] get-tuple-element(f), index=2",
      HEDDLE_INVALID, "sorted eigenvalues");
}

static void test_reductions(void **state) {
  (void)state;
  expect(
      "ROOT f = (f32[2,2], f32[1], s32[]) custom-call(a), custom_call_target=\"lapack_sgehrd_ffi\", "
      "backend_config={high = 2 : i32, low = 1 : i32}",
      "({{4, 2}, {2, 5}}, {0}, 0)");
  expect(
      "ROOT f = (f32[2,2], f32[1], s32[], f32[2]) custom-call(two, one, two, two, one, two, a), "
      "custom_call_target=\"lapack_sgehrd\"",
      "({{4, 2}, {2, 5}}, {0}, 0, {0, 0})");
  expect(
      "ROOT f = (f32[2,2], f32[2], f32[1], f32[1], s32[]) custom-call(a), "
      "custom_call_target=\"lapack_ssytrd_ffi\", backend_config={uplo = 76 : ui8}",
      "({{4, 2}, {2, 5}}, {4, 5}, {2}, {0}, 0)");
  expect(
      "b = c64[1,1] constant({{(4,0)}})\n"
      "ROOT f = (c64[1,1], f32[1], f32[0], c64[0], s32[], c64[1]) custom-call(one, one, one, one, one, b), "
      "custom_call_target=\"lapack_chetrd\"",
      "({{(4,0)}}, {4}, {}, {}, 0, {(0,0)})");
}

static void test_tridiagonal(void **state) {
  (void)state;
  const char *b =
      "l = f64[2] constant({nan, 1})\n d = f64[2] constant({2, 3})\n u = f64[2] constant({1, nan})\n"
      "b = f64[2,1] constant({{4}, {7}})\n";
  text body = {0};
  text_printf(&body,
              "%sf = (f64[2], f64[2], f64[2], f64[2,1], s32[]) custom-call(l, d, u, b), "
              "custom_call_target=\"lapack_dgtsv_ffi\"\nROOT x = f64[2,1] get-tuple-element(f), index=3",
              b);
  expect(text_cstr(&body), "{{1}, {2}}");
  text_free(&body);
  text_printf(&body,
              "%sROOT x = f64[2,1] custom-call(l, d, u, b), custom_call_target=\"tridiagonal_solve_perturbed_ffi\"", b);
  expect(text_cstr(&body), "{{1}, {2}}");
  text_free(&body);
  expect_error(
      "z = f32[2] constant({0, 0})\n b = f32[2,1] constant({{4}, {7}})\n"
      "ROOT x = f32[2,1] custom-call(z, z, z, b), custom_call_target=\"tridiagonal_solve_perturbed_ffi\"",
      HEDDLE_INVALID, "a singular system");
}

// The names XLA has for these without a library.
static void test_householder(void **state) {
  (void)state;
  expect("b = f32[2,1] constant({{3}, {4}})\n ROOT f = (f32[2,1], f32[1]) custom-call(b), custom_call_target=\"Qr\"",
         "({{-5}, {0.5}}, {1.6})");
  expect(
      "q = bf16[2,1] constant({{-5}, {0.5}})\n t = bf16[1] constant({1.6})\n"
      "ROOT r = bf16[2,1] custom-call(q, t), "
      "custom_call_target=\"ProductOfElementaryHouseholderReflectors\"",
      "{{-0.6}, {-0.8}}");
  expect_error(
      "b = s32[2,1] constant({{3}, {4}})\n"
      "ROOT f = (s32[2,1], s32[1]) custom-call(b), custom_call_target=\"Qr\"",
      HEDDLE_UNIMPLEMENTED, "unknown");
}

static void test_refusals(void **state) {
  (void)state;
  expect_error("ROOT r = f32[2,2] custom-call(a), custom_call_target=\"lapack_sgetrx_ffi\"", HEDDLE_UNIMPLEMENTED,
               "lapack_sgetrx_ffi");
  expect_error("ROOT r = f32[2,2] custom-call(a), custom_call_target=\"lapack_\"", HEDDLE_UNIMPLEMENTED, "unknown");
  expect_error("ROOT r = f32[2,2] custom-call(a), custom_call_target=\"lapack_dpotrf_ffi\"", HEDDLE_INVALID,
               "found 1 operands and 1 results, wanted 1 and 2");
  expect_error("ROOT r = (f32[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_dpotrf_ffi\"", HEDDLE_INVALID,
               "operand 0 does not have the routine's type");
  expect_error("ROOT r = (f32[2,3], s32[]) custom-call(a), custom_call_target=\"lapack_spotrf_ffi\"", HEDDLE_INVALID,
               "result 0 does not have the routine's type");
  expect_error("ROOT r = (f32[2,2], s32[1]) custom-call(a), custom_call_target=\"lapack_spotrf_ffi\"", HEDDLE_INVALID,
               "result 1 does not have the routine's type");
  expect_error("ROOT r = (f32[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_spotrf_ffi\"", HEDDLE_INVALID,
               "backend_config has no uplo");
  expect_error(
      "ROOT r = (f32[2,2], s32[]) custom-call(a), custom_call_target=\"lapack_spotrf_ffi\", "
      "backend_config={uplo = 70 : ui8}",
      HEDDLE_INVALID, "found 70 for uplo, wanted LU");
  expect_error(
      "b = f32[2,1] constant({{1}, {2}})\n"
      "ROOT r = f32[2,1] custom-call(a, b), custom_call_target=\"lapack_strsm_ffi\", "
      "backend_config={diag = 78 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}",
      HEDDLE_INVALID, "does not fit the right side");
  expect_error(
      "b = f32[1,2] constant({{1, 2}})\n t = f32[1] constant({1})\n"
      "ROOT r = f32[1,2] custom-call(b, t), custom_call_target=\"lapack_sorgqr_ffi\"",
      HEDDLE_INVALID, "more columns than rows");
  expect_error(
      "ROOT f = (f32[2,2], f32[1], s32[]) custom-call(a), custom_call_target=\"lapack_sgehrd_ffi\", "
      "backend_config={high = 3 : i32, low = 1 : i32}",
      HEDDLE_INVALID, "rows outside the matrix");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_potrf),
      cmocka_unit_test(test_getrf),
      cmocka_unit_test(test_qr),
      cmocka_unit_test(test_pivoted_qr),
      cmocka_unit_test(test_trsm),
      cmocka_unit_test(test_singular_values),
      cmocka_unit_test(test_symmetric_eigenvalues),
      cmocka_unit_test(test_eigenvalues),
      cmocka_unit_test(test_schur),
      cmocka_unit_test(test_reductions),
      cmocka_unit_test(test_tridiagonal),
      cmocka_unit_test(test_householder),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
