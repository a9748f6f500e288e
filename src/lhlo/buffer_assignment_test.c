// What shares memory and what does not; orders; donated memory.
#include "lhlo/buffer_assignment.h"

#include "lhlo/schedule.h"
#include "lhlo/testing.h"

static int count_copies(const lhlo_body *b) {
  int count = 0;
  for (int k = 0; k < b->ops.size; k++) {
    const lhlo_op *op = b->ops.data[k];
    count += op->kind == LHLO_COPY;
    for (int j = 0; j < op->body_count; j++) count += count_copies(&op->bodies[j]);
  }
  return count;
}

#define HEAD "HloModule m\n" FUSED
#define FUSED                                                                                 \
  "neg { x = f32[256] parameter(0) ROOT r = f32[256] negate(x) }\n"                           \
  "rev { x = f32[256] parameter(0) ROOT r = f32[256] reverse(x), dimensions={0} }\n"          \
  "add { x = f32[256] parameter(0) y = f32[256] parameter(1) ROOT r = f32[256] add(x, y) }\n" \
  "two { x = f32[256] parameter(0) y = f32[256] parameter(1) s = f32[256] add(x, y)\n"        \
  "  d = f32[256] subtract(x, y) ROOT r = (f32[256], f32[256]) tuple(s, d) }\n"               \
  "put { x = f32[256] parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2)\n"          \
  "  ROOT r = f32[256] dynamic-update-slice(x, u, i) }\n"

static void test_elementwise_chains_live_in_the_result(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, HEAD
                      "ENTRY e { x = f32[256] parameter(0) a = f32[256] fusion(x), kind=kLoop, calls=neg\n"
                      "  b = f32[256] fusion(a), kind=kLoop, calls=neg\n"
                      "  ROOT c = f32[256] fusion(b), kind=kLoop, calls=neg }");
  assert_int_equal(p->temporary_bytes, 0);
  for (int k = 0; k < 3; k++)
    assert_string_equal(p->allocations[p->entry.ops.data[k]->results[0].allocation].name, "r0");
  assert_int_equal(p->kernel_count, 2);  // from the parameter, and in place
  arena_destroy(a);
}

static void test_kernels_that_move_elements_get_other_memory(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, HEAD
                      "ENTRY e { x = f32[256] parameter(0) a = f32[256] fusion(x), kind=kLoop, calls=rev\n"
                      "  b = f32[256] fusion(a), kind=kLoop, calls=rev c = f32[256] fusion(b), kind=kLoop, calls=rev\n"
                      "  ROOT d = f32[256] fusion(c), kind=kLoop, calls=rev }");
  // Two places in turn: the result's and one more.
  assert_int_equal(p->temporary_bytes, 1024);
  assert_int_equal(p->least_temporary_bytes, 1024);
  assert_int_equal(count_copies(&p->entry), 0);
  arena_destroy(a);
}

static void test_two_results_take_over_two_operands(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, HEAD
                      "ENTRY e { x = f32[256] parameter(0) a = f32[256] fusion(x), kind=kLoop, calls=rev\n"
                      "  b = f32[256] fusion(a), kind=kLoop, calls=rev\n"
                      "  ROOT t = (f32[256], f32[256]) fusion(a, b), kind=kLoop, calls=two }");
  assert_int_equal(p->temporary_bytes, 0);
  arena_destroy(a);
}

static void test_readers_run_before_updates_in_place(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, HEAD
                      "ENTRY e { x = f32[256] parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2)\n"
                      "  a = f32[256] fusion(x), kind=kLoop, calls=rev\n"
                      "  b = f32[256] fusion(a, u, i), kind=kLoop, calls=put\n"
                      "  c = f32[256] fusion(a), kind=kLoop, calls=rev\n"
                      "  ROOT t = (f32[256], f32[256]) tuple(b, c) }");
  assert_int_equal(count_copies(&p->entry), 0);
  arena_destroy(a);
}

static void test_donated_memory_is_updated_in_place(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, "HloModule m, buffer_donor={ (0, {}) }\n" FUSED
                         "ENTRY e { x = f32[256] parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2)\n"
                         "  ROOT b = f32[256] fusion(x, u, i), kind=kLoop, calls=put }");
  assert_int_equal(count_copies(&p->entry), 0);
  assert_int_equal(p->allocations[3].donated_parameter, 0);
  assert_int_equal(p->peak_bytes, 1024 + 8 + 4);
  arena_destroy(a);
}

static void test_donated_parameters_may_change_places(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n" FUSED
                         "ENTRY e { x = f32[256] parameter(0) y = f32[256] parameter(1)\n"
                         "  ROOT t = (f32[256], f32[256]) tuple(y, x) }");
  assert_int_equal(count_copies(&p->entry), 4);  // both go aside first
  arena_destroy(a);
}

static void test_donations_that_cannot_be_are_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "input_output_alias={ {}: (7, {}, must-alias) }",
      "input_output_alias={ {}: (1, {}, must-alias) }",
      "input_output_alias={ {}: 0 }",
      "buffer_donor={ (0, 1) }",
      "input_output_alias={ {}: (99999999999, {}) }",
      "input_output_alias={ {}: (0, {}, never-alias) }",
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    arena *a = arena_create();
    lhlo_program *p;
    const target_description target = target_cpu(2);
    const char *source =
        arena_printf(a, "HloModule m, %s\nENTRY e { ROOT x = f32[2] parameter(0) y = f32[3] parameter(1) }", wrong[k]);
    heddle_status s = lhlo_build(a, testing_parse(a, source), &target, &p);
    assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
    heddle_status_free(s);
    arena_destroy(a);
  }
}

static void test_schedules_keep_edges_and_save_memory(void **state) {
  (void)state;
  arena *a = arena_create();
  // As the text has it, all of a … d live at once.
  module *m = testing_parse(a,
                            "HloModule m\n"
                            "ENTRY e { x = f32[] parameter(0)\n"
                            "  a = f32[1024] broadcast(x), dimensions={} b = f32[1024] broadcast(x), dimensions={}\n"
                            "  c = f32[1024] broadcast(x), dimensions={}\n"
                            "  late = f32[4] iota(), iota_dimension=0, control-predecessors={sc}\n"
                            "  sa = f32[2] slice(a), slice={[0:2]} sb = f32[2] slice(b), slice={[0:2]}\n"
                            "  sc = f32[2] slice(c), slice={[0:2]} s = f32[2] add(sa, sb) t = f32[2] add(s, sc)\n"
                            "  ROOT r = (f32[2], f32[4]) tuple(t, late) }");
  ptr_map orders = {0};
  heddle_status s = schedule_module(a, m, &orders);
  assert_true(status_is_ok(s));
  const instruction_list *order = ptr_map_get(&orders, m->entry);
  int live = 0;
  assert_int_equal(order->size, m->entry->instructions.size);
  for (int k = 0; k < order->size; k++) {
    const instruction *i = order->data[k];
    for (int j = 0; j < i->operand_count; j++) assert_true(i->operands[j]->mark < i->mark);
    for (int j = 0; j < i->control_predecessors.size; j++) assert_true(i->control_predecessors.data[j]->mark < i->mark);
    live += i->opcode == HLO_BROADCAST;
    live -= i->opcode == HLO_SLICE;
    assert_true(live <= 1);
  }
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elementwise_chains_live_in_the_result),
      cmocka_unit_test(test_kernels_that_move_elements_get_other_memory),
      cmocka_unit_test(test_two_results_take_over_two_operands),
      cmocka_unit_test(test_readers_run_before_updates_in_place),
      cmocka_unit_test(test_donated_memory_is_updated_in_place),
      cmocka_unit_test(test_donated_parameters_may_change_places),
      cmocka_unit_test(test_donations_that_cannot_be_are_refused),
      cmocka_unit_test(test_schedules_keep_edges_and_save_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
