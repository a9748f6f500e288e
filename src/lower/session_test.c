// Sessions are given again, canonicalize alike whichever patterns they have collected, and leave after a failure.
#include "lower/session.h"

#include <mlir-c/Diagnostics.h>

#include "base/testing.h"
#include "emit/ir_builder.h"

static const char adds_zero[] =
    "func.func @f(%x: i32) -> i32 {\n"
    "  %zero = arith.constant 0 : i32\n"
    "  %sum = arith.addi %x, %zero : i32\n"
    "  return %sum : i32\n"
    "}\n";
static const char folds_branch[] =
    "func.func @f(%x: i32, %y: i32) -> i32 {\n"
    "  %yes = arith.constant true\n"
    "  %r = scf.if %yes -> i32 {\n"
    "    scf.yield %x : i32\n"
    "  } else {\n"
    "    scf.yield %y : i32\n"
    "  }\n"
    "  return %r : i32\n"
    "}\n";

// Operations of the name that are left after canonicalize.
static int left_over(lower_session *s, const char *source, const char *name) {
  MlirModule m = mlirModuleCreateParse(lower_session_context(s), mlirStringRefCreateFromCString(source));
  assert_false(mlirModuleIsNull(m));
  lower_session_canonicalize(s, mlirModuleGetOperation(m));
  assert_true(mlirOperationVerify(mlirModuleGetOperation(m)));
  arena *a = arena_create();
  int count = ir_collect(a, mlirModuleGetOperation(m), name).size;
  arena_destroy(a);
  mlirModuleDestroy(m);
  return count;
}

static void test_canonicalizes_what_occurs(void **state) {
  (void)state;
  lower_session *s = lower_session_take();
  for (int round = 0; round < 2; round++) {
    assert_int_equal(left_over(s, adds_zero, "arith.addi"), 0);
    assert_int_equal(left_over(s, folds_branch, "scf.if"), 0);
  }
  lower_session_give(s, true);
}

static void test_sound_sessions_are_given_again(void **state) {
  (void)state;
  lower_session *s = lower_session_take();
  lower_session_give(s, true);
  assert_ptr_equal(lower_session_take(), s);
  lower_session *other = lower_session_take();
  assert_ptr_not_equal(other, s);
  lower_session_give(other, true);
  lower_session_give(s, true);
}

static MlirLogicalResult pass_on(MlirDiagnostic diagnostic, void *argument) {
  (void)diagnostic;
  (void)argument;
  return mlirLogicalResultFailure();
}

static void note_end(void *argument) { *(bool *)argument = true; }

static void test_sessions_retire(void **state) {
  (void)state;
  bool is_gone = false;
  int kernels = 0;
  lower_session *s = lower_session_take();
  mlirContextAttachDiagnosticHandler(lower_session_context(s), pass_on, &is_gone, note_end);
  for (; !is_gone && kernels < 1000; kernels++) {
    lower_session_give(s, true);
    s = lower_session_take();
  }
  assert_true(kernels > 1);
  assert_true(is_gone);
  lower_session_give(s, true);
}

static void test_failed_sessions_retire(void **state) {
  (void)state;
  bool is_gone = false;
  lower_session *s = lower_session_take();
  mlirContextAttachDiagnosticHandler(lower_session_context(s), pass_on, &is_gone, note_end);
  lower_session_give(s, false);
  assert_true(is_gone);
}

static void test_unknown_passes_are_reported(void **state) {
  (void)state;
  lower_session *s = lower_session_take();
  MlirContext context = lower_session_context(s);
  MlirModule m = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  assert_true(lower_session_run(s, "cse", mlirModuleGetOperation(m)));
  assert_false(lower_session_run(s, "no-such-pass", mlirModuleGetOperation(m)));
  assert_false(lower_session_run(s, "no-such-pass", mlirModuleGetOperation(m)));
  heddle_status status = ir_diagnostics(context, HEDDLE_INTERNAL, "running");
  assert_non_null(strstr(heddle_status_message(status), "no-such-pass"));
  heddle_status_free(status);
  mlirModuleDestroy(m);
  lower_session_give(s, false);
}

static void test_rewrites_vectors(void **state) {
  (void)state;
  static const char source[] =
      "func.func @f(%x: vector<8xf32>) -> vector<1x4x8xf32> {\n"
      "  %y = vector.broadcast %x : vector<8xf32> to vector<1x4x8xf32>\n"
      "  return %y : vector<1x4x8xf32>\n"
      "}\n";
  lower_session *s = lower_session_take();
  arena *a = arena_create();
  for (int i = 0; i < 2; i++) {  // with patterns that are collected, and with those that were
    MlirModule m = mlirModuleCreateParse(lower_session_context(s), mlirStringRefCreateFromCString(source));
    MlirOperation op = mlirModuleGetOperation(m);
    assert_true(lower_session_vectors(s, VECTOR_STEP_RECOGNIZE, op));
    assert_int_equal(ir_collect(a, op, "vector.broadcast").size, 1);
    assert_true(lower_session_vectors(s, VECTOR_STEP_LOWER, op));
    assert_int_equal(ir_collect(a, op, "vector.broadcast").size, 0);
    assert_int_equal(ir_collect(a, op, "vector.insert").size, 5);  // four rows, and all of them
    mlirModuleDestroy(m);
  }
  arena_destroy(a);
  lower_session_give(s, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_canonicalizes_what_occurs),
      cmocka_unit_test(test_sound_sessions_are_given_again),
      cmocka_unit_test(test_sessions_retire),
      cmocka_unit_test(test_failed_sessions_retire),
      cmocka_unit_test(test_unknown_passes_are_reported),
      cmocka_unit_test(test_rewrites_vectors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
