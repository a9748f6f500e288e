// Gathers, scatters and windows over dilated operands give the same results in their simple forms.
#include "opt/testing.h"

static void gather(const char *operand, const char *indices, const char *result, const char *attributes) {
  char text[1024];
  snprintf(text, sizeof text,
           "HloModule m\nENTRY e { x = %s parameter(0) i = %s parameter(1) ROOT r = %s gather(x, i), %s }", operand,
           indices, result, attributes);
  testing_expect_same(text, "gather-simplifier,dead-code", strstr(indices, "[1]") ? HLO_GATHER : HLO_OPCODE_COUNT);
}

static void test_gather(void **state) {
  (void)state;
  gather("f32[9,4]", "s32[1]", "f32[4]",
         "offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1,4}");
  gather("f32[3,9,4]", "s32[1]", "f32[3,1,2]",
         "offset_dims={0,2}, collapsed_slice_dims={2}, start_index_map={1}, index_vector_dim=1, slice_sizes={3,2,1}");
  gather("f32[9,4]", "s32[1,2]", "f32[1,2,3]",
         "offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,3}");
  gather("f32[200,4]", "s8[200]", "f32[200]",
         "offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
         "start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}");
}

static void scatter(const char *operand, const char *indices, const char *updates, const char *operation,
                    const char *attributes) {
  char text[1024];
  snprintf(text, sizeof text,
           "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
           "set { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }\n"
           "lag { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] add(a, a) ROOT r = f32[] subtract(c, b) }\n"
           "ENTRY e { x = %s parameter(0) i = %s parameter(1) u = %s parameter(2)\n"
           "  ROOT r = %s scatter(x, i, u), %s, to_apply=%s }",
           operand, indices, updates, operand, attributes, operation);
  testing_expect_same(text, "scatter-simplifier,dead-code", strstr(indices, "[1]") ? HLO_SCATTER : HLO_OPCODE_COUNT);
}

// Indices are below 8: some windows do not fit.
static void test_scatter(void **state) {
  (void)state;
  static const char *const operations[] = {"set", "add", "lag"};
  static const char *const operands[] = {"f32[9,4]", "f32[3,4]"};
  for (int k = 0; k < 6; k++) {
    scatter(operands[k % 2], "s32[1]", "f32[4]", operations[k / 2],
            "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0");
    scatter(operands[k % 2], "u8[1,2]", "f32[1,2,2]", operations[k / 2],
            "update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, "
            "index_vector_dim=1");
  }
  scatter("f32[200,4]", "s8[200]", "f32[200]", "add",
          "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
          "input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=1");
}

// Some elements are -0.
static void dilated(const char *type, const char *operand, const char *result, const char *operation, const char *init,
                    const char *window) {
  char text[1024];
  snprintf(text, sizeof text,
           "HloModule m\nadd { a = %s[] parameter(0) b = %s[] parameter(1) ROOT r = %s[] add(a, b) }\n"
           "max { a = %s[] parameter(0) b = %s[] parameter(1) ROOT r = %s[] maximum(a, b) }\n"
           "lag { a = %s[] parameter(0) b = %s[] parameter(1) c = %s[] add(a, a) ROOT r = %s[] subtract(c, b) }\n"
           "ENTRY e { x = %s%s parameter(0) i = %s[] constant(%s) n = %s%s negate(x)\n"
           "  ROOT r = %s%s reduce-window(n, i), window={%s}, to_apply=%s }",
           type, type, type, type, type, type, type, type, type, type, type, operand, type, init, type, operand, type,
           result, window, operation);
  const bool leaves_window = strcmp(operation, "lag") == 0 || strstr(window, "size=2") != NULL;
  testing_expect_same(text, "algebraic-simplifier,dead-code", leaves_window ? HLO_OPCODE_COUNT : HLO_REDUCE_WINDOW);
}

static void test_dilated(void **state) {
  (void)state;
  static const char *const operations[] = {"add", "max", "lag"};
  static const char *const inits[] = {"0", "-0", "0.75"};
  for (int k = 0; k < 9; k++) {
    const char *operation = operations[k / 3], *init = inits[k % 3];
    dilated("f32", "[30,3]", "[60,3]", operation, init, "size=2x1 pad=1_1x0_0 lhs_dilate=2x1");
    dilated("bf16", "[3,30,2]", "[4,95,1]", operation, init, "size=1x3x1 pad=2_-1x5_4x-1_0 lhs_dilate=1x3x1");
    dilated("f32", "[30,5]", "[113,18]", operation, init, "size=4x4 pad=-1_0x1_3 lhs_dilate=4x4");
    dilated("f64", "[7,30]", "[5,57]", operation, init, "size=2x2 pad=-1_0x0_-1 lhs_dilate=1x2");
    dilated("f32", "[2]", "[5]", operation, init, "size=4 pad=-5_8 lhs_dilate=4");
  }
  dilated("s32", "[30]", "[122]", "add", "3", "size=4 pad=4_4 lhs_dilate=4");
  dilated("s32", "[2]", "[5]", "add", "3", "size=4 pad=8_-5 lhs_dilate=4");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gather), cmocka_unit_test(test_scatter),
                                     cmocka_unit_test(test_dilated)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
