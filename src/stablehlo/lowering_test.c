// StableHLO to HLO: small programs that check themselves are run by the interpreter; what HLO must say, and what must
// be refused, is looked for in texts.
#include "base/testing.h"
#include "eval/evaluate.h"
#include "hlo/text.h"
#include "mlir/text.h"
#include "stablehlo/stablehlo_to_hlo.h"

static heddle_status lower(arena *a, const char *source, const import_options *options, module **out) {
  ir_module **modules;
  int count;
  TRY(mlir_text_read(a, "test", str_from(source), &count, &modules));
  const ir_operation *f = ir_module_function(modules[0], STR("main"));
  assert_non_null(f);
  return stablehlo_to_hlo(a, modules[0], f, options, out);
}

static module *lowered(arena *a, const char *source, const import_options *options) {
  module *m = NULL;
  heddle_status status = lower(a, source, options, &m);
  if (!status_is_ok(status)) fail_msg("%s\nin %s", heddle_status_message(status), source);
  return m;
}

// Runs `body` as the main function's; its checks must hold.
static void run_in(const char *around, const char *body) {
  arena *a = arena_create();
  const char *source = arena_printf(a, "%s\nfunc.func @main() {\n%s\nreturn\n}\n", around, body);
  module *m = lowered(a, source, NULL);
  literal *result;
  heddle_status status = eval_module(a, m, 0, NULL, &result);
  if (!status_is_ok(status)) fail_msg("%s\nin %s", heddle_status_message(status), source);
  arena_destroy(a);
}

static void run(const char *body) { run_in("", body); }

static const char *text_of(arena *a, const module *m) {
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_SHORT);
  module *back;
  heddle_status status = hlo_parse(a, "back", text_view(&t), &back);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  const char *copy = arena_strdup(a, text_cstr(&t), t.size);
  text_free(&t);
  return copy;
}

static void expect_hlo_with(const char *source, const import_options *options, const char *wanted) {
  arena *a = arena_create();
  const char *hlo = text_of(a, lowered(a, source, options));
  if (!strstr(hlo, wanted)) fail_msg("no '%s' in\n%s", wanted, hlo);
  arena_destroy(a);
}

static void expect_hlo(const char *source, const char *wanted) { expect_hlo_with(source, NULL, wanted); }

static void expect_error_with(const char *source, const import_options *options, const char *wanted) {
  arena *a = arena_create();
  module *m;
  heddle_status status = lower(a, source, options, &m);
  assert_false(status_is_ok(status));
  if (!strstr(heddle_status_message(status), wanted))
    fail_msg("%s\ndoes not say: %s", heddle_status_message(status), wanted);
  heddle_status_free(status);
  arena_destroy(a);
}

static void expect_error(const char *source, const char *wanted) { expect_error_with(source, NULL, wanted); }

static void test_roots(void **state) {
  (void)state;
  expect_hlo("func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> { return %arg0 : tensor<2xf32> }",
             "ROOT Arg_0.0 = f32[2] parameter(0)");
  expect_hlo(
      "func.func @main(%arg0: tensor<f32>, %arg1: tensor<i8>) -> (tensor<i8>, tensor<f32>) {\n"
      "return %arg1, %arg0 : tensor<i8>, tensor<f32> }",
      "(s8[], f32[]) tuple(Arg_1.1, Arg_0.0)");
  expect_hlo("func.func @main() { return }", "ROOT tuple.0 = () tuple()");
}

static void test_names_and_places(void **state) {
  (void)state;
  expect_hlo(
      "func.func @main(%x: tensor<f32> loc(\"x\")) -> tensor<f32> {\n"
      "%0 = stablehlo.tanh %x : tensor<f32> loc(\"f/tanh\"(\"f.py\":3:7))\nreturn %0 : tensor<f32> }",
      "tanh(x.0), metadata={op_name=\"f/tanh\" source_file=\"f.py\" source_line=3}");
  expect_hlo(
      "module @a attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
      "func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<2xf32> {jax.buffer_donor = "
      "true}) -> tensor<2xf32> { %0 = stablehlo.add %x, %y : tensor<2xf32>\n return %0 : tensor<2xf32> } }",
      "HloModule a, num_partitions=2, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }");
}

static void test_booleans(void **state) {
  (void)state;
  run("%p = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>\n"
      "%q = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>\n"
      "%0 = stablehlo.add %p, %q : tensor<4xi1>\n"
      "check.expect_eq_const %0, dense<[false, true, true, true]> : tensor<4xi1>\n"
      "%1 = stablehlo.multiply %p, %q : tensor<4xi1>\n"
      "check.expect_eq_const %1, dense<[false, false, false, true]> : tensor<4xi1>\n"
      "%2 = stablehlo.maximum %p, %q : tensor<4xi1>\n"
      "check.expect_eq_const %2, dense<[false, true, true, true]> : tensor<4xi1>\n"
      "%3 = stablehlo.minimum %p, %q : tensor<4xi1>\n"
      "check.expect_eq_const %3, dense<[false, false, false, true]> : tensor<4xi1>");
  expect_hlo(
      "func.func @main(%p: tensor<2xi1>) -> tensor<2xi1> {\n"
      "%0 = stablehlo.add %p, %p : tensor<2xi1>\nreturn %0 : tensor<2xi1> }",
      "or(Arg_0.0, Arg_0.0)");
}

static void test_bits(void **state) {
  (void)state;
  run("%x = stablehlo.constant dense<[5, -1]> : tensor<2xi4>\n"
      "%b = stablehlo.bitcast_convert %x : (tensor<2xi4>) -> tensor<2x4xi1>\n"
      "check.expect_eq_const %b, dense<[[true, false, true, false], [true, true, true, true]]> : tensor<2x4xi1>\n"
      "%y = stablehlo.bitcast_convert %b : (tensor<2x4xi1>) -> tensor<2xi4>\n"
      "check.expect_eq %x, %y : tensor<2xi4>");
}

static void test_complex_order(void **state) {
  (void)state;
  run("%x = stablehlo.constant dense<[(1.0, 5.0), (2.0, 1.0), (3.0, 0.0)]> : tensor<3xcomplex<f32>>\n"
      "%y = stablehlo.constant dense<[(1.0, 4.0), (2.0, 2.0), (2.0, 9.0)]> : tensor<3xcomplex<f32>>\n"
      "%0 = stablehlo.maximum %x, %y : tensor<3xcomplex<f32>>\n"
      "check.expect_eq_const %0, dense<[(1.0, 5.0), (2.0, 2.0), (3.0, 0.0)]> : tensor<3xcomplex<f32>>\n"
      "%1 = stablehlo.minimum %x, %y : tensor<3xcomplex<f32>>\n"
      "check.expect_eq_const %1, dense<[(1.0, 4.0), (2.0, 1.0), (2.0, 9.0)]> : tensor<3xcomplex<f32>>\n"
      "%2 = stablehlo.compare LE, %x, %y : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>\n"
      "check.expect_eq_const %2, dense<[false, true, false]> : tensor<3xi1>");
}

static void test_converts(void **state) {
  (void)state;
  run("%z = stablehlo.constant dense<[(2.5, 1.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>\n"
      "%0 = stablehlo.convert %z : (tensor<2xcomplex<f32>>) -> tensor<2xi32>\n"
      "check.expect_eq_const %0, dense<[2, 0]> : tensor<2xi32>\n"
      "%1 = stablehlo.convert %z : (tensor<2xcomplex<f32>>) -> tensor<2xi1>\n"
      "check.expect_eq_const %1, dense<[true, false]> : tensor<2xi1>");
}

static void test_broadcasts(void **state) {
  (void)state;
  run("%x = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>\n"
      "%0 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x1xi32>) -> tensor<3x2xi32>\n"
      "check.expect_eq_const %0, dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>\n"
      "%1 = stablehlo.broadcast %x, sizes = [2] : (tensor<2x1xi32>) -> tensor<2x2x1xi32>\n"
      "check.expect_eq_const %1, dense<[[[1], [2]], [[1], [2]]]> : tensor<2x2x1xi32>");
}

static void test_einsum(void **state) {
  (void)state;
  run("%x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n"
      "%0 = \"stablehlo.einsum\"(%x, %x) {einsum_config = \"ab,cb->ca\"} : (tensor<2x3xi32>, tensor<2x3xi32>) -> "
      "tensor<2x2xi32>\n"
      "check.expect_eq_const %0, dense<[[14, 32], [32, 77]]> : tensor<2x2xi32>\n"
      "%1 = \"stablehlo.einsum\"(%x, %x) {einsum_config = \"...b,...b->...\"} : (tensor<2x3xi32>, tensor<2x3xi32>) -> "
      "tensor<2xi32>\n"
      "check.expect_eq_const %1, dense<[14, 77]> : tensor<2xi32>\n"
      "%2 = \"stablehlo.unary_einsum\"(%x) {einsum_config = \"ab->b\"} : (tensor<2x3xi32>) -> tensor<3xi32>\n"
      "check.expect_eq_const %2, dense<[5, 7, 9]> : tensor<3xi32>\n"
      "%3 = \"stablehlo.unary_einsum\"(%x) {einsum_config = \"ab->ba\"} : (tensor<2x3xi32>) -> tensor<3x2xi32>\n"
      "check.expect_eq_const %3, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>");
}

static void test_index_select(void **state) {
  (void)state;
  run("%x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n"
      "%i = stablehlo.constant dense<[2, 0]> : tensor<2xi32>\n"
      "%0 = \"stablehlo.torch_index_select\"(%x, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xi32>, "
      "tensor<2xi32>) -> tensor<2x2xi32>\n"
      "check.expect_eq_const %0, dense<[[3, 1], [6, 4]]> : tensor<2x2xi32>\n"
      "%1 = \"stablehlo.torch_index_select\"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3xi32>, "
      "tensor<2xi32>) -> tensor<2xi32>\n"
      "check.expect_eq_const %1, dense<[3, 4]> : tensor<2xi32>");
}

static void test_dots(void **state) {
  (void)state;
  run("%x = stablehlo.constant dense<[[100, 100]]> : tensor<1x2xi8>\n"
      "%0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<1x2xi8>, tensor<1x2xi8>) -> "
      "tensor<1x1xi32>\n"
      "check.expect_eq_const %0, dense<20000> : tensor<1x1xi32>");
  expect_hlo(
      "func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {\n"
      "%0 = stablehlo.dot %x, %y, precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<3xf32>) -> "
      "tensor<2xf32>\nreturn %0 : tensor<2xf32> }",
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default}");
}

static void test_captures(void **state) {
  (void)state;
  run("%zero = stablehlo.constant dense<0> : tensor<i32>\n%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%i = stablehlo.iota dim = 0 : tensor<3xi32>\n%n = stablehlo.slice %i [2:3] : (tensor<3xi32>) -> tensor<1xi32>\n"
      "%limit = stablehlo.reshape %n : (tensor<1xi32>) -> tensor<i32>\n"
      "%0 = stablehlo.while(%a = %zero) : tensor<i32> cond {\n"
      "%p = stablehlo.compare LT, %a, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %p : tensor<i1>\n} do {\n"
      "%b = stablehlo.add %a, %one : tensor<i32>\nstablehlo.return %b : tensor<i32>\n}\n"
      "check.expect_eq_const %0, dense<2> : tensor<i32>\n"
      "%t = stablehlo.constant dense<true> : tensor<i1>\n"
      "%1:2 = \"stablehlo.if\"(%t) ({\nstablehlo.return %limit, %one : tensor<i32>, tensor<i32>\n}, {\n"
      "stablehlo.return %zero, %limit : tensor<i32>, tensor<i32>\n}) : (tensor<i1>) -> (tensor<i32>, tensor<i32>)\n"
      "check.expect_eq_const %1#0, dense<2> : tensor<i32>\n"
      "%2 = \"stablehlo.reduce\"(%i, %zero) ({\n^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
      "%s = stablehlo.add %x, %y : tensor<i32>\n%m = stablehlo.multiply %s, %one : tensor<i32>\n"
      "stablehlo.return %m : tensor<i32>\n}) {dimensions = array<i64: 0>} : (tensor<3xi32>, tensor<i32>) -> "
      "tensor<i32>\n"
      "check.expect_eq_const %2, dense<3> : tensor<i32>");
  expect_error(
      "func.func @main(%x: tensor<3xi32>, %y: tensor<i32>) -> tensor<i32> {\n"
      "%0 = \"stablehlo.reduce\"(%x, %y) ({\n^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
      "%s = stablehlo.add %a, %y : tensor<i32>\nstablehlo.return %s : tensor<i32>\n"
      "}) {dimensions = array<i64: 0>} : (tensor<3xi32>, tensor<i32>) -> tensor<i32>\nreturn %0 : tensor<i32> }",
      "its body uses a value from around it");
}

static void test_calls(void **state) {
  (void)state;
  run_in(
      "func.func private @twice(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {\n"
      "%0 = stablehlo.add %x, %x : tensor<i32>\nreturn %0, %x : tensor<i32>, tensor<i32> }\n"
      "func.func private @nothing() { return }",
      "%x = stablehlo.constant dense<4> : tensor<i32>\n%0:2 = call @twice(%x) : (tensor<i32>) -> (tensor<i32>, "
      "tensor<i32>)\ncall @nothing() : () -> ()\ncheck.expect_eq_const %0#0, dense<8> : tensor<i32>\n"
      "%1 = stablehlo.composite \"my.twice\" %0#0 {decomposition = @half} : (tensor<i32>) -> tensor<i32>\n"
      "check.expect_eq_const %1, dense<9> : tensor<i32>\nreturn }\n"
      "func.func private @half(%x: tensor<i32>) -> tensor<i32> {\n"
      "%c = stablehlo.constant dense<1> : tensor<i32>\n%0 = stablehlo.add %x, %c : tensor<i32>\nreturn %0 : "
      "tensor<i32> }\nfunc.func private @rest() {");
  expect_error(
      "func.func @f(%x: tensor<i32>) -> tensor<i32> {\n%0 = call @f(%x) : (tensor<i32>) -> tensor<i32>\n"
      "return %0 : tensor<i32> }\nfunc.func @main(%x: tensor<i32>) -> tensor<i32> {\n"
      "%0 = call @f(%x) : (tensor<i32>) -> tensor<i32>\nreturn %0 : tensor<i32> }",
      "@f calls itself");
}

// A check inside a function that returns nothing must survive.
static void test_effects(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m =
      lowered(a,
              "func.func private @f(%x: tensor<i32>) { check.expect_eq_const %x, dense<1> : tensor<i32>\nreturn }\n"
              "func.func @main() { %c = stablehlo.constant dense<2> : tensor<i32>\n"
              "call @f(%c) : (tensor<i32>) -> ()\nreturn }",
              NULL);
  literal *result;
  heddle_status status = eval_module(a, m, 0, NULL, &result);
  assert_false(status_is_ok(status));
  assert_non_null(strstr(heddle_status_message(status), "found 2, wanted 1"));
  heddle_status_free(status);
  arena_destroy(a);
}

static const char *const reshaping =
    "func.func @main(%n: tensor<i32>, %x: tensor<?x2xf32>) -> tensor<?xf32> {\n"
    "%0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>\n"
    "%1 = call @double(%0) : (tensor<i32>) -> tensor<i32>\n"
    "%ok = stablehlo.compare EQ, %1, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = \"n is {0}\", has_side_effect = true} : "
    "(tensor<i1>, tensor<i32>) -> ()\n"
    "%2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>\n"
    "%3 = stablehlo.dynamic_reshape %x, %2 : (tensor<?x2xf32>, tensor<1xi32>) -> tensor<?xf32>\n"
    "return %3 : tensor<?xf32> }\n"
    "func.func private @double(%x: tensor<i32>) -> tensor<i32> {\n%0 = stablehlo.add %x, %x : tensor<i32>\n"
    "return %0 : tensor<i32> }";

static void test_dynamic_shapes(void **state) {
  (void)state;
  arena *a = arena_create();
  const int64_t dims[2] = {3, 2};
  const shape *shapes[2] = {NULL, shape_array(a, DTYPE_F32, 2, dims)};
  literal *values[2] = {0};
  heddle_status status = literal_create(a, shape_scalar(a, DTYPE_S32), &values[0]);
  assert_true(status_is_ok(status));
  literal_set_int(values[0], 0, 6);
  import_options options = {.argument_shapes = shapes, .arguments = values, .argument_count = 2};
  expect_hlo_with(reshaping, &options, "ROOT reshape.");
  expect_hlo_with(reshaping, &options, "Arg_0.0 = s32[] parameter(0)");
  literal_set_int(values[0], 0, 7);
  expect_error_with(reshaping, &options, "the argument shapes break the program's condition: n is 7");
  values[0] = NULL;
  expect_error_with(reshaping, &options, "the condition depends on values that are only known when the program runs");
  expect_error(reshaping, "parameter 1 (%arg1) is declared tensor<?x2xf32>");
  const int64_t other[2] = {3, 4};
  shapes[1] = shape_array(a, DTYPE_F32, 2, other);
  expect_error_with(reshaping, &options, "parameter 1 has shape f32[3,4]");
  arena_destroy(a);
}

// A running sum, as JAX writes it where the length is a symbol.
static void test_dynamic_reduce_window(void **state) {
  (void)state;
  static const char source[] =
      "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
      "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%m = stablehlo.constant dense<-1> : tensor<i32>\n"
      "%one = stablehlo.constant dense<1> : tensor<1xi32>\n%none = stablehlo.constant dense<0> : tensor<1xi32>\n"
      "%less = stablehlo.add %n, %m : tensor<i32>\n%low = stablehlo.reshape %less : (tensor<i32>) -> tensor<1xi32>\n"
      "%size = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
      "%both = stablehlo.concatenate %low, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
      "%pad = stablehlo.reshape %both : (tensor<2xi32>) -> tensor<1x2xi32>\n"
      "%r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %size, %one, %one, %one, %pad) "
      "{api_version = 2 : i32, called_computations = [@sum]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, "
      "tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>\n"
      "return %r : tensor<?xf32> }\n"
      "func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n"
      "%s = stablehlo.add %a, %b : tensor<f32>\nreturn %s : tensor<f32> }";
  arena *a = arena_create();
  const shape *shapes[1] = {shape_array(a, DTYPE_F32, 1, (int64_t[]){5})};
  import_options options = {.argument_shapes = shapes, .argument_count = 1};
  expect_hlo_with(source, &options, "f32[5] reduce-window(Arg_0.0, constant.");
  expect_hlo_with(source, &options, "window={size=5 pad=4_0}, to_apply=sum");
  arena_destroy(a);
  expect_error(
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "%r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
      "return %r : tensor<2xf32> }",
      "found 1 operands and 1 results");
}

static void test_bounded_shapes(void **state) {
  (void)state;
  expect_hlo(
      "func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<i32> {\n"
      "%0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, "
      "#stablehlo.bounds<4>>\n"
      "%1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<i32>\n"
      "return %1 : tensor<i32> }",
      "f32[<=4] set-dimension-size(Arg_0.0, Arg_1.1), dimensions={0}");
}

static void test_custom_calls(void **state) {
  (void)state;
  expect_hlo(
      "func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>) {\n"
      "%0:2 = stablehlo.custom_call @f(%x) {backend_config = \"\", mhlo.backend_config = {uplo = 76 : ui8}, "
      "mhlo.frontend_attributes = {a = \"1\"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], "
      "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, "
      "operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : "
      "tensor<0xindex>]} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>)\n"
      "return %0#0, %0#1 : tensor<2x3xf32>, tensor<i32> }",
      "(f32[2,3]{0,1}, s32[]) custom-call(Arg_0.0), custom_call_target=\"f\", "
      "operand_layout_constraints={f32[2,3]{0,1}}, output_to_operand_aliasing={{0}: (0, {})}, "
      "api_version=API_VERSION_TYPED_FFI, frontend_attributes={a=\"1\"}, backend_config={uplo = 76 : ui8}");
}

static void test_collectives(void **state) {
  (void)state;
  expect_hlo(
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "%0 = \"stablehlo.all_reduce\"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, "
      "replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>, use_global_device_ids}> ({\n"
      "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%1 = stablehlo.maximum %a, %b : tensor<f32>\n"
      "stablehlo.return %1 : tensor<f32>\n}) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %0 : tensor<4xf32> }",
      "channel_id=3, replica_groups={{0,1},{2}}, use_global_device_ids=true");
}

static void test_hints(void **state) {
  (void)state;
  expect_hlo(
      "sdy.mesh @mesh = <[\"x\"=1]>\nfunc.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "%0 = \"sdy.sharding_constraint\"(%x) {sharding = #sdy.sharding<@mesh, [{\"x\"}]>} : (tensor<2xf32>) -> "
      "tensor<2xf32>\nreturn %0 : tensor<2xf32> }",
      "ROOT Arg_0.0 = f32[2] parameter(0)");
}

static void test_refusals(void **state) {
  (void)state;
  expect_error(
      "func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {\n"
      "%0 = \"stablehlo.add\"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>\n"
      "return %0 : tensor<3xf32> }",
      "result 0 has shape f32[2], which is of other dimensions than declared, tensor<3xf32>");
  expect_error(
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "%0 = \"stablehlo.add\"(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %0 : tensor<2xf32> }",
      "stablehlo.add: found 1 operands, wanted 2");
  expect_error(
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "%0 = \"other.thing\"(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %0 : tensor<2xf32> }",
      "test:2:6: error: other.thing: HLO has no way to say this operation");
  expect_error(
      "func.func @main(%x: tensor<1073741824x1073741824xf32>, %y: tensor<2xf32>) -> "
      "(tensor<1073741824x1073741824xf32>, tensor<2xf32>) {\n"
      "return %x, %y : tensor<1073741824x1073741824xf32>, tensor<2xf32> }",
      "test:2:1: error: a tuple's elements add up to more than 2^62 bytes");
}

// What repeats one element is a broadcast, of a constant of the body itself if a loop needs it.
static void test_repeated_constants(void **state) {
  (void)state;
  static const char source[] =
      "func.func @main(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {\n"
      "%two = stablehlo.constant dense<2.0> : tensor<64x128xf32>\n"
      "%0 = stablehlo.while(%a = %x) : tensor<64x128xf32> cond {\n"
      "  %c = stablehlo.constant dense<true> : tensor<i1>\n"
      "  stablehlo.return %c : tensor<i1>\n"
      "} do {\n"
      "  %1 = stablehlo.add %a, %two : tensor<64x128xf32>\n"
      "  stablehlo.return %1 : tensor<64x128xf32>\n"
      "}\n"
      "return %0 : tensor<64x128xf32>\n}\n";
  expect_hlo(source, "f32[64,128] broadcast(");
  expect_hlo(source, "arg_tuple.8 = (f32[64,128]) parameter(0)");  // nothing else is carried
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_roots),          cmocka_unit_test(test_names_and_places),
      cmocka_unit_test(test_booleans),       cmocka_unit_test(test_bits),
      cmocka_unit_test(test_complex_order),  cmocka_unit_test(test_converts),
      cmocka_unit_test(test_broadcasts),     cmocka_unit_test(test_einsum),
      cmocka_unit_test(test_index_select),   cmocka_unit_test(test_dots),
      cmocka_unit_test(test_captures),       cmocka_unit_test(test_calls),
      cmocka_unit_test(test_effects),        cmocka_unit_test(test_dynamic_shapes),
      cmocka_unit_test(test_effects),        cmocka_unit_test(test_dynamic_reduce_window),
      cmocka_unit_test(test_bounded_shapes), cmocka_unit_test(test_custom_calls),
      cmocka_unit_test(test_collectives),    cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_hints),          cmocka_unit_test(test_repeated_constants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
