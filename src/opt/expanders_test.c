// What expanders make of an operation has its results, bit for bit.
#include "opt/testing.h"

#define GE_ADD                                                                                         \
  "ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }\n" \
  "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"

// Ties and sums that depend on the order, since the scatter function does not commute.
#define LT_TWICE                                                                                       \
  "lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }\n" \
  "twice { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] add(a, a) ROOT r = f32[] add(c, b) }\n"

static void select_and_scatter(const char *functions, const char *operand, const char *source, const char *window) {
  char text[1024];
  const bool is_sum = strstr(functions, "twice") == NULL;
  snprintf(text, sizeof text,
           "HloModule m\n%sENTRY e { x = %s parameter(0) y = %s parameter(1) i = f32[] constant(1)\n"
           "  ROOT r = %s select-and-scatter(x, y, i), window={%s}, select=%s, scatter=%s }",
           functions, operand, source, operand, window, is_sum ? "ge" : "lt", is_sum ? "add" : "twice");
  testing_expect_same(text, "select-and-scatter-expander,call-inliner,map-inliner,dead-code", HLO_SELECT_AND_SCATTER);
}

static void test_select_and_scatter(void **state) {
  (void)state;
  select_and_scatter(GE_ADD, "f32[4,6]", "f32[2,3]", "size=2x2 stride=2x2");
  select_and_scatter(LT_TWICE, "f32[7,9]", "f32[3,4]", "size=3x3 stride=2x2");
  select_and_scatter(LT_TWICE, "f32[7,9]", "f32[4,5]", "size=3x3 stride=2x2 pad=1_1x1_1");
  select_and_scatter(LT_TWICE, "f32[9]", "f32[9]", "size=5 pad=2_2");
  select_and_scatter(LT_TWICE, "f32[11]", "f32[3]", "size=2 stride=4");
  select_and_scatter(LT_TWICE, "f32[11]", "f32[5]", "size=2 stride=2 pad=-1_0");
  select_and_scatter(LT_TWICE, "f32[10]", "f32[6]", "size=3 rhs_dilate=2 pad=0_0");
  select_and_scatter(LT_TWICE, "f32[6]", "f32[5]", "size=3 stride=2 lhs_dilate=2");
  select_and_scatter(LT_TWICE, "f32[50]", "f32[11]", "size=40");
  select_and_scatter(LT_TWICE, "f32[3]", "f32[5]", "size=1 pad=1_1");
  select_and_scatter(GE_ADD, "f32[2,3]", "f32[0,3]", "size=3x1");
}

static void test_scan(void **state) {
  (void)state;
  static const char *const options[] = {"", ", is_reverse=true"};
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "HloModule m\nf { x = f32[3] parameter(0) c = f32[3] parameter(1) d = f32[3] subtract(x, c)\n"
             "  s = f32[3] add(x, c) ROOT r = (f32[3], f32[3]) tuple(d, s) }\n"
             "ENTRY e { x = f32[3,5] parameter(0) c = f32[3] parameter(1)\n"
             "  ROOT r = (f32[3,5], f32[3]) scan(x, c), dimensions={1}, num_carries=1, to_apply=f%s }",
             options[k]);
    testing_expect_same(text, "scan-expander,call-inliner,dead-code", HLO_SCAN);
  }
  testing_expect_same(
      "HloModule m\nf { x = f32[1,2] parameter(0) ROOT d = f32[1,2] negate(x) }\n"
      "ENTRY e { x = f32[4,2] parameter(0) ROOT r = f32[4,2] scan(x), dimensions={0}, to_apply=f }",
      "scan-expander,dead-code", HLO_SCAN);
}

static void ragged_dot(const char *lhs, const char *rhs, const char *sizes, const char *result, const char *dims) {
  char text[1024];
  snprintf(text, sizeof text,
           "HloModule m\nENTRY e { x = %s parameter(0) y = %s parameter(1) s = %s parameter(2)\n"
           "  ROOT r = %s ragged-dot(x, y, s), %s }",
           lhs, rhs, sizes, result, dims);
  testing_expect_same(text, "ragged-dot-expander,dead-code", HLO_RAGGED_DOT);
}

static void test_ragged_dot(void **state) {
  (void)state;
  ragged_dot("f32[11,4]", "f32[3,4,5]", "s32[3]", "f32[11,5]",
             "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}");
  ragged_dot("f32[2,11,4]", "f32[2,4,3,5]", "u8[2,3]", "f32[2,11,5]",
             "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, "
             "lhs_ragged_dims={1}, rhs_group_dims={2}");
  ragged_dot("f32[11,4]", "f32[11,5]", "s32[3]", "f32[3,4,5]",
             "lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}");
  ragged_dot("f32[4,2,11]", "f32[11,2,5]", "s32[2,3]", "f32[3,2,4,5]",
             "lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}, "
             "lhs_ragged_dims={2}");
  ragged_dot("f32[2,3,4]", "f32[2,4,5]", "s32[2]", "f32[2,3,5]",
             "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, "
             "lhs_ragged_dims={0}");
}

static void test_scaled_dot(void **state) {
  (void)state;
  testing_expect_same(
      "HloModule m\nENTRY e { x = f8e4m3fn[4,8] parameter(0) y = f8e5m2[8,6] parameter(1)\n"
      "  s = f8e8m0fnu[4,2] parameter(2) t = bf16[4,3] parameter(3)\n"
      "  ROOT r = f32[4,6] scaled-dot(x, y, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      "scaled-dot-expander,dead-code", HLO_SCALED_DOT);
  testing_expect_same(
      "HloModule m\nENTRY e { x = f32[4,8] parameter(0) y = f32[8,6] parameter(1)\n"
      "  s = f32[] parameter(2) t = f32[8,6] parameter(3)\n"
      "  ROOT r = f32[4,6] scaled-dot(x, y, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      "scaled-dot-expander,dead-code", HLO_SCALED_DOT);
}

// Values around limits, denormals and what is no number, each with every argument of random bits.
static void stochastic_convert(const char *to, const char *from, const char *bits) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "HloModule m\nENTRY e { y = %s[25] constant({0, -0, 0.3, -0.3, 1e-7, -1e-7, 2.5, -2.5, 100.7, -100.7, 126.9,\n"
      "    -128.4, 254.6, 300, -300, 1e-30, -1e-42, 65510, -65519, 3.1e9, -3e9, 1e30, nan, inf, -inf})\n"
      "  x = %s[25,64] broadcast(y), dimensions={0} u = %s[25,64] parameter(0)\n"
      "  ROOT r = %s[25,64] stochastic-convert(x, u) }",
      from, from, bits, to);
  testing_expect_same(text, "stochastic-convert-expander,dead-code", HLO_STOCHASTIC_CONVERT);
}

static void test_stochastic_convert(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "bf16", "f16", "f8e5m2", "f8e4m3fn", "f8e3m4", "s8",
                                      "u8",  "s16",  "s32", "u32",    "s64",      "u64"};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    stochastic_convert(types[k], "f32", "u32");
    stochastic_convert(types[k], "f64", "u64");
  }
}

static void test_linear_algebra(void **state) {
  (void)state;
  static const char *const transposes[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  for (int k = 0; k < 12; k++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "HloModule m\nENTRY e { a = c64[2,3,3] parameter(0) b = c64[2,3,3] parameter(1)\n"
        "  ROOT r = c64[2,3,3] triangular-solve(a, b), left_side=%s, lower=%s, unit_diagonal=true, transpose_a=%s }",
        k % 2 ? "true" : "false", k / 2 % 2 ? "true" : "false", transposes[k / 4]);
    testing_expect_same(text, "linear-algebra-expander", HLO_TRIANGULAR_SOLVE);
  }
  testing_expect_same(
      "HloModule m\nENTRY e { a = f32[2,2] constant({{4, 9}, {2, 5}}) u = f32[2,2] cholesky(a)\n"
      "  l = f32[2,2] cholesky(a), lower=true ROOT r = (f32[2,2], f32[2,2]) tuple(u, l) }",
      "linear-algebra-expander", HLO_CHOLESKY);
}

static void test_random_numbers(void **state) {
  (void)state;
  testing_expect_same(
      "HloModule m\nENTRY e { l = f32[] constant(-2) h = f32[] constant(3)\n"
      "  u = f32[9] rng(l, h), distribution=rng_uniform n = f32[9] rng(l, h), distribution=rng_normal\n"
      "  s = u64[2] rng-get-and-update-state(), delta=5 t = u64[2] rng-get-and-update-state(), delta=1\n"
      "  ROOT r = (f32[9], f32[9], u64[2], u64[2]) tuple(u, n, s, t) }",
      "rng-expander,dead-code", HLO_RNG);
}

// With `last` the order counts: the later one, unless it is negative.
static void cumulative(const char *type, const char *shape, const char *operation, const char *init,
                       const char *window) {
  char text[1024];
  snprintf(text, sizeof text,
           "HloModule m\nf { a = %s[] parameter(0) b = %s[] parameter(1) ROOT add = %s[] add(a, b) }\n"
           "g { a = %s[] parameter(0) b = %s[] parameter(1) z = %s[] constant(0)\n"
           "  c = pred[] compare(b, z), direction=LT ROOT last = %s[] select(c, a, b) }\n"
           "h { a = %s[] parameter(0) b = %s[] parameter(1) ROOT r = %s[] maximum(a, b) }\n"
           "ENTRY e { x = %s%s parameter(0) i = %s[] constant(%s)\n"
           "  ROOT r = %s%s reduce-window(x, i), window={%s}, to_apply=%s }",
           type, type, type, type, type, type, type, type, type, type, type, shape, type, init, type, shape, window,
           operation);
  testing_expect_same(text, "cumulative-scan,map-inliner,dead-code", HLO_OPCODE_COUNT);
}

static void test_cumulative(void **state) {
  (void)state;
  cumulative("s32", "[100]", "f", "0", "size=100 pad=99_0");
  cumulative("f32", "[1000]", "f", "0", "size=1000 pad=999_0");
  cumulative("f32", "[1000]", "f", "0", "size=1000 pad=0_999");
  cumulative("f32", "[3,40,2]", "f", "0", "size=1x40x1 pad=0_0x39_0x0_0");
  cumulative("f32", "[3,40,2]", "f", "0", "size=1x45x1 pad=0_0x0_44x0_0");
  cumulative("s64", "[37,40]", "f", "0", "size=37x40 pad=0_36x39_0");
  cumulative("bf16", "[50]", "h", "1", "size=50 pad=49_0");
  cumulative("f32", "[70]", "g", "1", "size=70 pad=69_0");
  cumulative("f32", "[70]", "g", "-1", "size=70 pad=0_69");
  cumulative("f32", "[35,3]", "g", "-1", "size=35x3 pad=34_0x2_0");
  cumulative("f32", "[70]", "f", "0.25", "size=70 pad=69_0");
}

static void test_approximate_top_k(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "HloModule m\ng { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2)\n"
             "  d = s32[] parameter(3) ROOT r = pred[] compare(a, b), direction=GT }\n"
             "ENTRY e { x = f32[3,5] parameter(0) y = s32[3,5] parameter(1) l = f32[] constant(-inf) m = s32[] "
             "constant(-1)\n"
             "  ROOT r = (f32[%d,5], s32[%d,5]) custom-call(x, y, l, m), custom_call_target=\"PartialReduce\",\n"
             "    called_computations={g}, backend_config={\"reduction_dim\": 0} }",
             2 + 3 * k, 2 + 3 * k);
    testing_expect_same(text, "custom-call-expander,dead-code", HLO_CUSTOM_CALL);
  }
}

#define JOINED(x)                                                                         \
  " " x "z = pred[] compare(" x ", zero), direction=EQ " x "n = pred[] compare(" x ", " x \
  "), direction=NE"                                                                       \
  " " x "0 = f32[] select(" x "z, zero, " x ") " x "1 = f32[] select(" x "n, nan, " x "0)\n"

// Zeros of both signs, NaN of both signs and many equal elements, sorted with their places along a dim.
static void sorted_ends(const char *compare, const char *dims, int dimension, const char *slice, const char *result) {
  char text[2048];
  snprintf(text, sizeof text,
           "HloModule m\nc { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2)\n"
           "  j = s32[] parameter(3) k = bf16[] parameter(4) l = bf16[] parameter(5)\n"
           "  zero = f32[] constant(0) nan = f32[] constant(nan)\n" JOINED("a") JOINED("b") " ROOT r = pred[] %s }\n"
           "ENTRY e { p = f32%s parameter(0) v = bf16%s parameter(1)\n"
           "  none = f32[] constant(0) zero = f32%s broadcast(none), dimensions={} root = f32%s sqrt(p)\n"
           "  two = f32[] constant(2) twos = f32%s broadcast(two), dimensions={}\n"
           "  small = pred%s compare(p, twos), direction=LT q = f32%s multiply(p, zero)\n"
           "  x = f32%s select(small, root, q) places = s32%s iota(), iota_dimension=%d\n"
           "  s = (f32%s, s32%s, bf16%s) sort(x, places, v), dimensions={%d}, is_stable=true, to_apply=c\n"
           "  sx = f32%s get-tuple-element(s), index=0 si = s32%s get-tuple-element(s), index=1\n"
           "  sv = bf16%s get-tuple-element(s), index=2 fx = f32%s slice(sx), slice={%s}\n"
           "  fi = s32%s slice(si), slice={%s} fv = bf16%s slice(sv), slice={%s}\n"
           "  ROOT r = (f32%s, s32%s, bf16%s) tuple(fx, fi, fv) }",
           compare, dims, dims, dims, dims, dims, dims, dims, dims, dims, dimension, dims, dims, dims, dimension,
           dims, dims, dims, result, slice, result, slice, result, slice, result, result, result);
  testing_expect_same(text, "topk-rewriter", HLO_SORT);
}

static void test_top_k(void **state) {
  (void)state;
  static const char *const compare[] = {"compare(a1, b1), direction=LT, type=TOTALORDER",
                                        "compare(a1, b1), direction=GT, type=TOTALORDER",
                                        "compare(a, b), direction=LT, type=TOTALORDER", "compare(i, j), direction=GT",
                                        "compare(k, l), direction=GT, type=TOTALORDER"};
  for (size_t k = 0; k < sizeof compare / sizeof *compare; k++) {
    sorted_ends(compare[k], "[200]", 0, "[0:50]", "[50]");
    sorted_ends(compare[k], "[200]", 0, "[150:199:3]", "[17]");
    sorted_ends(compare[k], "[3,40,2]", 1, "[1:3], [2:9], [0:2]", "[2,7,2]");
    sorted_ends(compare[k], "[30,5]", 0, "[27:30], [0:4]", "[3,4]");
  }
}

static void test_dynamic_sizes(void **state) {
  (void)state;
  testing_expect_same(
      "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
      "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n"
      "ENTRY e { x = f32[8,5] parameter(0) y = f32[5,8] parameter(1) n = s32[] parameter(2) m = s32[] parameter(3)\n"
      "  z = f32[] constant(0) one = f32[] constant(1) c = s32[] constant(2) two = s32[] minimum(m, c)\n"
      "  d = f32[<=8,5] set-dimension-size(x, n), dimensions={0}\n"
      "  f = f32[<=8,<=5] set-dimension-size(d, two), dimensions={1} g = f32[<=8,<=5] negate(f)\n"
      "  t = f32[<=5,<=8] transpose(g), dimensions={1,0} s = f32[<=5] reduce(t, z), dimensions={1}, to_apply=add\n"
      "  v = f32[<=5,4] broadcast(s), dimensions={0} w = f32[4] reduce(v, one), dimensions={0}, to_apply=max\n"
      "  p = f32[5,5] dot(y, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  k = s32[] get-dimension-size(s), dimensions={0} l = s32[] get-dimension-size(v), dimensions={1}\n"
      "  ROOT r = (f32[4], s32[], s32[]) tuple(w, k, l) }",
      "dynamic-padder,dead-code", HLO_SET_DIMENSION_SIZE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_select_and_scatter), cmocka_unit_test(test_scan),
      cmocka_unit_test(test_ragged_dot),         cmocka_unit_test(test_scaled_dot),
      cmocka_unit_test(test_stochastic_convert), cmocka_unit_test(test_linear_algebra),
      cmocka_unit_test(test_random_numbers),     cmocka_unit_test(test_cumulative),
      cmocka_unit_test(test_approximate_top_k),  cmocka_unit_test(test_top_k),
      cmocka_unit_test(test_dynamic_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
