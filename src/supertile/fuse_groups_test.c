// Groups are marked from a step's output back to the values that have memory; what several steps compute is in each of
// their groups.
#include "supertile/fuse_groups.h"

#include "eval/testing.h"

static const char source[] =
    "HloModule m\n"
    "ENTRY e { x = f32[16] parameter(0) y = f32[16] parameter(1) two = f32[] constant(2)\n"
    "  b = f32[16] broadcast(two), dimensions={} s = f32[16] multiply(x, b) t = f32[16] add(s, y)\n"
    "  u = f32[16] negate(t) v = f32[16] subtract(t, s) ROOT r = (f32[16], f32[16]) tuple(u, v) }\n";

typedef struct marked {
  arena *arena;
  module *module;
  plan_steps steps;
  fuse_groups groups;
} marked;

static instruction *named(const marked *m, const char *name) {
  for (int k = 0; k < m->module->entry->instructions.size; k++)
    if (str_is(m->module->entry->instructions.data[k]->name, name)) return m->module->entry->instructions.data[k];
  fail_msg("no %s", name);
  return NULL;
}

static void add_step(marked *m, const char *name) {
  static const stored_value stored = {true, 64};
  instruction *i = named(m, name);
  vec_push(m->arena, &m->steps.steps, ((plan_step){.bottom = i}));
  ptr_map_put(m->arena, &m->steps.stored, i, (void *)&stored);
}

static void begin(marked *m, int count, const char *const *steps) {
  *m = (marked){.arena = arena_create()};
  m->steps.arena = m->arena;
  testing_require(hlo_parse(m->arena, "test", str_from(source), &m->module), source);
  for (int k = 0; k < count; k++) add_step(m, steps[k]);
  fuse_groups_mark(m->arena, &m->steps, &m->groups);
}

static void expect_groups(const marked *m, const char *name, const char *wanted) {
  text t = {0};
  const fuse_group_ids *ids = ptr_map_get(&m->groups.fuse_group, named(m, name));
  for (int k = 0; ids && k < ids->size; k++) text_printf(&t, "%d", ids->data[k]);
  assert_string_equal(text_cstr(&t), wanted);
  text_free(&t);
}

static void test_shared(void **state) {
  (void)state;
  marked m;
  begin(&m, 2, (const char *const[]){"u", "v"});
  assert_int_equal(m.groups.count, 2);
  expect_groups(&m, "u", "0");
  expect_groups(&m, "v", "1");
  expect_groups(&m, "t", "01");
  expect_groups(&m, "s", "01");
  expect_groups(&m, "x", "");
  // x, y and the constant are read, and 16 elements written.
  assert_int_equal(fuse_groups_operation_data_size(&m.groups, named(&m, "u")), 3 * 64 + 4);
  assert_int_equal(fuse_groups_operation_data_size(&m.groups, named(&m, "t")), 0);
  arena_destroy(m.arena);
}

static void test_stored(void **state) {
  (void)state;
  marked m;
  begin(&m, 3, (const char *const[]){"t", "u", "v"});
  assert_int_equal(m.groups.count, 3);
  expect_groups(&m, "t", "0");
  expect_groups(&m, "s", "02");
  expect_groups(&m, "u", "1");
  assert_int_equal(fuse_groups_operation_data_size(&m.groups, named(&m, "u")), 2 * 64);
  text t = {0};
  fuse_groups_print(&t, &m.groups, named(&m, "v"));
  assert_string_equal(text_cstr(&t), "  group 2: v, s (of 2 groups), b (of 2 groups); 196 bytes\n");
  text_free(&t);
  arena_destroy(m.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared), cmocka_unit_test(test_stored)};
  return cmocka_run_group_tests_name("supertile/fuse_groups", tests, NULL, NULL);
}
