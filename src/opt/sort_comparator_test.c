// Which comparators are an order by keys, and which are left to be called.
#include "opt/sort_comparator.h"

#include "eval/testing.h"

// What is read of a comparator, as "operand order direction" for each key: "0n<" numeric, "t" total, "l" less; "-" if
// nothing.
static void expect(const char *body, const char *wanted) {
  char source[2048], found[64] = "-";
  snprintf(source, sizeof source, "HloModule m\nENTRY c { %s }", body);
  arena *a = arena_create();
  module *m;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  sort_comparator read;
  if (sort_comparator_read(m->entry, &read))
    for (int k = 0; k < read.count; k++)
      snprintf(found + 3 * k, sizeof found - 3 * (size_t)k, "%d%c%c", read.keys[k].operand, "ntl"[read.keys[k].order],
               read.keys[k].is_descending ? '>' : '<');
  assert_string_equal(found, wanted);
  arena_destroy(a);
}

#define PAIR(type) "a = " type "[] parameter(0) b = " type "[] parameter(1) "
#define CANONICAL(type, x, to)                                                                                \
  "n" to " = pred[] compare(" x ", " x                                                                        \
  "), direction=NE "                                                                                          \
  "z" to " = pred[] compare(" x ", zero), direction=EQ s" to " = " type "[] select(z" to ", zero, " x ") " to \
  " = " type "[] select(n" to ", nan, s" to ") "
#define CANONICAL_PAIR \
  PAIR("f32")          \
  "zero = f32[] constant(0) nan = f32[] constant(nan) " CANONICAL("f32", "a", "p") CANONICAL("f32", "b", "q")

static void test_one_key(void **state) {
  (void)state;
  expect(PAIR("s32") "ROOT r = pred[] compare(a, b), direction=LT", "0n<");
  expect(PAIR("u8") "ROOT r = pred[] compare(a, b), direction=GT", "0n>");
  expect(PAIR("s32") "ROOT r = pred[] compare(b, a), direction=LT", "0n>");
  expect(PAIR("f32") "ROOT r = pred[] compare(a, b), direction=LT", "0l<");
  expect(PAIR("f32") "ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER", "0t<");
  expect(PAIR("f32") "c = s32[] parameter(2) d = s32[] parameter(3) ROOT r = pred[] compare(d, c), direction=GT",
         "1n<");
  expect(CANONICAL_PAIR "ROOT r = pred[] compare(p, q), direction=LT, type=TOTALORDER", "0n<");
  expect(PAIR("bf16") "c = f32[] convert(a) d = f32[] convert(b) ROOT r = pred[] compare(c, d), direction=GT", "0l>");
  expect(PAIR("f32") "c = s32[] bitcast-convert(a) d = s32[] bitcast-convert(b) zero = s32[] constant(0)\n"
                     "top = s32[] constant(2147483647) e = s32[] subtract(top, c) f = s32[] xor(d, top)\n"
                     "g = pred[] compare(c, zero), direction=LT h = pred[] compare(d, zero), direction=LT\n"
                     "i = s32[] select(g, e, c) j = s32[] select(h, f, d)\n"
                     "ROOT r = pred[] compare(i, j), direction=LT",
         "0t<");
}

static void test_several_keys(void **state) {
  (void)state;
  expect(PAIR("s32") "c = s32[] parameter(2) d = s32[] parameter(3) l = pred[] compare(a, b), direction=LT\n"
                     "e = pred[] compare(a, b), direction=EQ m = pred[] compare(c, d), direction=GT\n"
                     "n = pred[] and(m, e) ROOT r = pred[] or(n, l)",
         "0n<1n>");
  expect(CANONICAL_PAIR
         "c = s32[] parameter(2) d = s32[] parameter(3)\n"
         "l = pred[] compare(p, q), direction=LT, type=TOTALORDER\n"
         "e = pred[] compare(p, q), direction=EQ, type=TOTALORDER\n"
         "m = pred[] compare(c, d), direction=LT ROOT r = pred[] select(e, m, l)",
         "0n<1n<");
}

static void test_anything_else(void **state) {
  (void)state;
  expect(PAIR("s32") "ROOT r = pred[] compare(a, b), direction=LE", "-");
  expect(PAIR("s32") "ROOT r = pred[] compare(a, a), direction=LT", "-");
  expect(PAIR("s32") "c = s32[] abs(a) d = s32[] abs(b) ROOT r = pred[] compare(c, d), direction=LT", "-");
  expect(PAIR("s32") "c = s32[] parameter(2) d = s32[] parameter(3) ROOT r = pred[] compare(a, d), direction=LT", "-");
  expect(PAIR("bf16") "c = f32[] convert(a) d = f32[] convert(b)\n"
                      "ROOT r = pred[] compare(c, d), direction=GT, type=TOTALORDER",
         "-");
  // Equal NaN would not be.
  expect(CANONICAL_PAIR
         "c = s32[] parameter(2) d = s32[] parameter(3)\n"
         "l = pred[] compare(p, q), direction=LT, type=TOTALORDER\n"
         "e = pred[] compare(p, q), direction=EQ\n"
         "m = pred[] compare(c, d), direction=LT ROOT r = pred[] select(e, m, l)",
         "-");
  expect(PAIR("f32") "zero = f32[] constant(0) nan = f32[] constant(-nan) " CANONICAL("f32", "a", "p")
             CANONICAL("f32", "b", "q") "ROOT r = pred[] compare(p, q), direction=LT, type=TOTALORDER",
         "-");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_key), cmocka_unit_test(test_several_keys),
                                     cmocka_unit_test(test_anything_else)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
