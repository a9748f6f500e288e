// What makes two modules different, and that the difference is named.
#include <stdio.h>

#include "base/testing.h"
#include "hlo/text.h"

static const char *const base =
    "HloModule m, is_scheduled=true\n"
    "f { p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p) }, execution_thread=\"main\"\n"
    "g { p = f32[2] parameter(0)\n  ROOT n = f32[2] abs(p) }\n"
    "ENTRY e { x = f32[2,3]{1,0} parameter(0)\n  c = f32[2] constant({1, 2})\n"
    "  y = f32[3,2] transpose(x), dimensions={1,0}, sharding={replicated}, metadata={op_name=\"a\"}\n"
    "  h = f32[2] call(c), to_apply=f, control-predecessors={y}\n"
    "  ROOT t = (f32[3,2], f32[2], f32[2]) tuple(y, c, h) }\n";

// One replacement in the text, and what the comparison then says; null if it should not see it.
static const struct {
  const char *from, *to, *message;
} changes[] = {
    {"HloModule m", "HloModule n", "modules 'm' and 'n' have different names"},
    {"is_scheduled=true", "is_scheduled=false", "the modules' attributes differ"},
    {"\"main\"", "\"side\"", "attributes of computation 'f' differ"},
    {"g {", "gg {", "computations 'g' and 'gg' have different names"},
    {"n = f32[2] negate(p)", "n = f32[2] abs(p)", "operation negate against abs"},
    {"ROOT n = f32[2] abs(p)", "n = f32[2] abs(p)\n q = f32[2] abs(p)", "computation 'g' has 2 instructions against 3"},
    {"ROOT n = f32[2] abs(p)", "n = f32[2] abs(p)", NULL},
    {"  ROOT t = (f32[3,2]", "  t = (f32[3,2]", NULL},
    {"{1, 2}", "{1, 3}", "values of the constant differ"},
    {"{1, 2}", "{...}", "values of the constant differ"},
    {"{1,0} parameter", "{0,1} parameter", "shapes differ: f32[2,3] against f32[2,3], or their layouts"},
    {"{1,0} parameter", " parameter", NULL},
    {"dimensions={1,0}", "dimensions={1, 0}", NULL},
    {"sharding={replicated}", "sharding={maximal device=0}", "attribute sharding differs"},
    {", sharding={replicated}", "", "attribute sharding differs"},
    {"op_name=\"a\"", "op_name=\"b\"", NULL},
    {"to_apply=f", "to_apply=g", "called computation 0 differs"},
    {"predecessors={y}", "predecessors={x}", "control predecessor 0 is 'y' against 'x'"},
    {", control-predecessors={y}", "", "1 control predecessors against 0"},
    {"tuple(y, c, h)", "tuple(y, h, c)", "operand 1 is 'c' against 'h'"},
};

static const char *replace(arena *a, const char *source, const char *from, const char *to) {
  const char *at = strstr(source, from);
  assert_non_null(at);
  return arena_printf(a, "%.*s%s%s", (int)(at - source), source, to, at + strlen(from));
}

static module *parse(arena *a, const char *source) {
  module *m;
  heddle_status status = hlo_parse(a, "test", str_from(source), &m);
  if (!status_is_ok(status)) fail_msg("%s\n%s", source, heddle_status_message(status));
  return m;
}

static void test_changes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    arena *a = arena_create();
    const module *l = parse(a, base), *r = parse(a, replace(a, base, changes[i].from, changes[i].to));
    heddle_status status = module_compare(l, r);
    if (changes[i].message) assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
    assert_string_equal(status_brief(status), changes[i].message ? changes[i].message : "");
    heddle_status_free(status);
    arena_destroy(a);
  }
}

static void test_the_place_is_named(void **state) {
  (void)state;
  arena *a = arena_create();
  heddle_status status = module_compare(parse(a, base), parse(a, replace(a, base, "{1, 2}", "{1, 3}")));
  assert_non_null(strstr(heddle_status_message(status), "note: comparing instruction 'c' of computation 'e'\n"));
  heddle_status_free(status);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_changes),
      cmocka_unit_test(test_the_place_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
