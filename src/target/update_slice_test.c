// dynamic-update-slice in place: kernels against the interpreter.
#include "target/hero_testing.h"

static const kernel_alias in_place[] = {{0, 0}, {1, 1}};

static const char *const types[] = {"f32", "bf16", "f64", "s8", "pred", "s4", "c64", "f8e5m2", "u16"};

static void check(const char *type, const char *array, const char *update, int rank, const char *body) {
  arena *a = arena_create();
  text starts = {0}, declared = {0}, zeros = {0};
  for (int d = 0; d < rank; d++) {
    text_printf(&declared, "  s%d = s32[] parameter(%d)\n", d, 2 + d);
    text_printf(&starts, ", s%d", d);
    text_printf(&zeros, "%s s%d", d ? "," : "", d);
  }
  const char *source = arena_printf(a,
                                    "HloModule m\nENTRY e {\n  p = %s[%s] parameter(0)\n  w = %s[%s] parameter(1)\n%s%s"
                                    "  ROOT r = %s[%s] dynamic-update-slice(p, %s%s)\n}\n",
                                    type, array, type, update, text_cstr(&declared), body, type, array,
                                    body[0] ? "u" : "w", text_cstr(&starts));
  const int limits[] = {4, 4, 9, 9, 9, 9, 9, 9};
  hero_testing_run(source, HERO_UPDATE_SLICE, 1, in_place, limits);
  text_free(&starts), text_free(&declared), text_free(&zeros);
  arena_destroy(a);
}

static void test_windows(void **state) {
  (void)state;
  static const struct {
    const char *array, *update;
    int rank;
  } cases[] = {{"100", "37", 1},          {"40,33", "7,33", 2}, {"40,33", "7,20", 2}, {"9,10,65", "9,1,65", 3},
               {"5,6,7,8", "5,2,3,8", 4}, {"1", "1", 1},        {"8,4096", "8,1", 2}, {"3,9000", "2,8999", 2},
               {"16,16", "16,16", 2},     {"40,33", "40,0", 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check("f32", cases[i].array, cases[i].update, cases[i].rank, "");
}

static void test_types(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) check(types[i], "12,70", "5,67", 2, "");
}

static void test_update_reads_the_place_it_overwrites(void **state) {
  (void)state;
  check("f32", "30,50", "7,41", 2,
        "  o = f32[7,41] dynamic-slice(p, s0, s1), dynamic_slice_sizes={7,41}\n  u = f32[7,41] multiply(o, w)\n");
}

static void test_several_updates(void **state) {
  (void)state;
  const int limits[] = {4, 4, 9};
  hero_testing_run(
      "HloModule m\nENTRY e {\n  p = f32[9,40] parameter(0)\n  q = bf16[6,40] parameter(1)\n  s = s64[] parameter(2)\n"
      "  z = s64[] constant(0)\n\n  b = f32[] constant(3)\n"
      "  u = f32[2,40] broadcast(b), dimensions={}\n  v = bf16[2,40] convert(u)\n"
      "  d = f32[9,40] dynamic-update-slice(p, u, s, z)\n  f = bf16[6,40] dynamic-update-slice(q, v, s, z)\n"
      "  g = bf16[240] bitcast(f)\n  ROOT t = (f32[9,40], bf16[240]) tuple(d, g)\n}\n",
      HERO_UPDATE_SLICE, 2, in_place, limits);
}

static void test_without_shared_memory_every_element_is_written(void **state) {
  (void)state;
  const int limits[] = {4, 4, 9, 9};
  hero_testing_run(
      "HloModule m\nENTRY e {\n  p = f32[9,40] parameter(0)\n  w = f32[2,4] parameter(1)\n  s = s32[] parameter(2)\n"
      "  t = s32[] parameter(3)\n  ROOT d = f32[9,40] dynamic-update-slice(p, w, s, t)\n}\n",
      HERO_LOOP, 0, NULL, limits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_update_reads_the_place_it_overwrites),
      cmocka_unit_test(test_several_updates),
      cmocka_unit_test(test_without_shared_memory_every_element_is_written),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
