// Calls and fusions vanish, tuples that carried their results too, and nothing explodes.
#include "opt/call_inliner.h"

#include "base/testing.h"
#include "hlo/text.h"

static module *parse(arena *a, const char *source) {
  module *m = 0;
  heddle_status status = hlo_parse(a, "test", str_from(source), &m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  return m;
}

static int count(const computation *c, hlo_opcode op) {
  int n = 0;
  for (int i = 0; i < c->instructions.size; i++) n += c->instructions.data[i]->opcode == op;
  return n;
}

static void check_inlined(arena *a, module *m) {
  heddle_status status = call_inliner_run(a, m, 0);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  assert_int_equal(count(m->entry, HLO_CALL) + count(m->entry, HLO_FUSION), 0);
  status = module_verify(m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  // What is left reads back as the same module.
  text out = {0};
  hlo_print(&out, m, HLO_PRINT_SHORT);
  module *again = parse(a, text_cstr(&out));
  text_free(&out);
  status = module_compare(m, again);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
}

static void test_nested_calls(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m = parse(a,
                    "HloModule m\n"
                    "inner { x = f32[4] parameter(0)\n ROOT r = f32[4] negate(x) }\n"
                    "outer { x = f32[4] parameter(0)\n y = f32[4] call(x), to_apply=inner\n"
                    "  z = f32[4] call(y), to_apply=inner\n ROOT r = f32[4] add(y, z) }\n"
                    "ENTRY e { x = f32[4] parameter(0)\n r = f32[4] call(x), to_apply=outer\n"
                    "  ROOT s = f32[4] fusion(r), kind=kLoop, calls=outer }\n");
  check_inlined(a, m);
  assert_int_equal(count(m->entry, HLO_NEGATE), 4);
  assert_int_equal(count(m->entry, HLO_ADD), 2);
  assert_int_equal(m->entry->root->opcode, HLO_ADD);
  arena_destroy(a);
}

static void test_tuple_results_are_forwarded(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m = parse(a,
                    "HloModule m\n"
                    "pair { x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT t = (f32[4], f32[4]) tuple(n, x) }\n"
                    "ENTRY e { x = f32[4] parameter(0)\n p = (f32[4], f32[4]) call(x), to_apply=pair\n"
                    "  l = f32[4] get-tuple-element(p), index=0\n  r = f32[4] get-tuple-element(p), index=1\n"
                    "  ROOT s = f32[4] subtract(l, r) }\n");
  check_inlined(a, m);
  assert_int_equal(count(m->entry, HLO_TUPLE) + count(m->entry, HLO_GET_TUPLE_ELEMENT), 0);
  assert_int_equal(m->entry->root->operands[0]->opcode, HLO_NEGATE);
  assert_int_equal(m->entry->root->operands[1]->opcode, HLO_PARAMETER);
  arena_destroy(a);
}

static void test_root_tuple_stays(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m = parse(a,
                    "HloModule m\n"
                    "pair { x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT t = (f32[4], f32[4]) tuple(n, x) }\n"
                    "ENTRY e { x = f32[4] parameter(0)\n ROOT p = (f32[4], f32[4]) call(x), to_apply=pair }\n");
  check_inlined(a, m);
  assert_int_equal(m->entry->root->opcode, HLO_TUPLE);
  arena_destroy(a);
}

static void test_keeps_what_it_is_told(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m = parse(a,
                    "HloModule m\n"
                    "f { x = f32[4] parameter(0)\n ROOT n = f32[4] negate(x) }\n"
                    "g { x = f32[4] parameter(0)\n ROOT n = f32[4] call(x), to_apply=f }\n"
                    "ENTRY e { x = f32[4] parameter(0)\n ROOT p = f32[4] fusion(x), kind=kLoop, calls=g }\n");
  assert_true(status_is_ok(call_inliner_run(a, m, m->entry->root)));
  assert_int_equal(m->entry->root->opcode, HLO_FUSION);
  assert_int_equal(count(m->entry->root->called[0], HLO_CALL), 0);
  arena_destroy(a);
}

// f_k calls f_{k-1} twice: 2^40 instructions if written out.
static void test_explosion_is_refused(void **state) {
  (void)state;
  arena *a = arena_create();
  text source = {0};
  text_puts(&source, "HloModule m\nf0 { x = f32[4] parameter(0)\n ROOT n = f32[4] negate(x) }\n");
  for (int k = 1; k <= 40; k++) {
    text_printf(&source, "f%d { x = f32[4] parameter(0)\n y = f32[4] call(x), to_apply=f%d\n", k, k - 1);
    text_printf(&source, " ROOT z = f32[4] call(y), to_apply=f%d }\n", k - 1);
  }
  text_puts(&source, "ENTRY e { x = f32[4] parameter(0)\n ROOT r = f32[4] call(x), to_apply=f40 }\n");
  module *m = parse(a, text_cstr(&source));
  heddle_status status = call_inliner_run(a, m, 0);
  assert_int_equal(heddle_status_code(status), HEDDLE_UNIMPLEMENTED);
  heddle_status_free(status);
  text_free(&source);
  arena_destroy(a);
}

// f_k calls f_{k-1} once: as many instructions as the text has, whereas one copy per level would pass the limit.
static void test_deep_chain_is_linear(void **state) {
  (void)state;
  enum { DEPTH = 3000 };
  arena *a = arena_create();
  text source = {0};
  text_puts(&source, "HloModule m\nf0 { x = f32[4] parameter(0)\n ROOT n = f32[4] negate(x) }\n");
  for (int k = 1; k <= DEPTH; k++) {
    text_printf(&source, "f%d { x = f32[4] parameter(0)\n y = f32[4] call(x), to_apply=f%d\n", k, k - 1);
    text_puts(&source, " ROOT z = f32[4] add(y, x) }\n");
  }
  text_printf(&source, "ENTRY e { x = f32[4] parameter(0)\n ROOT r = f32[4] call(x), to_apply=f%d }\n", DEPTH);
  module *m = parse(a, text_cstr(&source));
  check_inlined(a, m);
  assert_int_equal(count(m->entry, HLO_ADD), DEPTH);
  assert_int_equal(m->entry->instructions.size, DEPTH + 2);
  text_free(&source);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nested_calls),         cmocka_unit_test(test_tuple_results_are_forwarded),
      cmocka_unit_test(test_root_tuple_stays),     cmocka_unit_test(test_keeps_what_it_is_told),
      cmocka_unit_test(test_explosion_is_refused), cmocka_unit_test(test_deep_chain_is_linear),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
