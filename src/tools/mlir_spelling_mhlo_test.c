// MHLO's own forms become generic ones; whatever is cut off or changed, the reader ends, with a place where it refuses.
#include "tools/mlir_spelling_mhlo.h"

#include "tools/mlir_spelling_testing.h"

static const char program[] =
    "func.func @f(%x: tensor<4xf32>) attributes {mhlo.frontend_attributes = {}} { // mhlo.add\n"
    "  %0 = mhlo.constant dense<1.0> : tensor<f32>\n"
    "  %1 = mhlo.compare LT, %x, %x,\n"
    "    FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n"
    "  %2:2 = \"some.pair\"() {a = \"mhlo.b\"} : () -> (tensor<4xf32>, tensor<4xf32>)\n"
    "  %3 = mhlo.add %2#1, %x : tensor<4xf32>\n"
    "  %4 = mhlo.reduce(%3 init: %0) applies mhlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> "
    "tensor<f32>\n"
    "  %5 = \"mhlo.reduce\"(%3, %0) ({\n"
    "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "    %6 = mhlo.add %a, %b : tensor<f32>\n"
    "    mhlo.return %6 : tensor<f32>\n"
    "  }) {dimensions = dense<0> : tensor<1xi64>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
    "}\n";

static void test_reads_all_forms(void **state) {
  (void)state;
  static const char *const wanted[] = {
      "attributes {mhlo.frontend_attributes = {}} { // mhlo.add\n",
      "%0 = \"mhlo.constant\"() {value = dense<",
      "%1 = \"mhlo.compare\"(%x, %x) {",
      "#mhlo<comparison_direction LT>",
      "{a = \"mhlo.b\"}",
      "%3 = \"mhlo.add\"(%2#1, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
      "%4 = \"mhlo.reduce\"(%3, %0) ({",
      "\"mhlo.maximum\"(%mhlo_",
      "%6 = \"mhlo.add\"(%a, %b) : (tensor<f32>",
      "\"mhlo.return\"(%6) : (tensor<f32>) -> ()",
  };
  text t = {0};
  assert_true(status_is_ok(mlir_spelling_mhlo_read("f", str_from(program), &t)));
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
    if (!strstr(text_cstr(&t), wanted[k])) fail_msg("no %s in\n%s", wanted[k], text_cstr(&t));
  assert_true(mlir_spelling_testing_lines(text_view(&t)) >= mlir_spelling_testing_lines(str_from(program)));
  text_free(&t);
}

static void test_refuses_with_place(void **state) {
  (void)state;
  text t = {0};
  heddle_status s = mlir_spelling_mhlo_read("f", STR("module {\n  %0 = mhlo.addd %x : tensor<f32>\n}\n"), &t);
  assert_false(status_is_ok(s));
  assert_non_null(strstr(heddle_status_message(s), "f:2:8: error: "));
  heddle_status_free(s);
  text_free(&t);
}

static void read(str source, text *out) { heddle_status_free(mlir_spelling_mhlo_read("f", source, out)); }

static void test_ends_on_cut_text(void **state) {
  (void)state;
  mlir_spelling_testing_cut(read, program, sizeof program);
}

static void test_ends_on_changed_text(void **state) {
  (void)state;
  mlir_spelling_testing_change(read, program, sizeof program, "{)[<\"%:,\n= #");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_all_forms),
      cmocka_unit_test(test_refuses_with_place),
      cmocka_unit_test(test_ends_on_cut_text),
      cmocka_unit_test(test_ends_on_changed_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
