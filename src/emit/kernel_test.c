// Emitted modules: their size, and that planner and emitter agree on what a kernel can hold.
#include "emit/emit.h"

#include "base/testing.h"
#include "emit/elemental.h"
#include "emit/heroes.h"
#include "hlo/text.h"
#include "kernel/written_kernels.h"

typedef struct size {
  int operations, functions, calls;
} size;

// One operation is in the module for each that the source has; what is counted is all of them, the entry's too.
static size emitted_size(MlirContext context, const char *source, target_description target) {
  arena *a = arena_create();
  module *m = 0;
  written_kernels *plan = 0;
  MlirModule out = {0};
  heddle_status status = hlo_parse(a, "test.hlo", str_from(source), &m);
  if (status_is_ok(status)) status = written_kernels_plan(a, m, target, &plan);
  if (status_is_ok(status)) status = emit_kernel(context, a, plan->kernels[0], &target, &out);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  MlirOperation op = mlirModuleGetOperation(out);
  size s = {.operations = ir_collect(a, op, 0).size,
            .functions = ir_collect(a, op, "func.func").size,
            .calls = ir_collect(a, op, "xla_gpu.pure_call").size};
  mlirModuleDestroy(out);
  arena_destroy(a);
  return s;
}

// y = log(y); y = y + reverse(y), n times.
static void print_chain(text *out, int n) {
  text_puts(out, "chain { y0 = f32[64,64] parameter(0)\n");
  for (int i = 0; i < n; i++) {
    text_printf(out, "l%d = f32[64,64] log(y%d)\n", i, i);
    text_printf(out, "t%d = f32[64,64] reverse(l%d), dimensions={0,1}\n", i, i);
    text_printf(out, "%sy%d = f32[64,64] add(l%d, t%d)\n", i == n - 1 ? "ROOT " : "", i + 1, i, i);
  }
  text_puts(out, "}");
}

static void test_chains_are_linear(void **state) {
  (void)state;
  MlirContext context = ir_context_create();
  size previous = {0}, step = {0};
  for (int n = 1; n <= 64; n++) {
    text source = {0};
    print_chain(&source, n);
    size s = emitted_size(context, text_cstr(&source), n % 2 ? target_gpu() : target_cpu(2));
    text_free(&source);
    assert_int_equal(s.functions, n + 2);  // entry, chain, one for each log
    assert_int_equal(s.calls, 2 * n + 1);
    if (n % 2) continue;
    // From one even length to the next the same number of operations is added.
    if (n >= 6) assert_int_equal(s.operations - previous.operations, step.operations);
    step.operations = s.operations - previous.operations;
    previous = s;
  }
  mlirContextDestroy(context);
}

static void test_a_long_chain_needs_no_stack(void **state) {
  (void)state;
  MlirContext context = ir_context_create();
  text source = {0};
  text_puts(&source, "chain { y0 = f32[64] parameter(0)\n");
  for (int i = 0; i < 20000; i++) {
    text_printf(&source, "%sy%d = f32[64] add(y%d, y0)\n", i == 19999 ? "ROOT " : "", i + 1, i);
  }
  text_puts(&source, "}");
  size s = emitted_size(context, text_cstr(&source), target_cpu(2));
  text_free(&source);
  assert_in_range(s.operations, 20000, 21000);
  mlirContextDestroy(context);
}

// What has indexing maps can be emitted, except scatter, whose maps go the other way.
static void test_every_elemental_opcode_has_a_slot(void **state) {
  (void)state;
  for (hlo_opcode op = 0; op < HLO_OPCODE_COUNT; op++) {
    const emit_op *row = &emit_ops[op];
    bool has_slot = row->structural || row->on_pred.op || row->on_pred.fn || row->on_signed.op || row->on_signed.fn ||
                    row->on_float.op || row->on_float.fn;
    hlo_index_rule rule = hlo_ops[op].index_rule;
    bool wanted =
        rule != INDEX_RULE_NONE && rule != INDEX_RULE_SCATTER && rule != INDEX_RULE_LEAF && rule != INDEX_RULE_TUPLE;
    if (has_slot != wanted) fail_msg("%s", hlo_op_text(op));
  }
}

// Every element class that an opcode takes has an entry in its row.
static void test_every_class_is_covered(void **state) {
  (void)state;
  for (hlo_opcode op = 0; op < HLO_OPCODE_COUNT; op++) {
    const emit_op *row = &emit_ops[op];
    dtype_class classes = hlo_ops[op].classes;
    if (row->structural || !hlo_op_has(op, TRAIT_ELEMENTWISE) || hlo_ops[op].index_rule == INDEX_RULE_NONE) continue;
    const struct {
      dtype_class class;
      const emit_choice *choice;
    } columns[] = {{CLASS_PRED, &row->on_pred},
                   {CLASS_SIGNED, &row->on_signed},
                   {CLASS_UNSIGNED, &row->on_unsigned},
                   {CLASS_FLOAT, &row->on_float}};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
      bool covered = columns[c].choice->op || columns[c].choice->fn;
      if ((classes & columns[c].class) && !covered) fail_msg("%s, class %d", hlo_op_text(op), columns[c].class);
    }
  }
}

// What the planner may choose for a kind of target, the emitters have, and nothing else; but tiles are src/tile's.
static void test_heroes_have_emitters(void **state) {
  (void)state;
  for (int hero = 0; hero < HERO_COUNT; hero++)
    for (int kind = 0; kind < TARGET_KIND_COUNT; kind++)
      if (hero != HERO_TILES && kernel_hero_exists(kind, hero) != (emit_heroes[hero][kind] != NULL))
        fail_msg("%s for targets of kind %d", kernel_hero_name(hero), kind);
}

static void test_a_missing_emitter_is_named(void **state) {
  (void)state;
  arena *a = arena_create();
  module *m = 0;
  written_kernels *plan = 0;
  MlirModule out = {0};
  MlirContext context = ir_context_create();
  const target_description gpu = target_gpu();
  const char *source = "f { p = f32[64,64] parameter(0)\n ROOT t = f32[64,64] transpose(p), dimensions={1,0} }";
  assert_true(status_is_ok(hlo_parse(a, "test.hlo", str_from(source), &m)));
  assert_true(status_is_ok(written_kernels_plan(a, m, target_cpu(2), &plan)));
  kernel_plan foreign = *plan->kernels[0];
  foreign.hero = HERO_WHILE;
  heddle_status status = emit_kernel(context, a, &foreign, &gpu, &out);
  assert_int_equal(heddle_status_code(status), HEDDLE_UNIMPLEMENTED);
  assert_non_null(strstr(heddle_status_message(status), "no emitter makes kernels of the hero while for sm_90"));
  heddle_status_free(status);
  mlirContextDestroy(context);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chains_are_linear),
      cmocka_unit_test(test_a_long_chain_needs_no_stack),
      cmocka_unit_test(test_every_elemental_opcode_has_a_slot),
      cmocka_unit_test(test_every_class_is_covered),
      cmocka_unit_test(test_heroes_have_emitters),
      cmocka_unit_test(test_a_missing_emitter_is_named),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
