// One attribute of an instruction beside others: it is told by its whole name and value, however they are written.
#include "hlo/frontend_attributes.h"
#include "base/testing.h"
#include "hlo/text.h"

static const char source[] =
    "HloModule m\n"
    "ENTRY e {\n"
    "  p = f32[] parameter(0), frontend_attributes={x_mark=\"none\",inner={mark=\"none\"},\"quoted name\"=\"yes\"}\n"
    "  n = f32[] negate(p), frontend_attributes={other=\"mark=none\",mark=\"no\"}\n"
    "  ROOT r = f32[] abs(n)\n"
    "}\n";

static instruction *named(const module *m, const char *name) {
  instruction *i = m->entry->root;
  while (!str_is(i->name, name)) i = i->operands[0];
  return i;
}

static void test_have(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "m.hlo", str_from(source), &m)));
  const instruction *p = named(m, "p"), *n = named(m, "n");
  assert_false(frontend_attributes_have(p, "mark", "none"));
  assert_true(frontend_attributes_have(p, "x_mark", "none"));
  assert_true(frontend_attributes_have(p, "quoted name", "yes"));
  assert_false(frontend_attributes_have(n, "mark", "none"));
  assert_true(frontend_attributes_have(n, "mark", "no"));
  assert_false(frontend_attributes_have(m->entry->root, "mark", "no"));
  arena_destroy(a);
}

static void test_put(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "m.hlo", str_from(source), &m)));
  instruction *p = named(m, "p"), *root = m->entry->root;
  char value[100] = {0};
  for (size_t k = 0; k + 1 < sizeof value; k++) value[k] = 'v';
  frontend_attributes_put(p, "mark", value);
  frontend_attributes_put(root, "mark", "none");
  assert_true(frontend_attributes_have(p, "mark", value) && frontend_attributes_have(p, "x_mark", "none"));
  assert_true(frontend_attributes_have(root, "mark", "none"));
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_have), cmocka_unit_test(test_put)};
  return cmocka_run_group_tests_name("hlo/frontend_attributes", tests, NULL, NULL);
}
