// Which reducers may be reordered, and that reductions give what they gave in order, with whatever comes in.
#include "fuse/reduction_order.h"

#include <math.h>

#include "fuse/reduction_splitter.h"
#include "kernel/reducer_trial.h"
#include "kernel/testing.h"

typedef struct known_reducer {
  const char *name, *body;  // of computation f
  int values;
  const char *types[3], *inits[3];
  bool in_chunks, in_any_order, unless_made, unless_given;
} known_reducer;

#define PAIR(t, u) \
  "a = " t "[] parameter(0)\n i = " u "[] parameter(1)\n b = " t "[] parameter(2)\n j = " u "[] parameter(3)\n"

static const known_reducer reducers[] = {
    {"picks with >=, payload",
     PAIR("f32",
          "s32") "c = pred[] compare(a, b), direction=GE\n v = f32[] select(c, a, b)\n w = s32[] select(c, i, j)\n"
                 "ROOT t = (f32[], s32[]) tuple(v, w)",
     2,
     {"f32", "s32"},
     {"-inf", "0"},
     true,
     false,
     false,
     true},
    {"largest by select",
     "a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = pred[] compare(a, b), direction=GT\n"
     "ROOT v = f32[] select(c, a, b)",
     1,
     {"f32"},
     {"-inf"},
     true,
     true,
     true,
     true},
    {"logarithm of sums of exponentials",
     PAIR("f32", "f32") "m = f32[] maximum(a, b)\n da = f32[] subtract(a, m)\n db = f32[] subtract(b, m)\n ea = f32[] "
                        "exponential(da)\n"
                        "eb = f32[] exponential(db)\n sa = f32[] multiply(i, ea)\n sb = f32[] multiply(j, eb)\n s = "
                        "f32[] add(sa, sb)\n"
                        "ROOT t = (f32[], f32[]) tuple(m, s)",
     2,
     {"f32", "f32"},
     {"-inf", "0"},
     true,
     true,
     true,
     false},
    {"maps composed",
     PAIR("f32", "f32") "ab = f32[] multiply(a, b)\n ib = f32[] multiply(i, b)\n s = f32[] add(ib, j)\n"
                        "ROOT t = (f32[], f32[]) tuple(ab, s)",
     2,
     {"f32", "f32"},
     {"1", "0"},
     true,
     false,
     true,
     false},
    {"sum and exclusive or",
     PAIR("s32",
          "pred") "s = s32[] add(a, b)\n n = pred[] compare(i, j), direction=NE\n ROOT t = (s32[], pred[]) tuple(s, n)",
     2,
     {"s32", "pred"},
     {"0", "false"},
     true,
     true,
     false,
     false},
    {"sum from seven",
     PAIR("s32",
          "pred") "s = s32[] add(a, b)\n n = pred[] compare(i, j), direction=NE\n ROOT t = (s32[], pred[]) tuple(s, n)",
     2,
     {"s32", "pred"},
     {"7", "true"},
     false,
     false,
     false,
     false},
    {"difference",
     "a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT v = f32[] subtract(a, b)",
     1,
     {"f32"},
     {"0"},
     false,
     false,
     false,
     false},
    {"mean of two",
     "a = f32[] parameter(0)\n b = f32[] parameter(1)\n h = f32[] constant(0.5)\n s = f32[] add(a, b)\n"
     "ROOT v = f32[] multiply(s, h)",
     1,
     {"f32"},
     {"0"},
     false,
     false,
     false,
     false},
    {"sum that rounds",
     "a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n one = bf16[] constant(1)\n"
     "m = bf16[] multiply(b, one)\n ROOT v = bf16[] add(a, m)",
     1,
     {"bf16"},
     {"0"},
     false,
     false,
     false,
     false},
    {"division",
     "a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT v = s32[] divide(a, b)",
     1,
     {"s32"},
     {"100"},
     false,
     false,
     false,
     false},
    {"loop within",
     "a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT v = s32[] while(a), condition=always, body=again",
     1,
     {"s32"},
     {"0"},
     false,
     false,
     false,
     false},
    {"mean, deviation and count",
     "ma = f32[] parameter(0)\n va = f32[] parameter(1)\n na = f32[] parameter(2)\n mb = f32[] parameter(3)\n"
     "vb = f32[] parameter(4)\n nb = f32[] parameter(5)\n n = f32[] add(na, nb)\n d = f32[] subtract(mb, ma)\n"
     "q = f32[] divide(nb, n)\n dq = f32[] multiply(d, q)\n m = f32[] add(ma, dq)\n dd = f32[] multiply(d, d)\n"
     "nq = f32[] multiply(na, q)\n x = f32[] multiply(dd, nq)\n v = f32[] add(va, vb)\n w = f32[] add(v, x)\n"
     "ROOT t = (f32[], f32[], f32[]) tuple(m, w, n)",
     3,
     {"f32", "f32", "f32"},
     {"0", "0", "0"},
     true,
     true,
     true,
     false},
    {"last one", "a = f32[] parameter(0)\n ROOT b = f32[] parameter(1)", 1, {"f32"}, {"0"}, true, false, false, false},
};

enum { REDUCERS = sizeof reducers / sizeof *reducers };

// A reduce of parameters over `dims` of `from`, as the entry's root.
static module *parse(arena *a, const known_reducer *r, const char *from, const char *to, const char *dims) {
  text t = {0};
  text_printf(&t,
              "HloModule m\nalways { p = s32[] parameter(0)\n ROOT t = pred[] constant(true)\n}\n"
              "again { p = s32[] parameter(0)\n ROOT n = s32[] negate(p)\n}\nf { %s\n}\nENTRY e {\n",
              r->body);
  for (int v = 0; v < r->values; v++)
    text_printf(&t, "x%d = %s[%s] parameter(%d)\ni%d = %s[] constant(%s)\n", v, r->types[v], from, v, v, r->types[v],
                r->inits[v]);
  text_puts(&t, r->values > 1 ? "ROOT r = (" : "ROOT r = ");
  for (int v = 0; v < r->values; v++) text_printf(&t, "%s%s[%s]", v ? ", " : "", r->types[v], to);
  text_puts(&t, r->values > 1 ? ") reduce(" : " reduce(");
  for (int v = 0; v < r->values; v++) text_printf(&t, "x%d, ", v);
  for (int v = 0; v < r->values; v++) text_printf(&t, "%si%d", v ? ", " : "", v);
  text_printf(&t, "), dimensions={%s}, to_apply=f\n}\n", dims);
  module *m = testing_parse(a, arena_strdup(a, text_cstr(&t), (size_t)t.size));
  text_free(&t);
  return m;
}

static void test_trials(void **state) {
  (void)state;
  for (int k = 0; k < REDUCERS; k++) {
    const known_reducer *r = &reducers[k];
    arena *a = arena_create();
    const module *m = parse(a, r, "40,1000", "40", "1");
    const reducer_variant own = {m->entry->root->called[0], false};
    const reducer_trial t = reducer_try(m->entry->root, &own);
    if (t.in_chunks != r->in_chunks || t.in_any_order != r->in_any_order ||
        (t.in_chunks && (t.unless_made != r->unless_made || t.unless_given != r->unless_given)))
      fail_msg("%s: in chunks %d, in any order %d, unless NaN is made %d, or given %d", r->name, t.in_chunks,
               t.in_any_order, t.unless_made, t.unless_given);
    arena_destroy(a);
  }
}

// Ordinary numbers, with what `special` says in the places that a multiple of 1,009 leads to.
static literal *argument(arena *a, const shape *s, double special) {
  literal *l = NULL;
  testing_require(literal_create(a, s, &l), "argument");
  uint64_t random = 1;
  for (int64_t n = 0; n < shape_element_count(s); n++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const double x = (double)(random >> 40) / (1 << 24) + 0.5;
    if (dtype_is_float(s->dtype)) literal_set_double(l, n, n % 1009 == 1008 && special != 0 ? special : x);
    else literal_set_int(l, n, (int64_t)(random >> 60));
  }
  return l;
}

static literal *evaluate(arena *a, const module *m, double special) {
  literal *arguments[3], *result = NULL;
  for (int v = 0; v < m->entry->parameters.size; v++)
    arguments[v] = argument(a, m->entry->parameters.data[v]->shape, special);
  testing_require(eval_module(a, m, m->entry->parameters.size, arguments, &result), "evaluation");
  return result;
}

static void check(const known_reducer *r, const char *from, const char *to, const char *dims) {
  static const double specials[] = {0, INFINITY, -INFINITY, NAN};
  arena *a = arena_create();
  module *m = parse(a, r, from, to, dims);
  const module *before = module_clone(a, m);
  reduction_order_run(m->entry, &target_any_cpu);
  reduction_splitter_run(m->entry, &target_any_cpu);
  for (int c = 0; c < m->computations.size; c++) testing_require(computation_sort(a, m->computations.data[c]), r->name);
  testing_require(module_verify(m), r->name);
  for (int k = 0; k < 4; k++)
    testing_require(literal_compare(evaluate(a, m, specials[k]), evaluate(a, before, specials[k]), 1e-3, 1e-3),
                    arena_printf(a, "%s of [%s] with %g", r->name, from, specials[k]));
  arena_destroy(a);
}

static void test_results_stay(void **state) {
  (void)state;
  for (int k = 0; k < REDUCERS; k++) {
    if (strcmp(reducers[k].name, "loop within") == 0) continue;
    check(&reducers[k], "30,1100", "30", "1");
    check(&reducers[k], "300007", "", "0");
    check(&reducers[k], "2,150001", "2", "1");
    check(&reducers[k], "90001,3", "3", "0");
    check(&reducers[k], "7,30,11,40", "7,11", "1,3");
  }
}

static int count(const module *m, hlo_opcode op) {
  int found = 0;
  for (int n = 0; n < m->entry->instructions.size; n++) found += m->entry->instructions.data[n]->opcode == op;
  return found;
}

static void check_form(const known_reducer *r, const char *from, const char *to, reducer_form form, bool is_guarded) {
  arena *a = arena_create();
  module *m = parse(a, r, from, to, *to ? "1" : "0");
  reduction_order_run(m->entry, &target_any_cpu);
  reducer_form best = REDUCER_ORDERED;
  for (int n = 0; n < m->entry->instructions.size; n++) {
    const instruction *i = m->entry->instructions.data[n];
    if (i->opcode == HLO_REDUCE && i->attributes->dimensions.size == 1 && i->operand_count / 2 >= r->values &&
        reducer_of(a, i).form != REDUCER_BINARY && reducer_of(a, i).form > best)
      best = reducer_of(a, i).form;
  }
  if (best != form || (count(m, HLO_CONDITIONAL) == 1) != is_guarded)
    fail_msg("%s of [%s] has form %d and %d branches", r->name, from, best, count(m, HLO_CONDITIONAL));
  arena_destroy(a);
}

static void test_forms(void **state) {
  (void)state;
  check_form(&reducers[0], "40,1000", "40", REDUCER_ORDERED, false);  // nothing is gained by chunks of rows
  check_form(&reducers[0], "300000", "", REDUCER_CHUNKS, true);
  check_form(&reducers[1], "40,1000", "40", REDUCER_FREE, true);
  check_form(&reducers[1], "4,10", "4", REDUCER_ORDERED, false);  // too small to be tried
  check_form(&reducers[2], "40,1000", "40", REDUCER_FREE, true);
  check_form(&reducers[4], "40,1000", "40", REDUCER_FREE, false);
  check_form(&reducers[5], "40,1000", "40", REDUCER_FREE, false);
  check_form(&reducers[4], "1000,40", "1000", REDUCER_ORDERED, false);  // the loop's vectors are better
  check_form(&reducers[6], "300000", "", REDUCER_ORDERED, false);
}

// The mark goes beside what the user wrote, and is not lost in text.
static void test_marks(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m = parse(a, &reducers[4], "40,1000", "40", "1");
  instruction *r = m->entry->root;
  attributes_add_raw(a, r->attributes, STR("frontend_attributes"), STR("{mine=\"1\"}"));
  attributes_mark(r->attributes, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES);
  assert_int_equal(reducer_of(a, r).form, REDUCER_ORDERED);
  reducer_mark(r, REDUCER_CHUNKS);
  assert_int_equal(reducer_of(a, r).form, REDUCER_CHUNKS);
  assert_string_equal(attributes_raw(r->attributes, "frontend_attributes")->data,
                      "{heddle_order=\"chunks\",mine=\"1\"}");
  text printed = {0};
  hlo_print(&printed, m, HLO_PRINT_SHORT);
  const module *again = testing_parse(a, text_cstr(&printed));
  assert_int_equal(reducer_of(a, again->entry->root).form, REDUCER_CHUNKS);
  text_free(&printed);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_trials),
      cmocka_unit_test(test_results_stay),
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_marks),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
