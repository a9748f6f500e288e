// Which state may follow which: all pairs.
#include "tile/markers.h"

#include <mlir-c/BuiltinTypes.h>

#include "base/testing.h"

static MlirOperation make(MlirContext context, arena *a, MlirModule module) {
  ir_builder b = ir_builder_at_end(context, mlirModuleGetBody(module), a);
  MlirValue v = ir_int(&b, mlirIntegerTypeGet(context, 32), 1);
  return ir_defining_op(v);
}

// The ways of the states: by a root's tiles, or begun in one of them.
static void test_advance(void **state) {
  static const bool may_follow[MARKER_COUNT][MARKER_COUNT] = {
      [MARKER_NONE] = {[MARKER_ROOT] = true, [MARKER_WORKGROUP] = true},
      [MARKER_ROOT] = {[MARKER_WORKGROUP] = true},
      [MARKER_WORKGROUP] = {[MARKER_SUBGROUP] = true, [MARKER_REGISTER] = true},
      [MARKER_REGISTER] = {[MARKER_VECTORIZE] = true},
  };
  (void)state;
  arena *a = arena_create();
  MlirContext context = ir_context_create();
  MlirModule module = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  for (int from = MARKER_NONE; from < MARKER_COUNT; from++)
    for (int to = MARKER_ROOT; to < MARKER_COUNT; to++) {
      const MlirOperation op = make(context, a, module);
      if (from != MARKER_NONE) assert_int_equal(heddle_status_code(markers_begin(op, (tile_marker)from)), HEDDLE_OK);
      const heddle_status s = markers_advance(op, (tile_marker)to);
      const bool follows = may_follow[from][to];
      if (heddle_status_code(s) != (follows ? HEDDLE_OK : HEDDLE_INVALID)) fail_msg("from %d to %d", from, to);
      heddle_status_free(s);
      assert_int_equal(markers_of(op), follows ? to : from);
    }
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  arena_destroy(a);
}

static void test_begin(void **state) {
  (void)state;
  arena *a = arena_create();
  MlirContext context = ir_context_create();
  MlirModule module = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  const MlirOperation op = make(context, a, module);
  assert_int_equal(heddle_status_code(markers_begin(op, MARKER_VECTORIZE)), HEDDLE_OK);
  const heddle_status s = markers_begin(op, MARKER_WORKGROUP);
  assert_int_equal(heddle_status_code(s), HEDDLE_INTERNAL);
  heddle_status_free(s);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_advance), cmocka_unit_test(test_begin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
