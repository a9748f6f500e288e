// Every spelling of a flag, and what is said of wrong ones.
#include "tools/flags.h"

#include <string.h>

#include "base/testing.h"

// What a command line with one flag of each kind was parsed to.
typedef struct parsed {
  bool on, words;
  int count, size, runs, threads;
  double bound;
  const char *name;
  flag_list inputs, files;
  bool help;
  heddle_status status;
} parsed;

static arena *test_arena;

static parsed parse(int argc, const char *const *words) {
  static parsed p;
  p = (parsed){.count = 7, .bound = 0.5, .name = "nobody"};
  const flag flags[] = {{"on", FLAG_BOOL, &p.on, NULL, "a switch"},
                        {"count", FLAG_INT, &p.count, "N", "a whole number"},
                        {"size", FLAG_SIZE, &p.size, "N", "0 or more"},
                        {"runs", FLAG_COUNT, &p.runs, "N", "1 or more"},
                        {"threads", FLAG_THREADS, &p.threads, "N", "threads"},
                        {"bound", FLAG_DOUBLE, &p.bound, "X", "a number"},
                        {"name", FLAG_TEXT, &p.name, "TEXT", "a text"},
                        {"both-words", FLAG_BOOL, &p.words, NULL, "two words"},
                        {"input", FLAG_LIST, &p.inputs, "FILE", "may come several times"},
                        {0}};
  const command_line line = {"tool [flags] FILE", "Does nothing.", flags};
  p.status = flags_parse(test_arena, &line, argc, (char **)words, &p.files, &p.help);
  return p;
}

#define PARSE(...) parse((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__})

static void test_files_like_flags(void **state) {
  (void)state;
  const parsed p = PARSE("--on", "--", "-x.hlo", "--on=3", "--");
  assert_true(status_is_ok(p.status));
  assert_true(p.on);
  assert_int_equal(p.files.size, 3);
  assert_string_equal(p.files.data[0], "-x.hlo");
  assert_string_equal(p.files.data[2], "--");
}

static void expect_error(parsed p, const char *message) {
  assert_int_equal(heddle_status_code(p.status), HEDDLE_INVALID);
  assert_string_equal(status_brief(p.status), message);
  heddle_status_free(p.status);
}

static void test_every_spelling(void **state) {
  (void)state;
  parsed p = PARSE("--on", "a.hlo", "--count=3", "-bound", "1e-3", "--name", "x=y", "--input=1", "-input=2", "-");
  assert_true(status_is_ok(p.status));
  assert_true(p.on);
  assert_int_equal(p.count, 3);
  assert_true(p.bound == 1e-3);
  assert_string_equal(p.name, "x=y");
  assert_int_equal(p.inputs.size, 2);
  assert_string_equal(p.inputs.data[1], "2");
  assert_int_equal(p.files.size, 2);
  assert_string_equal(p.files.data[1], "-");
}

static void test_words_apart(void **state) {
  (void)state;
  assert_true(PARSE("--both-words").words);
  assert_true(PARSE("--both_words").words);
  assert_false(PARSE("--noboth_words").words);
  expect_error(PARSE("--bothwords"), "unknown flag --bothwords; did you mean --both-words?");
}

static void test_defaults_stay(void **state) {
  (void)state;
  parsed p = parse(0, NULL);
  assert_true(status_is_ok(p.status));
  assert_int_equal(p.count, 7);
  assert_string_equal(p.name, "nobody");
  assert_string_equal(PARSE("--name=").name, "");
}

static void test_switches(void **state) {
  (void)state;
  assert_true(PARSE("--on=true").on);
  assert_true(PARSE("--on=1").on);
  assert_false(PARSE("--noon").on);
  assert_false(PARSE("--on=false").on);
  expect_error(PARSE("--on=maybe"), "--on: found maybe, wanted true or false");
}

static void test_numbers(void **state) {
  (void)state;
  assert_int_equal(PARSE("--count=-2147483648").count, INT32_MIN);
  expect_error(PARSE("--count=2147483648"), "--count: found 2147483648, wanted a whole number");
  expect_error(PARSE("--count=1.5"), "--count: found 1.5, wanted a whole number");
  expect_error(PARSE("--count=3x"), "--count: found 3x, wanted a whole number");
  expect_error(PARSE("--count="), "--count: found , wanted a whole number");
  expect_error(PARSE("--count=nan"), "--count: found nan, wanted a whole number");
  expect_error(PARSE("--bound=1e999"), "--bound: found 1e999, wanted a number of at least 0");
}

static void test_ranges(void **state) {
  (void)state;
  assert_int_equal(PARSE("--size=0").size, 0);
  assert_int_equal(PARSE("--runs=1").runs, 1);
  assert_int_equal(PARSE("--threads=1024").threads, 1024);
  assert_true(PARSE("--bound=inf").bound > 1e300);
  expect_error(PARSE("--size=-1"), "--size: found -1, wanted a whole number of at least 0");
  expect_error(PARSE("--runs=0"), "--runs: found 0, wanted a whole number of at least 1");
  expect_error(PARSE("--threads=-1"), "--threads: found -1, wanted a whole number from 0 to 1024");
  expect_error(PARSE("--threads=1025"), "--threads: found 1025, wanted a whole number from 0 to 1024");
  expect_error(PARSE("--bound=-1"), "--bound: found -1, wanted a number of at least 0");
  expect_error(PARSE("--bound=nan"), "--bound: found nan, wanted a number of at least 0");
}

static void test_contradictions(void **state) {
  (void)state;
  assert_int_equal(PARSE("--count=3", "--count", "3").count, 3);
  assert_true(PARSE("--on", "-on").on);
  expect_error(PARSE("--count=3", "--count=4"), "--count is given twice, as 3 and as 4, wanted one value");
  expect_error(PARSE("--on", "--noon"), "--on is given twice, as true and as false, wanted one value");
  expect_error(PARSE("--name=a", "--name=b"), "--name is given twice, as a and as b, wanted one value");
}

static void test_mistakes(void **state) {
  (void)state;
  expect_error(PARSE("--cuont=3"), "unknown flag --cuont; did you mean --count?");
  expect_error(PARSE("--zzz"), "unknown flag --zzz (--help lists them)");
  expect_error(PARSE("--nocount"), "unknown flag --nocount; did you mean --count?");
  expect_error(PARSE("--name"), "--name wants a value: --name=TEXT");
}

static void test_help_wins(void **state) {
  (void)state;
  parsed p = PARSE("--help", "--zzz");
  assert_true(status_is_ok(p.status));
  assert_true(p.help);
}

static int set_up(void **state) {
  (void)state;
  test_arena = arena_create();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  arena_destroy(test_arena);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files_like_flags), cmocka_unit_test(test_every_spelling),
      cmocka_unit_test(test_words_apart),      cmocka_unit_test(test_defaults_stay),
      cmocka_unit_test(test_switches),         cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_ranges),           cmocka_unit_test(test_contradictions),
      cmocka_unit_test(test_mistakes),         cmocka_unit_test(test_help_wins),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
