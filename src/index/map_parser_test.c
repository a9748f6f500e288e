// What the parser takes and what it refuses, with the place of the error.
#include "index/map_expect.h"

static void expect_parsed(const char *source, const char *wanted) { map_expect_text(map_expect_parse(source), wanted); }

// `column` is 1-based; the caret's line shows the same place.
static void expect_error(const char *source, int column, const char *message) {
  const indexing_map *m = NULL;
  heddle_status status = indexing_map_parse(a, str_from(source), &m);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_string_equal(status_brief(status), message);
  assert_int_equal(status_where(status).line, 1);
  assert_int_equal(status_where(status).column, column);
  const char *caret = strrchr(heddle_status_message(status), '^');
  assert_non_null(caret);
  if (strlen(source) < 60) {
    const char *caret_line = caret;
    while (caret_line[-1] != '\n') --caret_line;
    assert_int_equal(caret - caret_line, column - 1 + 2);
  }
  heddle_status_free(status);
}

static void both_spellings_of_names(void **state) {
  (void)state;
  const char *plain =
      "(d0, d1)[s0]{rt0} -> (d0 * 4 + s0, d1 + rt0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 1], rt0 in [0, 9], "
      "d0 + s0 in [0, 5]";
  expect_parsed(plain, plain);
  const char *named =
      "(th_x, bl_x)[vector_index] -> (bl_x floordiv 4096, (bl_x floordiv 8) mod 512, "
      "(bl_x mod 8) * 512 + th_x * 4 + vector_index), domain: th_x in [0, 127], bl_x in [0, 24575], "
      "vector_index in [0, 3]";
  expect_parsed(named, named);
  expect_parsed("(d1, d0) -> (d0), domain: d0 in [0, 3], d1 in [0, 7]",
                "(d1, d0) -> (d0), domain: d1 in [0, 7], d0 in [0, 3]");
}

static void precedence_and_signs(void **state) {
  (void)state;
  expect_parsed("(x) -> (-x, - -x, -(x + 1), 2 * x, x - -3, -7 mod 4, x*-2), domain: x in [-9, 9]",
                "(x) -> (-x, x, -(x + 1), x * 2, x + 3, 1, x * -2), domain: x in [-9, 9]");
  expect_parsed("(x) -> (x + x * 3 floordiv 2 mod 5, x - (x - 1), (x + 1) * 3), domain: x in [0, 9]",
                "(x) -> (x + ((x * 3) floordiv 2) mod 5, x - (x - 1), (x + 1) * 3), domain: x in [0, 9]");
  expect_parsed("(x) -> (x + -9223372036854775808), domain: x in [-9223372036854775808, 9223372036854775807]",
                "(x) -> (x + -9223372036854775808), domain: x in [-9223372036854775808, 9223372036854775807]");
}

static void corners_of_the_grammar(void **state) {
  (void)state;
  expect_parsed("  ()->()\n", "() -> ()");
  expect_parsed("() -> (5), domain: 7 in [0, 9]", "() -> (5), domain: 7 in [0, 9]");
  expect_parsed("KNOWN EMPTY", "KNOWN EMPTY");
  expect_parsed("()[s0] -> (s0), domain: s0 in [5, 4]", "KNOWN EMPTY");
  expect_parsed("(x) -> (x),\n domain: x in [0, 4], x mod 2 in [0, 0], x in [1, 3], is_simplified: true",
                "(x) -> (x), domain: x in [0, 4], x in [1, 3], x mod 2 in [0, 0]");
}

static void errors_point_at_their_place(void **state) {
  (void)state;
  expect_error("", 1, "found the end, wanted `(`");
  expect_error("(d0) -> (d0", 12, "found the end, wanted `,`");
  expect_error("(d0) -> (d0 d0)", 13, "found `d0`, wanted `,`");
  expect_error("(d0) -> (d0 +)", 14, "found `)`, wanted an expression");
  expect_error("(d0) -> (d1), domain: d0 in [0, 1]", 10, "found `d1`, which is no variable of this map");
  expect_error("(d0, d0) -> ()", 6, "the variable d0 is there twice");
  expect_error("(mod) -> ()", 2, "found `mod`, wanted a variable's name");
  expect_error("(d0) -> (d0 * d0)", 13, "one side of a product must be a constant");
  expect_error("(d0) -> (d0 mod 0)", 17, "the right-hand side of floordiv and mod must be a positive constant");
  expect_error("(d0) -> (7 floordiv -2)", 21, "the right-hand side of floordiv and mod must be a positive constant");
  expect_error("(d0) -> (5 mod d0)", 16, "the right-hand side of floordiv and mod must be a positive constant");
  expect_error("(d0) -> (9223372036854775808)", 10, "the number does not fit into 64 bits");
  expect_error("(d0) -> (d0)", 13,
               "found the end, wanted bounds of the variable d0 (`, domain: d0 in [lower, upper]`)");
  expect_error("(d0) -> (d0), domain: d0 in [0, x]", 33, "found `x`, wanted a number");
  expect_error("(d0) -> (d0), domain: d0 in [0, 1] 5", 36, "found `5`, wanted the end of the map");
  expect_error("(d0) -> (d0), bounds", 15, "found `bounds`, wanted `domain`");
  expect_error("(d0) \x01", 6, "found byte 0x01, wanted `->`");
  expect_error("KNOWN", 6, "found the end, wanted `EMPTY`");
}

static char *repeated(const char *before, const char *part, int count, const char *after) {
  text out = {0};
  text_puts(&out, before);
  for (int i = 0; i < count; ++i) text_puts(&out, part);
  text_puts(&out, after);
  char *copy = arena_strdup(a, out.data, out.size);
  text_free(&out);
  return copy;
}

static void nesting_is_limited_but_length_is_not(void **state) {
  (void)state;
  expect_error(repeated("(d0) -> (", "(", 100000, "d0"), 211, "more than 200 levels of nesting");
  expect_error(repeated("(d0) -> (", "-", 100001, ")"), 100011, "found `)`, wanted an expression");
  const indexing_map *m = map_expect_parse(repeated("(d0) -> (d0", " + d0 * 2", 10000, "), domain: d0 in [0, 9]"));
  map_expect_text(indexing_map_simplify(a, m), "(d0) -> (d0 * 20001), domain: d0 in [0, 9]");
  m = map_expect_parse(repeated("(d0) -> (d0", " floordiv 3 * 4 mod 1000003", 3000, "), domain: d0 in [0, 1000000]"));
  int64_t point = 999999, wanted, found;
  indexing_map_evaluate(m, &point, NULL, &wanted);
  indexing_map_evaluate(indexing_map_simplify(a, m), &point, NULL, &found);
  assert_int_equal(wanted, found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_spellings_of_names),
      cmocka_unit_test(precedence_and_signs),
      cmocka_unit_test(corners_of_the_grammar),
      cmocka_unit_test(errors_point_at_their_place),
      cmocka_unit_test(nesting_is_limited_but_length_is_not),
  };
  return cmocka_run_group_tests(tests, map_expect_set_up, map_expect_tear_down);
}
