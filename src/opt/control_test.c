// Loops and conditionals give the same results when they have been simplified.
#include "opt/testing.h"

static const char passes[] =
    "call-inliner,tuple-flattening,tuple-simplifier,while-loop-simplifier,conditional-simplifier,"
    "while-loop-invariant-code-motion,dead-code";

// Leaves that are swapped, that depend on each other, and that only look as if they never changed.
static void test_leaves(void **state) {
  (void)state;
  testing_expect_same(
      "HloModule m\n"
      "b { t = (s32[], f32[4], f32[4], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0\n"
      "  x = f32[4] get-tuple-element(t), index=1 y = f32[4] get-tuple-element(t), index=2\n"
      "  u = f32[4] get-tuple-element(t), index=3 v = f32[4] get-tuple-element(t), index=4\n"
      "  c = s32[] constant(1) j = s32[] add(i, c) s = f32[4] add(x, u)\n"
      "  ROOT r = (s32[], f32[4], f32[4], f32[4], f32[4]) tuple(j, y, s, v, u) }\n"
      "c { t = (s32[], f32[4], f32[4], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0\n"
      "  n = s32[] constant(77) ROOT r = pred[] compare(i, n), direction=LT }\n"
      "ENTRY e { x = f32[4] parameter(0) y = f32[4] parameter(1) z = s32[] constant(0)\n"
      "  o = f32[] constant(1) k = f32[4] broadcast(o), dimensions={}\n"
      "  s = (s32[], f32[4], f32[4], f32[4], f32[4]) tuple(z, x, y, k, x)\n"
      "  w = (s32[], f32[4], f32[4], f32[4], f32[4]) while(s), condition=c, body=b\n"
      "  ROOT q = f32[4] get-tuple-element(w), index=1 }",
      passes, HLO_OPCODE_COUNT);
}

// A loop in a loop; both call the same body.
static void test_nested(void **state) {
  (void)state;
  testing_expect_same(
      "HloModule m\n"
      "inner { t = (s32[], f32[3], f32[3]) parameter(0) i = s32[] get-tuple-element(t), index=0\n"
      "  x = f32[3] get-tuple-element(t), index=1 w = f32[3] get-tuple-element(t), index=2\n"
      "  c = s32[] constant(1) j = s32[] add(i, c) e = f32[3] cosine(w) y = f32[3] multiply(x, e)\n"
      "  ROOT r = (s32[], f32[3], f32[3]) tuple(j, y, w) }\n"
      "few { t = (s32[], f32[3], f32[3]) parameter(0) i = s32[] get-tuple-element(t), index=0\n"
      "  n = s32[] constant(50) ROOT r = pred[] compare(i, n), direction=LT }\n"
      "outer { t = (s32[], f32[3], f32[3]) parameter(0) i = s32[] get-tuple-element(t), index=0\n"
      "  x = f32[3] get-tuple-element(t), index=1 w = f32[3] get-tuple-element(t), index=2\n"
      "  z = s32[] constant(0) s = (s32[], f32[3], f32[3]) tuple(z, x, w)\n"
      "  l = (s32[], f32[3], f32[3]) while(s), condition=few, body=inner\n"
      "  y = f32[3] get-tuple-element(l), index=1 v = f32[3] get-tuple-element(l), index=2\n"
      "  c = s32[] constant(1) j = s32[] add(i, c) ROOT r = (s32[], f32[3], f32[3]) tuple(j, y, v) }\n"
      "ENTRY e { x = f32[3] parameter(0) w = f32[3] parameter(1) z = s32[] constant(0)\n"
      "  s = (s32[], f32[3], f32[3]) tuple(z, x, w)\n"
      "  a = (s32[], f32[3], f32[3]) while(s), condition=few, body=outer\n"
      "  b = (s32[], f32[3], f32[3]) while(s), condition=few, body=inner\n"
      "  p = f32[3] get-tuple-element(a), index=1 q = f32[3] get-tuple-element(b), index=1\n"
      "  ROOT r = f32[3] add(p, q) }",
      passes, HLO_OPCODE_COUNT);
}

static void test_short_loops_go(void **state) {
  (void)state;
  static const int bounds[] = {0, 1, 3};
  for (int k = 0; k < 3; k++) {
    char source[1024];
    snprintf(source, sizeof source,
             "HloModule m\nb { t = (s32[], f32[3], f32[3]) parameter(0) i = s32[] get-tuple-element(t), index=0\n"
             "  x = f32[3] get-tuple-element(t), index=1 y = f32[3] get-tuple-element(t), index=2\n"
             "  c = s32[] constant(1) j = s32[] add(i, c) s = f32[3] subtract(x, y)\n"
             "  ROOT r = (s32[], f32[3], f32[3]) tuple(j, y, s) }\n"
             "c { t = (s32[], f32[3], f32[3]) parameter(0) i = s32[] get-tuple-element(t), index=0\n"
             "  n = s32[] constant(%d) ROOT r = pred[] compare(i, n), direction=LT }\n"
             "ENTRY e { x = f32[3] parameter(0) y = f32[3] parameter(1) z = s32[] constant(0)\n"
             "  s = (s32[], f32[3], f32[3]) tuple(z, x, y)\n"
             "  ROOT w = (s32[], f32[3], f32[3]) while(s), condition=c, body=b }",
             bounds[k]);
    testing_expect_same(source, passes, HLO_WHILE);
  }
}

#define BRANCHES                                                                                          \
  "f { t = (f32[3], f32[3]) parameter(0) x = f32[3] get-tuple-element(t), index=0\n"                      \
  "  y = f32[3] get-tuple-element(t), index=1 ROOT r = (f32[3], f32[3]) tuple(y, x) }\n"                  \
  "g { t = (f32[3], f32[3]) parameter(0) x = f32[3] get-tuple-element(t), index=0 n = f32[3] negate(x)\n" \
  "  ROOT r = (f32[3], f32[3]) tuple(x, n) }\n"                                                           \
  "h { ROOT t = (f32[3], f32[3]) parameter(0) }\n"

static void test_selects(void **state) {
  (void)state;
  for (int k = -1; k < 4; k++) {
    char source[1024];
    snprintf(source, sizeof source,
             "HloModule m\n" BRANCHES
             "ENTRY e { x = f32[3] parameter(0) y = f32[3] parameter(1) p = s32[] parameter(2) z = s32[] constant(0)\n"
             "  q = s32[] multiply(p, z) c = s32[] constant(%d) i = s32[] add(q, c)\n"
             "  t = (f32[3], f32[3]) tuple(x, y)\n"
             "  ROOT r = (f32[3], f32[3]) conditional(i, t, t, t), branch_computations={f, g, h} }",
             k);
    testing_expect_same(source, passes, HLO_CONDITIONAL);
  }
}

static void test_branches_lose_what_nobody_uses(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char source[1024];
    snprintf(source, sizeof source,
             "HloModule m\n" BRANCHES
             "l { t = (f32[3], f32[3]) parameter(0) x = f32[3] get-tuple-element(t), index=1 y = f32[3] sine(x)\n"
             "  ROOT r = (f32[3], f32[3]) tuple(y, x) }\n"
             "ENTRY e { x = f32[3] parameter(0) y = f32[3] parameter(1) p = s32[] parameter(2) z = s32[] constant(0)\n"
             "  q = s32[] multiply(p, z) c = s32[] constant(%d) i = s32[] add(q, c)\n"
             "  t = (f32[3], f32[3]) tuple(x, y)\n"
             "  r = (f32[3], f32[3]) conditional(i, t, t), branch_computations={l, h}\n"
             "  ROOT w = f32[3] get-tuple-element(r), index=0 }",
             k);
    testing_expect_same(source, passes, HLO_OPCODE_COUNT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_leaves),
      cmocka_unit_test(test_nested),
      cmocka_unit_test(test_short_loops_go),
      cmocka_unit_test(test_selects),
      cmocka_unit_test(test_branches_lose_what_nobody_uses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
