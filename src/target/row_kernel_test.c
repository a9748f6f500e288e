// Sweeps over rows: what kernels of reductions compute is what the interpreter computes.
#include "target/hero_testing.h"

#define REDUCERS                                                                      \
  "add { a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] add(a, b)\n}\n" \
  "max { a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] maximum(a, b)\n}\n"

// The text with every T that stands alone replaced by the type.
static const char *typed(arena *a, const char *source, const char *type) {
  text out = {0};
  for (const char *c = source; *c; c++) {
    if (*c == 'T' && (c[1] == '[' || c[1] == ' ') && (c == source || c[-1] == ' ' || c[-1] == '('))
      text_puts(&out, type);
    else text_putc(&out, *c);
  }
  const char *copy = arena_strdup(a, text_cstr(&out), out.size);
  text_free(&out);
  return copy;
}

static void check(const char *source, const char *type, hero_kind hero) {
  arena *a = arena_create();
  text all = {0};
  text_printf(&all, "HloModule m\n%s%s", typed(a, REDUCERS, type), typed(a, source, type));
  hero_testing_run(text_cstr(&all), hero, 0, NULL, NULL);
  text_free(&all);
  arena_destroy(a);
}

static void test_row_sums(void **state) {
  (void)state;
  static const int sizes[][2] = {{1, 8}, {3, 9}, {5, 15}, {4, 16}, {2, 17}, {7, 64}, {3, 100}, {2, 1000}, {33, 31}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    arena *a = arena_create();
    check(arena_printf(a,
                       "ENTRY e { p = T[%d,%d] parameter(0)\n  z = T[] constant(2)\n"
                       "  ROOT r = T[%d] reduce(p, z), dimensions={1}, to_apply=add\n}\n",
                       sizes[i][0], sizes[i][1], sizes[i][0]),
          "f32", HERO_REDUCTION);
    arena_destroy(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_row_sums)};
  return cmocka_run_group_tests(tests, 0, 0);
}
