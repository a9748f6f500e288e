// Random webs of apply_indexing before and after canonicalization: every value must stay what it was.
//
// A function of a few indices computes a web of apply_indexing operations, which is evaluated at random points, then
// canonicalized and merged (composition, constant operands, unused variables, simplification), then evaluated again.
// The seed is fixed; a failure prints the function as it was.
#include <mlir-c/IR.h>
#include <stdio.h>

#include "base/map.h"
#include "base/testing.h"
#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"
#include "lower/ranges.h"

enum { ARGUMENTS = 3, OPERATIONS = 8, POINTS = 20, WEBS = 500 };

static uint64_t random_state;

static int below(int limit) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((random_state >> 33) % (uint64_t)limit);
}

// A random expression over the map's dims and symbols.
static const affine_expr *expression(arena *a, int dims, int symbols, int depth) {
  int kind = depth == 0 ? below(3) : below(8);
  if (kind == 0) return affine_constant(a, below(20));
  if (kind == 1 || (kind == 2 && symbols == 0)) return affine_dim(a, below(dims));
  if (kind == 2) return affine_symbol(a, below(symbols));
  const affine_expr *x = expression(a, dims, symbols, depth - 1);
  if (kind == 3) return affine_mul_constant(a, x, 1 + below(6));
  if (kind == 4) return affine_floordiv(a, x, 1 + below(9));
  if (kind == 5) return affine_mod(a, x, 1 + below(9));
  return affine_add(a, x, expression(a, dims, symbols, depth - 1));
}

// A map of random results over dims and symbols whose bounds are the ranges of the given values.
static indexing_map *random_map(arena *a, ranges *r, const MlirValue *operands, int dims, int symbols) {
  indexing_map *m = indexing_map_create(a, dims, symbols, 0, 1 + below(2), 0);
  for (int i = 0; i < dims + symbols; i++) {
    indexing_variable *variable = i < dims ? &m->dims[i] : &m->ranges[i - dims];
    variable->bounds = ranges_of(r, operands[i]);
  }
  for (int i = 0; i < m->result_count; i++) m->results[i] = expression(a, dims, symbols, 3);
  return m;
}

static void add_apply_indexing(ir_builder *b, ranges *r, ir_values *values) {
  int dims = 1 + below(3), symbols = below(3), first = values->size > 8 ? values->size - 8 : 0;
  MlirValue operands[6];
  for (int i = 0; i < dims + symbols; i++) {
    bool is_constant = below(6) == 0;
    operands[i] = is_constant ? ir_index(b, below(30)) : values->data[first + below(values->size - first)];
  }
  indexing_map *m = random_map(b->arena, r, operands, dims, symbols);
  MlirType types[2] = {mlirIndexTypeGet(b->context), mlirIndexTypeGet(b->context)};
  MlirNamedAttribute map = ir_named(b->context, "map", xla_gpu_indexing_map_attribute(b->context, m));
  MlirOperation op = ir_build(b, (ir_op_state){.name = "xla_gpu.apply_indexing",
                                               .operand_count = dims + symbols,
                                               .operands = operands,
                                               .result_count = m->result_count,
                                               .results = types,
                                               .attribute_count = 1,
                                               .attributes = &map});
  for (int i = 0; i < m->result_count; i++) vec_push(b->arena, values, ir_result(op, i));
}

// func @f(index with a range, …) -> some of the values.
static MlirModule random_web(arena *a, MlirContext context) {
  MlirModule module = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  ir_builder top = ir_builder_at_end(context, mlirModuleGetBody(module), a);
  MlirType index = mlirIndexTypeGet(context), types[] = {index, index, index};
  MlirOperation function = ir_function(&top, "f", ARGUMENTS, types, 3, types, false);
  ir_builder b = ir_builder_at_end(context, ir_body(function, 0), a);
  ranges r = ranges_begin(a);
  ir_values values = {0};
  for (int i = 0; i < ARGUMENTS; i++) {
    interval range = {0, 1 + below(40)};
    ir_set_argument_attribute(function, i, "xla.range", ranges_to_attribute(context, range));
    vec_push(a, &values, mlirBlockGetArgument(ir_body(function, 0), i));
  }
  for (int i = 0; i < OPERATIONS; i++) add_apply_indexing(&b, &r, &values);
  MlirValue results[] = {values.data[below(values.size)], values.data[below(values.size)], vec_last(&values)};
  ir_return(&b, 3, results);
  return module;
}

// --- evaluation

static int64_t value_of(const ptr_map *known, MlirValue v) { return *(int64_t *)ptr_map_get(known, v.ptr); }

static void set_value(arena *a, ptr_map *known, MlirValue v, int64_t value) {
  int64_t *slot = arena_new(a, int64_t);
  *slot = value;
  ptr_map_put(a, known, v.ptr, slot);
}

static void evaluate_apply(arena *a, ptr_map *known, MlirOperation op) {
  const indexing_map *m = xla_gpu_indexing_map(ir_get(op, "map"));
  int count = m->dim_count + m->range_count + m->rt_count;
  int64_t *point = arena_array(a, int64_t, count), *results = arena_array(a, int64_t, m->result_count);
  for (int i = 0; i < count; i++) point[i] = value_of(known, ir_operand(op, i));
  assert_true(indexing_map_contains(m, point, point + m->dim_count));  // bounds are promises that must hold
  indexing_map_evaluate(m, point, point + m->dim_count, results);
  for (int i = 0; i < m->result_count; i++) set_value(a, known, ir_result(op, i), results[i]);
}

static void evaluate(arena *a, MlirOperation function, const int64_t *arguments, int64_t *results) {
  ptr_map known = {0};
  MlirBlock body = ir_body(function, 0);
  for (int i = 0; i < ARGUMENTS; i++) set_value(a, &known, mlirBlockGetArgument(body, i), arguments[i]);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !ir_is_null(op); op = mlirOperationGetNextInBlock(op)) {
    int64_t constant = 0;
    if (ir_is(op, "xla_gpu.apply_indexing")) evaluate_apply(a, &known, op);
    else if (ir_is(op, "arith.constant") && ir_constant_value(ir_result(op, 0), &constant))
      set_value(a, &known, ir_result(op, 0), constant);
    else
      for (int i = 0; i < 3; i++) results[i] = value_of(&known, ir_operand(op, i));
  }
}

static void check_web(arena *a, MlirContext context) {
  static const pass *const passes[] = {&lower_canonicalize, &lower_cse, &lower_canonicalize, 0};
  MlirModule module = random_web(a, context);
  MlirOperation function = ir_find_function(mlirModuleGetOperation(module), "f");
  const char *printed = ir_operation_text(a, function);
  int64_t points[POINTS][ARGUMENTS], before[POINTS][3], after[3];
  for (int p = 0; p < POINTS; p++) {
    for (int i = 0; i < ARGUMENTS; i++) {
      interval range = {0, 0};
      ranges_from_attribute(ir_argument_attribute(function, i, "xla.range"), &range);
      points[p][i] = below((int)range.upper + 1);
    }
    evaluate(a, function, points[p], before[p]);
  }
  heddle_status status = lower_run(passes, mlirModuleGetOperation(module), &(lower_options){0}, 0);
  if (!status_is_ok(status)) fail_msg("%s\n%s", heddle_status_message(status), printed);
  for (int p = 0; p < POINTS; p++) {
    evaluate(a, function, points[p], after);
    if (memcmp(before[p], after, sizeof after) == 0) continue;
    fprintf(stderr, "%s\nbecame\n%s\n", printed, ir_operation_text(a, function));
    fail_msg("at (%ld, %ld, %ld)", (long)points[p][0], (long)points[p][1], (long)points[p][2]);
  }
  const char *once = ir_operation_text(a, function);
  status = lower_run(passes, mlirModuleGetOperation(module), &(lower_options){0}, 0);
  assert_true(status_is_ok(status));
  assert_string_equal(ir_operation_text(a, function), once);  // a fixpoint, or it would go on for ever
  mlirModuleDestroy(module);
}

static void test_values_stay(void **state) {
  (void)state;
  random_state = 20240607;
  arena *a = arena_create();
  MlirContext context = ir_context_create();
  for (int i = 0; i < WEBS; i++) {
    check_web(a, context);
    arena_reset(a);
  }
  mlirContextDestroy(context);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_stay)};
  return cmocka_run_group_tests(tests, 0, 0);
}
