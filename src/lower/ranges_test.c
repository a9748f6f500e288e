// Ranges of values: every operation below carries the range it must have.
#include "lower/ranges.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/IR.h>

#include "base/testing.h"
#include "emit/ir_builder.h"

static const char *const source =
    "#sum = #xla_gpu.indexing_map<\"(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 7], s0 in [0, 3]\">\n"
    "#loop = #xla_gpu.indexing_map<\"(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [2, 5]\">\n"
    "func.func @f(%a: index {xla.range = [0 : index, 3 : index]}, %u: index, %b: i8, %c: i1, %n: index {xla.range = "
    "[-9 : index, 5 : index]}, %t: f32) {\n"
    "  %c0 = arith.constant {want = [0 : index, 0 : index]} 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %c3 = arith.constant 3 : index\n"
    "  %c10 = arith.constant {want = [10 : index, 10 : index]} 10 : index\n"
    "  %id = gpu.thread_id x {xla.range = [0 : index, 127 : index], want = [0 : index, 127 : index]}\n"
    // The operand's own range where it is tighter than the map's bounds, the bounds where it is not.
    "  %m0 = xla_gpu.apply_indexing #sum(%a)[%u] {want = [0 : index, 15 : index]}\n"
    "  %m1 = xla_gpu.apply_indexing #sum(%id)[%u] {want = [0 : index, 31 : index]}\n"
    "  %add = arith.addi %a, %c10 {want = [10 : index, 13 : index]} : index\n"
    "  %sub = arith.subi %a, %c10 {want = [-10 : index, -7 : index]} : index\n"
    "  %mul = arith.muli %n, %c10 {want = [-90 : index, 50 : index]} : index\n"
    "  %divs = arith.divsi %n, %c3 {want = [-3 : index, 1 : index]} : index\n"
    "  %floor = arith.floordivsi %n, %c10 {want = [-1 : index, 0 : index]} : index\n"
    "  %divu = arith.divui %id, %c3 {want = [0 : index, 42 : index]} : index\n"
    "  %rems = arith.remsi %n, %c3 {want = [-2 : index, 2 : index]} : index\n"
    "  %remu = arith.remui %id, %c10 {want = [0 : index, 9 : index]} : index\n"
    "  %remsmall = arith.remui %a, %c10 {want = [0 : index, 3 : index]} : index\n"
    // Between two multiples of the divisor nothing starts anew.
    "  %c20 = arith.constant 20 : index\n"
    "  %far = arith.addi %a, %c20 {want = [20 : index, 23 : index]} : index\n"
    "  %remfar = arith.remui %far, %c10 {want = [0 : index, 3 : index]} : index\n"
    "  %remoff = arith.remsi %add, %c10 {want = [0 : index, 3 : index]} : index\n"
    // A select knows what its comparison says of the side taken: |n|, written in two ways, and n cut at 3.
    "  %positive = arith.cmpi sge, %n, %c0 : index\n"
    "  %minus = arith.subi %c0, %n : index\n"
    "  %abs = arith.select %positive, %n, %minus {want = [0 : index, 9 : index]} : index\n"
    "  %negative = arith.cmpi slt, %n, %c0 : index\n"
    "  %abs2 = arith.select %negative, %minus, %n {want = [0 : index, 9 : index]} : index\n"
    "  %beyond = arith.cmpi sgt, %n, %c3 : index\n"
    "  %cut = arith.select %beyond, %c3, %n {want = [-9 : index, 3 : index]} : index\n"
    // The least i8 has no opposite.
    "  %zero8 = arith.constant 0 : i8\n"
    "  %minus8 = arith.subi %zero8, %b : i8\n"
    "  %positive8 = arith.cmpi sge, %b, %zero8 : i8\n"
    "  %abs8 = arith.select %positive8, %b, %minus8 {want = [-128 : index, 127 : index]} : i8\n"
    "  %min = arith.minsi %id, %c10 {want = [0 : index, 10 : index]} : index\n"
    "  %max = arith.maxsi %n, %c0 {want = [0 : index, 5 : index]} : index\n"
    "  %and = arith.andi %id, %c3 {want = [0 : index, 3 : index]} : index\n"
    "  %or = arith.ori %id, %c10 {want = [0 : index, 127 : index]} : index\n"
    "  %shl = arith.shli %a, %c3 {want = [0 : index, 24 : index]} : index\n"
    "  %shr = arith.shrui %id, %c3 {want = [0 : index, 15 : index]} : index\n"
    "  %sel = arith.select %c, %a, %c10 {want = [0 : index, 10 : index]} : index\n"
    "  %cast = arith.index_cast %b {want = [-128 : index, 127 : index]} : i8 to index\n"
    "  %castu = arith.index_castui %b {want = [0 : index, 255 : index]} : i8 to index\n"
    "  %narrow = arith.index_cast %a {want = [0 : index, 3 : index]} : index to i8\n"
    // May wrap around: all that is known is the type.
    "  %wrapped = arith.addi %b, %narrow {want = [-128 : index, 127 : index]} : i8\n"
    "  %ext = arith.extui %c {want = [0 : index, 1 : index]} : i1 to i32\n"
    "  %sext = arith.extsi %c {want = [-1 : index, 0 : index]} : i1 to i32\n"
    "  scf.for %i = %c0 to %c10 step %c3 {\n"
    "    %x = arith.addi %i, %c0 {want = [0 : index, 9 : index]} : index\n"
    "    scf.yield\n"
    "  }\n"
    "  scf.for %i = %a to %id step %c1 {\n"
    "    %x = arith.addi %i, %c0 {want = [0 : index, 126 : index]} : index\n"
    "    scf.yield\n"
    "  }\n"
    "  %l = xla_gpu.loop (%a)[%r] -> (%p) in #loop iter_args(%iter = %t) -> (f32) {\n"
    "    %x = arith.addi %r, %c0 {want = [2 : index, 5 : index]} : index\n"
    "    %y = arith.addi %p, %c0 {want = [2 : index, 8 : index]} : index\n"
    "    xla_gpu.yield %iter : f32\n"
    "  }\n"
    "  return\n"
    "}\n";

static void test_ranges(void **state) {
  (void)state;
  arena *a = arena_create();
  MlirContext context = ir_context_create();
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(source));
  if (mlirModuleIsNull(module))
    fail_msg("%s", heddle_status_message(ir_diagnostics(context, HEDDLE_INTERNAL, "parse")));
  ranges r = ranges_begin(a);
  ir_operations ops = ir_collect(a, mlirModuleGetOperation(module), 0);
  int checked = 0;
  for (int i = 0; i < ops.size; i++) {
    interval wanted;
    if (!ranges_from_attribute(ir_get(ops.data[i], "want"), &wanted)) continue;
    interval found = ranges_of(&r, ir_result(ops.data[i], 0));
    if (!interval_equal(found, wanted))
      fail_msg("%s: found [%ld, %ld]", ir_operation_text(a, ops.data[i]), (long)found.lower, (long)found.upper);
    checked++;
  }
  assert_int_equal(checked, 38);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  arena_destroy(a);
}

static void test_unknown_is_everything(void **state) {
  (void)state;
  arena *a = arena_create();
  MlirContext context = ir_context_create();
  MlirModule module = mlirModuleCreateParse(
      context, mlirStringRefCreateFromCString("func.func @f(%a: index, %x: f32) -> index { return %a : index }"));
  ranges r = ranges_begin(a);
  MlirOperation function = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (int i = 0; i < 2; i++) {
    interval found = ranges_of(&r, mlirBlockGetArgument(ir_body(function, 0), i));
    assert_true(interval_equal(found, INTERVAL_ALL));
  }
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  arena_destroy(a);
}

static void test_attribute(void **state) {
  (void)state;
  MlirContext context = ir_context_create();
  interval back = {0};
  assert_true(ranges_from_attribute(ranges_to_attribute(context, (interval){-3, 8}), &back));
  assert_true(interval_equal(back, (interval){-3, 8}));
  const char *const malformed[] = {"[1 : index]", "[1 : index, 2 : index, 3 : index]", "[\"a\", 1 : index]",
                                   "5 : index"};
  for (int i = 0; i < 4; i++) assert_false(ranges_from_attribute(ir_attribute(context, malformed[i]), &back));
  assert_false(ranges_from_attribute((MlirAttribute){0}, &back));
  mlirContextDestroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_unknown_is_everything),
      cmocka_unit_test(test_attribute),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
