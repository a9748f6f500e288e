// Which kernels are made in passes over rows, and what they keep.
#include "kernel/hero_reduction.h"

#include "kernel/testing.h"

static const char reducers[] =
    "HloModule m\nadd { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
    "max { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] maximum(a, b)\n}\n";

static const char softmax[] =
    "ENTRY e { p = f32[40,100] parameter(0)\n  z = f32[] constant(0)\n  l = f32[] constant(-inf)\n"
    "  m = f32[40] reduce(p, l), dimensions={1}, to_apply=max\n  b = f32[40,100] broadcast(m), dimensions={0}\n"
    "  d = f32[40,100] subtract(p, b)\n  x = f32[40,100] exponential(d)\n"
    "  s = f32[40] reduce(x, z), dimensions={1}, to_apply=add\n  c = f32[40,100] broadcast(s), dimensions={0}\n"
    "  ROOT q = f32[40,100] divide(x, c)\n}\n";

typedef struct planned {
  arena *arena;
  module *module;
  kernel_plan *plan;
  bool fits;
} planned;

static planned plan(const char *entry, target_description target) {
  planned p = {.arena = arena_create()};
  const char *source = arena_printf(p.arena, "%s%s", reducers, entry);
  p.module = testing_parse(p.arena, source);
  testing_require(kernel_plan_create(p.arena, p.module->entry, "k", &target, 0, NULL, &p.plan), source);
  instruction_list all = {0};
  testing_require(computation_post_order(p.arena, p.module->entry, &all), source);
  instruction *root = p.module->entry->root;
  bool is_tuple = root->opcode == HLO_TUPLE;
  p.fits =
      hero_reduction_fits(all.size, all.data, is_tuple ? root->operand_count : 1, is_tuple ? root->operands : &root);
  return p;
}

static const hero_reduction *details(const planned *p) { return &p->plan->details.reduction; }

static void test_softmax_keeps_exponentials_in_its_output(void **state) {
  (void)state;
  planned p = plan(softmax, target_cpu(2));
  assert_true(p.fits);
  assert_int_equal(p.plan->hero, HERO_REDUCTION);
  const row_passes *s = &details(&p)->passes;
  assert_false(details(&p)->is_column);
  assert_int_equal(s->pass_count, 3);
  assert_int_equal(s->passes[1].kept.size, 1);
  const carried_value *kept = &s->carried_values.data[s->passes[1].kept.data[0].output];
  assert_int_equal(kept->of->opcode, HLO_EXPONENTIAL);
  assert_int_equal(kept->output, 0);
  assert_int_equal(p.plan->launch.tiles * p.plan->launch.tile, 40);
  arena_destroy(p.arena);
}

static void check(const char *body, hero_kind hero, bool fits) {
  text entry = {0};
  text_printf(&entry,
              "ENTRY e { p = f32[40,100] parameter(0)\n  z = f32[] constant(0)\n"
              "  r = f32[40] reduce(p, z), dimensions={1}, to_apply=add\n%s}\n",
              body);
  planned p = plan(text_cstr(&entry), target_cpu(2));
  if (p.plan->hero != hero || p.fits != fits) fail_msg("%s is a %s", body, kernel_hero_name(p.plan->hero));
  text_free(&entry);
  arena_destroy(p.arena);
}

static void test_what_fits(void **state) {
  (void)state;
  check("  ROOT n = f32[40] negate(r)\n", HERO_REDUCTION, true);
  check("  ROOT n = f32[5,8] reshape(r)\n", HERO_REDUCTION, true);
  check("  b = f32[40,100] broadcast(r), dimensions={0}\n  ROOT n = f32[4000] reshape(b)\n", HERO_REDUCTION, true);
  // Results of rows somewhere else than in their rows.
  check("  ROOT n = f32[40] reverse(r), dimensions={0}\n", HERO_LOOP, false);
  check("  ROOT n = f32[100,40] broadcast(r), dimensions={1}\n", HERO_LOOP, false);
  check("  b = f32[40,40] broadcast(r), dimensions={0}\n  ROOT n = f32[40,40] negate(b)\n", HERO_LOOP, false);
  check("  ROOT s = f32[] reduce(r, z), dimensions={0}, to_apply=add\n", HERO_LOOP, false);
  // Different rows: possible, but one of the reductions is computed again and again.
  check(
      "  s = f32[100] reduce(p, z), dimensions={0}, to_apply=add\n  b = f32[40,100] broadcast(s), dimensions={1}\n"
      "  c = f32[40,100] broadcast(r), dimensions={0}\n  ROOT t = f32[40,100] add(b, c)\n",
      HERO_REDUCTION, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_softmax_keeps_exponentials_in_its_output),

      cmocka_unit_test(test_what_fits),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
