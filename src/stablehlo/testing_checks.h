// For this room's tests: reads StableHLO text and runs its programs in the interpreter; their check.* operations
// decide.
#ifndef HEDDLE_STABLEHLO_TESTING_CHECKS_H_
#define HEDDLE_STABLEHLO_TESTING_CHECKS_H_

#include <string.h>

#include "base/testing.h"
#include "eval/evaluate.h"
#include "mlir/text.h"
#include "stablehlo/functions.h"

// Runs every program of the text; *count says how many there were.
static inline heddle_status testing_checks_run(arena *a, const char *source, int *count) {
  ir_module **modules;
  int module_count;
  TRY(mlir_text_read(a, "test.mlir", str_from(source), &module_count, &modules));
  stablehlo_function_list functions = {0};
  for (int k = 0; k < module_count; k++) {
    TRY(stablehlo_functions(a, modules[k], STR(""), &functions));
    for (; *count < functions.size; ++*count) {
      module *m;
      literal *result;
      TRY(stablehlo_program(a, modules[k], functions.data[*count], NULL, &m));
      TRY(eval_module(a, m, 0, NULL, &result));
    }
  }
  return status_ok();
}

static inline void testing_checks_expect_holds(const char *source) {
  arena *a = arena_create();
  int count = 0;
  heddle_status status = testing_checks_run(a, source, &count);
  if (!status_is_ok(status)) print_error("%s\n", heddle_status_message(status));
  assert_true(status_is_ok(status));
  assert_true(count > 0);
  arena_destroy(a);
}

// Importing or running must fail with a message that contains `message`.
static inline void testing_checks_expect_fails(const char *source, const char *message) {
  arena *a = arena_create();
  int count = 0;
  heddle_status status = testing_checks_run(a, source, &count);
  assert_false(status_is_ok(status));
  if (!strstr(heddle_status_message(status), message)) print_error("%s\n", heddle_status_message(status));
  assert_non_null(strstr(heddle_status_message(status), message));
  heddle_status_free(status);
  arena_destroy(a);
}

#endif
