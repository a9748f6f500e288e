// Which loops count, and how far.
#include "opt/while_trip_count.h"

#include "eval/testing.h"

// Loops over (i, bound) of type t; -1: not counted.
static void expect(const char *t, const char *start, const char *step, const char *condition, int64_t wanted) {
  char source[1024];
  snprintf(source, sizeof source,
           "HloModule m\nb { s = (%s[], %s[]) parameter(0) i = %s[] get-tuple-element(s), index=0\n"
           "  n = %s[] get-tuple-element(s), index=1 c = %s[] constant(2) j = %s[] %s\n"
           "  ROOT r = (%s[], %s[]) tuple(j, n) }\n"
           "c { s = (%s[], %s[]) parameter(0) i = %s[] get-tuple-element(s), index=0\n"
           "  n = %s[] get-tuple-element(s), index=1 ROOT r = pred[] %s }\n"
           "ENTRY e { z = %s[] constant(%s) n = %s[] constant(11) s = (%s[], %s[]) tuple(z, n)\n"
           "  ROOT w = (%s[], %s[]) while(s), condition=c, body=b }",
           t, t, t, t, t, t, step, t, t, t, t, t, t, condition, t, start, t, t, t, t, t);
  arena *a = arena_create();
  module *m;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  int leaf = -1;
  int64_t from, by, count = -1;
  const bool is_counted = while_trip_count(m->entry->root, &leaf, &from, &by, &count);
  if ((is_counted ? count : -1) != wanted) print_error("%s\nfound %lld\n", source, (long long)count);
  assert_int_equal(is_counted ? count : -1, wanted);
  if (is_counted) assert_int_equal(leaf, 0);
  if (is_counted) assert_int_equal(from, atoll(start));
  arena_destroy(a);
}

#define LT "compare(i, n), direction=LT"

static void test_counts(void **state) {
  (void)state;
  expect("s32", "0", "add(i, c)", LT, 6);
  expect("s32", "1", "add(c, i)", LT, 5);
  expect("s32", "11", "add(i, c)", LT, 0);
  expect("s32", "1", "add(i, c)", "compare(i, n), direction=LE", 6);
  expect("s32", "1", "add(i, c)", "compare(n, i), direction=GE", 6);
  expect("s32", "20", "subtract(i, c)", "compare(i, n), direction=GT", 5);
  expect("s32", "20", "subtract(i, c)", "compare(n, i), direction=LE", 5);
  expect("s64", "1", "add(i, c)", "compare(i, n), direction=NE", 5);
  expect("u8", "11", "add(i, c)", "compare(i, n), direction=EQ", 1);
}

static void test_others_are_not_counted(void **state) {
  (void)state;
  expect("s32", "0", "add(i, c)", "compare(i, n), direction=NE", -1);   // passes by
  expect("s32", "20", "add(i, c)", "compare(i, n), direction=GT", -1);  // wraps around
  expect("s8", "125", "add(i, c)", "compare(i, n), direction=GE", -1);  // wraps around
  expect("s32", "0", "multiply(i, c)", LT, -1);
  expect("s32", "0", "subtract(c, i)", LT, -1);
  expect("s32", "0", "add(i, n)", "compare(n, n), direction=LT", -1);
  expect("f32", "0", "add(i, c)", LT, -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_others_are_not_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
