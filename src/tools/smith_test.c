// The module generator makes the same valid module again, obeys its options, and failing modules shrink.
#include "tools/smith.h"

#include <math.h>

#include "base/testing.h"
#include "eval/evaluate.h"
#include "hlo/text.h"
#include "tools/execute.h"
#include "tools/smith_shrink.h"

static module *make(arena *a, const smith_options *o) {
  module *m = NULL;
  heddle_status s = smith_make(a, o, &m);
  if (!status_is_ok(s)) fail_msg("seed %llu: %s", (unsigned long long)o->seed, heddle_status_message(s));
  return m;
}

static int count(const module *m, hlo_opcode op) {
  int n = 0;
  for (int c = 0; c < m->computations.size; c++)
    for (int i = 0; i < m->computations.data[c]->instructions.size; i++)
      n += m->computations.data[c]->instructions.data[i]->opcode == op;
  return n;
}

static void test_same_seed_same_module(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    arena *a = arena_create();
    smith_options o = smith_defaults();
    o.seed = seed;
    heddle_status s = module_compare(make(a, &o), make(a, &o));
    if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
    o.seed = seed + 1000;
    s = module_compare(make(a, &o), make(a, &(smith_options){.seed = seed,
                                                             .instructions = o.instructions,
                                                             .elements = o.elements,
                                                             .rank = o.rank,
                                                             .dtypes = o.dtypes}));
    assert_false(status_is_ok(s));
    heddle_status_free(s);
    arena_destroy(a);
  }
}

static literal *result_of(arena *a, const module *m, literal *const *arguments) {
  literal *result = NULL;
  heddle_status s = eval_module(a, m, m->entry->parameters.size, arguments, &result);
  if (!status_is_ok(s)) fail_msg(STR_FMT ": %s", STR_ARG(m->name), heddle_status_message(s));
  return result;
}

// Every third element of each argument is NaN, with this sign.
static literal **arguments_with_nan(arena *a, const module *m, double sign) {
  literal **arguments = arena_array(a, literal *, m->entry->parameters.size);
  for (int p = 0; p < m->entry->parameters.size; p++) {
    const shape *of = m->entry->parameters.data[p]->shape;
    heddle_status s = execute_random_literal(a, of, (unsigned)p, &arguments[p]);
    assert_true(status_is_ok(s));
    for (int64_t k = 0; of->dtype == DTYPE_F32 && k < shape_element_count(of); k += 3)
      ((float *)arguments[p]->data)[k] = (float)copysign(NAN, sign);
  }
  return arguments;
}

// HLO leaves the sign of NaN open, so that modules must not depend on it.
static void test_sorts_do_not_see_the_sign_of_nan(void **state) {
  (void)state;
  smith_options o = smith_defaults();
  o.mix = "none,sort=3,reverse=1";
  o.instructions = 6;
  heddle_status s = smith_dtypes("f32,pred", &o.dtypes);
  assert_true(status_is_ok(s));
  for (o.seed = 1; o.seed <= 60; o.seed++) {
    arena *a = arena_create();
    module *m = make(a, &o);
    literal *one = result_of(a, m, arguments_with_nan(a, m, 1)), *other = result_of(a, m, arguments_with_nan(a, m, -1));
    s = execute_compare(a, one, other, 0, 0);
    if (!status_is_ok(s)) fail_msg("seed %llu: %s", (unsigned long long)o.seed, heddle_status_message(s));
    arena_destroy(a);
  }
}

static void check_types(const module *m, uint64_t allowed, int64_t elements, int rank) {
  const instruction_list *all = &m->entry->instructions;
  for (int i = 0; i < all->size; i++) {
    const shape *s = all->data[i]->shape;
    if (!shape_is_array(s)) continue;
    assert_true((allowed >> s->dtype) & 1);
    assert_true(shape_element_count(s) <= elements);
    assert_true(s->rank <= rank);
  }
}

static void test_options_hold(void **state) {
  (void)state;
  smith_options o = smith_defaults();
  o.elements = 12;
  o.rank = 2;
  o.mix = "none,unary=1,binary=1,transpose=2,reshape=2,reduce=1";
  heddle_status s = smith_dtypes("f32,pred,s32", &o.dtypes);
  assert_true(status_is_ok(s));
  for (o.seed = 1; o.seed <= 40; o.seed++) {
    arena *a = arena_create();
    module *m = make(a, &o);
    check_types(m, o.dtypes, 12, 2);
    assert_int_equal(count(m, HLO_DOT) + count(m, HLO_WHILE) + count(m, HLO_SORT), 0);
    arena_destroy(a);
  }
}

static void test_wrong_options(void **state) {
  (void)state;
  static const char *const mixes[] = {"dott=1", "dot", "dot=x", "dot=-1", "dot=1,,sort=1"};
  for (size_t k = 0; k < sizeof mixes / sizeof *mixes; k++) {
    arena *a = arena_create();
    smith_options o = smith_defaults();
    o.mix = mixes[k];
    module *m;
    heddle_status s = smith_make(a, &o, &m);
    assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
    heddle_status_free(s);
    arena_destroy(a);
  }
  uint64_t types;
  heddle_status s = smith_dtypes("f32,f33", &types);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  heddle_status_free(s);
}

typedef struct layout_counts {
  int parameters, constants, results, leaves, fused;
} layout_counts;

static int unusual(const shape *s) {
  int n = shape_is_array(s) && !shape_layout_is_default(s);
  for (int k = 0; k < s->tuple_size; k++) n += unusual(s->elements[k]);
  return n;
}

static void count_layouts(const module *m, layout_counts *n) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      const instruction *i = all->data[k];
      n->parameters += i->opcode == HLO_PARAMETER ? unusual(i->shape) : 0;
      n->constants += i->literal ? unusual(i->shape) : 0;
      n->leaves += shape_is_tuple(i->shape) ? unusual(i->shape) : 0;
      n->fused += i->opcode == HLO_FUSION ? unusual(i->called[0]->root->shape) : 0;
    }
  }
  n->results += unusual(m->entry->root->shape);
}

static void test_everything_has_layouts(void **state) {
  (void)state;
  layout_counts n = {0};
  smith_options o = smith_defaults();
  for (o.seed = 1; o.seed <= 80; o.seed++) {
    arena *a = arena_create();
    count_layouts(make(a, &o), &n);
    arena_destroy(a);
  }
  assert_true(n.parameters > 5 && n.constants > 5 && n.results > 5 && n.leaves > 5 && n.fused > 5);
}

static bool has_gather(void *context, const module *m) {
  (void)context;
  return count(m, HLO_GATHER) > 0;
}

static void test_shrinks_to_the_culprit(void **state) {
  (void)state;
  arena *a = arena_create();
  smith_options o = smith_defaults();
  o.mix = "gather=40";
  o.seed = 3;
  module *m = make(a, &o), *small = smith_shrink(a, m, has_gather, NULL, 3000);
  assert_true(has_gather(NULL, small));
  heddle_status s = module_verify(small);
  assert_true(status_is_ok(s));
  // The gather and its two operands.
  assert_int_equal(small->entry->instructions.size, 3);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_seed_same_module),  cmocka_unit_test(test_sorts_do_not_see_the_sign_of_nan),
      cmocka_unit_test(test_options_hold),           cmocka_unit_test(test_wrong_options),
      cmocka_unit_test(test_everything_has_layouts), cmocka_unit_test(test_shrinks_to_the_culprit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
