// Every opcode has the facts that the layers above rely on.
#include "hlo/ops.h"

#include "base/testing.h"
#include "hlo/attributes.h"

static void test_every_opcode_has_text_that_reads_back(void **state) {
  (void)state;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++) {
    assert_non_null(hlo_ops[op].text);
    assert_true(hlo_ops[op].text[0] >= 'a' && hlo_ops[op].text[0] <= 'z');
    assert_int_equal(hlo_op_from_text(str_from(hlo_ops[op].text)), op);
  }
}

static void test_arity(void **state) {
  (void)state;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++) {
    const hlo_op_info *info = &hlo_ops[op];
    assert_true(info->arity >= HLO_VARIADIC && info->arity <= 6);
    if (info->arity != HLO_VARIADIC) assert_int_equal(info->min_operands, 0);
    if (info->shape_rule == SHAPE_RULE_FIRST_OPERAND || info->shape_rule == SHAPE_RULE_SAME)
      assert_true(info->arity > 0 || info->min_operands > 0);
  }
}

static void test_elementwise_opcodes_have_an_elementwise_index_rule(void **state) {
  (void)state;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++) {
    if (!hlo_op_has((hlo_opcode)op, TRAIT_ELEMENTWISE) || op == HLO_STOCHASTIC_CONVERT) continue;
    assert_int_equal(hlo_ops[op].index_rule, INDEX_RULE_ELEMENTWISE);
  }
}

// `called` is filled in the order of these names, so a row that has computations must name them.
static void test_attribute_names_are_known(void **state) {
  (void)state;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++) {
    const char *p = hlo_ops[op].attributes;
    bool names_computations = false;
    for (; p && *p; p += strspn(p, " ")) {
      size_t size = strcspn(p, " !");
      hlo_attribute_id id = hlo_attribute_from_text((str){p, size});
      if (id == HLO_ATTRIBUTE_COUNT) fail_msg("%s: unknown attribute '%.*s'", hlo_ops[op].text, (int)size, p);
      hlo_attribute_kind kind = hlo_attribute_infos[id].kind;
      names_computations |= kind == ATTRIBUTE_COMPUTATION || kind == ATTRIBUTE_COMPUTATIONS;
      p += size + (p[size] == '!');
    }
    assert_int_equal(names_computations, hlo_op_has((hlo_opcode)op, TRAIT_HAS_COMPUTATIONS) || op == HLO_TOPK);
  }
}

static void test_other_spellings(void **state) {
  (void)state;
  assert_int_equal(hlo_op_from_text(STR("cross-replica-sum")), HLO_ALL_REDUCE);
  assert_int_equal(hlo_op_from_text(STR("")), HLO_OPCODE_COUNT);
  assert_int_equal(hlo_op_from_text(STR("ad")), HLO_OPCODE_COUNT);
  assert_int_equal(hlo_op_from_text(STR("adds")), HLO_OPCODE_COUNT);
  assert_int_equal(hlo_op_from_text((str){"add\0", 4}), HLO_OPCODE_COUNT);
  assert_int_equal(hlo_op_from_text((str){"address", 3}), HLO_ADD);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_opcode_has_text_that_reads_back),
      cmocka_unit_test(test_arity),
      cmocka_unit_test(test_elementwise_opcodes_have_an_elementwise_index_rule),
      cmocka_unit_test(test_attribute_names_are_known),
      cmocka_unit_test(test_other_spellings),
  };
  return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
