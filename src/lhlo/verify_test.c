// The verifier sees memory that is clobbered, whoever made it so.
#include "lhlo/verify.h"

#include "lhlo/testing.h"

#define HEAD                                                                                            \
  "HloModule m\n"                                                                                       \
  "f { x = f32[8] parameter(0) y = f32[8] parameter(1) ROOT r = f32[8] add(x, y) }\n"                   \
  "next { n = s32[] parameter(0) o = s32[] constant(1) ROOT r = s32[] add(n, o) }\n"                    \
  "less { n = s32[] parameter(0) l = s32[] constant(5) ROOT r = pred[] compare(n, l), direction=LT }\n" \
  "t { x = f32[8] parameter(0) ROOT r = f32[8] reverse(x), dimensions={0} }\n"
#define COND                                                                               \
  "c { q = (s32[], f32[8], f32[8]) parameter(0) n = s32[] get-tuple-element(q), index=0\n" \
  "  ROOT r = pred[] fusion(n), kind=kLoop, calls=less }\n"
#define BODY(x, y)                                                                               \
  "b { q = (s32[], f32[8], f32[8]) parameter(0) n = s32[] get-tuple-element(q), index=0\n"       \
  "  x = f32[8] get-tuple-element(q), index=1 y = f32[8] get-tuple-element(q), index=2\n"        \
  "  m = s32[] fusion(n), kind=kLoop, calls=next z = f32[8] fusion(x, y), kind=kLoop, calls=f\n" \
  "  w = f32[8] fusion(x), kind=kLoop, calls=t\n"                                                \
  "  ROOT t = (s32[], f32[8], f32[8]) tuple(m, " x ", " y ") }\n"
#define LOOP                                                                          \
  "ENTRY e { x = f32[8] parameter(0) y = f32[8] parameter(1) z = s32[] constant(0)\n" \
  "  t = (s32[], f32[8], f32[8]) tuple(z, x, y)\n"                                    \
  "  ROOT w = (s32[], f32[8], f32[8]) while(t), condition=c, body=b }\n"

static lhlo_program *build(arena *a, const char *source) {
  lhlo_program *p = testing_program(a, source);
  testing_require(lhlo_verify(p), source);
  return p;
}

static void refuse(const lhlo_program *p, const char *word) {
  heddle_status s = lhlo_verify(p);
  assert_int_equal(heddle_status_code(s), HEDDLE_INTERNAL);
  if (!strstr(heddle_status_message(s), word)) fail_msg("'%s' has no '%s'", heddle_status_message(s), word);
  heddle_status_free(s);
}

static lhlo_op *find(const lhlo_body *b, lhlo_kind kind) {
  for (int k = 0; k < b->ops.size; k++)
    if (b->ops.data[k]->kind == kind) return b->ops.data[k];
  fail_msg("there is no such operation");
  return NULL;
}

static void test_loops_of_all_forms_are_right(void **state) {
  (void)state;
  static const char *const sources[] = {
      HEAD COND BODY("z", "y") LOOP, HEAD COND BODY("y", "x") LOOP, HEAD COND BODY("x", "x") LOOP,
      HEAD COND BODY("w", "x") LOOP, HEAD COND BODY("z", "w") LOOP, HEAD COND BODY("z", "z") LOOP,
      HEAD COND BODY("y", "z") LOOP,
  };
  arena *a = arena_create();
  for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) build(a, sources[k]);
  arena_destroy(a);
}

static void test_a_lost_copy_is_seen(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p = build(a, HEAD COND BODY("y", "x") LOOP);
  const lhlo_op *loop = find(&p->entry, LHLO_WHILE);
  ((lhlo_body *)&loop->bodies[1])->ops.size--;
  refuse(p, "does not hold");
  arena_destroy(a);
}

static void test_copies_in_the_wrong_order_are_seen(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p = build(a, HEAD COND BODY("y", "x") LOOP);
  lhlo_body *body = &find(&p->entry, LHLO_WHILE)->bodies[1];
  int last = body->ops.size - 1;
  lhlo_op *op = body->ops.data[last];
  body->ops.data[last] = body->ops.data[last - 1];
  body->ops.data[last - 1] = op;
  refuse(p, "memory");
  arena_destroy(a);
}

static void test_values_that_share_memory_too_early_are_seen(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      build(a, HEAD
            "ENTRY e { x = f32[8] parameter(0) u = f32[8] fusion(x), kind=kLoop, calls=t\n"
            "  v = f32[8] fusion(u), kind=kLoop, calls=t ROOT r = f32[8] fusion(u, v), kind=kLoop, calls=f }");
  lhlo_op *second = p->entry.ops.data[1];
  second->results[0].allocation = second->operands[0].allocation;
  second->results[0].offset = second->operands[0].offset;
  refuse(p, "overlaps");
  arena_destroy(a);
}

static void test_writes_to_parameters_are_seen(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p = build(a, HEAD
                          "ENTRY e { x = f32[8] parameter(0) y = f32[8] parameter(1)\n"
                          "  ROOT r = f32[8] fusion(x), kind=kLoop, calls=t }");
  p->entry.ops.data[0]->results[0].allocation = 1;
  refuse(p, "only read");
  arena_destroy(a);
}

static void test_branches_yield_at_one_place(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p = build(a, HEAD
                          "g { x = f32[8] parameter(0) ROOT r = f32[8] fusion(x), kind=kLoop, calls=t }\n"
                          "h { ROOT x = f32[8] parameter(0) }\n"
                          "ENTRY e { p = pred[] parameter(0) x = f32[8] parameter(1)\n"
                          "  c = f32[8] conditional(p, x, x), true_computation=g, false_computation=h\n"
                          "  ROOT r = f32[8] fusion(c, x), kind=kLoop, calls=f }");
  find(&p->entry, LHLO_CONDITIONAL)->bodies[1].ops.size = 0;
  refuse(p, "result");
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loops_of_all_forms_are_right),
      cmocka_unit_test(test_a_lost_copy_is_seen),
      cmocka_unit_test(test_copies_in_the_wrong_order_are_seen),
      cmocka_unit_test(test_values_that_share_memory_too_early_are_seen),
      cmocka_unit_test(test_writes_to_parameters_are_seen),
      cmocka_unit_test(test_branches_yield_at_one_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
