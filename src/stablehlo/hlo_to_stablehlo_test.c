// HLO to StableHLO: the text that comes out, and that the program, read back from it, still computes the same.
#include "stablehlo/hlo_to_stablehlo.h"
#include "base/testing.h"
#include "eval/evaluate.h"
#include "hlo/text.h"
#include "mlir/print.h"
#include "mlir/text.h"
#include "stablehlo/raising.h"
#include "stablehlo/stablehlo_to_hlo.h"

static module *parse(arena *a, const char *source) {
  module *m = NULL;
  heddle_status status = hlo_parse(a, "test", str_from(source), &m);
  if (!status_is_ok(status)) fail_msg("%s\nin %s", heddle_status_message(status), source);
  return m;
}

static const char *converted(arena *a, const module *m) {
  ir_module *ir = NULL;
  text out = {0};
  heddle_status status = hlo_to_stablehlo(a, m, &ir);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  mlir_print_module(&out, ir, NULL);
  const char *copy = arena_strdup(a, text_cstr(&out), out.size);
  text_free(&out);
  return copy;
}

static module *read_back(arena *a, const char *source) {
  ir_module **modules;
  int count;
  module *m = NULL;
  heddle_status status = mlir_text_read(a, "converted", str_from(source), &count, &modules);
  if (status_is_ok(status))
    status = stablehlo_to_hlo(a, modules[0], ir_module_function(modules[0], STR("main")), NULL, &m);
  if (status_is_ok(status)) status = module_verify(m);
  if (!status_is_ok(status)) fail_msg("%s\nin %s", heddle_status_message(status), source);
  return m;
}

// Small numbers, all of them different as far as the type goes.
static literal *argument(arena *a, const shape *s) {
  literal *l = NULL;
  assert_true(status_is_ok(literal_create(a, s, &l)));
  for (int k = 0; k < s->tuple_size; k++) l->elements[k] = argument(a, s->elements[k]);
  int64_t count = shape_is_array(s) ? shape_element_count(s) : 0;
  for (int64_t k = 0; k < count; k++) {
    int64_t x = (k * 7 + 3) % 11;
    if (dtype_is_float(s->dtype) || dtype_is_complex(s->dtype)) literal_set_double(l, k, (double)x / 4 - 1);
    else literal_set_int(l, k, s->dtype == DTYPE_PRED ? x & 1 : x % 7);
  }
  return l;
}

static literal *evaluate(arena *a, const module *m, const module *like) {
  const instruction_list *parameters = &like->entry->parameters;
  literal **arguments = arena_array(a, literal *, parameters->size), *result = NULL;
  for (int k = 0; k < parameters->size; k++) arguments[k] = argument(a, parameters->data[k]->shape);
  heddle_status status = eval_module(a, m, parameters->size, arguments, &result);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  return result;
}

static void expect_text(const char *source, const char *wanted) {
  arena *a = arena_create();
  const char *found = converted(a, parse(a, source));
  if (!strstr(found, wanted)) fail_msg("no '%s' in\n%s", wanted, found);
  arena_destroy(a);
}

// Both programs give the same bits, and the text has `wanted` in it if that is not null.
static void expect_equal(const char *source, const char *wanted) {
  arena *a = arena_create();
  const module *m = parse(a, source);
  const char *found = converted(a, m);
  if (wanted && !strstr(found, wanted)) fail_msg("no '%s' in\n%s", wanted, found);
  const module *back = read_back(a, found);
  if (!literal_identical(evaluate(a, m, m), evaluate(a, back, m))) fail_msg("other values from\n%s", found);
  arena_destroy(a);
}

static void expect_refused(const char *source, const char *message) {
  arena *a = arena_create();
  ir_module *ir;
  heddle_status status = hlo_to_stablehlo(a, parse(a, source), &ir);
  assert_false(status_is_ok(status));
  if (!strstr(heddle_status_message(status), message))
    fail_msg("%s\ndoes not say: %s", heddle_status_message(status), message);
  heddle_status_free(status);
  arena_destroy(a);
}

#define ENTRY(body) "HloModule m\nENTRY main {\n" body "}\n"
#define ADD "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }\n"

static void test_unsigned_sizes_and_signs(void **state) {
  (void)state;
  expect_equal("HloModule m\nENTRY e { x = u32[3] constant({0, 1, 4000000000})\n ROOT r = u32[3] sign(x) }",
               "(tensor<3xi1>) -> tensor<3xui32>");
  expect_text(
      "HloModule m\nENTRY e { x = u8[1073741824,1073741824] parameter(0)\n ROOT r = "
      "u8[1073741824,1073741824] sign(x) }",
      "stablehlo.convert");
  expect_equal("HloModule m\nENTRY e { x = u8[3] constant({0, 1, 200})\n y = u8[3] abs(x)\n ROOT r = u8[3] add(y, y) }",
               NULL);
}

static void test_interface(void **state) {
  (void)state;
  expect_equal(ENTRY("p = (f32[2], (s32[], pred[3])) parameter(0)\n q = f32[2] parameter(1)\n"
                     "a = f32[2] get-tuple-element(p), index=0\n b = (s32[], pred[3]) get-tuple-element(p), index=1\n"
                     "c = f32[2] add(a, q)\n ROOT r = (f32[2], (s32[], pred[3]), f32[2]) tuple(c, b, a)\n"),
               "func.func public @main(%arg0: tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<3xi1>>>, %arg1: "
               "tensor<2xf32>) -> (tensor<2xf32>, tuple<tensor<i32>, tensor<3xi1>>, tensor<2xf32>)");
  expect_text(
      "HloModule jit_f, replica_count=2, num_partitions=4\nENTRY e {\n"
      "p = f32[2] parameter(0), sharding={replicated}\n"
      "ROOT r = f32[2] negate(p), sharding={devices=[2]<=[2]}, frontend_attributes={a=\"1\"}\n}\n",
      "module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32} {\n"
      "  func.func public @main(%arg0: tensor<2xf32> {mhlo.sharding = \"{replicated}\"}) -> tensor<2xf32> {\n"
      "    %0 = stablehlo.negate %arg0 {mhlo.sharding = \"{devices=[2]<=[2]}\", mhlo.frontend_attributes = "
      "{a = \"1\"}} : tensor<2xf32>\n");
}

// HLO's strings and MLIR's have other escapes.
static void test_strings(void **state) {
  (void)state;
  expect_text(ENTRY("p = f32[2] parameter(0)\n ROOT r = f32[2] negate(p), frontend_attributes={a=\"\\x01\\001\\\"1\","
                    "\"b c\"={ {1}, 2 },a=\"2\\\\\"}\n"),
              "mhlo.frontend_attributes = {a = \"2\\\\\", \"b c\" = \"{ {1}, 2 }\"}}");
  expect_text(
      ENTRY("p = f32[2] parameter(0)\n ROOT r = f32[2] negate(p), frontend_attributes={a=\"\\x01\\001\\\"1\"}\n"),
      "mhlo.frontend_attributes = {a = \"\\01\\01\\221\"}}");
  expect_text(ENTRY("t = token[] after-all()\n i = (f32[2], token[]) infeed(t), infeed_config=\"\\x01\\000\\n\"\n"
                    "x = f32[2] get-tuple-element(i), index=0\n u = token[] get-tuple-element(i), index=1\n"
                    "ROOT o = token[] outfeed(x, u), outfeed_config=\"a\\\"\\x7f\"\n"),
              "infeed_config = \"\\01\\00\\0A\"");
}

static void test_elementwise(void **state) {
  (void)state;
  expect_equal(ENTRY("p = pred[4] parameter(0)\n q = pred[4] parameter(1)\n ROOT r = pred[4] subtract(p, q)\n"),
               "stablehlo.xor %arg0, %arg1 : tensor<4xi1>");
  expect_equal(
      ENTRY("p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n ROOT r = pred[4] compare(p, q), direction=LT\n"),
      "stablehlo.compare LT, %arg0, %arg1, FLOAT : ");
  expect_equal(ENTRY("p = s4[4] parameter(0)\n q = u4[4] constant({1, 2, 3, 15})\n c = s4[4] convert(q)\n"
                     "ROOT r = s4[4] add(p, c)\n"),
               "dense<[1, 2, 3, 15]> : tensor<4xui4>");
  expect_equal(ENTRY("p = f32[4] parameter(0)\n ROOT r = f32[4] erf(p)\n"), "chlo.erf %arg0 : tensor<4xf32> ->");
  expect_equal(
      ENTRY("p = f32[4] parameter(0)\n ROOT r = f32[4] reduce-precision(p), exponent_bits=5, mantissa_bits=2\n"),
      "format = e5m2");
  expect_equal(ENTRY("p = pred[4] parameter(0)\n b = u8[4] bitcast-convert(p)\n w = u32[] bitcast-convert(b)\n"
                     "c = pred[4] bitcast-convert(w)\n ROOT r = (pred[4], u32[]) tuple(c, w)\n"),
               "stablehlo.convert %arg0 : (tensor<4xi1>) -> tensor<4xui8>");
  expect_equal(
      ENTRY("c = ((f32[2], s32[]), c64[]) constant((({1, 2}, 3), (1, 2)))\n"
            "a = (f32[2], s32[]) get-tuple-element(c), index=0\n ROOT r = f32[2] get-tuple-element(a), index=0\n"),
      NULL);
}

static void test_moves(void **state) {
  (void)state;
  expect_equal(ENTRY("p = f32[2,3] parameter(0)\n ROOT r = f32[3,2]{0,1} bitcast(p)\n"), "stablehlo.transpose");
  expect_equal(ENTRY("p = f32[2,3]{0,1} parameter(0)\n ROOT r = f32[6] bitcast(p)\n"), "stablehlo.reshape");
  expect_equal(ENTRY("p = f32[2,3]{0,1} parameter(0)\n ROOT r = u16[12] bitcast(p)\n"), "stablehlo.bitcast_convert");
  expect_equal(ENTRY("p = u8[2,4] parameter(0)\n ROOT r = s32[2]{0} bitcast(p)\n"), "tensor<2xi32>");
  expect_equal(ENTRY("p = f32[4,5] parameter(0)\n i = s32[] parameter(1)\n"
                     "ROOT r = f32[2,3] dynamic-slice(p, i, i), dynamic_slice_sizes={2,3}\n"),
               "sizes = [2, 3]");
  expect_equal(ENTRY("p = f32[4] parameter(0)\n u = f32[2] parameter(1)\n i = s32[] parameter(2)\n"
                     "ROOT r = f32[4] dynamic-update-slice(p, u, i)\n"),
               "stablehlo.dynamic_update_slice");
  expect_equal(ENTRY("p = f32[3] parameter(0)\n z = f32[] constant(0.5)\n q = f32[8] pad(p, z), padding=1_-2_3\n"
                     "s = f32[4] slice(q), slice={[0:8:2]}\n v = f32[4] reverse(s), dimensions={0}\n"
                     "c = f32[8] concatenate(s, v), dimensions={0}\n b = f32[8,2] broadcast(c), dimensions={0}\n"
                     "t = f32[2,8] transpose(b), dimensions={1,0}\n i = f32[2,8] iota(), iota_dimension=1\n"
                     "ROOT r = f32[2,8] add(t, i)\n"),
               "low = [1], high = [-2], interior = [3]");
  expect_equal(ENTRY("p = f32[5] parameter(0)\n ROOT r = (f32[2], s32[2]) topk(p), k=2, largest=false\n"),
               "stablehlo.sort");
  expect_equal(ENTRY("p = f32[5] parameter(0)\n ROOT r = (f32[2], s32[2]) topk(p), k=2, largest=true\n"), "chlo.top_k");
}

static void test_contractions(void **state) {
  (void)state;
  expect_equal(ENTRY("p = f32[2,3,4] parameter(0)\n q = f32[2,4,5] parameter(1)\n"
                     "ROOT r = f32[2,3,5] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                     "rhs_contracting_dims={1}, operand_precision={highest,default}\n"),
               "batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT]");
  expect_text(
      ENTRY("p = f32[3] parameter(0)\n ROOT r = f32[] dot(p, p), lhs_contracting_dims={0}, rhs_contracting_dims={0},"
            " algorithm=dot_tf32_tf32_f32_x3\n"),
      "algorithm = <lhs_precision_type = tf32");
  expect_equal(ENTRY("p = f32[1,8,2] parameter(0)\n q = f32[3,2,4] parameter(1)\n"
                     "ROOT r = f32[1,4,4] convolution(p, q), window={size=3 stride=2 pad=1_1 rhs_reversal=1}, "
                     "dim_labels=b0f_0io->b0f\n"),
               "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]]");
  expect_equal("HloModule m\n" ADD
               "ENTRY main {\n p = f32[4,6] parameter(0)\n z = f32[] constant(0)\n"
               "ROOT r = f32[2,3] reduce-window(p, z), window={size=2x2 stride=2x2}, to_apply=add\n}\n",
               "window_dimensions = array<i64: 2, 2>");
  expect_equal(
      "HloModule m\n" ADD
      "ge { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = pred[] compare(x, y), "
      "direction=GE }\nENTRY main {\n p = f32[4] parameter(0)\n s = f32[2] parameter(1)\n z = f32[] constant(0)\n"
      "ROOT r = f32[4] select-and-scatter(p, s, z), window={size=2 stride=2}, select=ge, scatter=add\n}\n",
      NULL);
  expect_equal(ENTRY("p = f32[4,3] parameter(0)\n i = s32[2,1] constant({{1}, {3}})\n"
                     "ROOT r = f32[2,3] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
                     "index_vector_dim=1, slice_sizes={1,3}\n"),
               "#stablehlo.gather<offset_dims = [1]");
  expect_equal(
      "HloModule m\n" ADD
      "ENTRY main {\n p = f32[4] parameter(0)\n i = s32[2,1] constant({{1}, {1}})\n"
      "u = f32[2] parameter(1)\n ROOT r = f32[4] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n}\n",
      "#stablehlo.scatter<");
}

static void test_control(void **state) {
  (void)state;
  expect_equal(
      "HloModule m\nc { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] "
      "constant(5) ROOT r = pred[] compare(i, n), direction=LT }\n"
      "b { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0 x = f32[2] "
      "get-tuple-element(s), index=1 o = s32[] constant(1) j = s32[] add(i, o) y = f32[2] add(x, x) "
      "ROOT r = (s32[], f32[2]) tuple(j, y) }\n"
      "ENTRY main {\n z = s32[] constant(0)\n p = f32[2] parameter(0)\n t = (s32[], f32[2]) tuple(z, p)\n"
      "ROOT r = (s32[], f32[2]) while(t), condition=c, body=b\n}\n",
      "stablehlo.while(%arg1 = %0, %arg2 = %arg0) : tensor<i32>, tensor<2xf32> cond {");
  expect_equal(
      "HloModule m\nt { x = f32[2] parameter(0) ROOT r = (f32[2], f32[2]) tuple(x, x) }\n"
      "f { x = (f32[2], f32[2]) parameter(0) ROOT r = (f32[2], f32[2]) copy(x) }\nENTRY main {\n"
      "c = pred[] parameter(0)\n p = f32[2] parameter(1)\n n = f32[2] negate(p)\n q = (f32[2], f32[2]) tuple(p, n)\n"
      "ROOT r = (f32[2], f32[2]) conditional(c, p, q), true_computation=t, false_computation=f\n}\n",
      "\"stablehlo.if\"(%arg0) ({\n      stablehlo.return %arg1, %arg1 : ");
  expect_equal(
      "HloModule m\nt { x = f32[2] parameter(0) ROOT r = f32[2] negate(x) }\n"
      "f { x = f32[2] parameter(0) ROOT r = f32[2] add(x, x) }\nENTRY main {\n c = s32[] parameter(0)\n"
      "p = f32[2] parameter(1)\n ROOT r = f32[2] conditional(c, p, p), branch_computations={t, f}\n}\n",
      "\"stablehlo.case\"(%arg0)");
  expect_equal(
      "HloModule m\nf { x = (f32[2], f32[2]) parameter(0) y = f32[2] get-tuple-element(x), index=1 ROOT r = "
      "(f32[2]) tuple(y) }\nmain { x = f32[2] parameter(0) ROOT r = f32[2] negate(x) }\nENTRY e {\n"
      "p = f32[2] parameter(0)\n n = f32[2] call(p), to_apply=main\n q = (f32[2], f32[2]) tuple(p, n)\n"
      "a = (f32[2]) call(q), to_apply=f\n b = f32[2] fusion(p), kind=kLoop, calls=main\n"
      "c = f32[2] get-tuple-element(a), index=0\n ROOT r = f32[2] add(b, c)\n}\n",
      "func.func private @main_0(%arg0: tensor<2xf32>) -> tensor<2xf32>");
  expect_equal(
      "HloModule m\nf { x = f32[2] parameter(0) ROOT r = f32[2] negate(x) }\nENTRY e {\n p = f32[2] parameter(0)\n"
      "s = ((f32[2]), f32[2], s32[]) async-start(p), calls=f\n ROOT d = f32[2] async-done(s), calls=f\n}\n",
      NULL);
}

static void test_applied(void **state) {
  (void)state;
  expect_equal("HloModule m\n" ADD
               "ENTRY main {\n p = f32[4,6] parameter(0)\n z = f32[] constant(0)\n"
               "ROOT r = f32[4] reduce(p, z), dimensions={1}, to_apply=add\n}\n",
               "applies stablehlo.add across dimensions");
  expect_equal(
      "HloModule m\nmax { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] "
      "parameter(3) g = pred[] compare(a, b), direction=GT v = f32[] select(g, a, b) w = s32[] select(g, i, j) "
      "ROOT r = (f32[], s32[]) tuple(v, w) }\nENTRY main {\n p = f32[4,6] parameter(0)\n i = s32[4,6] iota(), "
      "iota_dimension=1\n z = f32[] constant(-inf)\n o = s32[] constant(0)\n"
      "ROOT r = (f32[4], s32[4]) reduce(p, i, z, o), dimensions={1}, to_apply=max\n}\n",
      "%3:2 = stablehlo.reduce(");
  expect_equal(
      "HloModule m\nlt { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] "
      "parameter(3) ROOT r = pred[] compare(a, b), direction=LT }\nENTRY main {\n p = f32[6] parameter(0)\n"
      "i = s32[6] iota(), iota_dimension=0\n s = (f32[6], s32[6]) sort(p, i), dimensions={0}, is_stable=true, "
      "to_apply=lt\n ROOT r = s32[6] get-tuple-element(s), index=1\n}\n",
      "is_stable = true");
  expect_equal("HloModule m\n" ADD
               "ENTRY main {\n p = f32[4] parameter(0)\n ROOT r = f32[4] map(p, p), dimensions={0}, "
               "to_apply=add\n}\n",
               "\"stablehlo.map\"");
  expect_equal(
      ENTRY("p = u64[2] parameter(0)\n ROOT r = (u64[2], u32[3]) rng-bit-generator(p), algorithm=rng_philox\n"),
      "algorithm = PHILOX");
}

static void test_outside(void **state) {
  (void)state;
  expect_text(ENTRY("p = f32[2,3]{0,1} parameter(0)\n t = (f32[2,3], f32[2,3]) tuple(p, p)\n"
                    "ROOT r = (f32[2,3]{1,0}, s32[]) custom-call(p, t), custom_call_target=\"f\", "
                    "api_version=API_VERSION_TYPED_FFI, backend_config=\"{uplo = 76 : ui8}\"\n"),
              "%1:2 = stablehlo.custom_call @f(%arg0, %0) {backend_config = {uplo = 76 : ui8}, api_version = 4 : i32}");
  expect_text(ENTRY("p = f32[2,3]{0,1} parameter(0)\n ROOT r = f32[2,3]{1,0} custom-call(p), custom_call_target=\"f\", "
                    "operand_layout_constraints={f32[2,3]{0,1}}, custom_call_has_side_effect=true\n"),
              "{has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = "
              "[dense<[1, 0]> : tensor<2xindex>]}");
  expect_text("HloModule m\n" ADD
              "ENTRY main {\n p = f32[4] parameter(0)\n ROOT r = f32[4] all-reduce(p), "
              "replica_groups={{0,1},{2}}, channel_id=3, use_global_device_ids=true, to_apply=add\n}\n",
              "{replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle"
              "<handle = 3, type = 1>, use_global_device_ids}");
  expect_text(ENTRY("p = f32[4] parameter(0)\n s = (f32[4], f32[8]) all-gather-start(p), dimensions={0}, "
                    "replica_groups={{0,1}}\n ROOT r = f32[8] all-gather-done(s)\n"),
              "all_gather_dim = 0 : i64");
  expect_text(ENTRY("p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n ROOT r = (f32[4], f32[4]) all-to-all(p, q), "
                    "replica_groups={{0,1}}\n"),
              "split_count = 2 : i64");
  expect_text(ENTRY("t = token[] after-all()\n i = (f32[2], token[]) infeed(t), infeed_config=\"c\"\n"
                    "x = f32[2] get-tuple-element(i), index=0\n u = token[] get-tuple-element(i), index=1\n"
                    "ROOT o = token[] outfeed(x, u)\n"),
              "infeed_config = \"c\"");
}

// Empty arrays have the same memory whatever the widths of their elements.
static void test_bitcasts_of_nothing(void **state) {
  (void)state;
  expect_equal(ENTRY("p = u8[0] parameter(0)\n ROOT r = f32[3,0] bitcast(p)\n"), "dense<> : tensor<3x0xf32>");
  expect_equal(ENTRY("p = u8[3,0] parameter(0)\n ROOT r = f32[0,3] bitcast(p)\n"), "dense<> : tensor<0x3xf32>");
  expect_equal(ENTRY("p = f32[5,0] parameter(0)\n ROOT r = u16[0,3] bitcast(p)\n"), "dense<> : tensor<0x3xui16>");
  expect_equal(ENTRY("p = c64[0] parameter(0)\n ROOT r = c128[2,0] bitcast(p)\n"), "tensor<2x0xcomplex<f64>>");
  expect_equal(ENTRY("p = c64[0] parameter(0)\n ROOT r = f32[2,0] bitcast(p)\n"), "dense<> : tensor<2x0xf32>");
}

static void test_refusals(void **state) {
  (void)state;
  expect_refused(ENTRY("p = s4[16] parameter(0)\n ROOT r = u8[16] bitcast(p)\n"), "take a byte each");
  expect_refused(ENTRY("p = f64[2] parameter(0)\n ROOT r = s2[16] bitcast(p)\n"), "take a byte each");
  expect_refused(ENTRY("p = c64[2] parameter(0)\n ROOT r = f32[4] bitcast(p)\n"), "it is from c64 to f32");
  expect_refused(ENTRY("p = f32[<=4] parameter(0)\n ROOT r = s32[<=4] bitcast(p)\n"), "dims are not all constants");
  expect_refused(ENTRY("p = f32[4,2]{1,0:T(2)} parameter(0)\n ROOT r = f32[4,2]{0,1:T(2,2)} bitcast(p)\n"),
                 "layouts have tiles");
  expect_refused(ENTRY("ROOT r = u64[1] rng-get-and-update-state(), delta=1\n"),
                 "rng-get-and-update-state has no form");
  expect_refused(
      ENTRY("p = f32[2] parameter(0)\n q = u32[2] parameter(1)\n ROOT r = bf16[2] stochastic-convert(p, q)\n"),
      "test:5:7: ");
}

// Every opcode has a row, but for those StableHLO cannot say.
static void test_table(void **state) {
  (void)state;
  static const hlo_opcode without[] = {
      HLO_PARAMETER, HLO_RNG_GET_AND_UPDATE_STATE, HLO_STOCHASTIC_CONVERT, HLO_SCALED_DOT,
      HLO_SHUFFLE,   HLO_RAGGED_ALL_TO_ALL};
  int missing = 0;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++) {
    if (raisings[op].op != IR_OP_UNKNOWN || raisings[op].raise) continue;
    bool is_known = false;
    for (size_t k = 0; k < sizeof without / sizeof *without; k++) is_known |= (int)without[k] == op;
    if (!is_known) fail_msg("%s has no way to StableHLO", hlo_op_text((hlo_opcode)op));
    missing++;
  }
  assert_int_equal(missing, sizeof without / sizeof *without);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unsigned_sizes_and_signs),
      cmocka_unit_test(test_interface),
      cmocka_unit_test(test_strings),
      cmocka_unit_test(test_elementwise),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_contractions),
      cmocka_unit_test(test_control),
      cmocka_unit_test(test_applied),
      cmocka_unit_test(test_outside),
      cmocka_unit_test(test_bitcasts_of_nothing),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
