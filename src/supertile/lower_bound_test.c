// What is said to be needed whatever the tiling: by lines that are taken whole, sums that keep their order, and loops.
#include "supertile/lower_bound.h"

#include "eval/testing.h"

static char source[2048];

// The bound of an entry's operations; `loop` is a name in the entry that the plan runs turn by turn, or null.
static void expect(const char *text, bool exact, const char *loop, int64_t dram, int64_t l2) {
  arena *a = arena_create();
  module *m;
  snprintf(source, sizeof source,
           "HloModule m\nlt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), "
           "direction=LT }\n%s\n",
           text);
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  lhlo_op op = {.kind = LHLO_WHILE};
  lhlo_program plan = {.module = m};
  for (int k = 0; loop && k < m->entry->instructions.size; k++)
    if (str_is(m->entry->instructions.data[k]->name, loop)) op.source = m->entry->instructions.data[k];
  if (loop) vec_push(a, &plan.entry.ops, &op);
  lower_bound found[MEMORY_LEVELS];
  lower_bound_find(a, m, &plan, exact, found);
  assert_int_equal(found[MEMORY_DRAM].bytes, dram);
  assert_int_equal(found[MEMORY_L2].bytes, l2);
  assert_true((dram > 0) == (found[MEMORY_DRAM].reason.size > 0));
  arena_destroy(a);
}

static void test_lines(void **state) {
  (void)state;
  // One line of what is computed, and one of the result.
  expect(
      "ENTRY e { x = f32[8,100] parameter(0) t = f32[8,100] sine(x) "
      "ROOT r = f32[8,100] sort(t), dimensions={1}, to_apply=lt }",
      false, NULL, 800, 800);
  // A result may lie where a parameter did.
  expect("ENTRY e { x = f32[8,100] parameter(0) ROOT r = f32[8,100] sort(x), dimensions={1}, to_apply=lt }", false,
         NULL, 400, 400);
  expect(
      "ENTRY e { x = f32[8,100] parameter(0) t = f32[8,100] sine(x) "
      "ROOT r = f32[8,100] sort(t), dimensions={0}, to_apply=lt }",
      false, NULL, 64, 64);
  // Nothing is as small as an element.
  expect("ENTRY e { x = f32[800] parameter(0) ROOT t = f32[800] sine(x) }", true, NULL, 0, 0);
}

static const char product[] =
    "ENTRY e { x = f32[8,100] parameter(0) w = f32[100,16] parameter(1) t = f32[8,100] "
    "sine(x) ROOT d = f32[8,16] dot(t, w), lhs_contracting_dims={1}, "
    "rhs_contracting_dims={0} }";

static void test_sums(void **state) {
  (void)state;
  expect(product, true, NULL, 800, 800);  // a row and a column
  expect(product, false, NULL, 0, 0);     // sums may be cut
  // A sum of numbers that round after every turn is not cut. Of one operand twice, a line may be the same.
  expect(
      "ENTRY e { x = bf16[8,100] parameter(0) ROOT d = bf16[8,8] dot(x, x), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={1} }",
      false, NULL, 200, 200);
  // A broadcast has one element of what it reads, wherever it is computed.
  expect(
      "ENTRY e { x = f32[8] parameter(0) w = f32[100,16] parameter(1) b = f32[8,100] broadcast(x), dimensions={0} "
      "ROOT d = f32[8,16] dot(b, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      true, NULL, 404, 404);
  // What is computed for a product is a line of what that reads, or it is computed with it out of what that takes.
  expect(
      "ENTRY e { x = f32[8,30] parameter(0) v = f32[30,100] parameter(1) w = f32[100,16] parameter(2) "
      "a = f32[8,100] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
      "ROOT d = f32[8,16] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      true, NULL, 120 + 400, 120 + 400);
}

#define LOOP                                                                                                       \
  "cond { s = (s32[], f32[50], f32[20], f32[30]) parameter(0) i = s32[] get-tuple-element(s), index=0 "            \
  "n = s32[] constant(7) ROOT c = pred[] compare(i, n), direction=LT }\n"                                          \
  "body { s = (s32[], f32[50], f32[20], f32[30]) parameter(0) i = s32[] get-tuple-element(s), index=0 "            \
  "x = f32[50] get-tuple-element(s), index=1 w = f32[20] get-tuple-element(s), index=2 "                           \
  "y = f32[30] get-tuple-element(s), index=3 one = s32[] constant(1) j = s32[] add(i, one) "                       \
  "z = f32[50] sine(x) v = f32[30] cosine(y) ROOT r = (s32[], f32[50], f32[20], f32[30]) tuple(j, z, w, v) }\n"    \
  "ENTRY e { x = f32[50] parameter(0) w = f32[20] parameter(1) y = f32[30] parameter(2) zero = s32[] constant(0) " \
  "t = (s32[], f32[50], f32[20], f32[30]) tuple(zero, x, w, y) "                                                   \
  "l = (s32[], f32[50], f32[20], f32[30]) while(t), condition=cond, body=body "                                    \
  "a = f32[50] get-tuple-element(l), index=1 b = f32[30] get-tuple-element(l), index=3 "                           \
  "m = f32[50] negate(a) ROOT r = (f32[50], f32[30]) tuple(m, b) }"

static void test_loops(void **state) {
  (void)state;
  // The turn's number and x: w stays as it is, and y may lie in the memory of a result.
  expect(LOOP, false, "l", 4 + 200, 0);
  expect(LOOP, false, NULL, 0, 0);  // one kernel
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_sums),
                                     cmocka_unit_test(test_loops)};
  return cmocka_run_group_tests_name("supertile/lower_bound", tests, NULL, NULL);
}
