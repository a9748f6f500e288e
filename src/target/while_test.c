// Loops whose turns are one kernel, against the interpreter: bit by bit, since each turn rounds as the program says.
#include "base/arena_testing.h"
#include "target/hero_testing.h"

// A loop over the state (counter, x: TYPE[DIMS], k: TYPE[DIMS], rows: TYPE[TURNS,DIMS], made: TYPE[TURNS,DIMS]) whose
// body makes `x.next` and `row` of x, k, the counter i and what it takes of rows. The results are x and what was made.
typedef struct turns {
  const char *type, *dims, *body;
  int turns;
  bool goes_down;  // the rows that are made go from the last to the first
} turns;

static const char *joined(arena *a, const char *first, const char *dims) {
  return dims[0] ? arena_printf(a, "%s,%s", first, dims) : first;
}

static const char *zeros(arena *a, const char *dims) {
  text t = {0};
  for (const char *c = dims; *c; c++)
    if (c == dims || *c == ',') text_puts(&t, ", z");
  const char *all = arena_printf(a, "%s", text_cstr(&t));
  text_free(&t);
  return all;
}

static const char *source_of(arena *a, const turns *l) {
  const char *array = arena_printf(a, "%s[%s]", l->type, l->dims), *t = l->type;
  const char *row = arena_printf(a, "%s[%s]", t, joined(a, "1", l->dims));
  const char *rows = arena_printf(a, "%s[%s]", t, joined(a, arena_printf(a, "%d", l->turns), l->dims));
  const char *state = arena_printf(a, "(s32[], %s, %s, %s, %s)", array, array, rows, rows);
  return arena_printf(
      a,
      "HloModule m\n"
      "more { s = %s parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(%d)\n"
      "  ROOT p = pred[] compare(i, n), direction=LT }\n"
      "body { s = %s parameter(0) i = s32[] get-tuple-element(s), index=0 x = %s get-tuple-element(s), index=1\n"
      "  k = %s get-tuple-element(s), index=2 rows = %s get-tuple-element(s), index=3\n"
      "  made = %s get-tuple-element(s), index=4 one = s32[] constant(1) z = s32[] constant(0)\n"
      "  last = s32[] constant(%d) down = s32[] subtract(last, i) next = s32[] add(i, one)\n"
      "  taken = %s dynamic-slice(rows, i%s), dynamic_slice_sizes={%s} r = %s reshape(taken)\n%s"
      "  flat = %s reshape(row) new = %s dynamic-update-slice(made, flat, %s%s)\n"
      "  ROOT t = %s tuple(next, x.next, k, rows, new) }\n"
      "ENTRY e { x = %s parameter(0) k = %s parameter(1) rows = %s parameter(2) z = s32[] constant(0)\n"
      "  nothing = %s[] constant(0) made = %s broadcast(nothing), dimensions={} t = %s tuple(z, x, k, rows, made)\n"
      "  w = %s while(t), condition=more, body=body y = %s get-tuple-element(w), index=1\n"
      "  all = %s get-tuple-element(w), index=4 ROOT both = (%s, %s) tuple(y, all) }\n",
      state, l->turns, state, array, array, rows, rows, l->turns - 1, row, zeros(a, l->dims), joined(a, "1", l->dims),
      array, l->body, row, rows, l->goes_down ? "down" : "i", zeros(a, l->dims), state, array, array, rows, t, rows,
      state, state, array, rows, array, rows);
}

static void check(const turns *l) {
  arena *a = arena_create();
  hero_testing_run(source_of(a, l), HERO_WHILE, 0, NULL, NULL);
  arena_destroy(a);
}

static const char *linear(arena *a, const char *type, const char *dims) {
  return arena_printf(a,
                      "  m = %s[%s] multiply(x, k) x.next = %s[%s] add(m, r)\n"
                      "  row = %s[%s] subtract(x.next, x)\n",
                      type, dims, type, dims, type, dims);
}

static void test_types(void **state) {
  static const char *const types[] = {"f32", "f64", "bf16", "f16", "s32", "u8", "s64", "c64", "c128", "f8e5m2", "s4"};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    check(&(turns){.type = types[k], .dims = "70", .turns = 9, .body = linear(*state, types[k], "70")});
    check(&(turns){.type = types[k], .dims = "", .turns = 9, .body = linear(*state, types[k], "")});
  }
}

static void test_dims(void **state) {
  static const char *const dims[] = {"1", "7,11", "3,1,40", "257", "2,3,4,5"};
  for (size_t k = 0; k < sizeof dims / sizeof *dims; k++)
    for (int down = 0; down < 2; down++)
      check(&(turns){
          .type = "f32", .dims = dims[k], .turns = 5, .goes_down = down, .body = linear(*state, "f32", dims[k])});
}

static void test_bodies(void **state) {
  (void)state;
  check(&(turns){.type = "f32",
                 .dims = "40",
                 .turns = 30,
                 .body = "  f = f32[] convert(i) b = f32[40] broadcast(f), dimensions={} c = f32[40] add(x, b)\n"
                         "  h = f32[] constant(0.01) hb = f32[40] broadcast(h), dimensions={}\n"
                         "  d = f32[40] multiply(c, hb) x.next = f32[40] multiply(d, k)\n"
                         "  q = f32[40] iota(), iota_dimension=0 row = f32[40] add(x, q)\n"});
  // Values that are not numbers, infinities, and a choice by them.
  check(&(turns){.type = "f32",
                 .dims = "33",
                 .turns = 12,
                 .body = "  q = f32[33] divide(k, r) s1 = f32[33] sqrt(x) d = f32[33] subtract(q, s1)\n"
                         "  p1 = pred[33] compare(d, x), direction=LT x.next = f32[33] select(p1, q, d)\n"
                         "  row = f32[33] maximum(q, x)\n"});
  // A row of the array that is kept, read from another place than that of the element.
  check(&(turns){.type = "s32",
                 .dims = "6,8",
                 .turns = 4,
                 .body = "  v = s32[6,8] reverse(k), dimensions={0,1} x.next = s32[6,8] add(x, v)\n"
                         "  row = s32[6,8] subtract(r, v)\n"});
}

// The second value takes what the first one was.
static void test_values_change_places(void **state) {
  (void)state;
  hero_testing_run(
      "HloModule m\n"
      "more { s = (u8[], f32[50], f32[50], f32[]) parameter(0) i = u8[] get-tuple-element(s), index=0\n"
      "  n = u8[] constant(3) ROOT p = pred[] compare(i, n), direction=GT }\n"
      "body { s = (u8[], f32[50], f32[50], f32[]) parameter(0) i = u8[] get-tuple-element(s), index=0\n"
      "  x = f32[50] get-tuple-element(s), index=1 y = f32[50] get-tuple-element(s), index=2\n"
      "  f = f32[] get-tuple-element(s), index=3 h = f32[] constant(0.5) g = f32[] multiply(f, h)\n"
      "  b = f32[50] broadcast(g), dimensions={} a = f32[50] add(y, b) n = u8[] constant(2) j = u8[] subtract(i, n)\n"
      "  ROOT t = (u8[], f32[50], f32[50], f32[]) tuple(j, a, x, g) }\n"
      "ENTRY e { x = f32[50] parameter(0) y = f32[50] parameter(1) f = f32[] parameter(2) i = u8[] constant(250)\n"
      "  t = (u8[], f32[50], f32[50], f32[]) tuple(i, x, y, f)\n"
      "  w = (u8[], f32[50], f32[50], f32[]) while(t), condition=more, body=body\n"
      "  p = f32[50] get-tuple-element(w), index=1 q = f32[50] get-tuple-element(w), index=2\n"
      "  ROOT r = (f32[50], f32[50]) tuple(p, q) }\n",
      HERO_WHILE, 0, NULL, NULL);
}

// Loops whose points need others: `state` are the types behind the counter, `body` makes n0, n1, … of s0, s1, …
typedef struct steps {
  const char *const *state;
  const char *body;
  int turns;
} steps;

static void check_steps(const steps *l, int count, double rtol) {
  arena *a = arena_create();
  text types = {0}, taken = {0}, made = {0}, given = {0}, results = {0}, kinds = {0}, names = {0};
  for (int k = 0; k < count; k++) {
    text_printf(&types, ", %s", l->state[k]);
    text_printf(&taken, "  s%d = %s get-tuple-element(s), index=%d\n", k, l->state[k], k + 1);
    text_printf(&made, ", n%d", k);
    text_printf(&given, "  p%d = %s parameter(%d)\n", k, l->state[k], k);
    text_printf(&names, ", p%d", k);
    text_printf(&results, "  r%d = %s get-tuple-element(w), index=%d\n", k, l->state[k], k + 1);
    text_printf(&kinds, "%sr%d", k ? ", " : "", k);
  }
  const char *state = arena_printf(a, "(s32[]%s)", text_cstr(&types)), *outside = text_cstr(&types) + 2;
  const char *source = arena_printf(
      a,
      "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
      "more { s = %s parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(%d)\n"
      "  ROOT p = pred[] compare(i, n), direction=LT }\n"
      "body { s = %s parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)\n%s%s"
      "  j = s32[] add(i, one) ROOT t = %s tuple(j%s) }\n"
      "ENTRY e { z = s32[] constant(0)\n%s  t = %s tuple(z%s) w = %s while(t), condition=more, body=body\n%s"
      "  ROOT all = (%s) tuple(%s) }\n",
      state, l->turns, state, text_cstr(&taken), l->body, state, text_cstr(&made), text_cstr(&given), state,
      text_cstr(&names), state, text_cstr(&results), outside, text_cstr(&kinds));
  hero_testing t = hero_testing_start(source, 0, NULL);
  if (t.plan->hero != HERO_WHILE || t.plan->details.turns.step_count == 0) fail_msg("not by steps:\n%s", source);
  hero_testing_check_within(&t, source, NULL, rtol, rtol);
  hero_testing_end(&t);
  text_free(&types), text_free(&taken), text_free(&made), text_free(&given), text_free(&results);
  text_free(&kinds), text_free(&names);
  arena_destroy(a);
}

// What the body does not change cannot be a result of the kernel: state that is kept goes round with another.
static void test_moves(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "s32", "bf16", "c64", "pred", "s4", "f64"};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    arena *a = arena_create();
    const char *array = arena_printf(a, "%s[5,9]", types[k]), *turned = arena_printf(a, "%s[9,5]", types[k]);
    const char *both[] = {array, turned};
    check_steps(&(steps){both,
                         arena_printf(a,
                                      "  u = %s transpose(s0), dimensions={1,0} n1 = %s reverse(u), dimensions={0}\n"
                                      "  n0 = %s transpose(s1), dimensions={1,0}\n",
                                      turned, turned, array),
                         7},
                2, 0);
    arena_destroy(a);
  }
}

// Rows whose number is a sum with a constant, as reversed scans have it.
static void test_rows_backwards(void **state) {
  arena *a = *state;
  const turns l = {.type = "f32", .dims = "21", .turns = 6, .goes_down = true, .body = linear(a, "f32", "21")};
  text t = {0};
  const char *source = source_of(a, &l), *at = strstr(source, "down = s32[] subtract(last, i)");
  text_printf(&t, "%.*s%s%s", (int)(at - source), source,
              "n6 = s32[] constant(6) m1 = s32[] constant(-1) d0 = s32[] subtract(n6, i) down = s32[] add(d0, m1)",
              at + strlen("down = s32[] subtract(last, i)"));
  hero_testing_run(text_cstr(&t), HERO_WHILE, 0, NULL, NULL);
  text_free(&t);
}

static void test_products(void **state) {
  (void)state;
  // By rows and by columns of a matrix that changes, too; what is stored is read by a product and at its own place.
  check_steps(&(steps){(const char *const[]){"f32[33]", "f32[33,33]"},
                       "  d = f32[33] dot(s1, s0), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                       "  c = f32[] constant(0.02) b = f32[33] broadcast(c), dimensions={} m = f32[33] multiply(d, b)\n"
                       "  u = f32[33] dot(m, s1), lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
                       "  n0 = f32[33] add(u, m) n1 = f32[33,33] transpose(s1), dimensions={1,0}\n",
                       6},
              2, 1e-5);
  check_steps(&(steps){(const char *const[]){"s32[4,7]", "s32[7,7]", "s32[4]"},
                       "  n0 = s32[4,7] dot(s0, s1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                       "  n1 = s32[7,7] add(s1, s1) f = s32[4,1] slice(s0), slice={[0:4],[2:3]}\n"
                       "  r = s32[4] reshape(f) n2 = s32[4] add(r, s2)\n",
                       5},
              3, 0);
}

static void test_sums(void **state) {
  (void)state;
  check_steps(
      &(steps){(const char *const[]){"f32[6,50]", "f32[6]"},
               "  o = f32[] constant(0) h = f32[] constant(0.5)\n"
               "  r = f32[6] reduce(s0, o), dimensions={1}, to_apply=add k = f32[6] broadcast(h), dimensions={}\n"
               "  q = f32[6] multiply(r, k) e = f32[6] tanh(q) b = f32[6,50] broadcast(e), dimensions={0}\n"
               "  n0 = f32[6,50] add(s0, b) n1 = f32[6] subtract(e, s1)\n",
               8},
      2, 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_types),    TESTING_IN_ARENA(test_dims),
      TESTING_IN_ARENA(test_bodies),   cmocka_unit_test(test_values_change_places),
      cmocka_unit_test(test_moves),    TESTING_IN_ARENA(test_rows_backwards),
      cmocka_unit_test(test_products), cmocka_unit_test(test_sums),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
