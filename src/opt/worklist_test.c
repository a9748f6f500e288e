// Rules are tried until nothing changes, each instruction as often as something near it changed.
#include "opt/worklist.h"

#include "base/arena_testing.h"
#include "hlo/text.h"

static module *parse(arena *a, const char *source) {
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(source), &m)));
  return m;
}

static heddle_status run(arena *a, module *m, worklist_rule rule) {
  pass_context context = {.scratch = a};
  return worklist_run(&context, m, rule);
}

static void expect_root(const module *m, const char *wanted) {
  text t = {0};
  hlo_print_instruction(&t, m->entry->root, (hlo_print_options){0});
  assert_non_null(strstr(text_cstr(&t), wanted));
  text_free(&t);
}

static instruction *drop_negate(const builder *b, instruction *i) {
  (void)b;
  return i->opcode == HLO_NEGATE ? i->operands[0] : NULL;
}

static void test_users_are_tried_again(void **state) {
  module *m = parse(*state, "ENTRY e { p = f32[] parameter(0) a = f32[] negate(p) ROOT r = f32[] negate(a) }");
  assert_true(status_is_ok(run(*state, m, drop_negate)));
  expect_root(m, "parameter(0)");
  assert_int_equal(m->entry->instructions.size, 1);
}

static void test_control_edges_keep_their_ends(void **state) {
  module *m = parse(*state,
                    "ENTRY e { p = f32[] parameter(0) a = f32[] negate(p) b = f32[] abs(p), control-predecessors={a}\n"
                    "  ROOT r = f32[] add(a, b) }");
  assert_true(status_is_ok(run(*state, m, drop_negate)));
  expect_root(m, "add(a, b)");
}

static void test_dynamic_dims_are_left_alone(void **state) {
  module *m = parse(*state, "ENTRY e { p = f32[<=4] parameter(0) ROOT r = f32[<=4] negate(p) }");
  assert_true(status_is_ok(run(*state, m, drop_negate)));
  expect_root(m, "negate(p)");
}

static void test_layouts_are_kept(void **state) {
  module *m = parse(*state, "ENTRY e { p = f32[2,3]{1,0} parameter(0) ROOT r = f32[2,3]{0,1} negate(p) }");
  assert_true(status_is_ok(run(*state, m, drop_negate)));
  expect_root(m, "negate(p)");
}

static instruction *turn_sign(const builder *b, instruction *i) {
  if (i->opcode == HLO_NEGATE) return builder_unary(b, HLO_ABS, i->operands[0]);
  return i->opcode == HLO_ABS ? builder_unary(b, HLO_NEGATE, i->operands[0]) : NULL;
}

static void test_rules_that_undo_each_other_are_reported(void **state) {
  module *m = parse(*state, "ENTRY e { p = f32[] parameter(0) ROOT r = f32[] negate(p) }");
  heddle_status s = run(*state, m, turn_sign);
  assert_int_equal(heddle_status_code(s), HEDDLE_INTERNAL);
  heddle_status_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_users_are_tried_again),
      TESTING_IN_ARENA(test_control_edges_keep_their_ends),
      TESTING_IN_ARENA(test_dynamic_dims_are_left_alone),
      TESTING_IN_ARENA(test_layouts_are_kept),
      TESTING_IN_ARENA(test_rules_that_undo_each_other_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
