// Polynomials through what numbers are at the stand-ins of all samples.
#include "api/open_samples.h"

#include "base/testing.h"

typedef int64_t (*number_fn)(const int64_t *symbols);

static int64_t product(const int64_t *s) { return 3 * s[0] * s[1] - 2 * s[1] + 7; }
static int64_t square(const int64_t *s) { return 5 * s[0] * s[0] * s[1] - s[1] * s[1] + s[0]; }
static int64_t half(const int64_t *s) { return s[0] / 2; }
static int64_t rounded(const int64_t *s) { return (s[0] + 31) / 32 * 32; }

static bool find(const open_samples *s, number_fn fn, int64_t *terms) {
  int64_t values[OPEN_SAMPLES_MOST], symbols[PROGRAM_MOST_SYMBOLS] = {0};
  assert_true(open_samples_count(s) <= OPEN_SAMPLES_MOST);
  for (int k = 0; k < open_samples_count(s); k++) {
    for (int n = 0; n < s->symbol_count; n++) symbols[n] = open_samples_stand_in(s, k, n);
    values[k] = fn(symbols);
  }
  return open_samples_terms(s, values, terms);
}

static void test_polynomials(void **state) {
  (void)state;
  for (int odd = 0; odd < 2; odd++) {
    for (int level = 2; level < OPEN_SAMPLES_LEVELS; level++) {
      const open_samples linear = {.symbol_count = 2, .degree = 1, .level = level, .is_odd = odd};
      const open_samples quadratic = {.symbol_count = 2, .degree = 2, .level = level, .is_odd = odd};
      int64_t terms[PROGRAM_MOST_TERMS];
      assert_true(find(&linear, product, terms));
      assert_true(terms[0] == 7 && terms[1] == 0 && terms[2] == -2 && terms[3] == 3);
      assert_false(find(&linear, square, terms));
      assert_true(find(&quadratic, square, terms));
      assert_true(terms[1] == 1 && terms[6] == -1 && terms[5] == 5 && terms[0] == 0 && terms[2] == 0);
      assert_true(find(&quadratic, product, terms));
      assert_true(terms[0] == 7 && terms[3] == -2 && terms[4] == 3);
    }
  }
}

// What divides sizes is no polynomial where nothing divides the stand-ins.
static void test_others(void **state) {
  (void)state;
  for (int level = 0; level < OPEN_SAMPLES_LEVELS; level++) {
    const open_samples s = {.symbol_count = 1, .degree = 1, .level = level, .is_odd = true};
    int64_t terms[PROGRAM_MOST_TERMS];
    assert_false(find(&s, half, terms));
    assert_false(find(&s, rounded, terms));
  }
}

static void expect_apart(const open_samples *s) {
  const int count = open_samples_count(s);
  for (int k = 0; k < count; k++) {
    for (int n = 0; n < s->symbol_count; n++) {
      assert_true(open_samples_stand_in(s, k, n) >= open_samples_largest_size(s));
      for (int m = 0; m < n; m++) assert_int_not_equal(open_samples_stand_in(s, k, n), open_samples_stand_in(s, k, m));
    }
  }
  assert_true(open_samples_open_from(s) <= open_samples_largest_size(s));
}

// No two symbols have one stand-in, and the largest size is none's above: of few symbols, and of many.
static void test_stand_ins(void **state) {
  (void)state;
  for (int symbols = 1; symbols <= PROGRAM_MOST_SYMBOLS; symbols++) {
    for (int level = 0; level < OPEN_SAMPLES_LEVELS; level++) {
      open_samples s = {.symbol_count = symbols, .degree = 1, .level = level};
      expect_apart(&s);
      s.is_odd = true;
      expect_apart(&s);
    }
  }
}

static int64_t of_quotient(const int64_t *s) { return 8 * s[2] - s[0] + s[0] * s[1] * s[2] + 3; }

// What stands in for a symbol that others decide is independent of them, on the side that is wanted.
static void test_derived(void **state) {
  (void)state;
  arena *a = arena_create();
  for (int odd = 0; odd < 2; odd++) {
    for (int above = 0; above < 2; above++) {
      for (int level = 2; level < 4; level++) {
        open_samples s = {.symbol_count = 3, .derived_count = 1, .degree = 1, .level = level, .is_odd = odd};
        int64_t terms[PROGRAM_MOST_TERMS];
        open_samples_add_table(a, &s);
        for (int k = 0; k <= open_samples_count(&s); k++) {
          const int64_t left = open_samples_stand_in(&s, k, 0) + 7;
          const int64_t n = open_samples_derive(&s, k, 2, PROGRAM_QUOTIENT, above, left, 8);
          assert_true(above ? n > left / 8 : n > 0 && n < left / 8);
          open_samples_derived(&s, k, 2)->stand_in = n;
        }
        assert_true(find(&s, of_quotient, terms));
        assert_true(terms[0] == 3 && terms[1] == -1 && terms[2] == 0 && terms[4] == 8 && terms[7] == 1);
      }
    }
  }
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_polynomials),
      cmocka_unit_test(test_others),
      cmocka_unit_test(test_stand_ins),
      cmocka_unit_test(test_derived),
  };
  return cmocka_run_group_tests_name("api/open_samples", tests, NULL, NULL);
}
