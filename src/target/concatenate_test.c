// Concatenates, slices and groups of loops: kernels against the interpreter.
#include "target/hero_testing.h"

static void test_concatenates(void **state) {
  (void)state;
  static const char *const programs[] = {
      "ENTRY e {\n  a = f32[70] parameter(0)\n  b = f32[1] parameter(1)\n  c = f32[33] parameter(2)\n"
      "  ROOT r = f32[104] concatenate(a, b, c), dimensions={0}\n}\n",
      "ENTRY e {\n  a = f32[7,40,5] parameter(0)\n  b = f32[7,3,5] parameter(1)\n  z = f32[7,0,5] parameter(2)\n"
      "  ROOT r = f32[7,83,5] concatenate(a, b, z, a), dimensions={1}\n}\n",
      "ENTRY e {\n  a = bf16[13,130] parameter(0)\n  b = bf16[13,3] parameter(1)\n"
      "  ROOT r = bf16[13,133] concatenate(a, b), dimensions={1}\n}\n",
      "ENTRY e {\n  a = f32[13,64] parameter(0)\n  b = f32[13,70] parameter(1)\n  s = f32[134] parameter(2)\n"
      "  n = f32[13,64] negate(a)\n  c = f32[13,134] concatenate(n, b), dimensions={1}\n"
      "  t = f32[13,134] broadcast(s), dimensions={1}\n  d = f32[13,134] multiply(c, t)\n  e = f32[13,134] add(d, c)\n"
      "  f = f32[1742] bitcast(e)\n  ROOT r = (f32[13,134], f32[1742]) tuple(d, f)\n}\n",
      "ENTRY e {\n  a = f32[8,64] parameter(0)\n  b = s32[8,64] parameter(1)\n  m = f32[8,64] multiply(a, a)\n"
      "  c = f32[16,64] concatenate(a, m), dimensions={0}\n  g = s32[16,64] concatenate(b, b), dimensions={0}\n"
      "  ROOT r = (f32[16,64], s32[16,64]) tuple(c, g)\n}\n",
      "ENTRY e {\n  a = s4[9,7] parameter(0)\n  b = s4[9,7] parameter(1)\n"
      "  ROOT r = s4[18,7] concatenate(a, b), dimensions={0}\n}\n",
      "ENTRY e {\n  a = pred[2,1000] parameter(0)\n  b = pred[2,17] parameter(1)\n"
      "  ROOT r = pred[2,1017] concatenate(a, b), dimensions={1}\n}\n",
      "ENTRY e {\n  a = c64[3,20] parameter(0)\n  b = c64[3,21] parameter(1)\n"
      "  ROOT r = c64[3,41] concatenate(a, b), dimensions={1}\n}\n",
      "ENTRY e {\n  a = f32[2,9000] parameter(0)\n  b = f32[2,5001] parameter(1)\n"
      "  ROOT r = f32[2,14001] concatenate(a, b), dimensions={1}\n}\n",
      "ENTRY e {\n  a = f32[1,2,1,3,1,2,1,2,1,5] parameter(0)\n  b = f32[1,2,1,3,1,2,1,2,1,7] parameter(1)\n"
      "  ROOT r = f32[1,2,1,3,1,2,1,2,1,12] concatenate(a, b), dimensions={9}\n}\n",
  };
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    text source = {0};
    text_printf(&source, "HloModule m\n%s", programs[i]);
    hero_testing_run(text_cstr(&source), HERO_CONCATENATE, 0, NULL, NULL);
    text_free(&source);
  }
}

static void test_consumers_that_move_elements_are_left_to_the_loop(void **state) {
  (void)state;
  hero_testing_run(
      "HloModule m\nENTRY e {\n  a = f32[7,40] parameter(0)\n  b = f32[7,3] parameter(1)\n"
      "  c = f32[7,43] concatenate(a, b), dimensions={1}\n  ROOT r = f32[43,7] transpose(c), dimensions={1,0}\n}\n",
      HERO_LOOP, 0, NULL, NULL);
}

static void test_input_slices(void **state) {
  (void)state;
  static const char *const programs[] = {
      "ENTRY e {\n  a = f32[20,96] parameter(0)\n  b = f32[96] parameter(1)\n"
      "  c = f32[20,96] broadcast(b), dimensions={1}\n  d = f32[20,96] add(a, c)\n"
      "  q = f32[20,32] slice(d), slice={[0:20], [0:32]}\n  k = f32[20,32] slice(d), slice={[0:20], [32:64]}\n"
      "  v = f32[20,32] slice(d), slice={[0:20], [64:96]}\n  w = f32[640] bitcast(v)\n"
      "  ROOT r = (f32[20,32], f32[20,32], f32[640]) tuple(q, k, w)\n}\n",
      "ENTRY e {\n  a = s8[64,30] parameter(0)\n  q = s8[3,30] slice(a), slice={[1:10:3], [0:30]}\n"
      "  k = s8[64,9] slice(a), slice={[0:64], [2:20:2]}\n  z = s8[64,0] slice(a), slice={[0:64], [2:2]}\n"
      "  ROOT r = (s8[3,30], s8[64,9], s8[64,0]) tuple(q, k, z)\n}\n",
      "ENTRY e {\n  a = bf16[4,5000] parameter(0)\n  ROOT q = bf16[3,4099] slice(a), slice={[1:4], [900:4999]}\n}\n",
  };
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    text source = {0};
    text_printf(&source, "HloModule m\n%s", programs[i]);
    hero_testing_run(text_cstr(&source), HERO_LOOPS, 0, NULL, NULL);
    text_free(&source);
  }
}

// Rows of a slice that hold no vector, but whose length is no power of two, are copied one by one all the same.
static void test_short_slices(void **state) {
  (void)state;
  static const struct {
    const char *program;
    int64_t contiguous;
  } cases[] = {
      {"ENTRY e {\n  a = s8[900,13] parameter(0)\n  ROOT q = s8[900,10] slice(a), slice={[0:900], [2:12]}\n}\n", 10},
      {"ENTRY e {\n  a = f32[900,8] parameter(0)\n  ROOT q = f32[900,5] slice(a), slice={[0:900], [2:7]}\n}\n", 5},
      {"ENTRY e {\n  a = f32[900,8] parameter(0)\n  ROOT q = f32[900,4] slice(a), slice={[0:900], [2:6]}\n}\n", 3600},
      {"ENTRY e {\n  a = f32[900,8] parameter(0)\n  ROOT q = f32[900,3] slice(a), slice={[0:900], [2:5]}\n}\n", 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    text source = {0};
    text_printf(&source, "HloModule m\n%s", cases[i].program);
    hero_testing t = hero_testing_start(text_cstr(&source), 0, NULL);
    assert_int_equal(t.plan->hero, HERO_LOOPS);
    assert_int_equal(t.plan->details.loops.blocks[0].contiguous, cases[i].contiguous);
    hero_testing_check(&t, text_cstr(&source), (int[]){4});
    hero_testing_end(&t);
    text_free(&source);
  }
}

static void test_groups_of_loops(void **state) {
  (void)state;
  hero_testing_run(
      "HloModule m\nENTRY e {\n  a = f32[20,30] parameter(0)\n  b = f32[7000] parameter(1)\n  s = f32[] parameter(2)\n"
      "  c = f32[20,30] broadcast(s), dimensions={}\n  d = f32[20,30] multiply(a, c)\n"
      "  e = f32[7000] broadcast(s), dimensions={}\n  f = f32[7000] subtract(b, e)\n  g = s32[7000] convert(f)\n"
      "  h = f32[600] bitcast(d)\n  i = f32[] negate(s)\n  z = f32[0,3] broadcast(s), dimensions={}\n"
      "  ROOT r = (f32[20,30], f32[7000], s32[7000], f32[600], f32[], f32[0,3]) tuple(d, f, g, h, i, z)\n}\n",
      HERO_LOOPS, 0, NULL, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_concatenates),    cmocka_unit_test(test_consumers_that_move_elements_are_left_to_the_loop),
      cmocka_unit_test(test_input_slices),    cmocka_unit_test(test_short_slices),
      cmocka_unit_test(test_groups_of_loops),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
