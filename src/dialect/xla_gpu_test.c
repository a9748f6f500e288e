// The dialect as MLIR sees it: traits, text, uniqueness of maps, verifiers.
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/Tensor.h>
#include <mlir-c/IR.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/testing.h"
#include "dialect/xla_gpu.h"

typedef struct fixture {
  MlirContext context;
  text diagnostics;
} fixture;

static void append(MlirStringRef part, void *out) { text_append(out, (str){part.data, part.length}); }

static MlirLogicalResult collect(MlirDiagnostic diagnostic, void *out) {
  mlirDiagnosticPrint(diagnostic, append, out);
  text_putc(out, '\n');
  return mlirLogicalResultSuccess();
}

static int setup(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->context = mlirContextCreateWithThreading(false);
  const MlirDialectHandle handles[] = {mlirGetDialectHandle__xla_gpu__(), mlirGetDialectHandle__func__(),
                                       mlirGetDialectHandle__arith__(), mlirGetDialectHandle__tensor__()};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) mlirDialectHandleLoadDialect(handles[i], f->context);
  mlirContextAttachDiagnosticHandler(f->context, collect, &f->diagnostics, 0);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  mlirContextDestroy(f->context);
  text_free(&f->diagnostics);
  free(f);
  return 0;
}

static MlirModule parse(fixture *f, const char *source) {
  return mlirModuleCreateParse(f->context, mlirStringRefCreateFromCString(source));
}

static MlirAttribute attribute(fixture *f, const char *source) {
  return mlirAttributeParseGet(f->context, mlirStringRefCreateFromCString(source));
}

static bool is_named(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), mlirStringRefCreateFromCString(name));
}

#define LOOP                                                                                                      \
  "#map = #xla_gpu.indexing_map<\"(th, bl)[v] -> (th * 4 + bl * 512 + v), domain: th in [0, 127], bl in [0, 7], " \
  "v in [0, 3]\">\n"                                                                                              \
  "func.func @main(%t: tensor<4096xf32>, %a: index, %b: index, %x: f32) -> tensor<4096xf32> {\n"                  \
  "  %l = xla_gpu.loop (%a, %b)[%v] -> (%d) in #map iter_args(%iter = %t) -> (tensor<4096xf32>) {\n"              \
  "    %n = tensor.insert %x into %iter[%d] : tensor<4096xf32>\n"                                                 \
  "    xla_gpu.yield %n : tensor<4096xf32>\n"                                                                     \
  "  }\n"                                                                                                         \
  "  return %l : tensor<4096xf32>\n"                                                                              \
  "}\n"

// With a compiler that spells C++ type names unlike the one that built libMLIR, all traits are lost without a word.
static void test_yield_is_a_terminator(void **state) {
  fixture *f = *state;
  MlirModule module = parse(f, LOOP);
  assert_false(mlirModuleIsNull(module));
  MlirOperation function = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  MlirOperation loop = mlirBlockGetFirstOperation(body);
  assert_true(is_named(loop, "xla_gpu.loop"));
  MlirOperation last = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0)));
  assert_false(mlirOperationIsNull(last));
  assert_true(is_named(last, "xla_gpu.yield"));
  mlirModuleDestroy(module);
}

static text print(MlirModule module, bool generic) {
  text out = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (generic) mlirOpPrintingFlagsPrintGenericOpForm(flags);
  mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, append, &out);
  mlirOpPrintingFlagsDestroy(flags);
  return out;
}

static const char *const every_op =
    "#in = #xla_gpu.indexing_map<\"(d0, d1)[s0] -> (d1 * 64 + d0 * 2 + s0), domain: d0 in [0, 31], d1 in [0, 7], s0 in "
    "[0, 1]\">\n"
    "#at = #xla_gpu.indexing_map<\"(d0, d1)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 31], d1 in [0, 7], s0 in [0, "
    "1]\">\n"
    "#to = #xla_gpu.indexing_map<\"(d0) -> (d0), domain: d0 in [0, 63]\">\n"
    "#v = #xla_gpu.indexing_map<\"(d0) -> (d0 mod 16), domain: d0 in [0, 63]\">\n"
    "func.func private @add(f32, f32) -> f32\n"
    "func.func private @value(tensor<512xf32>, index) -> f32\n"
    "func.func @main(%p: tensor<512xf32>, %t: tensor<64xf32>, %a: index, %b: index, %c: i1, %x: f32) -> (f32, index) "
    "{\n"
    "  %shared = xla_gpu.allocate_shared : tensor<4x33xf32>\n"
    "  %s:2 = xla_gpu.sync_threads %shared, %t : tensor<4x33xf32>, tensor<64xf32>\n"
    "  %i:2 = xla_gpu.apply_indexing #xla_gpu.indexing_map<\"(d0)[s0] -> (d0 + s0, d0 * 2), domain: d0 in [0, 3], s0 "
    "in "
    "[0, 4]\">(%a)[%b] {note}\n"
    "  %r = xla_gpu.pure_call @value(%p, %i#0) {noinline} : (tensor<512xf32>, index) -> f32\n"
    "  %w = xla_gpu.atomic_rmw %t[%a] : tensor<64xf32> {\n"
    "  ^bb0(%current: f32):\n"
    "    %sum = arith.addf %current, %x : f32\n"
    "    xla_gpu.yield %sum : f32\n"
    "  }\n"
    "  %e = xla_gpu.predicated_extract %w[%b] if %c else %x : tensor<64xf32>\n"
    "  %n = xla_gpu.predicated_insert %e into %w[%b] if %c : tensor<64xf32>\n"
    "  %q = xla_gpu.shuffle_reduce (%r) to 16 combiner = @add : f32\n"
    "  %m = xla_gpu.materialize @value(%p) at #in(%a, %b) : (tensor<512xf32>) -> !xla_gpu.indexed_vector<64xf32, #at>\n"
    "  %o = xla_gpu.insert %m(%a, %b) into %n at #to : !xla_gpu.indexed_vector<64xf32, #at> -> tensor<64xf32>\n"
    "  %d = xla_gpu.reduce (%o) inits(%x) dimensions = [0] combiner = @add : tensor<64xf32> to tensor<f32>\n"
    "  %g = xla_gpu.reindex %o at #v default %x : tensor<64xf32> -> tensor<64xf32>\n"
    "  return %q, %i#1 : f32, index\n"
    "}\n";

static void check_round_trip(fixture *f, const char *source, bool generic) {
  MlirModule first = parse(f, source);
  if (mlirModuleIsNull(first)) fail_msg("%s", text_cstr(&f->diagnostics));
  text custom = print(first, false), printed = print(first, generic);
  MlirModule second = parse(f, text_cstr(&printed));
  assert_false(mlirModuleIsNull(second));
  text again = print(second, false);
  assert_string_equal(text_cstr(&again), text_cstr(&custom));
  text_free(&custom), text_free(&printed), text_free(&again);
  mlirModuleDestroy(first), mlirModuleDestroy(second);
}

static void test_text_round_trips(void **state) {
  check_round_trip(*state, LOOP, false);
  check_round_trip(*state, LOOP, true);
  check_round_trip(*state, every_op, false);
  check_round_trip(*state, every_op, true);
}

static void test_loop_prints_as_documented(void **state) {
  fixture *f = *state;
  MlirModule module = parse(f, LOOP);
  text out = print(module, false);
  assert_non_null(strstr(text_cstr(&out),
                         "%xla_loop = xla_gpu.loop (%arg1, %arg2)[%v] -> (%dim0) in #map "
                         "iter_args(%iter = %arg0) -> (tensor<4096xf32>) {"));
  assert_non_null(strstr(text_cstr(&out), "xla_gpu.yield %inserted : tensor<4096xf32>"));
  text_free(&out);
  mlirModuleDestroy(module);
}

static void test_names_do_not_make_maps_differ(void **state) {
  fixture *f = *state;
  MlirAttribute named =
      attribute(f, "#xla_gpu.indexing_map<\"(th)[v] -> (th * 4 + v), domain: th in [0, 7], v in [0, 3]\">");
  MlirAttribute plain =
      attribute(f, "#xla_gpu.indexing_map<\"(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 7], s0 in [0, 3]\">");
  MlirAttribute wider =
      attribute(f, "#xla_gpu.indexing_map<\"(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 8], s0 in [0, 3]\">");
  assert_true(mlirAttributeEqual(named, plain));
  assert_false(mlirAttributeEqual(named, wider));
  assert_true(xla_gpu_is_indexing_map(named));
  assert_false(xla_gpu_is_indexing_map(attribute(f, "42 : index")));
  const indexing_map *map = xla_gpu_indexing_map(named);
  assert_int_equal(map->dim_count, 1);
  assert_int_equal(map->ranges[0].bounds.upper, 3);
  assert_true(mlirAttributeEqual(xla_gpu_indexing_map_attribute(f->context, map), named));
}

static void test_text_in_parts(void **state) {
  fixture *f = *state;
  MlirAttribute whole = attribute(f, "#xla_gpu.indexing_map<\"(d0) -> (d0), domain: d0 in [0, 7]\">");
  MlirAttribute parts = attribute(f, "#xla_gpu.indexing_map<\"(d0) -> \" \"(d0), \" \"domain: d0 in [0, 7]\">");
  assert_true(mlirAttributeEqual(whole, parts));
}

// --- what the verifiers refuse

typedef struct refusal {
  const char *body;    // of a function with the arguments below
  const char *wanted;  // part of the message
} refusal;

#define MAP_1 "#xla_gpu.indexing_map<\"(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 3]\">"
#define MAP_CONSTRAINED "#xla_gpu.indexing_map<\"(d0) -> (d0), domain: d0 in [0, 7], d0 mod 2 in [0, 0]\">"
#define IN "#xla_gpu.indexing_map<\"(d0, d1)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 31], d1 in [0, 7], s0 in [0, 1]\">"
#define MATERIALIZE(layout)                    \
  "%r = xla_gpu.materialize @value(%p) at " IN \
  "(%a, %b) : (tensor<8xf32>) -> "             \
  "!xla_gpu.indexed_vector<64xf32, #xla_gpu.indexing_map<\"" layout "\">>"

static const refusal refusals[] = {
    {"%r = xla_gpu.apply_indexing " MAP_1 "(%a)", "operand count must match the number of dims and symbols"},
    {"%r = xla_gpu.apply_indexing " MAP_CONSTRAINED "(%a)", "must not have constraints"},
    {"%r = xla_gpu.loop (%a)[%i, %j] -> (%d) in " MAP_1 " iter_args(%t = %p) -> (tensor<8xf32>) {\n"
     "xla_gpu.yield %t : tensor<8xf32> }",
     "body arguments"},
    {"%r = xla_gpu.loop (%a, %b)[%i] -> (%d) in " MAP_1 " iter_args(%t = %p) -> (tensor<8xf32>) {\n"
     "xla_gpu.yield %t : tensor<8xf32> }",
     "found 2 dims, the map has 1"},
    {"%r = xla_gpu.loop (%a)[%i] -> (%d) in " MAP_1 " iter_args(%t = %p) -> (tensor<8xf32>, f32) {\n"
     "xla_gpu.yield %t : tensor<8xf32> }",
     "mismatch in number of loop-carried values"},
    {"%r = xla_gpu.loop (%a)[%i] -> (%d) in " MAP_1 " iter_args(%t = %p) -> (tensor<8xf32>) {\n"
     "xla_gpu.yield %x : f32 }",
     "yielded value 0 has not the type of result 0"},
    {"%r = \"xla_gpu.loop\"(%a, %p) <{map = " MAP_1 ", operandSegmentSizes = array<i32: 1, 1>}> ({\n"
     "^bb0(%i: index, %d: index, %t: f32): \"xla_gpu.yield\"(%p) : (tensor<8xf32>) -> () }) : "
     "(index, tensor<8xf32>) -> tensor<8xf32>",
     "iter arg 0 has not the type of result 0"},
    {"%r = \"xla_gpu.loop\"(%a, %x) <{map = " MAP_1 ", operandSegmentSizes = array<i32: 1, 1>}> ({\n"
     "^bb0(%i: index, %d: index, %t: f32): \"xla_gpu.yield\"(%p) : (tensor<8xf32>) -> () }) : "
     "(index, f32) -> tensor<8xf32>",
     "init 0 has not the type of result 0"},
    {"xla_gpu.yield %x : f32", "expects parent op"},
    {"%r = xla_gpu.pure_call @nobody(%x) : (f32) -> f32", "names a function that does not exist"},
    {"%r = xla_gpu.pure_call @add(%x) : (f32) -> f32", "found 1 operands, the function takes 2"},
    {"%r = xla_gpu.pure_call @add(%x, %a) : (f32, index) -> f32", "operand 1 has not the type the function takes"},
    {"%r = xla_gpu.pure_call @add(%x, %x) : (f32, f32) -> index", "result 0 has not the type the function returns"},
    {"%r = xla_gpu.atomic_rmw %p[%a] : tensor<8xf32> { ^bb0(%o: f32): xla_gpu.yield %a : index }",
     "the yielded value must have the type of the body's argument"},
    {"%r = xla_gpu.atomic_rmw %p[%a] : tensor<8xf32> { ^bb0(%o: i32): xla_gpu.yield %o : i32 }",
     "the body's argument must have the tensor's element type"},
    {"%r = xla_gpu.atomic_rmw %p[%a] : tensor<8xf32> { ^bb0(%o: vector<2xi32>): xla_gpu.yield %o : vector<2xi32> }",
     "the body's argument must have the tensor's element type"},
    {"%r = xla_gpu.atomic_rmw %p[%a, %b] : tensor<8xf32> { ^bb0(%o: f32): xla_gpu.yield %o : f32 }",
     "found 2 indices, wanted 1"},
    {"%r = xla_gpu.predicated_insert %x into %p[%a, %b] if %c : tensor<8xf32>", "found 2 indices, wanted 1"},
    {"%r = xla_gpu.predicated_extract %p[] if %c else %x : tensor<8xf32>", "found 0 indices, wanted 1"},
    {"%r = xla_gpu.shuffle_reduce (%x) to 3 combiner = @add : f32", "power of two"},
    {"%r = xla_gpu.shuffle_reduce (%x) to 32 combiner = @add : f32", "below the warp size"},
    {"%r = xla_gpu.shuffle_reduce (%x) to 4 combiner = @value : f32", "the combiner has other types than value 0"},
    {"%r = xla_gpu.reduce (%p) inits(%x) dimensions = [0, 0] combiner = @add : tensor<8xf32> to tensor<f32>",
     "strictly increasing"},
    {"%r = xla_gpu.reduce (%p) inits(%x) dimensions = [1] combiner = @add : tensor<8xf32> to tensor<f32>",
     "dimension 1 is out of range"},
    {"%r = xla_gpu.reduce (%p) inits(%x) dimensions = [0] combiner = @add : tensor<8xf32> to tensor<8xf32>",
     "result 0 has the wrong rank"},
    {"%r = xla_gpu.reindex %p at #symbol : tensor<8xf32> -> tensor<8xf32>", "must not have range or runtime variables"},
    {"%r = xla_gpu.reindex %p at #constrained : tensor<8xf32> -> tensor<8xf32>", "needs a default"},
    {MATERIALIZE("(d0, d1)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 30], d1 in [0, 7], s0 in [0, 1]"),
     "the bounds of the thread differ"},
    {MATERIALIZE("(d0, d1)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 31], d1 in [0, 7], s0 in [0, 2]"),
     "the bounds of range variable 0 differ"},
    {MATERIALIZE(
         "(d0, d1)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 31], d1 in [0, 7], s0 in [0, 1], d0 mod 4 in [0, 0]"),
     "the constraints of the thread differ"},
    {MATERIALIZE(
         "(d0, d1)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 31], d1 in [0, 7], s0 in [0, 1], d1 mod 4 in [0, 0]"),
     "the constraints of the block differ"},
    {MATERIALIZE("(d0, d1)[s0] -> (d0 * 2 + d1 + s0), domain: d0 in [0, 31], d1 in [0, 7], s0 in [0, 1]"),
     "must not depend on the block"},
    {MATERIALIZE("(d0, d1) -> (d0 * 2), domain: d0 in [0, 31], d1 in [0, 7]"), "the number of range variables differs"},
    {"%r = xla_gpu.apply_indexing #xla_gpu.indexing_map<\"(d0) -> (d0 +), domain: d0 in [0, 7]\">(%a)", "error"},
    {"%r = xla_gpu.apply_indexing #xla_gpu.indexing_map<\"\">(%a)", "error"},
};

static void test_refusals(void **state) {
  fixture *f = *state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    text source = {0};
    text_printf(&source,
                "#symbol = " MAP_1 "\n#constrained = " MAP_CONSTRAINED
                "\n"
                "func.func private @add(f32, f32) -> f32\n"
                "func.func private @value(tensor<8xf32>, index) -> f32\n"
                "func.func @main(%%p: tensor<8xf32>, %%a: index, %%b: index, %%c: i1, %%x: f32) {\n%s\nreturn }\n",
                refusals[i].body);
    MlirModule module = parse(f, text_cstr(&source));
    if (!mlirModuleIsNull(module)) fail_msg("accepted: %s", refusals[i].body);
    if (!strstr(text_cstr(&f->diagnostics), refusals[i].wanted))
      fail_msg("for %s\nwanted \"%s\", found %s", refusals[i].body, refusals[i].wanted, text_cstr(&f->diagnostics));
    text_free(&f->diagnostics);
    f->diagnostics = (text){0};
    text_free(&source);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_yield_is_a_terminator, setup, teardown),
      cmocka_unit_test_setup_teardown(test_text_round_trips, setup, teardown),
      cmocka_unit_test_setup_teardown(test_loop_prints_as_documented, setup, teardown),
      cmocka_unit_test_setup_teardown(test_names_do_not_make_maps_differ, setup, teardown),
      cmocka_unit_test_setup_teardown(test_text_in_parts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
