// Polynomials of sizes: their values and texts, which dims fit them, and the program that they make.
#include <string.h>

#include "base/testing.h"
#include "prog/program_sizes.h"

static const program_symbol symbols[] = {{"b", 1, 100}, {"s", 0, 50}};
static const int64_t order[] = {1, 0}, dims_of_x[] = {400, 7}, dims_of_y[] = {101, 5000};
static const program_value parameters[] = {{"x", {DTYPE_F32, 2, dims_of_x, order}, -1},
                                           {"y", {DTYPE_F32, 2, dims_of_y, order}, -1}};
// x is f32[4*b, 7], y is f32[b + 1, b*s].
static const program_open_number numbers[] = {{0, {0, 4}}, {2, {1, 1}}, {3, {0, 0, 0, 1}}};
// 3*s - b
static const program_size_check checks[] = {{"s is too small", {0, -1, 3}}};

static const program whole = {.name = "by_hand",
                              .parameter_count = 2,
                              .parameters = parameters,
                              .sizes = {.symbol_count = 2,
                                        .degree = 1,
                                        .symbols = symbols,
                                        .number_count = 3,
                                        .numbers = numbers,
                                        .check_count = 1,
                                        .checks = checks}};

static void expect_error(heddle_status s, const char *message) {
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  if (!strstr(heddle_status_message(s), message)) fail_msg("%s", heddle_status_message(s));
  heddle_status_free(s);
}

// s stands in a product only, so that no dim says what it is.
static void test_a_symbol_that_no_dim_says(void **state) {
  (void)state;
  int64_t found[PROGRAM_MOST_SYMBOLS];
  const int64_t x[] = {20, 7}, y[] = {6, 15}, *const dims[] = {x, y};
  expect_error(program_sizes_solve(&whole, dims, found), "found 15 for dim 1 of parameter 1, wanted 0, which is b*s");
}

static void test_solve(void **state) {
  (void)state;
  static const program_open_number plain[] = {{0, {0, 4}}, {2, {1, 1}}, {3, {0, 0, 1}}};
  program p = whole;
  p.sizes.numbers = plain;
  int64_t found[PROGRAM_MOST_SYMBOLS], x[] = {20, 7}, y[] = {6, 2};
  const int64_t *const dims[] = {x, y};
  const heddle_status s = program_sizes_solve(&p, dims, found);
  assert_int_equal(heddle_status_code(s), HEDDLE_OK);
  assert_true(found[0] == 5 && found[1] == 2);
  y[1] = 1;
  expect_error(program_sizes_solve(&p, dims, found), "s is too small");
  y[0] = 7;
  expect_error(program_sizes_solve(&p, dims, found), "found 7 for dim 0 of parameter 1, wanted 6, which is b + 1");
  x[0] = 21;
  expect_error(program_sizes_solve(&p, dims, found), "found 21 for dim 0 of parameter 0, wanted 4*b");
  x[0] = 404;
  expect_error(program_sizes_solve(&p, dims, found), "found 101 for the size b, wanted 1 to 100");
  x[0] = 0;
  expect_error(program_sizes_solve(&p, dims, found), "found 0 for the size b");
  x[0] = INT64_MIN;
  expect_error(program_sizes_solve(&p, dims, found), "for dim 0 of parameter 0");
  x[0] = 20;
  x[1] = 8;
  expect_error(program_sizes_solve(&p, dims, found), "found 8 for dim 1 of parameter 0, wanted 7");
}

static void test_texts(void **state) {
  (void)state;
  static const struct {
    int64_t terms[PROGRAM_MOST_TERMS];
    const char *text;
  } cases[] = {{{0}, "0"},
               {{7}, "7"},
               {{0, 1}, "b"},
               {{1, 1}, "b + 1"},
               {{-1, 4}, "4*b - 1"},
               {{0, 0, 0, 1}, "b*s"},
               {{3, 0, -1, 2}, "2*b*s - s + 3"},
               {{-2, -1}, "-b - 2"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    text t = {0};
    program_sizes_print(&t, &whole.sizes, cases[k].terms);
    assert_string_equal(text_cstr(&t), cases[k].text);
    text_free(&t);
  }
  int64_t found[PROGRAM_MOST_SYMBOLS];
  const heddle_status s = program_sizes_read(&whole.sizes, "7,16", found);
  assert_int_equal(heddle_status_code(s), HEDDLE_OK);
  assert_true(found[0] == 7 && found[1] == 16);
  text given = {0};
  program_sizes_print_given(&given, &whole.sizes, found);
  assert_string_equal(text_cstr(&given), "b = 7, s = 16");
  text_free(&given);
  static const char *const wrong[] = {"", "7", "7,", "7,16,2", "-7,16", "7;16", "x,1"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    expect_error(program_sizes_read(&whole.sizes, wrong[k], found), "wanted 2 numbers");
}

static void test_fill(void **state) {
  (void)state;
  arena *a = arena_create();
  const int64_t at[PROGRAM_MOST_SYMBOLS] = {5, 3};
  const program *p = program_sizes_fill(a, &whole, at);
  assert_int_equal(p->sizes.symbol_count, 0);
  assert_true(p->parameters[0].shape.dims[0] == 20 && p->parameters[0].shape.dims[1] == 7);
  assert_true(p->parameters[1].shape.dims[0] == 6 && p->parameters[1].shape.dims[1] == 15);
  const program *shown = program_sizes_show(a, &whole);
  assert_true(shown->parameters[0].shape.dims[0] == -1 && shown->parameters[0].shape.dims[1] == 7);
  arena_destroy(a);
}

// c = (b + 7) / 8, m = the larger of c and s; x is f32[b, 8*c], y is f32[s, m - 2].
static const program_symbol with_derived[] = {{"b", 0, 100}, {"s", 0, 50}, {"c", 0, 99}, {"m", 0, 99}};
static const program_derived_size derived[] = {{PROGRAM_QUOTIENT, {7, 1}, {8}},
                                               {PROGRAM_LARGER, {0, [4] = 1}, {0, 0, 1}}};
static const program_open_number derived_numbers[] = {
    {0, {0, 1}}, {1, {[4] = 8}}, {2, {0, 0, 1}}, {3, {0, 0, 1}}, {4, {-2, [8] = 1}}};
static const int64_t one_dim[] = {9};
static const program_value derived_result[] = {{"r", {DTYPE_F32, 1, one_dim, order + 1}, -1}};
static const program has_derived = {.name = "by_hand",
                                    .parameter_count = 2,
                                    .parameters = parameters,
                                    .result_count = 1,
                                    .results = derived_result,
                                    .sizes = {.symbol_count = 4,
                                              .degree = 1,
                                              .symbols = with_derived,
                                              .derived_count = 2,
                                              .derived = derived,
                                              .number_count = 5,
                                              .numbers = derived_numbers}};

static void test_derived(void **state) {
  (void)state;
  int64_t found[PROGRAM_MOST_SYMBOLS], x[] = {9, 16}, y[] = {5, 5}, r[1];
  const int64_t *const dims[] = {x, y};
  heddle_status s = program_sizes_solve(&has_derived, dims, found);
  assert_int_equal(heddle_status_code(s), HEDDLE_OK);
  assert_true(found[0] == 9 && found[1] == 5 && found[2] == 2 && found[3] == 5);
  s = program_sizes_result(&has_derived, dims, 0, r);
  assert_int_equal(heddle_status_code(s), HEDDLE_OK);
  assert_true(r[0] == 3);
  s = program_sizes_read(&has_derived.sizes, "24,1", found);
  assert_int_equal(heddle_status_code(s), HEDDLE_OK);
  assert_true(found[2] == 3 && found[3] == 3);
  x[1] = 8;
  expect_error(program_sizes_solve(&has_derived, dims, found), "found 8 for dim 1 of parameter 0, wanted 16");
  // No dim of a result is below 0.
  x[0] = 1, y[0] = y[1] = 0;
  expect_error(program_sizes_result(&has_derived, dims, 0, r), "found -1 for dim 0 of result 0");
}

// Each kind, of b and s.
static void test_kinds(void **state) {
  (void)state;
  static const struct {
    program_derived_kind kind;
    int64_t left, right, wanted;  // wanted: -1 for none
  } cases[] = {{PROGRAM_QUOTIENT, 7, 2, 3},  {PROGRAM_QUOTIENT, 7, 0, -1},   {PROGRAM_QUOTIENT, -1, 2, -1},
               {PROGRAM_REMAINDER, 7, 4, 3}, {PROGRAM_REMAINDER, -1, 4, -1}, {PROGRAM_MODULO, -1, 4, 3},
               {PROGRAM_MODULO, -4, 4, 0},   {PROGRAM_MODULO, 7, 4, 3},      {PROGRAM_MODULO, 7, -4, -1},
               {PROGRAM_LARGER, 7, 4, 7},    {PROGRAM_LARGER, 4, 7, 7},      {PROGRAM_SMALLER, 7, 4, 4},
               {PROGRAM_SMALLER, 4, 7, 4},   {PROGRAM_SMALLER, 4, 4, 4}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const program_derived_size d = {cases[k].kind, {0, 1}, {0, 0, 1}};
    const program_sizes sizes = {
        .symbol_count = 3, .degree = 1, .symbols = with_derived, .derived_count = 1, .derived = &d};
    int64_t values[PROGRAM_MOST_SYMBOLS] = {cases[k].left, cases[k].right};
    const heddle_status s = program_sizes_derive(&sizes, values);
    if (cases[k].wanted < 0) {
      expect_error(s, "wanted none below 0");
    } else {
      assert_int_equal(heddle_status_code(s), HEDDLE_OK);
      assert_true(values[2] == cases[k].wanted);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_symbol_that_no_dim_says),
      cmocka_unit_test(test_solve),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_fill),
      cmocka_unit_test(test_derived),
      cmocka_unit_test(test_kinds),
  };
  return cmocka_run_group_tests_name("prog/program_sizes", tests, NULL, NULL);
}
