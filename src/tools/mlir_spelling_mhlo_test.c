// MHLO's own forms become generic ones; whatever is cut off or changed, the reader ends, with a place where it refuses.
#include "tools/mlir_spelling_mhlo.h"

#include <stdlib.h>

#include "base/testing.h"

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

static int lines(str s) {
  int count = 0;
  for (size_t k = 0; k < s.size; k++) count += s.data[k] == '\n';
  return count;
}

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
  assert_true(lines(text_view(&t)) >= lines(str_from(program)));
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

// Nothing lies behind the last byte.
static void read_copy(const char *bytes, size_t size) {
  char *copy = malloc(size ? size : 1);
  memcpy(copy, bytes, size);
  text t = {0};
  heddle_status_free(mlir_spelling_mhlo_read("f", (str){copy, size}, &t));
  text_free(&t);
  free(copy);
}

static void test_ends_on_cut_text(void **state) {
  (void)state;
  for (size_t size = 0; size < sizeof program; size++) read_copy(program, size);
  for (size_t from = 0; from < sizeof program; from++) read_copy(program + from, sizeof program - 1 - from);
}

static void test_ends_on_changed_text(void **state) {
  (void)state;
  static const char bytes[] = "{)[<\"%:,\n= #";
  char changed[sizeof program];
  for (size_t k = 0; k + 1 < sizeof program; k++)
    for (size_t b = 0; b + 1 < sizeof bytes; b++) {
      memcpy(changed, program, sizeof program);
      changed[k] = bytes[b];
      read_copy(changed, sizeof program - 1);
    }
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
