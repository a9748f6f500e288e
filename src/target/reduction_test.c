// Passes over rows and columns: what kernels of reductions compute is what the interpreter computes.
#include "target/hero_testing.h"

static const char sum[] = "add { a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] add(a, b)\n}\n";

// Complex numbers have no order.
static const char ordering[] =
    "max { a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] maximum(b, a)\n}\n"
    "min { a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] minimum(a, b)\n}\n"
    "odd { a = T[] parameter(0)\n  b = T[] parameter(1)\n  c = T[] add(a, a)\n  ROOT r = T[] subtract(c, b)\n}\n"
    "both { a = T[] parameter(0)\n  b = T[] parameter(1)\n  c = T[] parameter(2)\n  d = T[] parameter(3)\n"
    "  e = T[] add(a, c)\n  f = T[] maximum(b, d)\n  ROOT t = (T[], T[]) tuple(e, f)\n}\n"
    "argmax { a = T[] parameter(0)\n  i = s32[] parameter(1)\n  b = T[] parameter(2)\n  j = s32[] parameter(3)\n"
    "  g = pred[] compare(a, b), direction=GT\n  n = pred[] compare(a, a), direction=NE\n  o = pred[] or(g, n)\n"
    "  q = pred[] compare(a, b), direction=EQ\n  l = pred[] compare(i, j), direction=LT\n  w = pred[] and(q, l)\n"
    "  k = pred[] or(o, w)\n  v = T[] select(o, a, b)\n  x = s32[] select(k, i, j)\n"
    "  ROOT t = (T[], s32[]) tuple(v, x)\n}\n";

// The text with every T that stands for the type replaced by it.
static void put_typed(text *out, const char *source, const char *type) {
  for (const char *c = source; *c; c++) {
    if (*c == 'T' && c[1] == '[') text_puts(out, type);
    else text_putc(out, *c);
  }
}

// `entry` is the entry's text with T for the type.
static void check_within(const char *entry, const char *type, hero_kind hero, double tolerance) {
  text all = {0};
  text_puts(&all, "HloModule m\n");
  put_typed(&all, sum, type);
  if (type[0] != 'c') put_typed(&all, ordering, type);
  put_typed(&all, entry, type);
  const char *source = text_cstr(&all);
  hero_testing t = hero_testing_start(source, 0, NULL);
  if (t.plan->hero != hero) fail_msg("%s\nis a %s", source, kernel_hero_name(t.plan->hero));
  hero_testing_check_within(&t, source, NULL, tolerance, tolerance);
  hero_testing_end(&t);
  text_free(&all);
}

static void check(const char *entry, const char *type, hero_kind hero) { check_within(entry, type, hero, 0); }

static void check_printed(const char *type, hero_kind hero, double tolerance, const char *format, ...) {
  text entry = {0};
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(&entry, format, arguments);
  va_end(arguments);
  check_within(text_cstr(&entry), type, hero, tolerance);
  text_free(&entry);
}

// --- rows

static void test_row_sums(void **state) {
  (void)state;
  static const int sizes[][2] = {{1, 8}, {3, 9}, {5, 15}, {4, 16}, {2, 17}, {7, 64}, {3, 100}, {2, 1000}, {33, 31}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    check_printed("f32", HERO_REDUCTION, 0,
                  "ENTRY e { p = T[%d,%d] parameter(0)\n  z = T[] constant(2)\n"
                  "  ROOT r = T[%d] reduce(p, z), dimensions={1}, to_apply=add\n}\n",
                  sizes[i][0], sizes[i][1], sizes[i][0]);
}

static void test_row_types(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "f64", "bf16", "f16", "s32", "s8", "u8", "pred", "s4", "f8e5m2"};
  static const char *const names[] = {"add", "max", "min"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    for (size_t k = i < 4 ? 0 : i % 3; k < (i < 4 ? 3 : i % 3 + 1); k++)
      check_printed(types[i], HERO_REDUCTION, 0,
                    "ENTRY e { p = T[5,70] parameter(0)\n  z = T[] constant(%s)\n"
                    "  ROOT r = T[5] reduce(p, z), dimensions={1}, to_apply=%s\n}\n",
                    strcmp(types[i], "pred") == 0 ? "false" : "1", names[k]);
  check_printed("c64", HERO_REDUCTION, 0,
                "ENTRY e { p = T[5,70] parameter(0)\n  z = T[] constant((1, 2))\n"
                "  a = T[5,70] negate(p)\n  r = T[5] reduce(a, z), dimensions={1}, to_apply=add\n"
                "  ROOT t = (T[5], T[5,70]) tuple(r, a)\n}\n");
}

static void test_row_dims(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *dimensions;
  } cases[] = {{"2,3,40", "2,3", "2"},         {"2,3,40", "2", "1,2"},
               {"6,5,4,3,20", "5,3", "0,2,4"}, {"7,1,33", "7,1", "2"},
               {"1,1,33", "1,1", "2"},         {"50", "", "0"},
               {"4,5,6", "", "0,1,2"},         {"3,2,1,2,2,1,2,3,1,9", "3,1,2,1,1", "1,3,6,7,9"},
               {"3,8,1", "3", "1,2"},          {"4,5,32", "5", "0,2"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_printed("f32", HERO_REDUCTION, 0,
                  "ENTRY e { p = T[%s] parameter(0)\n  z = T[] parameter(1)\n"
                  "  ROOT r = T[%s] reduce(p, z), dimensions={%s}, to_apply=add\n}\n",
                  cases[i].from, cases[i].to, cases[i].dimensions);
}

static void test_row_neighbours(void **state) {
  (void)state;
  // Producers, side outputs, an epilogue, several reductions, one of two values.
  check(
      "ENTRY e { p = T[6,90] parameter(0)\n  q = T[90] parameter(1)\n  z = T[] constant(0)\n"
      "  b = T[6,90] broadcast(q), dimensions={1}\n  x = T[6,90] add(p, b)\n  y = T[6,90] multiply(x, x)\n"
      "  r = T[6] reduce(x, z), dimensions={1}, to_apply=add\n  s = T[6] reduce(y, z), dimensions={1}, to_apply=max\n"
      "  v = (T[6], T[6]) reduce(y, x, z, z), dimensions={1}, to_apply=both\n"
      "  g = T[6] get-tuple-element(v), index=0\n  h = T[6] get-tuple-element(v), index=1\n"
      "  u = T[6] subtract(r, h)\n  w = T[2,3] reshape(u)\n  d = T[540] bitcast(y)\n  f = T[6] negate(s)\n"
      "  ROOT t = (T[2,3], T[6], T[6], T[540], T[6,90]) tuple(w, f, g, d, x)\n}\n",
      "f32", HERO_REDUCTION);
  check(
      "ENTRY e { p = T[90,6] parameter(0)\n  z = T[] constant(0)\n  x = T[6,90] transpose(p), dimensions={1,0}\n"
      "  ROOT r = T[6] reduce(x, z), dimensions={1}, to_apply=add\n}\n",
      "f32", HERO_REDUCTION);
}

static void test_row_arguments(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "bf16", "f64", "s32", "s8"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    bool is_float = types[i][0] != 's';
    for (int n = 8; n < (i == 0 ? 200 : 20); n = n * 2 + 3)
      check_printed(types[i], HERO_REDUCTION, 0,
                    "ENTRY e { p = T[7,%d] parameter(0)\n  i = s32[7,%d] iota(), iota_dimension=1\n"
                    "  m = T[] constant(%s)\n  z = s32[] constant(0)\n"
                    "  ROOT r = (T[7], s32[7]) reduce(p, i, m, z), dimensions={1}, to_apply=argmax\n}\n",
                    n, n, is_float ? "-inf" : "-128");
  }
}

static void test_ordered_reducers(void **state) {
  (void)state;
  check(
      "ENTRY e { p = T[3,20] parameter(0)\n  z = T[] constant(1)\n"
      "  r = T[3] reduce(p, z), dimensions={1}, to_apply=odd\n  b = T[3,20] broadcast(r), dimensions={0}\n"
      "  ROOT s = T[3,20] subtract(p, b)\n}\n",
      "s32", HERO_REDUCTION);
}

// --- several passes

static void test_softmax(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "f64", "bf16", "f16"};
  static const double tolerances[] = {1e-6, 1e-6, 1e-2, 2e-3};
  static const int sizes[] = {100, 3, 33, 64, 257};
  for (size_t k = 0; k < 4; k++) {
    for (size_t i = 0; i < (k == 0 ? sizeof sizes / sizeof *sizes : 1); i++) {
      int n = sizes[i];
      check_printed(types[k], HERO_REDUCTION, tolerances[k],
                    "ENTRY e { p = T[2,3,%d] parameter(0)\n  z = T[] constant(0)\n  l = T[] constant(-inf)\n"
                    "  m = T[2,3] reduce(p, l), dimensions={2}, to_apply=max\n"
                    "  b = T[2,3,%d] broadcast(m), dimensions={0,1}\n  d = T[2,3,%d] subtract(p, b)\n"
                    "  x = T[2,3,%d] exponential(d)\n  s = T[2,3] reduce(x, z), dimensions={2}, to_apply=add\n"
                    "  c = T[2,3,%d] broadcast(s), dimensions={0,1}\n  ROOT q = T[2,3,%d] divide(x, c)\n}\n",
                    n, n, n, n, n, n);
    }
  }
}

static void test_layer_norm(void **state) {
  (void)state;
  // Kept values with a home of another type: a buffer.
  check_within(
      "ENTRY e { p = T[4,50] parameter(0)\n  g = T[50] parameter(1)\n  z = T[] constant(0)\n"
      "  k = T[] constant(50)\n  y = T[4,50] tanh(p)\n  s = T[4] reduce(y, z), dimensions={1}, to_apply=add\n"
      "  ks = T[4] broadcast(k), dimensions={}\n  m = T[4] divide(s, ks)\n"
      "  mb = T[4,50] broadcast(m), dimensions={0}\n  d = T[4,50] subtract(y, mb)\n"
      "  e = T[4,50] multiply(d, d)\n  v = T[4] reduce(e, z), dimensions={1}, to_apply=add\n"
      "  w = T[4] divide(v, ks)\n  r = T[4] rsqrt(w)\n  rb = T[4,50] broadcast(r), dimensions={0}\n"
      "  n = T[4,50] multiply(d, rb)\n  gb = T[4,50] broadcast(g), dimensions={1}\n"
      "  o = T[4,50] multiply(n, gb)\n  c = bf16[4,50] convert(o)\n  f = bf16[200] reshape(c)\n"
      "  ROOT t = (bf16[200], T[4], T[4]) tuple(f, m, r)\n}\n",
      "f32", HERO_REDUCTION, 1e-2);
}

static void test_values_that_stray_are_not_kept(void **state) {
  (void)state;
  // The exponentials of the second pass are those of the transpose.
  check_within(
      "ENTRY e { p = T[16,16] parameter(0)\n  z = T[] constant(0)\n  x = T[16,16] exponential(p)\n"
      "  y = T[16,16] transpose(x), dimensions={1,0}\n  s = T[16] reduce(x, z), dimensions={1}, to_apply=add\n"
      "  b = T[16,16] broadcast(s), dimensions={0}\n  d = T[16,16] divide(x, b)\n"
      "  ROOT u = T[16,16] add(d, y)\n}\n",
      "f32", HERO_REDUCTION, 1e-6);
}

static void test_whole_array(void **state) {
  (void)state;
  check_within(
      "ENTRY e { p = T[30,7] parameter(0)\n  z = T[] constant(0)\n"
      "  s = T[] reduce(p, z), dimensions={0,1}, to_apply=add\n  b = T[30,7] broadcast(s), dimensions={}\n"
      "  d = T[30,7] divide(p, b)\n  n = T[] sqrt(s)\n  ROOT t = (T[30,7], T[]) tuple(d, n)\n}\n",
      "f32", HERO_REDUCTION, 1e-6);
}

// --- columns

static void test_column_dims(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *dimensions;
  } cases[] = {{"20,100", "100", "0"},          {"33,16", "16", "0"},
               {"27,2000", "2000", "0"},        {"2,19,70", "2,70", "1"},
               {"3,5,4,6,33", "3,4,33", "1,3"}, {"26,5,8", "5,8", "0"},
               {"50,7,3,11", "3,11", "0,1"},    {"5,2,1,2,2,1,2,5,1,9", "2,2,2,2,1,9", "0,2,5,7"},
               {"40,3,9,1", "3,9,1", "0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_printed("f32", HERO_REDUCTION, 0,
                  "ENTRY e { p = T[%s] parameter(0)\n  z = T[] parameter(1)\n"
                  "  ROOT r = T[%s] reduce(p, z), dimensions={%s}, to_apply=add\n}\n",
                  cases[i].from, cases[i].to, cases[i].dimensions);
}

static void test_column_types(void **state) {
  (void)state;
  static const struct {
    const char *type, *init, *reducer;
  } cases[] = {{"f64", "1", "odd"}, {"bf16", "1", "add"},     {"f16", "1", "max"},      {"s32", "1", "odd"},
               {"s8", "1", "add"},  {"pred", "false", "add"}, {"c64", "(1, 2)", "add"}, {"s4", "1", "odd"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_printed(cases[i].type, HERO_REDUCTION, 0,
                  "ENTRY e { p = T[20,90] parameter(0)\n  z = T[] constant(%s)\n"
                  "  ROOT r = T[90] reduce(p, z), dimensions={0}, to_apply=%s\n}\n",
                  cases[i].init, cases[i].reducer);
}

static void test_column_neighbours(void **state) {
  (void)state;
  check(
      "ENTRY e { p = T[5,6,90] parameter(0)\n  q = T[90] parameter(1)\n  z = T[] constant(0)\n"
      "  b = T[5,6,90] broadcast(q), dimensions={2}\n  x = T[5,6,90] add(p, b)\n  y = T[5,6,90] multiply(x, x)\n"
      "  r = T[5,90] reduce(x, z), dimensions={1}, to_apply=add\n  s = T[5,90] reduce(y, z), dimensions={1}, "
      "to_apply=max\n"
      "  v = (T[5,90], T[5,90]) reduce(y, x, z, z), dimensions={1}, to_apply=both\n"
      "  g = T[5,90] get-tuple-element(v), index=0\n  h = T[5,90] get-tuple-element(v), index=1\n"
      "  u = T[5,90] subtract(r, h)\n  w = T[450] reshape(u)\n  f = T[5,90] negate(s)\n"
      "  ROOT t = (T[450], T[5,90], T[5,90], T[5,6,90]) tuple(w, f, g, x)\n}\n",
      "f32", HERO_REDUCTION);
  check(
      "ENTRY e { p = T[40,70] parameter(0)\n  i = s32[40,70] iota(), iota_dimension=0\n  m = T[] constant(-inf)\n"
      "  z = s32[] constant(0)\n"
      "  ROOT r = (T[70], s32[70]) reduce(p, i, m, z), dimensions={0}, to_apply=argmax\n}\n",
      "f32", HERO_REDUCTION);
}

static void test_column_softmax(void **state) {
  (void)state;
  static const int sizes[][2] = {{5, 100}, {70, 33}};
  for (int i = 0; i < 2; i++) {
    int n = sizes[i][0], c = sizes[i][1];
    check_printed("f32", HERO_REDUCTION, 1e-6,
                  "ENTRY e { p = T[2,%d,%d] parameter(0)\n  z = T[] constant(0)\n  l = T[] constant(-inf)\n"
                  "  m = T[2,%d] reduce(p, l), dimensions={1}, to_apply=max\n"
                  "  b = T[2,%d,%d] broadcast(m), dimensions={0,2}\n  d = T[2,%d,%d] subtract(p, b)\n"
                  "  x = T[2,%d,%d] exponential(d)\n  s = T[2,%d] reduce(x, z), dimensions={1}, to_apply=add\n"
                  "  c = T[2,%d,%d] broadcast(s), dimensions={0,2}\n  ROOT q = T[2,%d,%d] divide(x, c)\n}\n",
                  n, c, c, n, c, n, c, n, c, c, n, c, n, c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_row_sums),          cmocka_unit_test(test_row_types),
      cmocka_unit_test(test_row_dims),          cmocka_unit_test(test_row_neighbours),
      cmocka_unit_test(test_row_arguments),     cmocka_unit_test(test_ordered_reducers),
      cmocka_unit_test(test_softmax),           cmocka_unit_test(test_layer_norm),
      cmocka_unit_test(test_whole_array),       cmocka_unit_test(test_values_that_stray_are_not_kept),
      cmocka_unit_test(test_column_dims),       cmocka_unit_test(test_column_types),
      cmocka_unit_test(test_column_neighbours), cmocka_unit_test(test_column_softmax),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
