// Programs on memory: which operations and copies there are, and what lies at one place.
#include "lhlo/lhlo.h"

#include "lhlo/testing.h"

static void check_slice(const lhlo_program *p, const lhlo_slice *s, const char *allocation) {
  assert_string_equal(p->allocations[s->allocation].name, allocation);
}

static bool same_place(const lhlo_slice *l, const lhlo_slice *r) {
  return l->allocation == r->allocation && l->offset == r->offset;
}

static int count_kind(const lhlo_body *b, lhlo_kind kind) {
  int count = 0;
  for (int k = 0; k < b->ops.size; k++) count += b->ops.data[k]->kind == kind;
  return count;
}

#define ADD_ONE                                                                               \
  "f { x = f32[8] parameter(0) o = f32[] constant(1) b = f32[8] broadcast(o), dimensions={} " \
  "ROOT r = f32[8] add(x, b) }\n"
#define ADD_TWO                                                                               \
  "g { x = f32[8] parameter(0) o = f32[] constant(1) b = f32[8] broadcast(o), dimensions={} " \
  "ROOT r = f32[8] add(x, b) }\n"

static void test_equal_bodies_share_a_kernel(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, "HloModule m\n" ADD_ONE ADD_TWO
                         "ENTRY e { x = f32[8] parameter(0) y = f32[8] fusion(x), kind=kLoop, calls=f\n"
                         "  z = f32[8] fusion(x), kind=kLoop, calls=g ROOT t = (f32[8], f32[8]) tuple(y, z) }");
  assert_int_equal(p->kernel_count, 1);
  assert_int_equal(count_kind(&p->entry, LHLO_FUSION), 2);
  assert_ptr_equal(p->entry.ops.data[0]->kernel, p->entry.ops.data[1]->kernel);
  check_slice(p, &p->entry.ops.data[0]->operands[0], "p0");
  arena_destroy(a);
}

static void test_parameters_and_constants_are_copied_to_results(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a,
                      "HloModule m\n"
                      "ENTRY e { x = f32[8] parameter(0) c = s32[2] constant({1, 2}) d = s32[2] constant({1, 2})\n"
                      "  ROOT t = (f32[8], s32[2], (s32[2], f32[8])) tuple(x, c, u)\n"
                      "  u = (s32[2], f32[8]) tuple(d, x) }");
  assert_int_equal(p->result_count, 4);
  assert_int_equal(p->allocation_count, 6);  // one parameter, four results, one constant
  assert_int_equal(count_kind(&p->entry, LHLO_COPY), 4);
  check_slice(p, &p->entry.ops.data[2]->operands[0], "c0");
  check_slice(p, &p->entry.ops.data[2]->results[0], "r2");
  arena_destroy(a);
}

#define LESS                                                                                            \
  "c { q = (s32[], f32[8], f32[8]) parameter(0) n = s32[] get-tuple-element(q), index=0\n"              \
  "  ROOT r = pred[] fusion(n), kind=kLoop, calls=less }\n"                                             \
  "less { n = s32[] parameter(0) l = s32[] constant(5) ROOT r = pred[] compare(n, l), direction=LT }\n" \
  "next { n = s32[] parameter(0) o = s32[] constant(1) ROOT r = s32[] add(n, o) }\n"

static void test_loops_carry_in_one_place(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, "HloModule m\n" LESS ADD_ONE
                         "b { q = (s32[], f32[8], f32[8]) parameter(0) n = s32[] get-tuple-element(q), index=0\n"
                         "  x = f32[8] get-tuple-element(q), index=1 y = f32[8] get-tuple-element(q), index=2\n"
                         "  m = s32[] fusion(n), kind=kLoop, calls=next z = f32[8] fusion(x), kind=kLoop, calls=f\n"
                         "  ROOT t = (s32[], f32[8], f32[8]) tuple(m, z, y) }\n"
                         "ENTRY e { x = f32[8] parameter(0) y = f32[8] parameter(1) z = s32[] constant(0)\n"
                         "  t = (s32[], f32[8], f32[8]) tuple(z, x, y)\n"
                         "  w = (s32[], f32[8], f32[8]) while(t), condition=c, body=b\n"
                         "  ROOT r = f32[8] get-tuple-element(w), index=1 }");
  assert_int_equal(count_kind(&p->entry, LHLO_WHILE), 1);
  const lhlo_op *loop = p->entry.ops.data[2];
  assert_int_equal(loop->kind, LHLO_WHILE);
  assert_int_equal(loop->operand_count, 3);
  for (int k = 0; k < 3; k++) assert_true(same_place(&loop->operands[k], &loop->results[k]));
  check_slice(p, &loop->operands[2], "p1");  // never changed: read where it is
  const lhlo_op *less = loop->bodies[0].ops.data[0];
  assert_true(same_place(&less->operands[0], &loop->operands[0]));
  assert_true(same_place(&less->results[0], &loop->control));
  arena_destroy(a);
}

static void test_branches_write_to_one_place(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p = testing_program(a, "HloModule m\n" ADD_ONE
                                       "s { x = f32[8] parameter(0) ROOT r = f32[8] fusion(x), kind=kLoop, calls=f }\n"
                                       "t { ROOT x = f32[8] parameter(0) }\n"
                                       "ENTRY e { p = pred[] parameter(0) x = f32[8] parameter(1)\n"
                                       "  c = f32[8] conditional(p, x, x), true_computation=s, false_computation=t\n"
                                       "  ROOT r = f32[8] fusion(c), kind=kLoop, calls=f }");
  const lhlo_op *choice = p->entry.ops.data[0];
  assert_int_equal(choice->kind, LHLO_CONDITIONAL);
  check_slice(p, &choice->control, "p0");
  for (int k = 0; k < 2; k++) {
    const lhlo_op *last = vec_last(&choice->bodies[k].ops);
    assert_true(same_place(&last->results[0], &choice->results[0]));
  }
  arena_destroy(a);
}

#define UPDATE                                                                   \
  "u { x = f32[8] parameter(0) v = f32[2] parameter(1) i = s32[] parameter(2)\n" \
  "  ROOT r = f32[8] dynamic-update-slice(x, v, i) }\n"

static void test_updates_take_over_memory(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      testing_program(a, "HloModule m\n" UPDATE
                         "ENTRY e { x = f32[8] parameter(0) v = f32[2] parameter(1) i = s32[] parameter(2)\n"
                         "  ROOT r = f32[8] fusion(x, v, i), kind=kLoop, calls=u }");
  const lhlo_op *copy = p->entry.ops.data[0], *update = p->entry.ops.data[1];
  assert_int_equal(copy->kind, LHLO_COPY);
  assert_int_equal(update->kind, LHLO_FUSION);
  assert_true(same_place(&copy->results[0], &update->operands[0]));
  assert_true(same_place(&update->results[0], &update->operands[0]));
  assert_true(update->kernel->slices[0].is_written);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_bodies_share_a_kernel),
      cmocka_unit_test(test_parameters_and_constants_are_copied_to_results),
      cmocka_unit_test(test_loops_carry_in_one_place),
      cmocka_unit_test(test_branches_write_to_one_place),
      cmocka_unit_test(test_updates_take_over_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
