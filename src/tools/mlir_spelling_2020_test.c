// Whatever is cut off or changed in a program of 2020, the reader ends, within its text.
#include "tools/mlir_spelling_2020.h"

#include "tools/mlir_spelling_testing.h"

static const char program[] =
    "#map0 = affine_map<(d0, d1) -> (d0, d1)>\n"
    "func @f(%x: tensor<10x15xf32>) attributes {spv.target_env = ...} {\n"
    "  %c0 = constant 0 : index\n"
    "  %1 = cmpi \"slt\", %c0, %c0 : index\n"
    "  linalg.fill(%m, %v) : memref<32x16xf32>, f32\n"
    "  linalg.matmul {a = \"b\"} %1, %2, %3\n"
    "    : memref<8x4xf32, strided<[?, 1]>, 3>, memref<4x8xf32>, memref<8x8xf32>\n"
    "  %3 = linalg.generic {args_in = 1 : i64, args_out = 1 : i64, indexing_maps = [#map0, #map0],\n"
    "                       iterator_types = [\"parallel\", \"parallel\"]} %x {\n"
    "    ^bb0(%arg0: f32):  // no predecessors\n"
    "      %5 = addf %arg0, %arg0 : f32\n"
    "      linalg.yield %5 : f32\n"
    "  }: tensor<10x15xf32> -> tensor<10x15xf32>\n"
    "  scf.parallel (%i) = (%c0) to (%c0) step (%c0) {\n"
    "    scf.yield\n"
    "  }\n"
    "  %9 = \"gpu.block_id\"() {dimension = \"x\"} : () -> index\n"
    "  spv.ControlBarrier \"Workgroup\", \"Workgroup\"\n"
    "  linalg.conv(%f, %i, %o) {strides = [2, 1]} : memref<3x3x4x8xf32>, memref<1x9x9x4xf32>, memref<1x4x7x8xf32>\n"
    "  linalg.pooling_max(%i, %w, %o) {strides = [2]} : memref<8xf32>, memref<2xf32>, memref<4xf32>\n"
    "  linalg.indexed_generic {args_in = 1 : i64, args_out = 1 : i64} %a, %b {\n"
    "  ^bb0(%n: index, %u: f32, %v: f32):  // no predecessors\n"
    "    linalg.yield %u : f32\n"
    "  }: memref<8xf32>, memref<8xf32>\n"
    "  return\n"
    "}\n";

static void test_reads_all_forms(void **state) {
  (void)state;
  text t = {0};
  assert_true(mlir_spelling_2020_is(str_from(program)));
  mlir_spelling_2020_read(str_from(program), &t);
  static const char *const wanted[] = {
      "func.func @f(",
      "{spv.target_env = \"...\"}",
      "arith.cmpi slt, %c0",
      "linalg.fill ins(%v : f32) outs(%m : memref<32x16xf32>)",
      "linalg.matmul {a = \"b\"} ins(%1, %2 : memref<8x4xf32, strided<[?, 1]>, 3>, memref<4x8xf32>) outs(%3 : memref",
      "%empty_0 = tensor.empty() : tensor<10x15xf32> %3 = linalg.generic {indexing_maps = [#map0, #map0], ",
      "ins(%x : tensor<10x15xf32>) outs(%empty_0 : tensor<10x15xf32>)",
      "^bb0(%arg0: f32, %out_0: f32):",
      "arith.addf %arg0",
      "} -> tensor<10x15xf32>",
      "scf.reduce",
      "dimension = #gpu<dim x>",
      "gpu.barrier\n",
      "linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ",
      "ins(%i, %f : memref<1x9x9x4xf32>, memref<3x3x4x8xf32>) outs(%o : memref<1x4x7x8xf32>)",
      "(d0 * 2 + d1 * 1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = [",
      "\"reduction\"]} ins(%i, %w : memref<8xf32>, memref<2xf32>) outs(%o : memref<4xf32>) {",
      "arith.maximumf %so_far, %at : f32",
      "^bb0(%u: f32, %v: f32): %n = linalg.index 0 : index",
  };
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
    if (!strstr(text_cstr(&t), wanted[k])) fail_msg("no %s in\n%s", wanted[k], text_cstr(&t));
  assert_int_equal(mlir_spelling_testing_lines(text_view(&t)), mlir_spelling_testing_lines(str_from(program)));
  text_free(&t);
}

static void read(str source, text *out) {
  mlir_spelling_2020_is(source);
  mlir_spelling_2020_read(source, out);
}

static void test_ends_on_cut_text(void **state) {
  (void)state;
  mlir_spelling_testing_cut(read, program, sizeof program);
}

static void test_ends_on_changed_text(void **state) {
  (void)state;
  mlir_spelling_testing_change(read, program, sizeof program, "{}()[]<>\"%:,->\n= \\");
}

static void test_deep_regions(void **state) {
  (void)state;
  text deep = {0};
  for (int k = 0; k < 2000; k++) text_puts(&deep, "linalg.generic {args_in = 1 : i64} %x {\n^bb0():\n");
  for (int k = 0; k < 2000; k++) text_puts(&deep, "} : tensor<f32> -> tensor<f32>\n");
  mlir_spelling_testing_read(read, deep.data, deep.size);
  text_free(&deep);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_all_forms),
      cmocka_unit_test(test_ends_on_cut_text),
      cmocka_unit_test(test_ends_on_changed_text),
      cmocka_unit_test(test_deep_regions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
