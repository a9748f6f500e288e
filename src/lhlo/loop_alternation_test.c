// Which loops take two rounds at a time, and that they stop where they did.
#include "lhlo/loop_alternation.h"

#include "kernel/testing.h"

// A loop over floats that are turned round and doubled; how often is parameter 1. `note`: further attributes.
static const char *loop_of(arena *a, bool is_large, const char *note) {
  static const char text[] =
      "HloModule m\nadd { x = ARRAY parameter(0)\n y = ARRAY reverse(x), dimensions={0}\n"
      " ROOT z = ARRAY add(y, y)\n}\nless { i = s32[] parameter(0)\n k = s32[] parameter(1)\n"
      " ROOT p = pred[] compare(i, k), direction=LT\n}\nnext { i = s32[] parameter(0)\n one = s32[] constant(1)\n"
      " ROOT j = s32[] add(i, one)\n}\n"
      "c { q = (s32[], ARRAY, s32[]) parameter(0)\n i = s32[] get-tuple-element(q), index=0\n"
      " k = s32[] get-tuple-element(q), index=2\n ROOT p = pred[] fusion(i, k), kind=kLoop, calls=less\n}\n"
      "b { q = (s32[], ARRAY, s32[]) parameter(0)\n i = s32[] get-tuple-element(q), index=0\n"
      " x = ARRAY get-tuple-element(q), index=1\n k = s32[] get-tuple-element(q), index=2\n"
      " j = s32[] fusion(i), kind=kLoop, calls=next\n y = ARRAY fusion(x), kind=kLoop, calls=add\n"
      " ROOT t = (s32[], ARRAY, s32[]) tuple(j, y, k)\n}\n"
      "ENTRY e { p = ARRAY parameter(0)\n k = s32[] parameter(1)\n z = s32[] constant(0)\n"
      " t = (s32[], ARRAY, s32[]) tuple(z, p, k)\n"
      " ROOT w = (s32[], ARRAY, s32[]) while(t), condition=c, body=bNOTE\n}\n";
  char *source = arena_array(a, char, 2 * sizeof text + strlen(note)), *to = source;
  for (const char *from = text; *from;) {
    const bool is_array = strncmp(from, "ARRAY", 5) == 0, is_note = strncmp(from, "NOTE", 4) == 0;
    if (!is_array && !is_note) {
      *to++ = *from++;
      continue;
    }
    to = stpcpy(to, is_note ? note : is_large ? "f32[16384]" : "f32[100]");
    from += is_note ? 4 : 5;
  }
  return source;
}

static const module *alternated_on(arena *a, const char *source, const target_description *target) {
  const module *out = NULL;
  testing_require(loop_alternation_run(a, testing_parse(a, source), target, &out), source);
  testing_require(module_verify(out), source);
  return out;
}

static const module *alternated(arena *a, const char *source) {
  const target_description target = target_cpu(2);
  return alternated_on(a, source, &target);
}

static literal *evaluate(arena *a, const module *m, int64_t rounds) {
  literal *arguments[2], *result = NULL;
  for (int k = 0; k < 2; k++)
    testing_require(literal_create(a, m->entry->parameters.data[k]->shape, &arguments[k]), "argument");
  for (int64_t n = 0; n < shape_element_count(arguments[0]->shape); n++)
    literal_set_double(arguments[0], n, (double)(n % 97));
  literal_set_int(arguments[1], 0, rounds);
  testing_require(eval_module(a, m, 2, arguments, &result), "evaluation");
  return result;
}

static int count(const module *m, hlo_opcode op) {
  int found = 0;
  for (int c = 0; c < m->computations.size; c++)
    for (int n = 0; n < m->computations.data[c]->instructions.size; n++)
      found += m->computations.data[c]->instructions.data[n]->opcode == op;
  return found;
}

static void test_a_condition_is_asked_between_the_rounds(void **state) {
  (void)state;
  arena *a = arena_create();
  const char *source = loop_of(a, true, "");
  const module *before = testing_parse(a, source), *after = alternated(a, source);
  assert_int_equal(count(after, HLO_CONDITIONAL), 1);
  for (int64_t rounds = 0; rounds < 8; rounds++)
    testing_require(literal_compare(evaluate(a, after, rounds), evaluate(a, before, rounds), 0, 0), "results");
  arena_destroy(a);
}

static void check_counted(int64_t rounds) {
  arena *a = arena_create();
  const char *note = arena_printf(a, ", backend_config={\"known_trip_count\":{\"n\":\"%lld\"}}", (long long)rounds);
  const char *source = loop_of(a, true, note);
  const module *before = testing_parse(a, source), *after = alternated(a, source);
  assert_int_equal(count(after, HLO_CONDITIONAL), 0);
  assert_int_equal(count(after, HLO_FUSION), 5 + (rounds % 2 ? 2 : 0));
  testing_require(literal_compare(evaluate(a, after, rounds), evaluate(a, before, rounds), 0, 0), "results");
  arena_destroy(a);
}

static void test_counted_loops_do_an_odd_round_in_front(void **state) {
  (void)state;
  for (int64_t rounds = 2; rounds < 7; rounds++) check_counted(rounds);
}

// Loops and branches are the program's, whatever its kernels run on: every machine of the table takes two rounds.
static void test_all_targets_take_two_rounds(void **state) {
  (void)state;
  arena *a = arena_create();
  const char *const counted = ", backend_config={\"known_trip_count\":{\"n\":\"6\"}}";
  for (int k = 0; target_name(k); k++) {
    target_description target;
    assert_true(target_find(str_from(target_name(k)), &target));
    assert_int_equal(count(alternated_on(a, loop_of(a, true, ""), &target), HLO_CONDITIONAL), 1);
    assert_int_equal(count(alternated_on(a, loop_of(a, true, counted), &target), HLO_FUSION), 5);
  }
  arena_destroy(a);
}

static void test_little_is_copied(void **state) {
  (void)state;
  arena *a = arena_create();
  assert_int_equal(count(alternated(a, loop_of(a, false, "")), HLO_CONDITIONAL), 0);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_condition_is_asked_between_the_rounds),
      cmocka_unit_test(test_counted_loops_do_an_odd_round_in_front),
      cmocka_unit_test(test_all_targets_take_two_rounds),
      cmocka_unit_test(test_little_is_copied),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
