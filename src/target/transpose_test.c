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
  check_plain("s4", "37,85", "1,0", "85,37", HERO_LOOP);
}

static void test_shapes(void **state) {
  (void)state;
  check_plain("f32", "20,160,170", "0,2,1", "20,170,160", HERO_TRANSPOSE);
  check_plain("f32", "20,16,17", "2,1,0", "17,16,20", HERO_TRANSPOSE);
  check_plain("f32", "4,9,3,10", "3,2,0,1", "10,3,4,9", HERO_TRANSPOSE);
  check_plain("f32", "4,9,1,10,2", "3,4,0,2,1", "10,2,4,1,9", HERO_TRANSPOSE);
  check_plain("f32", "8,8", "1,0", "8,8", HERO_TRANSPOSE);
  check_plain("f32", "9,700", "1,0", "700,9", HERO_TRANSPOSE);
  check_plain("f32", "1,2,1,3,1,2,1,2,9,5", "9,8,7,6,5,4,3,2,1,0", "5,9,2,1,2,1,3,1,2,1", HERO_LOOP);
  check_plain("f32", "1,2,1,3,1,2,1,2,9,15", "9,8,7,6,5,4,3,2,1,0", "15,9,2,1,2,1,3,1,2,1", HERO_LOOP);
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

// Large results go past the caches.
static void test_streams(void **state) {
  (void)state;
  check_plain("f64", "1024,4096", "1,0", "4096,1024", HERO_TRANSPOSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_producers_and_consumers),
      cmocka_unit_test(test_several_transposes),
      cmocka_unit_test(test_streams),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
