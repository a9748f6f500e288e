// Tokens: their kinds, extents and places; values read as text; escapes.
#include "hlo/lexer.h"

#include "base/arena_testing.h"

static void expect_tokens(const char *source, int count, const int *kinds, const char *const *texts) {
  lexer l = lexer_create(str_from(source));
  for (int i = 0; i < count; i++) {
    token t = lexer_next(&l);
    if (t.kind != kinds[i] || !str_is(t.text, texts[i]))
      fail_msg("token %d of \"%s\" has kind %d and text '" STR_FMT "', wanted %d and '%s'", i, source, t.kind,
               STR_ARG(t.text), kinds[i], texts[i]);
  }
  assert_int_equal(lexer_next(&l).kind, TOKEN_END);
  assert_int_equal(lexer_next(&l).kind, TOKEN_END);
}

#define EXPECT(source, count, kinds, ...) \
  expect_tokens(source, count, (const int[])kinds, (const char *const[]){__VA_ARGS__})
#define KINDS(...) {__VA_ARGS__}

static void test_names(void **state) {
  (void)state;
  EXPECT("a-b.2 %a-b.2", 2, KINDS(TOKEN_WORD, TOKEN_NAME), "a-b.2", "a-b.2");
  EXPECT("_x %0.5 shift-right", 3, KINDS(TOKEN_WORD, TOKEN_NAME, TOKEN_WORD), "_x", "0.5", "shift-right");
  EXPECT("b01->c", 3, KINDS(TOKEN_WORD, TOKEN_ARROW, TOKEN_WORD), "b01", "->", "c");
  EXPECT("a...", 2, KINDS(TOKEN_WORD, TOKEN_ELLIPSIS), "a", "...");
  EXPECT("%a...b %...", 2, KINDS(TOKEN_NAME, TOKEN_NAME), "a...b", "...");
}

static void test_numbers(void **state) {
  (void)state;
  EXPECT("1 -2 +3", 3, KINDS(TOKEN_NUMBER, TOKEN_NUMBER, TOKEN_NUMBER), "1", "-2", "+3");
  EXPECT("1.5e-3,.5", 3, KINDS(TOKEN_NUMBER, ',', TOKEN_NUMBER), "1.5e-3", ",", ".5");
  EXPECT("-inf inf -nan nan", 4, KINDS(TOKEN_NUMBER, TOKEN_WORD, TOKEN_NUMBER, TOKEN_WORD), "-inf", "inf", "-nan",
         "nan");
  EXPECT("0x1.8p+3 0x1e", 2, KINDS(TOKEN_NUMBER, TOKEN_NUMBER), "0x1.8p+3", "0x1e");
  EXPECT("2...", 2, KINDS(TOKEN_NUMBER, TOKEN_ELLIPSIS), "2", "...");
}

static void test_symbols(void **state) {
  (void)state;
  EXPECT("f32[<=2,?]", 7, KINDS(TOKEN_WORD, '[', TOKEN_AT_MOST, TOKEN_NUMBER, ',', '?', ']'), "f32", "[", "<=", "2",
         ",", "?", "]");
  EXPECT("%", 1, KINDS(TOKEN_BAD), "%");
  EXPECT("a ; b", 3, KINDS(TOKEN_WORD, TOKEN_BAD, TOKEN_WORD), "a", ";", "b");
}

static void test_strings_and_comments(void **state) {
  (void)state;
  EXPECT("\"a \\\" b\" c", 2, KINDS(TOKEN_STRING, TOKEN_WORD), "a \\\" b", "c");
  EXPECT("\"\"", 1, KINDS(TOKEN_STRING), "");
  EXPECT("a /* x \n y */ b // c\nd // e", 3, KINDS(TOKEN_WORD, TOKEN_WORD, TOKEN_WORD), "a", "b", "d");
  EXPECT("/*index=5*/f32", 1, KINDS(TOKEN_WORD), "f32");
}

static void test_what_never_ends(void **state) {
  (void)state;
  const char *const sources[] = {"\"abc", "/* abc", "/*", "\"abc\\"};
  for (int i = 0; i < 4; i++) {
    lexer l = lexer_create(str_from(sources[i]));
    token t = lexer_next(&l);
    assert_int_equal(t.kind, TOKEN_BAD);
    assert_non_null(t.problem);
    assert_int_equal(lexer_next(&l).kind, TOKEN_END);
  }
}

static void test_places(void **state) {
  (void)state;
  lexer l = lexer_create(STR("a b\n\n  c /*\n*/ d"));
  const int positions[][2] = {{1, 1}, {1, 3}, {3, 3}, {4, 4}};
  for (int i = 0; i < 4; i++) {
    token t = lexer_next(&l);
    assert_int_equal(t.line, positions[i][0]);
    assert_int_equal(t.column, positions[i][1]);
  }
}

static void expect_value_text(const char *source, const char *value) {
  lexer l = lexer_create(str_from(source));
  const char *problem;
  size_t end = lexer_value_end(&l, &problem);
  assert_null(problem);
  if (end != strlen(value)) fail_msg("value of \"%s\" ends at %d", source, (int)end);
  assert_int_equal(l.at, 0);
}

static void test_values(void **state) {
  (void)state;
  expect_value_text("3x3 stride", "3x3");
  expect_value_text("b01f_01io->b01f, x", "b01f_01io->b01f");
  expect_value_text("{a b, {c}}, x", "{a b, {c}}");
  expect_value_text("{\"}\" /*}*/}}", "{\"}\" /*}*/}");
  expect_value_text("f32[2]{0}}", "f32[2]{0}");
  expect_value_text(", x", "");
  const char *problem;
  for (int i = 0; i < 3; i++) {
    lexer l = lexer_create(str_from((const char *[]){"{a", "{\"a}", "{/*}"}[i]));
    assert_int_equal(lexer_value_end(&l, &problem), l.source.size);
    assert_non_null(problem);
  }
}

static void test_escapes(void **state) {
  arena *a = *state;
  assert_true(str_is(lexer_unescape(a, STR("plain")), "plain"));
  assert_true(str_is(lexer_unescape(a, STR("\\\"a\\\\b\\n\\t\\r\\'")), "\"a\\b\n\t\r'"));
  assert_true(str_is(lexer_unescape(a, STR("\\x41\\x4a1\\101\\x4")), "AJ1A\x04"));
  assert_true(str_equal(lexer_unescape(a, STR("a\\0b")), STR("a\0b")));
  assert_true(str_is(lexer_unescape(a, STR("end\\")), "end\\"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),           cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_symbols),         cmocka_unit_test(test_strings_and_comments),
      cmocka_unit_test(test_what_never_ends), cmocka_unit_test(test_places),
      cmocka_unit_test(test_values),          cmocka_unit_test(test_escapes),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
