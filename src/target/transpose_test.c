// Transposes: kernels against the interpreter.
#include "target/hero_testing.h"

static void check(const char *program, hero_kind hero) {
  text source = {0};
  text_printf(&source, "HloModule m\n%s", program);
  hero_testing_run(text_cstr(&source), hero, 0, NULL, NULL);
  text_free(&source);
}

static void check_plain(const char *type, const char *from, const char *permutation, const char *to, hero_kind hero) {
  text program = {0};
  text_printf(&program, "ENTRY e {\n  p = %s[%s] parameter(0)\n  ROOT r = %s[%s] transpose(p), dimensions={%s}\n}\n",
              type, from, type, to, permutation);
  check(text_cstr(&program), hero);
  text_free(&program);
}

static void test_types(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "bf16", "f16", "f64", "s8", "u32", "pred", "f8e4m3fn", "c64", "c128"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    check_plain(types[i], "64,128", "1,0", "128,64", HERO_TRANSPOSE);
    check_plain(types[i], "37,85", "1,0", "85,37", HERO_TRANSPOSE);
  }
}

// Tiles write whole bytes, or there are none.
static void test_packed(void **state) {
  (void)state;
  static const char *const types[] = {"s4", "u4", "s2", "u2", "f4e2m1fn"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    check_plain(types[i], "64,128", "1,0", "128,64", HERO_TRANSPOSE);
    check_plain(types[i], "3,36,85", "0,2,1", "3,85,36", HERO_TRANSPOSE);
    check_plain(types[i], "37,85", "1,0", "85,37", HERO_LOOP);
  }
  check_plain("s2", "38,85", "1,0", "85,38", HERO_LOOP);
  check_plain("f6e2m3fn", "37,85", "1,0", "85,37", HERO_TRANSPOSE);
  check(
      "ENTRY e {\n  p = s4[50,70] parameter(0)\n  q = s8[50,70] convert(p)\n"
      "  t = s4[70,50] transpose(p), dimensions={1,0}\n  u = s8[70,50] transpose(q), dimensions={1,0}\n"
      "  v = s4[3500] bitcast(t)\n  ROOT r = (s4[3500], s8[70,50]) tuple(v, u)\n}\n",
      HERO_TRANSPOSE);
}

// Several short dims are one side.
static void test_short_dims(void **state) {
  (void)state;
  check_plain("f32", "4,4,4,4", "3,2,1,0", "4,4,4,4", HERO_TRANSPOSE);
  check_plain("f32", "4,4,4", "2,1,0", "4,4,4", HERO_LOOP);
  check_plain("bf16", "3,5,2,7,4,3", "4,1,5,0,3,2", "4,5,3,3,7,2", HERO_TRANSPOSE);
  check_plain("f32", "2,2,2,2,2,2,2,2,2,2,2,2", "11,10,9,8,7,6,5,4,3,2,1,0", "2,2,2,2,2,2,2,2,2,2,2,2", HERO_TRANSPOSE);
  check_plain("c64", "2,3,2,3,2,3,2,3,2,3", "9,4,7,2,5,0,8,3,1,6", "3,2,3,2,3,2,2,3,3,2", HERO_TRANSPOSE);
}

static void test_shapes(void **state) {
  (void)state;
  check_plain("f32", "20,160,170", "0,2,1", "20,170,160", HERO_TRANSPOSE);
  check_plain("f32", "20,16,17", "2,1,0", "17,16,20", HERO_TRANSPOSE);
  check_plain("f32", "4,9,3,10", "3,2,0,1", "10,3,4,9", HERO_TRANSPOSE);
  check_plain("f32", "4,9,1,10,2", "3,4,0,2,1", "10,2,4,1,9", HERO_TRANSPOSE);
  check_plain("f32", "8,8", "1,0", "8,8", HERO_TRANSPOSE);
  check_plain("f32", "9,700", "1,0", "700,9", HERO_TRANSPOSE);
  check_plain("f32", "1,2,1,3,1,2,1,2,9,5", "9,8,7,6,5,4,3,2,1,0", "5,9,2,1,2,1,3,1,2,1", HERO_TRANSPOSE);
  check_plain("f32", "1,2,1,3,1,2,1,2,9,15", "9,8,7,6,5,4,3,2,1,0", "15,9,2,1,2,1,3,1,2,1", HERO_TRANSPOSE);
  check_plain("f32", "12,1,3,1,2,1,2,1,9,15", "9,8,7,6,5,4,3,2,1,0", "15,9,1,2,1,2,1,3,1,12", HERO_TRANSPOSE);
  check_plain("f32", "3,700", "1,0", "700,3", HERO_LOOP);
  check_plain("f32", "1,700", "1,0", "700,1", HERO_LOOP);
  check_plain("f32", "0,700", "1,0", "700,0", HERO_LOOP);
}

static void test_producers_and_consumers(void **state) {
  (void)state;
  check(
      "ENTRY e {\n  p = f32[20,60,70] parameter(0)\n  n = f32[20,60,70] negate(p)\n"
      "  t = f32[20,70,60] transpose(n), dimensions={0,2,1}\n  ROOT a = f32[20,70,60] abs(t)\n}\n",
      HERO_TRANSPOSE);
  check(
      "ENTRY e {\n  p = f32[128,64] parameter(0)\n  b = f32[64] parameter(1)\n  q = f32[64,128] parameter(2)\n"
      "  c = f32[128,64] broadcast(b), dimensions={1}\n  n = f32[128,64] multiply(p, c)\n"
      "  t = f32[64,128] transpose(n), dimensions={1,0}\n  a = f32[64,128] add(t, q)\n  z = bf16[64,128] convert(a)\n"
      "  f = f32[8192] bitcast(a)\n  m = f32[64,128] negate(q)\n"
      "  ROOT r = (f32[8192], bf16[64,128], f32[64,128], f32[64,128]) tuple(f, z, t, m)\n}\n",
      HERO_TRANSPOSE);
  check(
      "ENTRY e {\n  p = f32[128,64] parameter(0)\n  t = f32[64,128] transpose(p), dimensions={1,0}\n"
      "  ROOT f = f32[64,2,64] bitcast(t)\n}\n",
      HERO_TRANSPOSE);
}

static void test_several_transposes(void **state) {
  (void)state;
  check(
      "ENTRY e {\n  p = f32[50,70] parameter(0)\n  q = s8[50,70] parameter(1)\n  e = f32[50,70] abs(p)\n"
      "  t = f32[70,50] transpose(p), dimensions={1,0}\n  u = s8[70,50] transpose(q), dimensions={1,0}\n"
      "  v = f32[70,50] transpose(e), dimensions={1,0}\n  w = f32[70,50] subtract(t, v)\n"
      "  ROOT r = (f32[70,50], s8[70,50]) tuple(w, u)\n}\n",
      HERO_TRANSPOSE);
  check(
      "ENTRY e {\n  p = f32[64,64] parameter(0)\n  q = s16[64,64] parameter(1)\n"
      "  t = f32[64,64] transpose(p), dimensions={1,0}\n  u = s16[64,64] transpose(q), dimensions={1,0}\n"
      "  ROOT r = (s16[64,64], f32[64,64]) tuple(u, t)\n}\n",
      HERO_TRANSPOSE);
  check(
      "ENTRY e {\n  p = f32[50,70] parameter(0)\n  t = f32[70,50] transpose(p), dimensions={1,0}\n"
      "  r = f32[50,70] transpose(t), dimensions={1,0}\n  ROOT n = f32[50,70] negate(r)\n}\n",
      HERO_TRANSPOSE);
}

static void check_pair(const char *type, const char *second, hero_kind hero) {
  text program = {0};
  text_printf(&program,
              "ENTRY e {\n  p = %s[5,6,20,33] parameter(0)\n  q = %s[%s\n"
              "  n = %s[5,6,20,33] multiply(p, p)\n  s = %s[6,5,33,20] transpose(n), dimensions={1,0,3,2}\n"
              "  ROOT r = (%s[6,5,33,20], %s[6,5,33,20]) tuple(s, t)\n}\n",
              type, type, second, type, type, type, type);
  check(text_cstr(&program), hero);
  text_free(&program);
}

// Two permutations share tiles if operands and results end alike; else one of them is read where it is.
static void test_two_permutations(void **state) {
  (void)state;
  check_pair("f32", "6,5,20,33] parameter(1)\n  t = f32[6,5,33,20] transpose(q), dimensions={0,1,3,2}", HERO_TRANSPOSE);
  check_pair("s16", "20,6,5,33] parameter(1)\n  t = s16[6,5,33,20] transpose(q), dimensions={1,2,3,0}", HERO_TRANSPOSE);
  check_pair("c64", "5,20,6,33] parameter(1)\n  t = c64[6,5,33,20] transpose(q), dimensions={2,0,3,1}", HERO_TRANSPOSE);
  check_pair("f64", "20,33,5,6] parameter(1)\n  t = f64[6,5,33,20] transpose(q), dimensions={3,2,1,0}", HERO_TRANSPOSE);
  check_pair("f32", "5,6,33,20] parameter(1)\n  t = f32[6,5,33,20] transpose(q), dimensions={1,0,2,3}", HERO_TRANSPOSE);
}

// Large results go past the caches.
static void test_streams(void **state) {
  (void)state;
  check_plain("f64", "1024,4096", "1,0", "4096,1024", HERO_TRANSPOSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_packed),
      cmocka_unit_test(test_short_dims),
      cmocka_unit_test(test_two_permutations),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_producers_and_consumers),
      cmocka_unit_test(test_several_transposes),
      cmocka_unit_test(test_streams),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
