// Modules: users in step with operands, names, orders without recursion, deep copies.
#include "hlo/module.h"

#include "base/testing.h"

typedef struct fixture {
  arena *arena;
  module *module;
  computation *main;
  const shape *scalar;
} fixture;

static fixture make(void) {
  arena *a = arena_create();
  module *m = module_create(a, STR("m"));
  computation *c = module_add_computation(m, STR("main"));
  m->entry = c;
  return (fixture){a, m, c, shape_scalar(a, DTYPE_F32)};
}

static instruction *add(fixture *f, const char *name, hlo_opcode op, instruction *x, instruction *y) {
  instruction *operands[] = {x, y};
  return computation_add(f->main, op, str_from(name), f->scalar, y ? 2 : x ? 1 : 0, operands);
}

static void test_users_follow_operands(void **state) {
  (void)state;
  fixture f = make();
  instruction *p = computation_add_parameter(f.main, 0, STR("p"), f.scalar);
  instruction *q = computation_add_parameter(f.main, 1, STR("q"), f.scalar);
  instruction *sum = add(&f, "sum", HLO_ADD, p, p);
  instruction *root = add(&f, "root", HLO_MULTIPLY, sum, p);
  computation_set_root(f.main, root);
  assert_int_equal(p->users.size, 3);
  assert_int_equal(instruction_user_count(p), 2);
  instruction_set_operand(sum, 1, q);
  assert_int_equal(p->users.size, 2);
  assert_ptr_equal(q->users.data[0], sum);
  instruction_replace_uses(p, q);
  assert_int_equal(p->users.size, 0);
  assert_int_equal(q->users.size, 3);
  assert_ptr_equal(sum->operands[0], q);
  assert_ptr_equal(root->operands[1], q);
  instruction_replace_uses(root, sum);
  assert_ptr_equal(f.main->root, sum);
  computation_remove(f.main, root);
  assert_int_equal(f.main->instructions.size, 3);
  assert_int_equal(sum->users.size, 0);
  computation_remove(f.main, p);
  assert_int_equal(f.main->parameters.size, 1);
  assert_int_equal(q->attributes->index, 0);
  arena_destroy(f.arena);
}

static void test_replacing_by_a_user_makes_no_cycle(void **state) {
  (void)state;
  fixture f = make();
  instruction *p = computation_add_parameter(f.main, 0, STR("p"), f.scalar);
  instruction *wrapped = add(&f, "wrapped", HLO_NEGATE, p, NULL);
  instruction *sum = add(&f, "sum", HLO_ADD, p, p);
  instruction_replace_uses(p, wrapped);
  assert_ptr_equal(wrapped->operands[0], p);
  assert_ptr_equal(sum->operands[0], wrapped);
  assert_ptr_equal(sum->operands[1], wrapped);
  assert_int_equal(p->users.size, 1);
  assert_int_equal(wrapped->users.size, 2);
  arena_destroy(f.arena);
}

static void test_names_are_unique(void **state) {
  (void)state;
  fixture f = make();
  instruction *first = add(&f, "add.7", HLO_ADD, NULL, NULL);
  instruction *second = add(&f, "", HLO_ADD, NULL, NULL);
  assert_true(str_is(first->name, "add.7"));
  assert_true(str_is(second->name, "add.8"));
  computation *other = module_add_computation(f.module, STR("main"));
  assert_true(str_is(other->name, "main.9"));
  assert_ptr_equal(module_find_computation(f.module, STR("main")), f.main);
  assert_ptr_equal(module_find_computation(f.module, STR("main.9")), other);
  assert_null(module_find_computation(f.module, STR("none")));
  module_remove_computation(f.module, other);
  assert_null(module_find_computation(f.module, STR("main.9")));
  assert_int_equal(f.module->computations.size, 1);
  add(&f, "x.99999999999999999999999", HLO_ADD, NULL, NULL);
  assert_true(f.module->next_name > 0);
  arena_destroy(f.arena);
}

static void test_parameters_are_sorted(void **state) {
  (void)state;
  fixture f = make();
  static const int numbers[] = {2, 0, 2000000000, 1};
  for (int i = 0; i < 4; i++) computation_add_parameter(f.main, numbers[i], (str){0}, f.scalar);
  assert_int_equal(f.main->parameters.size, 4);
  for (int i = 0; i < 3; i++) assert_int_equal(f.main->parameters.data[i]->attributes->index, i);
  arena_destroy(f.arena);
}

static void test_post_order_is_stable(void **state) {
  (void)state;
  fixture f = make();
  instruction *late = add(&f, "late", HLO_ADD, NULL, NULL);
  instruction *p = computation_add_parameter(f.main, 0, STR("p"), f.scalar);
  instruction *q = computation_add_parameter(f.main, 1, STR("q"), f.scalar);
  instruction *last = add(&f, "last", HLO_NEGATE, q, NULL);
  instruction *operands[] = {p, p};
  instruction *sum = computation_add(f.main, HLO_ADD, STR("sum"), f.scalar, 2, operands);
  vec_push(f.arena, &late->control_predecessors, sum);
  instruction_list order;
  assert_true(status_is_ok(computation_post_order(f.arena, f.main, &order)));
  instruction *const wanted[] = {p, sum, late, q, last};
  assert_int_equal(order.size, 5);
  for (int i = 0; i < 5; i++) assert_ptr_equal(order.data[i], wanted[i]);
  vec_push(f.arena, &p->control_predecessors, late);
  heddle_status status = computation_post_order(f.arena, f.main, &order);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(status), "depends on itself"));
  heddle_status_free(status);
  arena_destroy(f.arena);
}

// In the worst textual order, users before operands, the search goes all the way down at once.
static void test_long_chains(void **state) {
  (void)state;
  enum { LENGTH = 100000 };
  fixture f = make();
  instruction *user = add(&f, "", HLO_NEGATE, NULL, NULL);
  computation_set_root(f.main, user);
  for (int i = 1; i < LENGTH; i++) {
    instruction *operand = add(&f, "", HLO_NEGATE, NULL, NULL);
    user->operands = arena_array(f.arena, instruction *, 1);
    user->operand_count = 1;
    instruction_set_operand(user, 0, operand);
    user = operand;
  }
  instruction_list order;
  assert_true(status_is_ok(computation_post_order(f.arena, f.main, &order)));
  assert_int_equal(order.size, LENGTH);
  assert_ptr_equal(order.data[0], user);
  assert_ptr_equal(order.data[LENGTH - 1], f.main->root);
  arena_destroy(f.arena);
}

static void test_long_call_chains(void **state) {
  (void)state;
  enum { LENGTH = 100000 };
  fixture f = make();
  computation *caller = f.main;
  for (int i = 1; i < LENGTH; i++) {
    computation *callee = module_add_computation(f.module, STR("callee"));
    instruction *call = computation_add(caller, HLO_CALL, (str){0}, f.scalar, 0, NULL);
    computation_set_root(caller, call);
    instruction_set_called(call, 1, &callee);
    caller = callee;
  }
  computation **order;
  int count;
  assert_true(status_is_ok(module_call_order(f.arena, f.module, &order, &count)));
  assert_int_equal(count, LENGTH);
  assert_ptr_equal(order[0], caller);
  assert_ptr_equal(order[LENGTH - 1], f.main);
  instruction *back = computation_add(caller, HLO_CALL, (str){0}, f.scalar, 0, NULL);
  instruction_set_called(back, 1, &f.main);
  heddle_status status = module_call_order(f.arena, f.module, &order, &count);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(status), "'main' calls itself"));
  heddle_status_free(status);
  arena_destroy(f.arena);
}

static void test_clone_shares_nothing(void **state) {
  (void)state;
  fixture f = make();
  computation *callee = module_add_computation(f.module, STR("callee"));
  computation_set_root(callee, computation_add_parameter(callee, 0, STR("x"), f.scalar));
  instruction *c = computation_add(f.main, HLO_CONSTANT, STR("c"), f.scalar, 0, NULL);
  assert_true(status_is_ok(literal_create(f.arena, f.scalar, &c->literal)));
  literal_set_double(c->literal, 0, 2.5);
  instruction *call = computation_add(f.main, HLO_CALL, STR("call"), f.scalar, 1, &c);
  instruction_set_called(call, 1, &callee);
  vec_push(f.arena, &call->control_predecessors, c);
  computation_set_root(f.main, call);
  module_attribute attribute = {STR("alias"), STR("{}")};
  vec_push(f.arena, &f.module->attributes, attribute);
  arena *a = arena_create();
  module *m = module_clone(a, f.module);
  arena_destroy(f.arena);  // ASan reports whatever is still shared

  assert_int_equal(m->computations.size, 2);
  assert_true(str_is(m->attributes.data[0].name, "alias"));
  const instruction *root = m->entry->root;
  assert_true(str_is(root->name, "call"));
  assert_true(literal_get_double(root->operands[0]->literal, 0) == 2.5);
  assert_ptr_equal(root->operands[0]->users.data[0], root);
  assert_ptr_equal(root->called[0], module_find_computation(m, STR("callee")));
  assert_ptr_equal(root->called[0]->root, root->called[0]->parameters.data[0]);
  assert_ptr_equal(root->control_predecessors.data[0], root->operands[0]);
  assert_ptr_equal(root->shape, root->operands[0]->shape);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_users_follow_operands), cmocka_unit_test(test_replacing_by_a_user_makes_no_cycle),
      cmocka_unit_test(test_names_are_unique),      cmocka_unit_test(test_parameters_are_sorted),
      cmocka_unit_test(test_post_order_is_stable),  cmocka_unit_test(test_long_chains),
      cmocka_unit_test(test_long_call_chains),      cmocka_unit_test(test_clone_shares_nothing),
  };
  return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
