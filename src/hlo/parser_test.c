// The grammar, form by form: every text here parses to the same module as the plain text beside it prints.
#include <stdio.h>

#include "base/arena_testing.h"
#include "hlo/text.h"

static module *parse(arena *a, const char *source) {
  module *m;
  heddle_status status = hlo_parse(a, "test", str_from(source), &m);
  if (!status_is_ok(status)) fail_msg("%s\n%s", source, heddle_status_message(status));
  return m;
}

static const char *print(arena *a, const module *m, hlo_print_options options) {
  text t = {0};
  hlo_print(&t, m, options);
  const char *copy = arena_strdup(a, t.data, t.size);
  text_free(&t);
  return copy;
}

// `source` prints as `plain` in the short style, and survives every style that loses nothing.
static void expect_form(arena *a, const char *source, const char *plain) {
  module *m = parse(a, source);
  assert_string_equal(print(a, m, HLO_PRINT_SHORT), plain);
  for (int bits = 0; bits < 8; bits++) {
    hlo_print_options options = {
        .percent = bits & 1, .operand_shapes = bits & 2, .metadata = bits & 4, .layouts = true};
    const char *printed = print(a, m, options);
    module *again = parse(a, printed);
    heddle_status status = module_compare(m, again);
    assert_string_equal(heddle_status_message(status), "");
    assert_string_equal(print(a, again, options), printed);
  }
}

#define BODY(lines) "HloModule m\n\nENTRY e {\n" lines "\n}\n"
#define X "  x = f32[2] parameter(0)\n"

static void test_spellings(void **state) {
  const char *plain = BODY(X "  ROOT y = f32[2] add(x, x)");
  expect_form(*state, "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }", plain);
  expect_form(*state, "HloModule m:\n\nENTRY %e {\n" X "  ROOT %y = f32[2] add(f32[2] %x, f32[2] %x)\n}", plain);
  expect_form(*state,
              "HloModule %m\nENTRY %e (whatever: f32[2]) -> f32[2] {\n" X
              "  ROOT %y = f32[2] add(%x, /*index=1*/%x)\n}",
              plain);
  expect_form(*state, "// a comment\nHloModule m /* another\none */\nENTRY e {\n" X "  y = f32[2] add(x, x) // last\n}",
              plain);
  expect_form(*state, "HloModule m\ne {\n  ROOT y = add(x, x)\n" X "}",
              BODY("  ROOT y = f32[2] add(x, x)\n  x = f32[2] parameter(0)"));
}

static void test_without_header(void **state) {
  expect_form(*state, "e {\n" X "  ROOT y = f32[2] negate(x)\n}\n",
              "HloModule e\n\nENTRY e {\n" X "  ROOT y = f32[2] negate(x)\n}\n");
  expect_form(*state, "%y = f32[2] add(f32[2] %a, f32[2] %b)",
              "HloModule main\n\nENTRY main {\n  ROOT y = f32[2] add(a, b)\n  a = f32[2] parameter(0)\n"
              "  b = f32[2] parameter(1)\n}\n");
  expect_form(*state, "f32[2]{0} add(f32[2]{0}, f32[2]{0})",
              "HloModule main\n\nENTRY main {\n  parameter = f32[2]{0} parameter(0)\n"
              "  parameter.2 = f32[2]{0} parameter(1)\n  ROOT add = f32[2]{0} add(parameter, parameter.2)\n}\n");
  // Without ENTRY the last computation is the entry.
  expect_form(*state, "HloModule m\nf { ROOT p = f32[] parameter(0) }\ng { ROOT p = f32[] parameter(0) }",
              "HloModule m\n\nf {\n  ROOT p = f32[] parameter(0)\n}\n\nENTRY g {\n  ROOT p = f32[] parameter(0)\n}\n");
}

static void test_names(void **state) {
  expect_form(*state,
              "HloModule m\nENTRY e {\n  %0 = f32[] parameter(0)\n  ROOT = f32[] negate(%0)\n  ROOT f32 = f32[] "
              "add(ROOT, %0)\n}",
              BODY("  %0 = f32[] parameter(0)\n  %ROOT = f32[] negate(%0)\n  ROOT f32 = f32[] add(%ROOT, %0)"));
  expect_form(*state, "HloModule a-b.2\nENTRY e.1 {\n  a-b.2 = f32[] parameter(0)\n}",
              "HloModule a-b.2\n\nENTRY e.1 {\n  ROOT a-b.2 = f32[] parameter(0)\n}\n");
  expect_form(*state, "HloModule %a...b\nENTRY %e... {\n  %x...y = f32[] parameter(0)\n}",
              "HloModule %a...b\n\nENTRY %e... {\n  ROOT %x...y = f32[] parameter(0)\n}\n");
  // A signature's names, too, are read as names only with their `%` if they begin with no letter.
  module *again;
  const module *m = parse(*state, "HloModule m\nENTRY e { %.b = f32[] parameter(0) %5-x = f32[] parameter(1) }");
  text printed = {0};
  hlo_print(&printed, m, HLO_PRINT_FULL);
  assert_non_null(strstr(text_cstr(&printed), "ENTRY %e (%.b: f32[], %5-x: f32[]) -> f32[] {"));
  assert_true(status_is_ok(hlo_parse(*state, "printed", text_view(&printed), &again)));
  assert_true(status_is_ok(module_compare(m, again)));
  text_free(&printed);
}

static void test_order(void **state) {
  expect_form(*state, BODY("  ROOT y = f32[2] subtract(a, b)\n  b = f32[2] parameter(1)\n  a = f32[2] parameter(0)"),
              BODY("  ROOT y = f32[2] subtract(a, b)\n  b = f32[2] parameter(1)\n  a = f32[2] parameter(0)"));
  expect_form(*state, BODY("  x = f32[] parameter(0)\n  ROOT r = f32[] negate(x)\n  d = f32[] negate(r)"),
              BODY("  x = f32[] parameter(0)\n  ROOT r = f32[] negate(x)\n  d = f32[] negate(r)"));
  // Callees come first, whatever the text's order.
  expect_form(*state,
              "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT c = f32[] call(x), to_apply=f }\n"
              "f { p = f32[] parameter(0) ROOT n = f32[] negate(p) }",
              "HloModule m\n\nf {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p)\n}\n\n"
              "ENTRY e {\n  x = f32[] parameter(0)\n  ROOT c = f32[] call(x), to_apply=f\n}\n");
}

static void test_written_in_place(void **state) {
  expect_form(*state, BODY("  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, f32[2] negate(f32[2] x))"),
              BODY("  x = f32[2] parameter(0)\n  negate = f32[2] negate(x)\n  ROOT y = f32[2] add(x, negate)"));
  expect_form(
      *state,
      BODY("  x = f32[2] parameter(0)\n  negate = f32[2] exponential(negate(x))\n  ROOT y = f32[2] add(x, negate)"),
      BODY("  x = f32[2] parameter(0)\n  negate.2 = f32[2] negate(x)\n  negate = f32[2] exponential(negate.2)\n"
           "  ROOT y = f32[2] add(x, negate)"));
  expect_form(
      *state,
      BODY("  x = f32[2] parameter(0)\n  ROOT y = f32[2] fusion(x), kind=kLoop, calls={\n    p = f32[2] parameter(0)\n"
           "    ROOT n = f32[2] negate(p)\n  }, metadata={op_name=\"f\"}"),
      "HloModule m\n\ncomputation.0 {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}\n\n"
      "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] fusion(x), kind=kLoop, calls=computation.0, "
      "metadata={op_name=\"f\"}\n}\n");
}

static void test_asynchronous_short_forms(void **state) {
  const char *start = "((f32[3], f32[3]), f32[3], s32[])";
  const char *source =
      arena_printf(*state,
                   BODY("  x = f32[3] parameter(0)\n  s = %s add-start(x, x), async_execution_thread=\"side\", "
                        "sharding={replicated}, "
                        "metadata={op_name=\"a\"}\n  u = %s add-update(s)\n  ROOT d = f32[3] add-done(u)"),
                   start, start);
  const char *plain =
      arena_printf(*state,
                   "HloModule m\n\nasync_wrapped {\n  param_0 = f32[3] parameter(0)\n  param_1 = f32[3] parameter(1)\n"
                   "  ROOT root = f32[3] add(param_0, param_1), sharding={replicated}, metadata={op_name=\"a\"}\n}\n\n"
                   "ENTRY e {\n  x = f32[3] parameter(0)\n  s = %s async-start(x, x), calls=async_wrapped, "
                   "async_execution_thread=\"side\", metadata={op_name=\"a\"}\n  u = %s async-update(s)\n"
                   "  ROOT d = f32[3] async-done(u)\n}\n",
                   start, start);
  expect_form(*state, source, plain);
  // The wrapped operation's own attributes and calls go with it; other texts repeat them behind update and done.
  module *m = parse(*state,
                    "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
                    "ENTRY e { x = f32[3] parameter(0)\n z = f32[] parameter(1)\n"
                    "  s = ((f32[3], f32[]), f32[], s32[]) reduce-start(x, z), dimensions={0}, to_apply=f\n"
                    "  ROOT d = f32[] reduce-done(s), dimensions={0}, to_apply=f }\n");
  const instruction *d = m->entry->root, *s = d->operands[0];
  assert_int_equal(d->opcode, HLO_ASYNC_DONE);
  assert_int_equal(d->called_count, 0);
  assert_int_equal(s->called_count, 1);
  assert_int_equal(s->called[0]->root->opcode, HLO_REDUCE);
  assert_int_equal(s->called[0]->root->called_count, 1);
  assert_int_equal(s->called[0]->root->attributes->dimensions.size, 1);
}

static void test_inferred_shapes(void **state) {
  expect_form(*state, BODY("  x = f32[2,3] parameter(0)\n  y = transpose(x), dimensions={1,0}\n  ROOT t = tuple(x, y)"),
              BODY("  x = f32[2,3] parameter(0)\n  y = f32[3,2] transpose(x), dimensions={1,0}\n"
                   "  ROOT t = (f32[2,3], f32[3,2]) tuple(x, y)"));
}

static void test_module_parts(void **state) {
  const char *source =
      "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, "
      "entry_computation_layout={(f32[2]{0})->f32[2]{0:T(256)}}, frontend_attributes={a=\"x=\\\"y\\\"\"}\n\n"
      "FileNames\n1 \"a.py\"\n\nFileLocations\n1 {file_name_id=1 line=3}\n\n"
      "f {\n  ROOT p = f32[2]{0} parameter(0)\n}, execution_thread=\"side \\\"thread\\\"\", other={1, 2}\n\n"
      "ENTRY e {\n  x = f32[2]{0} parameter(0)\n  ROOT y = f32[2]{0:T(256)} copy(x)\n}\n";
  expect_form(*state, source, source);
  module *m = parse(*state, source);
  assert_true(m->is_scheduled);
  assert_int_equal(m->attributes.size, 4);
  assert_int_equal(m->entry_parameters_layout->tuple_size, 1);
  assert_int_equal(m->entry_result_layout->layout->tile_count, 1);
  assert_true(str_is(m->computations.data[0]->execution_thread, "side \"thread\""));
  assert_true(str_starts_with(m->tables, "FileNames\n1 \"a.py\""));
}

// Protos bring both: tables without rows, and the largest numbers in layouts.
static void test_empty_tables(void **state) {
  const char *source =
      "HloModule m\n\nFileNames\n\nFunctionNames\n1 \"f\"\n\nStackFrames\n\n"
      "ENTRY e {\n  ROOT x = f32[2]{0:E(9223372036854775807)} parameter(0)\n}\n";
  module *m = parse(*state, source);
  assert_true(m->entry->root->shape->layout->element_bits == INT64_MAX);
  assert_true(str_starts_with(m->tables, "FileNames\n\nFunctionNames\n1 \"f\""));
}

static void test_places(void **state) {
  module *m = parse(*state, BODY(X "  ROOT %y = f32[2] negate(x)"));
  const instruction *y = m->entry->root;
  assert_string_equal(y->where.file, "test");
  assert_int_equal(y->where.line, 5);
  assert_int_equal(y->where.column, 8);
  assert_int_equal(m->entry->where.line, 3);
}

static void expect_shape(arena *a, const char *source, const char *printed) {
  const shape *s;
  heddle_status status = shape_parse(a, str_from(source), &s);
  assert_string_equal(heddle_status_message(status), "");
  text t = {0};
  shape_print(&t, s, true);
  assert_string_equal(t.data, printed);
  text_free(&t);
}

static void test_shapes(void **state) {
  static const char *const same[] = {"f32[]",
                                     "pred[2,3]{1,0}",
                                     "s2[1]",
                                     "u4[2]{0:E(4)}",
                                     "f8e4m3b11fnuz[3]",
                                     "f4e2m1fn[4]",
                                     "c128[5]",
                                     "token[]",
                                     "opaque[]",
                                     "()",
                                     "(f32[2], (s32[], token[]))",
                                     "f32[<=8,3]",
                                     "f32[?,784]",
                                     "f32[2,3]{0,1:T(8,128)(2,1)S(1)}",
                                     "bf16[2,3]{1,0:T(8,128)(2,1)L(4)E(16)S(5)}",
                                     "f32[5,10]{1,0:D(D,C)}",
                                     "f32[5]{0:T(*,128)}",
                                     "f32[2,0]",
                                     "f32[10]{0:#(u32)*(u16)}",
                                     "f32[2]{0:S(1)SC(0:1,2)}",
                                     "f32[2]{0:P(f32[10,10]{0,1})}",
                                     "f32[2,3]{1,0:S(3)SC(0:10)(1:4,5)}",
                                     "f32[]{:T(128)}",
                                     "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) expect_shape(*state, same[i], same[i]);
  expect_shape(*state, "( f32[ 2 , 3 ]{ 1 , 0 } , s32[] )", "(f32[2,3]{1,0}, s32[])");
  expect_shape(*state, "f32[2,3]{:S(1)}", "f32[2,3]{1,0:S(1)}");
  expect_shape(*state, "f32[2,3] {0,1}", "f32[2,3]{0,1}");
  expect_shape(*state, "(b(f32[2,3]{0,1}), b( s32[] ))", "(b(f32[2,3]{0,1}), b(s32[]))");
  expect_shape(*state, "f32[]{}", "f32[]");
  expect_shape(*state, "f32[2,3,4]{0,1,2:T(2, * , 128)}", "f32[2,3,4]{0,1,2:T(2,*,128)}");
}

// What a signature says need not be true: the body counts.
static void test_signatures(void **state) {
  const char *plain = BODY(X "  ROOT y = f32[2] add(x, x)");
  static const char *const signatures[] = {"()->f32[2]", "(a: s32[], b: (f32[], pred[3])) -> f32[7]",
                                           "(x f32[2]) -> f32[]"};
  for (size_t k = 0; k < sizeof signatures / sizeof *signatures; k++) {
    const char *text =
        arena_printf(*state, "HloModule m\n\nENTRY e %s {\n" X "  ROOT y = f32[2] add(x, x)\n}\n", signatures[k]);
    assert_string_equal(print(*state, parse(*state, text), HLO_PRINT_SHORT), plain);
  }
}

// Operations in place of operands have commas behind them that lead to the next operand.
static void test_nested_operands(void **state) {
  const char *plain = BODY(
      "  parameter.1 = f32[2] parameter(0)\n  parameter.2 = s32[2] parameter(1)\n  convert.3 = f32[2] "
      "convert(parameter.2)\n"
      "  constant.4 = f32[] constant(1)\n  broadcast.5 = f32[2] broadcast(constant.4), dimensions={}\n"
      "  ROOT y = f32[2] clamp(parameter.1, convert.3, broadcast.5)");
  module *m = parse(*state, BODY("  ROOT y = f32[2] clamp(f32[2] parameter(0), f32[2] convert(s32[2] parameter(1)), "
                                 "f32[2] broadcast(f32[] constant(1)), dimensions={})"));
  module *wanted = parse(*state, plain);
  assert_int_equal(m->entry->instructions.size, wanted->entry->instructions.size);
  assert_string_equal(hlo_op_text(m->entry->root->operands[1]->operands[0]->opcode), "parameter");
  assert_int_equal(m->entry->root->operands[1]->operands[0]->attributes->index, 1);
  assert_int_equal(m->entry->root->operands[2]->opcode, HLO_BROADCAST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spellings),
      cmocka_unit_test(test_without_header),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_written_in_place),
      cmocka_unit_test(test_asynchronous_short_forms),
      cmocka_unit_test(test_inferred_shapes),
      cmocka_unit_test(test_module_parts),
      cmocka_unit_test(test_empty_tables),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_signatures),
      cmocka_unit_test(test_nested_operands),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
