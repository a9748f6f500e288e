// Gathers and scatters give the same results in their simple forms.
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gather), cmocka_unit_test(test_scatter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
