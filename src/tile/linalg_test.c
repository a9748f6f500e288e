// The planner's table of operations that have a form as tiles agrees with the table of rules that make it.
#include "tile/linalg.h"
#include "base/testing.h"
#include "emit/elemental.h"
#include "kernel/hero_tiles.h"

// f32[2] in and out, as far as an opcode takes that.
static instruction sample(hlo_opcode op, const shape *s, instruction **operands, hlo_attributes *attributes) {
  return (instruction){.opcode = op, .shape = s, .operand_count = 1, .operands = operands, .attributes = attributes};
}

static void test_planned_forms_have_rules(void **state) {
  (void)state;
  arena *a = arena_create();
  const int64_t dims[] = {2};
  const shape *s = shape_array(a, DTYPE_F32, 1, dims);
  hlo_attributes attributes = {0};
  instruction parameter = sample(HLO_PARAMETER, s, NULL, &attributes);
  parameter.operand_count = 0;
  instruction *operands[] = {&parameter, &parameter, &parameter};
  for (hlo_opcode op = 0; op < HLO_OPCODE_COUNT; op++) {
    instruction i = sample(op, s, operands, &attributes);
    if (op == HLO_DOT || op == HLO_DYNAMIC_SLICE) i.operand_count = 2;
    const bool is_elementwise = hlo_op_has(op, TRAIT_ELEMENTWISE) && !linalg_rules[op];
    if (is_elementwise) continue;  // by class of elements: emit/kernel_test.c
    if (hero_tiles_has_form(&i) != linalg_takes(&i)) fail_msg("%s", hlo_op_text(op));
  }
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_planned_forms_have_rules)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
