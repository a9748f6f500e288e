// For eval's tests: evaluates HLO text without parameters and compares with the text of the expected value.
#ifndef HEDDLE_EVAL_TESTING_H_
#define HEDDLE_EVAL_TESTING_H_

#include <stdio.h>
#include <stdlib.h>

#include "base/testing.h"
#include "eval/evaluate.h"
#include "hlo/text.h"

static inline void testing_require(heddle_status status, const char *source) {
  if (!status_is_ok(status)) print_error("%s\n%s\n", source, heddle_status_message(status));
  assert_true(status_is_ok(status));
}

// Bits count: -0 is not 0. NaN is NaN, whatever its sign.
static inline bool testing_same_leaf(const literal *l, const literal *r) {
  if (literal_identical(l, r)) return true;
  heddle_status status = literal_compare(l, r, 0, 0);
  bool same = status_is_ok(status) && (dtypes[l->shape->dtype].class & (CLASS_FLOAT | CLASS_COMPLEX));
  heddle_status_free(status);
  for (int64_t k = 0; same && k < shape_element_count(l->shape); k++) {
    const double complex x = literal_get_complex(l, k), y = literal_get_complex(r, k);
    const double parts[2][2] = {{creal(x), creal(y)}, {cimag(x), cimag(y)}};
    for (int p = 0; p < 2; p++)
      same = same && (parts[p][0] != 0 || !__builtin_signbit(parts[p][0]) == !__builtin_signbit(parts[p][1]));
  }
  return same;
}

static inline bool testing_same(const literal *l, const literal *r) {
  if (!shape_is_tuple(l->shape)) return testing_same_leaf(l, r);
  for (int k = 0; k < l->shape->tuple_size; k++)
    if (!testing_same(l->elements[k], r->elements[k])) return false;
  return true;
}

// The module's result, or one instruction's line alone, must be exactly `expected`.
static inline void testing_expect(const char *source, const char *expected) {
  arena *a = arena_create();
  module *m;
  literal *result, *wanted;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  testing_require(eval_module(a, m, 0, NULL, &result), source);
  testing_require(literal_parse(a, str_from(expected), result->shape, &wanted), expected);
  if (!testing_same(result, wanted)) {
    text found = {0};
    literal_print(&found, result);
    print_error("%s\nfound  %s\nwanted %s\n", source, text_cstr(&found), expected);
    text_free(&found);
    fail();
  }
  arena_destroy(a);
}

// Evaluation must fail with this code and a message that contains `message`.
static inline void testing_expect_error(const char *source, const eval_options *options, heddle_code code,
                                        const char *message) {
  arena *a = arena_create();
  module *m;
  literal *result;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  heddle_status status = eval_computation(a, m->entry, options, 0, NULL, &result);
  assert_int_equal(heddle_status_code(status), code);
  if (!strstr(heddle_status_message(status), message)) print_error("%s\n", heddle_status_message(status));
  assert_non_null(strstr(heddle_status_message(status), message));
  heddle_status_free(status);
  arena_destroy(a);
}

#endif
