// For import's tests: imports StableHLO text and runs its programs in the interpreter; their check.* operations decide.
#ifndef HEDDLE_IMPORT_TESTING_CHECKS_H_
#define HEDDLE_IMPORT_TESTING_CHECKS_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eval/evaluate.h"
#include "import/import.h"

static inline heddle_status testing_run(arena *a, const char *source, int *count) {
  module **programs;
  TRY(import_all(a, "test.mlir", str_from(source), NULL, count, &programs));
  for (int k = 0; k < *count; k++) {
    literal *result;
    TRY(eval_module(a, programs[k], 0, NULL, &result));
  }
  return status_ok();
}

static inline void testing_expect_holds(const char *source) {
  arena *a = arena_create();
  int count = 0;
  heddle_status status = testing_run(a, source, &count);
  if (!status_is_ok(status)) print_error("%s\n", heddle_status_message(status));
  assert_true(status_is_ok(status));
  assert_true(count > 0);
  arena_destroy(a);
}

// Importing or running must fail with a message that contains `message`.
static inline void testing_expect_fails(const char *source, const char *message) {
  arena *a = arena_create();
  int count;
  heddle_status status = testing_run(a, source, &count);
  assert_false(status_is_ok(status));
  if (!strstr(heddle_status_message(status), message)) print_error("%s\n", heddle_status_message(status));
  assert_non_null(strstr(heddle_status_message(status), message));
  heddle_status_free(status);
  arena_destroy(a);
}

#endif
