// The builder: constants, regions, rewriting, index arithmetic, and what MLIR reports.
#include "emit/ir_builder.h"

#include <mlir-c/Diagnostics.h>

#include "base/testing.h"
#include "dialect/xla_gpu.h"

typedef struct fixture {
  arena *arena;
  MlirContext context;
  MlirModule module;
  MlirOperation function;  // (index, index, f32) -> (), with an empty entry block
  ir_builder b;            // at the end of that block
  MlirValue arguments[3];
} fixture;

static int setup(void **state) {
  arena *a = arena_create();
  fixture *f = arena_new(a, fixture);
  f->arena = a;
  f->context = ir_context_create();
  f->module = mlirModuleCreateEmpty(mlirLocationUnknownGet(f->context));
  ir_builder top = ir_builder_at_end(f->context, mlirModuleGetBody(f->module), a);
  MlirType inputs[] = {mlirIndexTypeGet(f->context), mlirIndexTypeGet(f->context), ir_type(f->context, "f32")};
  f->function = ir_function(&top, "f", 3, inputs, 0, 0, false);
  f->b = ir_builder_at_end(f->context, ir_body(f->function, 0), a);
  for (int i = 0; i < 3; i++) f->arguments[i] = mlirBlockGetArgument(ir_body(f->function, 0), i);
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

// Ends the function and verifies the module.
static const char *finish(fixture *f) {
  ir_return(&f->b, 0, 0);
  if (!mlirOperationVerify(mlirModuleGetOperation(f->module)))
    fail_msg("%s", heddle_status_message(ir_diagnostics(f->context, HEDDLE_INTERNAL, "verify")));
  return ir_operation_text(f->arena, f->function);
}

static void test_constants(void **state) {
  fixture *f = *state;
  int64_t v = 0;
  const struct {
    const char *type;
    int64_t value;
  } cases[] = {{"index", -5}, {"i1", 1}, {"i1", 0}, {"i8", -128}, {"i64", INT64_MIN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_true(ir_constant_value(ir_int(&f->b, ir_type(f->context, cases[i].type), cases[i].value), &v));
    assert_int_equal(v, cases[i].value);
  }
  assert_false(ir_constant_value(f->arguments[0], &v));
  assert_false(ir_constant_value(ir_float(&f->b, ir_type(f->context, "bf16"), 0.5), &v));
  ir_float(&f->b, ir_type(f->context, "vector<4xf32>"), 2);
  const char *printed = finish(f);
  assert_non_null(strstr(printed, "dense<2.000000e+00> : vector<4xf32>"));
  assert_non_null(strstr(printed, "5.000000e-01 : bf16"));
}

static void test_types(void **state) {
  fixture *f = *state;
  MlirType vector = ir_type(f->context, "vector<2x8xf32>"), i1 = ir_type(f->context, "i1");
  assert_true(ir_is_vector(vector));
  assert_false(ir_is_vector(i1));
  assert_string_equal(ir_type_text(f->arena, ir_like(vector, i1)), "vector<2x8xi1>");
  assert_string_equal(ir_type_text(f->arena, ir_like(i1, i1)), "i1");
  assert_string_equal(ir_type_text(f->arena, ir_element_type(vector)), "f32");
  const struct {
    const char *type;
    int bits;
  } cases[] = {{"i4", 4}, {"bf16", 16}, {"f8E4M3FN", 8}, {"f64", 64}, {"index", 64}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(ir_bit_width(ir_type(f->context, cases[i].type)), cases[i].bits);
}

static void test_compare_predicates(void **state) {
  fixture *f = *state;
  ir_cmpi(&f->b, "slt", f->arguments[0], f->arguments[1]);
  ir_cmpi(&f->b, "uge", f->arguments[0], f->arguments[1]);
  ir_cmpf(&f->b, "une", f->arguments[2], f->arguments[2]);
  ir_cmpf(&f->b, "ord", f->arguments[2], f->arguments[2]);
  const char *printed = finish(f);
  const char *const wanted[] = {"arith.cmpi slt", "arith.cmpi uge", "arith.cmpf une", "arith.cmpf ord"};
  for (int i = 0; i < 4; i++) assert_non_null(strstr(printed, wanted[i]));
}

static void test_regions_and_inlining(void **state) {
  fixture *f = *state;
  MlirValue c0 = ir_index(&f->b, 0), c8 = ir_index(&f->b, 8), c1 = ir_index(&f->b, 1);
  MlirOperation loop = ir_for(&f->b, c0, c8, c1, 1, &f->arguments[2]);
  MlirBlock body = ir_body(loop, 0);
  ir_builder inner = ir_builder_at_end(f->context, body, f->arena);
  MlirValue carried = mlirBlockGetArgument(body, 1);
  MlirValue sum = ir_binary(&inner, "arith.addf", carried, f->arguments[2]);
  ir_yield(&inner, 1, &sum);

  // The body of a copy, put before the loop with the first index: the loop then starts from its result.
  MlirOperation copy = mlirOperationClone(loop);
  ir_values first = ir_inline_block(f->arena, ir_body(copy, 0), loop, (MlirValue[]){c0, f->arguments[2]});
  mlirOperationDestroy(copy);
  assert_int_equal(first.size, 1);
  mlirOperationSetOperand(loop, 3, first.data[0]);

  MlirType f32 = ir_type(f->context, "f32");
  MlirOperation branch = ir_if(&f->b, ir_int(&f->b, ir_type(f->context, "i1"), 1), 1, &f32);
  for (int side = 0; side < 2; side++) {
    ir_builder in_branch = ir_builder_at_end(f->context, ir_body(branch, side), f->arena);
    ir_yield(&in_branch, 1, (MlirValue[]){side == 0 ? ir_result(loop, 0) : f->arguments[2]});
  }
  finish(f);
  assert_int_equal(ir_collect(f->arena, f->function, "arith.addf").size, 2);
  assert_int_equal(ir_collect(f->arena, f->function, "scf.yield").size, 3);
  ir_operations all = ir_collect(f->arena, f->function, 0);
  assert_true(mlirOperationEqual(all.data[all.size - 1], f->function));  // inner first
}

static void test_functions(void **state) {
  fixture *f = *state;
  ir_set_argument_attribute(f->function, 1, "xla.range", ir_attribute(f->context, "[0 : index, 7 : index]"));
  assert_true(mlirAttributeIsNull(ir_argument_attribute(f->function, 0, "xla.range")));
  assert_false(mlirAttributeIsNull(ir_argument_attribute(f->function, 1, "xla.range")));
  assert_true(mlirAttributeIsNull(ir_argument_attribute(f->function, 9, "xla.range")));
  MlirOperation module = mlirModuleGetOperation(f->module);
  assert_true(mlirOperationEqual(ir_find_function(module, "f"), f->function));
  assert_true(ir_is_null(ir_find_function(module, "g")));
  assert_true(str_is(ir_symbol(f->function), "f"));
  finish(f);
}

static const indexing_map *parse_map(fixture *f, const char *source) {
  const indexing_map *map = 0;
  heddle_status status = indexing_map_parse(f->arena, str_from(source), &map);
  assert_true(status_is_ok(status));
  return map;
}

static void test_apply_indexing_folds(void **state) {
  fixture *f = *state;
  const indexing_map *map =
      parse_map(f, "(d0)[s0] -> (d0, 5, s0, d0 * 4 + s0), domain: d0 in [0, 7], s0 in [0, 3], d0 + s0 in [0, 8]");
  ir_values values = ir_apply_indexing(&f->b, map, &f->arguments[0], &f->arguments[1]);
  int64_t five = 0;
  assert_int_equal(values.size, 4);
  assert_true(mlirValueEqual(values.data[0], f->arguments[0]));
  assert_true(ir_constant_value(values.data[1], &five) && five == 5);
  assert_true(mlirValueEqual(values.data[2], f->arguments[1]));
  finish(f);
  ir_operations made = ir_collect(f->arena, f->function, "xla_gpu.apply_indexing");
  assert_int_equal(made.size, 1);
  const indexing_map *used = xla_gpu_indexing_map(ir_get(made.data[0], "map"));
  assert_int_equal(used->result_count, 1);
  assert_int_equal(used->constraint_count, 0);
}

static int count(fixture *f, const char *name) { return ir_collect(f->arena, f->function, name).size; }

static void test_check_constraints(void **state) {
  fixture *f = *state;
  const indexing_map *map = parse_map(f, "(d0)[s0] -> (d0), domain: d0 in [0, 7], s0 in [0, 3], d0 + s0 in [2, 8]");
  ir_check_constraints(&f->b, map, &f->arguments[0], &f->arguments[1], false);
  assert_int_equal(count(f, "arith.cmpi"), 2);
  assert_int_equal(count(f, "arith.andi"), 1);
  ir_check_constraints(&f->b, map, &f->arguments[0], &f->arguments[1], true);
  assert_int_equal(count(f, "arith.cmpi"), 6);
  assert_int_equal(count(f, "arith.andi"), 4);
  int64_t truth = 0;
  const indexing_map *free = parse_map(f, "(d0) -> (d0), domain: d0 in [0, 7]");
  assert_true(ir_constant_value(ir_check_constraints(&f->b, free, &f->arguments[0], 0, false), &truth));
  assert_int_equal(truth, 1);
  const indexing_map *empty = parse_map(f, "KNOWN EMPTY");
  assert_true(ir_constant_value(ir_check_constraints(&f->b, empty, &f->arguments[0], 0, true), &truth));
  assert_int_equal(truth, 0);
  finish(f);
}

static void test_affine_arithmetic(void **state) {
  fixture *f = *state;
  const indexing_map *map =
      parse_map(f, "(d0)[s0] -> ((d0 floordiv 8) * 3 + s0 mod 5), domain: d0 in [-9, 70], s0 in [0, 30]");
  ir_affine(&f->b, map->results[0], &f->arguments[0], &f->arguments[1]);
  const char *printed = finish(f);
  const char *const wanted[] = {"arith.floordivsi", "arith.muli", "arith.remsi", "arith.select", "arith.addi"};
  for (int i = 0; i < 5; i++) assert_non_null(strstr(printed, wanted[i]));
}

static void test_diagnostics(void **state) {
  fixture *f = *state;
  assert_true(status_is_ok(ir_diagnostics(f->context, HEDDLE_INTERNAL, "idle")));
  mlirEmitError(mlirLocationFileLineColGet(f->context, mlirStringRefCreateFromCString("a.mlir"), 3, 7), "went wrong");
  heddle_status status = ir_diagnostics(f->context, HEDDLE_INVALID, "while testing");
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(status), "while testing: went wrong"));
  assert_non_null(strstr(heddle_status_message(status), "a.mlir"));
  heddle_status_free(status);
  assert_true(status_is_ok(ir_diagnostics(f->context, HEDDLE_INTERNAL, "taken")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_constants, setup, teardown),
      cmocka_unit_test_setup_teardown(test_types, setup, teardown),
      cmocka_unit_test_setup_teardown(test_compare_predicates, setup, teardown),
      cmocka_unit_test_setup_teardown(test_regions_and_inlining, setup, teardown),
      cmocka_unit_test_setup_teardown(test_functions, setup, teardown),
      cmocka_unit_test_setup_teardown(test_apply_indexing_folds, setup, teardown),
      cmocka_unit_test_setup_teardown(test_check_constraints, setup, teardown),
      cmocka_unit_test_setup_teardown(test_affine_arithmetic, setup, teardown),
      cmocka_unit_test_setup_teardown(test_diagnostics, setup, teardown),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
