// Loops in runs: kernels against the interpreter.
#include "target/hero_testing.h"

static void check(const char *type, const char *program, bool is_blocked) {
  text source = {0};
  text_puts(&source, "HloModule m\n");
  for (const char *p = program; *p; p++) {
    if (*p == '$') text_puts(&source, type);
    else text_putc(&source, *p);
  }
  hero_testing t = hero_testing_start(text_cstr(&source), 0, NULL);
  assert_int_equal(t.plan->hero, HERO_LOOP);
  if (t.plan->details.loop.is_blocked != is_blocked) fail_msg("%s\nin runs: %d", text_cstr(&source), !is_blocked);
  hero_testing_check(&t, text_cstr(&source), (int[]){4, 4, 30, 4});
  hero_testing_end(&t);
  text_free(&source);
}

static const char *const types[] = {"f32", "bf16", "s8", "pred", "f64", "s4"};

static void test_broadcasts(void **state) {
  (void)state;
  const char *rows =
      "ENTRY e {\n  p = $[70,100] parameter(0)\n  q = $[100] parameter(1)\n"
      "  b = $[70,100] broadcast(q), dimensions={1}\n  ROOT r = $[70,100] maximum(p, b)\n}\n";
  const char *columns =
      "ENTRY e {\n  p = $[70,100] parameter(0)\n  q = $[70] parameter(1)\n"
      "  b = $[70,100] broadcast(q), dimensions={0}\n  ROOT r = $[70,100] maximum(p, b)\n}\n";
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    check(types[i], rows, true);
    check(types[i], columns, true);
  }
  check("f32",
        "ENTRY e {\n  p = f32[70,128] parameter(0)\n  q = f32[128] parameter(1)\n"
        "  b = f32[70,128] broadcast(q), dimensions={1}\n  ROOT r = f32[70,128] maximum(p, b)\n}\n",
        false);
}

static void test_moves(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    check(types[i],
          "ENTRY e {\n  p = $[8,9,3,50] parameter(0)\n  ROOT r = $[8,3,9,50] transpose(p), dimensions={0,2,1,3}\n}\n",
          true);
    check(types[i],
          "ENTRY e {\n  p = $[70,100] parameter(0)\n  z = $[] constant(1)\n"
          "  ROOT r = $[72,105] pad(p, z), padding=1_1x2_3\n}\n",
          true);
    check(types[i],
          "ENTRY e {\n  p = $[70,150] parameter(0)\n  i = s32[] parameter(1)\n  j = s32[] parameter(2)\n"
          "  d = $[66,101] dynamic-slice(p, i, j), dynamic_slice_sizes={66,101}\n"
          "  s = $[66,101] slice(p), slice={[2:68], [9:110]}\n  ROOT r = $[66,101] maximum(d, s)\n}\n",
          true);
  }
  check("f32",
        "ENTRY e {\n  p = f32[70,100] parameter(0)\n  w = f32[9,40] parameter(1)\n  i = s32[] parameter(2)\n"
        "  j = s32[] parameter(3)\n  ROOT d = f32[70,100] dynamic-update-slice(p, w, i, j)\n}\n",
        true);
}

// A flat loop divides by the length of rows that are no whole vectors.
static void test_short_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    check(types[i],
          "ENTRY e {\n  p = $[6,100,9] parameter(0)\n  ROOT r = $[100,6,9] transpose(p), dimensions={1,0,2}\n}\n",
          true);
  check("f32",
        "ENTRY e {\n  p = f32[2000,4] parameter(0)\n  q = f32[4] parameter(1)\n"
        "  b = f32[2000,4] broadcast(q), dimensions={1}\n  ROOT r = f32[2000,4] maximum(p, b)\n}\n",
        false);
}

// One row of the operand per row of the result, or an element here and there.
static void test_gathers(void **state) {
  (void)state;
  check("f32",
        "ENTRY e {\n  p = f32[40,100] parameter(0)\n  i = s32[60,1] parameter(2)\n  q = f32[4] parameter(1)\n"
        "  g = f32[60,1,100] gather(p, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1,100}\n  ROOT n = f32[60,1,100] negate(g)\n}\n",
        true);
  // The result has a dim of one element less.
  check("f32",
        "ENTRY e {\n  p = f32[40,100] parameter(0)\n  i = s32[60,1] parameter(2)\n  q = f32[4] parameter(1)\n"
        "  g = f32[60,1,100] gather(p, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1,100}\n  s = f32[60,100] reshape(g)\n"
        "  ROOT n = f32[60,100] negate(s)\n}\n",
        true);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    check(types[i],
          "ENTRY e {\n  p = $[40,5] parameter(0)\n  i = s32[1000,1] parameter(2)\n  q = $[4] parameter(1)\n"
          "  ROOT g = $[1000,5] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
          "index_vector_dim=1, slice_sizes={1,5}\n}\n",
          true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_broadcasts),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_short_rows),
      cmocka_unit_test(test_gathers),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
