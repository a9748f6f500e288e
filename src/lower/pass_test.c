// The driver on MLIR: order, stopping, what changed, and what is said when something fails.
#include "lower/pass.h"

#include <mlir-c/IR.h>

#include "base/testing.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

static const char *const source =
    "func.func private @dead() { return }\n"
    "func.func @f(%x: f32) -> f32 {\n"
    "  %0 = arith.addf %x, %x : f32\n"
    "  %1 = arith.addf %x, %x : f32\n"
    "  %2 = arith.mulf %0, %1 : f32\n"
    "  return %2 : f32\n"
    "}\n";

typedef struct fixture {
  arena *arena;
  MlirContext context;
  MlirModule module;
  lower_options options;
} fixture;

static int setup(void **state) {
  arena *a = arena_create();
  fixture *f = arena_new(a, fixture);
  f->arena = a;
  f->context = ir_context_create();
  f->module = mlirModuleCreateParse(f->context, mlirStringRefCreateFromCString(source));
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
  arena_destroy(f->arena);
  return 0;
}

static const char *printed(fixture *f) { return ir_operation_text(f->arena, mlirModuleGetOperation(f->module)); }

static heddle_status run(fixture *f, const pass *const *passes, pass_control *control) {
  return lower_run(passes, mlirModuleGetOperation(f->module), &f->options, control);
}

static const pass *const two_passes[] = {&lower_cse, &lower_symbol_dce, 0};

static void note(void *argument, const pass *p, const pass_unit_kind *kind, const void *module) {
  (void)module;
  assert_ptr_equal(kind, &lower_operations);
  text_printf(argument, "%s ", p->name);
}

static void test_runs_in_order(void **state) {
  fixture *f = *state;
  text seen = {0};
  // canonicalize changes nothing here, so it is not shown.
  const pass *const passes[] = {&lower_canonicalize, &lower_cse, &lower_symbol_dce, 0};
  pass_watcher watcher = {.changes = true, .see = note, .argument = &seen};
  pass_control control = {.bisect = -1, .watchers = &watcher};
  assert_true(status_is_ok(run(f, passes, &control)));
  assert_string_equal(text_cstr(&seen), "cse symbol-dce ");
  assert_null(strstr(printed(f), "@dead"));
  text_free(&seen);
}

static void test_stops(void **state) {
  fixture *f = *state;
  pass_control none = {.bisect = 0};
  const char *before = printed(f);
  assert_true(status_is_ok(run(f, two_passes, &none)));
  assert_string_equal(printed(f), before);
  pass_control until = {.until = "cse", .bisect = -1};
  assert_true(status_is_ok(run(f, two_passes, &until)));
  assert_non_null(strstr(printed(f), "@dead"));
  assert_non_null(strstr(printed(f), "arith.mulf %0, %0"));
}

static void expect_error(heddle_status status, const char *wanted) {
  assert_false(status_is_ok(status));
  if (!strstr(heddle_status_message(status), wanted))
    fail_msg("wanted %s in %s", wanted, heddle_status_message(status));
  heddle_status_free(status);
}

static heddle_status refuse(pass_context *context, void *unit) {
  (void)context, (void)unit;
  return status_error(HEDDLE_UNIMPLEMENTED, "cannot do this");
}

// Leaves a function without its terminator.
static heddle_status break_module(pass_context *context, void *unit) {
  (void)context;
  ir_erase(ir_terminator(ir_body(ir_find_function((MlirOperation){unit}, "f"), 0)));
  return status_ok();
}

static heddle_status run_unknown(pass_context *context, void *unit) {
  return lower_upstream(context, unit, "no-such-upstream-pass");
}

static void test_failures_name_the_pass(void **state) {
  fixture *f = *state;
  const pass failing = {.name = "failing-pass", .run = refuse}, breaking = {.name = "breaker", .run = break_module};
  const pass unknown = {.name = "unknown-pipeline", .run = run_unknown};
  const pass *const fails[] = {&failing, 0}, *const unknowns[] = {&unknown, 0}, *const breaks[] = {&breaking, 0};
  heddle_status status = run(f, fails, 0);
  assert_int_equal(heddle_status_code(status), HEDDLE_UNIMPLEMENTED);
  expect_error(status, "in pass failing-pass");
  expect_error(run(f, unknowns, 0), "no-such-upstream-pass");
  expect_error(run(f, breaks, 0), "invalid IR");
}

static void test_table(void **state) {
  (void)state;
  assert_ptr_equal(lower_pass_find(STR("cse")), &lower_cse);
  assert_null(lower_pass_find(STR("cs")));
  for (int i = 0; lower_passes[i]; i++) {
    const pass *p = lower_passes[i];
    assert_non_null(p->run);
    assert_true(strlen(p->summary) > 0 && strlen(p->order_reason) > 0);
    assert_ptr_equal(lower_pass_find(str_from(p->name)), p);  // names are unique
  }
}

// Every pass of a pipeline is in the table, so that --until and --print-after can name it.
static void test_pipelines_use_the_table(void **state) {
  (void)state;
  for (int k = 0; target_name(k); k++) {
    target_description target;
    assert_true(target_find(str_from(target_name(k)), &target));
    const pass *const *passes = lower_pipeline(&target);
    for (int i = 0; passes[i]; i++) assert_ptr_equal(lower_pass_find(str_from(passes[i]->name)), passes[i]);
    for (int i = 0; lower_groups[i]; i++) assert_non_null(lower_group(&target, str_from(lower_groups[i])));
    assert_null(lower_group(&target, STR("no-such-group")));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_runs_in_order, setup, teardown),
      cmocka_unit_test_setup_teardown(test_stops, setup, teardown),
      cmocka_unit_test_setup_teardown(test_failures_name_the_pass, setup, teardown),
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_pipelines_use_the_table),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
