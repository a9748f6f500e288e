// Modules of MLIR text: functions, regions, names of values, locations, files of several pieces, and hostile texts.

#include "mlir/text.h"

#include "base/arena_testing.h"

static ir_module **modules_of(arena *a, const char *source, int wanted) {
  ir_module **modules = NULL;
  int count = 0;
  heddle_status status = mlir_text_read(a, "test", str_from(source), &count, &modules);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  assert_int_equal(count, wanted);
  return modules;
}

static ir_module *module_of(arena *a, const char *source) { return modules_of(a, source, 1)[0]; }

static void expect_error(arena *a, const char *source, const char *message) {
  ir_module **modules;
  int count;
  heddle_status status = mlir_text_read(a, "test", str_from(source), &count, &modules);
  if (status_is_ok(status)) fail_msg("accepted: %.200s", source);
  if (!strstr(heddle_status_message(status), message))
    fail_msg("%s\ndoes not say: %s", heddle_status_message(status), message);
  heddle_status_free(status);
}

static void expect_text(str found, const char *wanted) {
  assert_int_equal(found.size, strlen(wanted));
  assert_memory_equal(found.data, wanted, found.size);
}

static const ir_block *body_of(const ir_operation *o) { return o->regions[0]->blocks.data[0]; }

static const ir_block *top_of(arena *a, const char *source) { return body_of(module_of(a, source)->operation); }

static void test_module(void **state) {
  const ir_module *m = module_of(*state,
                                 "module @m attributes {mhlo.num_replicas = 1 : i32} {\n"
                                 "  func.func private @f(tensor<2xf32>)\n"
                                 "  module @inner { func.func private @g() }\n}\n");
  expect_text(ir_find(m->operation, "sym_name")->text, "m");
  assert_int_equal(ir_find(m->operation, "mhlo.num_replicas")->integer, 1);
  assert_null(m->operation->parent);
  const ir_block *body = body_of(m->operation);
  assert_int_equal(body->operations.size, 2);
  assert_int_equal(body->operations.data[0]->op, IR_OP_FUNC);
  assert_int_equal(body->operations.data[0]->regions[0]->blocks.size, 0);
  assert_int_equal(body->operations.data[0]->where.line, 2);
  assert_int_equal(body->operations.data[0]->where.column, 3);
  assert_int_equal(body->operations.data[1]->op, IR_OP_MODULE);
  assert_int_equal(body_of(module_of(*state, "module {}")->operation)->operations.size, 0);
  assert_int_equal(top_of(*state, "func.func private @f()\nfunc.func private @g()\n")->operations.size, 2);
}

static void test_function(void **state) {
  const ir_operation *f = top_of(*state,
                                 "func.func public @\"a b\"(%a: f32 {x = 1 : i8} loc(\"a\"), %b: i1) -> "
                                 "(i1 {y}, f32) attributes {z} {\n  return {w} %b, %a : i1, f32\n}\n")
                              ->operations.data[0];
  expect_text(ir_find(f, "sym_name")->text, "a b");
  expect_text(ir_find(f, "sym_visibility")->text, "public");
  assert_int_equal(ir_find(f, "z")->kind, IR_ATTR_UNIT);
  const ir_type *type = ir_find(f, "function_type")->type;
  assert_int_equal(type->count, 2);
  assert_int_equal(type->results[0]->dtype, DTYPE_PRED);
  assert_int_equal(ir_find_field(ir_find(f, "arg_attrs")->items[0], "x")->integer, 1);
  assert_int_equal(ir_find(f, "arg_attrs")->items[1]->count, 0);
  assert_non_null(ir_find_field(ir_find(f, "res_attrs")->items[0], "y"));
  const ir_block *body = body_of(f);
  assert_int_equal(body->argument_count, 2);
  expect_text(body->argument_locations[0].name, "a");
  const ir_operation *last = body->operations.data[0];
  assert_int_equal(last->op, IR_OP_FUNC_RETURN);
  assert_ptr_equal(last->operands[0], body->arguments[1]);
  assert_ptr_equal(last->parent, body);
  assert_non_null(ir_find(last, "w"));
}

static void test_call(void **state) {
  const ir_block *top = top_of(*state,
                               "func.func @f(%a: f32) -> f32 {\n  %0:2 = call @g(%a) {k} : (f32) -> (f32, i1)\n"
                               "  %1:2 = func.call @g(%0#0) : (f32) -> (f32, i1)\n  func.return %1#0 : f32\n}\n"
                               "func.func private @g(f32) -> (f32, i1)\n");
  const ir_block *body = body_of(top->operations.data[0]);
  const ir_operation *call = body->operations.data[0];
  assert_int_equal(call->op, IR_OP_CALL);
  assert_int_equal(call->result_count, 2);
  expect_text(ir_find(call, "callee")->text, "g");
  assert_int_equal(ir_find(call, "callee")->kind, IR_ATTR_SYMBOL);
  assert_ptr_equal(body->operations.data[1]->operands[0], call->results[0]);
  assert_int_equal(call->results[1]->number, 1);
  assert_ptr_equal(call->results[1]->producer, call);
}

static void test_generic(void **state) {
  const ir_block *top =
      top_of(*state,
             "\"builtin.module\"() <{sym_name = \"m\"}> ({\n"
             "  \"func.func\"() <{function_type = (f32) -> f32, sym_name = \"f\"}> ({\n  ^bb0(%a: f32 loc(\"p\")):\n"
             "    %0, %1:2 = \"foo.bar\"(%a, %a) <{p = 1}> ({\n      \"foo.inner\"(%a) : (f32) -> ()\n    }, {}) "
             "{q} : (f32, f32) -> (f32, i1, f32) loc(\"here\")\n"
             "    \"func.return\"(%1#1) : (f32) -> ()\n  }) : () -> ()\n}) : () -> ()\n");
  const ir_operation *f = top->operations.data[0];
  assert_int_equal(f->op, IR_OP_FUNC);
  const ir_operation *bar = body_of(f)->operations.data[0];
  expect_text(body_of(f)->argument_locations[0].name, "p");
  assert_int_equal(bar->op, IR_OP_UNKNOWN);
  expect_text(bar->name, "foo.bar");
  assert_int_equal(bar->region_count, 2);
  assert_ptr_equal(bar->regions[0]->parent, bar);
  assert_int_equal(bar->regions[1]->blocks.size, 0);
  assert_int_equal(bar->attribute_count, 2);
  expect_text(bar->location.name, "here");
  assert_ptr_equal(body_of(bar)->operations.data[0]->operands[0], body_of(f)->arguments[0]);
  assert_ptr_equal(body_of(f)->operations.data[1]->operands[0], bar->results[2]);
}

static void test_branches(void **state) {
  const ir_block *top = top_of(*state,
                               "func.func @f(%a: f32) {\n  \"cf.br\"()[^bb2] : () -> ()\n"
                               "^bb1:\n  \"foo.use\"(%0#1) : (f32) -> ()\n  return\n"
                               "^bb2:\n  %0:2 = \"foo.make\"() : () -> (i1, f32)\n"
                               "  \"cf.br\"()[^bb1, ^bb2] : () -> ()\n}\n");
  const ir_region *r = top->operations.data[0]->regions[0];
  assert_int_equal(r->blocks.size, 3);
  const ir_operation *use = r->blocks.data[1]->operations.data[0], *make = r->blocks.data[2]->operations.data[0];
  assert_ptr_equal(use->operands[0], make->results[1]);
  assert_ptr_equal(make->results[1]->producer, make);
  assert_int_equal(r->blocks.data[2]->operations.data[1]->successor_count, 2);
  expect_error(*state, "func.func @f() {\n  \"cf.br\"()[^bb1] : () -> ()\n}\n", "test:2:13: error: found block '^bb1'");
  expect_error(*state, "func.func @f() {\n^a:\n  return\n^a:\n  return\n}\n", "found block '^a' defined again");
}

static void test_scopes(void **state) {
  expect_error(*state, "func.func @f() -> f32 {\n  return %a : f32\n}\n",
               "test:2:10: error: found '%a', which is not defined\n    return %a : f32\n           ^");
  expect_error(*state, "func.func @f(%a: f32) {\n  %a = \"x.y\"() : () -> i1\n  return\n}\n",
               "test:2:3: error: found '%a' defined again, first in line 1");
  expect_error(*state, "func.func @f(%a: f32, %a: f32)  {\n  return\n}\n", "found '%a' defined again");
  expect_error(*state, "func.func @f(%a: f32) -> i1 {\n  return %a : i1\n}\n", "found '%a' of type f32, used as i1");
  expect_error(*state, "func.func @f(%a: f32) -> f32 {\n  return %a#1 : f32\n}\n",
               "found result 1 of '%a', which has 1");
  expect_error(*state, "func.func @f() {\n  \"x.y\"(%a) : (i1) -> ()\n  %a = \"x.y\"() : () -> i1\n  return\n}\n",
               "test:2:9: error: found '%a', which is defined further down");
  expect_error(*state,
               "func.func @f() {\n  \"x.y\"() ({ \"x.z\"(%a) : (i1) -> () }) : () -> ()\n"
               "  %a = \"x.y\"() : () -> i1\n  return\n}\n",
               "found '%a', which is not defined");
  expect_error(*state, "func.func @f(%a: f32) {\n  func.func @g() -> f32 { return %a : f32 }\n  return\n}\n",
               "found '%a', which is not defined");
  expect_error(*state, "func.func @f() {\n  %a:2 = \"x.y\"() : () -> i1\n  return\n}\n", "found names for 2 results");
  expect_error(*state, "func.func @f() {\n  \"x.y\"() : (i1) -> ()\n  return\n}\n", "types of 1 operands, wanted 0");
  modules_of(*state,
             "func.func @f() {\n  \"x.y\"() ({ %a = \"x.z\"() : () -> i1 }, { %a = \"x.z\"() : () -> f32 }) "
             ": () -> ()\n  %a = \"x.y\"() : () -> i1\n  return\n}\n",
             1);
}

static void test_function_errors(void **state) {
  expect_error(*state, "func.func @f() -> f32 {\n  return\n}\n", "found values of other types than the results");
  expect_error(*state, "func.func @f() {\n  %0 = call @f() : () -> f32\n}\n", "a function's block without a return");
  expect_error(*state, "func.func @f() {\n}\n", "a function's body without operations");
  expect_error(*state, "func.func @f(f32) {\n  return\n}\n", "found other arguments of the body than in the");
  expect_error(*state, "func.func @f(f32, %a: f32)", "a type, as for the first argument");
  expect_error(*state, "func.func private @f()\n\nfunc.func private @f()\n",
               "test:3:1: error: found function @f defined");
  expect_error(*state, "\"func.func\"() ({}) : () -> ()", "a function without sym_name");
  expect_error(*state, "\"func.func\"() ({}) {sym_name = \"f\"} : () -> ()", "a function without function_type");
  expect_error(*state, "\"func.func\"() {sym_name = \"f\", function_type = () -> ()} : () -> ()",
               "another number of regions");
  expect_error(*state, "\"builtin.module\"() ({\n^a(%a: i1):\n}) : () -> ()",
               "a module whose body has blocks or arguments");
  expect_error(*state,
               "\"func.func\"() ({ ^a(%a: f32): \"func.return\"() : () -> () }) {sym_name = \"f\", "
               "function_type = () -> ()} : () -> ()",
               "other arguments of the body than in the function's type");
  expect_error(*state, "func.func @f() {\n  foo.bar\n}\n", "test:2:3: error: found operation 'foo.bar' in a form");
  expect_error(*state, "func.func @f() {\n  return\n", "found the end of the text, wanted '}'");
  expect_error(*state, "func.func @f", "found the end of the text, wanted '('");
  expect_error(*state, "", "found no operations");
  expect_error(*state, "\n func.func & @f", "test:2:12: error: found '&', wanted a symbol");
}

static void test_locations(void **state) {
  const ir_block *top = top_of(*state,
                               "func.func private @a() loc(unknown)\nfunc.func private @b() loc(\"f.py\":3:4)\n"
                               "func.func private @c() loc(\"n\"(\"f.py\":3:4))\n"
                               "func.func private @d() loc(callsite(\"m\"(\"g\":1:2 to :3:4) at #x))\n"
                               "func.func private @e() loc(fused<{a = [1]}>[unknown, \"p\", \"h\":5:6])\n"
                               "func.func private @f() loc(#y)\nfunc.func private @g()\n"
                               "func.func private @h() loc(\"f\":7:8 to 9:10)\n"
                               "#y = loc(\"z\"(#x))\n#x = loc(\"x.py\":1:1)\n");
  const ir_location *l = &top->operations.data[0]->location;
  assert_int_equal(l->name.size + l->file.size, 0);
  l = &top->operations.data[1]->location;
  expect_text(l->file, "f.py");
  assert_int_equal(l->line, 3);
  assert_int_equal(l->column, 4);
  assert_int_equal(l->name.size, 0);
  expect_text(top->operations.data[2]->location.name, "n");
  expect_text(top->operations.data[2]->location.file, "f.py");
  expect_text(top->operations.data[3]->location.name, "m");
  assert_int_equal(top->operations.data[3]->location.line, 1);
  expect_text(top->operations.data[4]->location.name, "p");
  assert_int_equal(top->operations.data[4]->location.line, 5);
  expect_text(top->operations.data[5]->location.name, "z");
  expect_text(top->operations.data[5]->location.file, "x.py");
  assert_int_equal(top->operations.data[6]->location.file.size, 0);
  assert_int_equal(top->operations.data[7]->location.line, 7);
  expect_error(*state, "func.func private @a() loc(foo)", "found 'foo', wanted a location");
  expect_error(*state, "func.func private @a() loc(#x)", "found '#x', which is not defined");
  expect_error(*state, "func.func private @a() loc(#x)\n#x = loc(#x)", "found alias '#x' defined by itself");
}

static void test_pieces(void **state) {
  ir_module **m = modules_of(*state,
                             "// RUN: nothing\n#a = 1 : i8\nfunc.func private @f() attributes {a = #a}\n// -----\n"
                             "// only words\n// -----\n#a = 2 : i8\nmodule @m { func.func private @f() "
                             "attributes {a = #a} }\n",
                             2);
  assert_int_equal(ir_find(ir_module_function(m[0], STR("f")), "a")->integer, 1);
  assert_int_equal(ir_find(ir_module_function(m[1], STR("f")), "a")->integer, 2);
  assert_int_equal(m[1]->operation->where.line, 8);
  expect_text(ir_find(m[1]->operation, "sym_name")->text, "m");
  expect_error(*state, "func.func private @f()\n// -----\n\nfunc.func private f()\n", "test:4:19: error:");
}

static void test_shardings(void **state) {
  const ir_block *top = top_of(*state,
                               "sdy.mesh @mesh = <[\"x\"=2]> {a = 1}\nfunc.func @f(%a: f32) -> f32 {\n"
                               "  %0 = sdy.sharding_constraint %a <@mesh, [{\"x\"}]> : f32\n  return %0 : f32\n}\n");
  const ir_operation *mesh = top->operations.data[0];
  assert_int_equal(mesh->op, IR_OP_SDY_MESH);
  expect_text(mesh->name, "sdy.mesh");
  expect_text(ir_find(mesh, "mesh")->text, "#sdy.mesh<[\"x\"=2]>");
  expect_text(ir_find(mesh, "sym_name")->text, "mesh");
  const ir_operation *constraint = body_of(top->operations.data[1])->operations.data[0];
  expect_text(ir_find(constraint, "sharding")->text, "#sdy.sharding<@mesh, [{\"x\"}]>");
  assert_int_equal(constraint->operand_count, 1);
}

// --- hostile texts

static const char *repeated(arena *a, const char *head, const char *part, int count, const char *tail) {
  text t = {0};
  text_puts(&t, head);
  for (int i = 0; i < count; i++) text_puts(&t, part);
  text_puts(&t, tail);
  const char *copy = str_copy(a, text_view(&t)).data;
  text_free(&t);
  return copy;
}

static void test_nesting(void **state) {
  enum { DEEP = 100000 };
  static const char *const parts[][2] = {
      {"module attributes {a = ", "["},
      {"module attributes {a = ", "{a = "},
      {"module attributes {a = ", "tuple<"},
      {"module attributes {a = ", "() -> ("},
      {"module attributes {a = ", "#stablehlo.dot_algorithm<lhs_precision_type = "},
      {"module attributes {a = ", "!quant.uniform<i8:f32:{0:1}, {{{{{{{{{{{"},
      {"module attributes {a = #x.y", "<"},
      {"", "module {"},
      {"", "\"x.y\"() ({"},
      {"func.func private @f() loc(", "callsite("},
      {"func.func private @f() loc(", "\"a\"("},
      {"func.func private @f() loc(", "fused["},
      {"{-#\n dialect_resources: ", "{ a: "},
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    expect_error(*state, repeated(*state, parts[i][0], parts[i][1], DEEP, ""), "error: found");
}

static void test_long_texts(void **state) {
  enum { MANY = 20000 };
  arena *a = *state;
  text t = {0};
  text_puts(&t, "func.func @f(");
  for (int i = 0; i < MANY; i++) text_printf(&t, "%s%%a%d: f32 {x}", i ? ", " : "", i);
  text_puts(&t, ") attributes {");
  for (int i = 0; i < MANY; i++) text_printf(&t, "%sk%d = #a%d", i ? ", " : "", i, i);
  text_puts(&t, "} {\n  return\n}\n");
  for (int i = 0; i < MANY; i++) text_printf(&t, "#a%d = [%s%d]\n", i, i ? "#a0, " : "", i);
  const ir_block *body = body_of(module_of(a, text_cstr(&t))->operation);
  assert_int_equal(body_of(body->operations.data[0])->argument_count, MANY);
  assert_int_equal(ir_find(body->operations.data[0], "k19999")->items[1]->integer, MANY - 1);
  text_free(&t);
}

static void test_cut_texts(void **state) {
  static const char source[] =
      "module @m attributes {a = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, b = dense<[[1], [2]]> : tensor<2x1xi8>} {\n"
      "  func.func @f(%a: tensor<?x2xf32, #stablehlo.bounds<3, ?>> loc(\"a\")) -> !t {\n"
      "    %0:2 = \"x.y\"(%a) <{p = \"\\22\"}> ({ ^b(%b: i1): }) : (tensor<?x2xf32>) -> (!t, i1) loc(#l)\n"
      "    return %0#0 : !t\n  }\n}\n!t = !quant.uniform<i8<-1:1>:f32:0, {1.0:-1}>\n#l = loc(callsite(\"a\" at "
      "\"b\":1:2))\n"
      "{-# dialect_resources: { x: { y: \"0x0400000000\" } } #-}\n";
  modules_of(*state, source, 1);
  for (size_t size = 0; size < sizeof source - 1; size++) {
    arena *a = arena_create();
    ir_module **modules;
    int count;
    char *copy = arena_strdup(a, source, size);
    heddle_status status = mlir_text_read(a, "test", (str){copy, size}, &count, &modules);
    assert_true(status_is_ok(status) ? count == 1 : strstr(heddle_status_message(status), "found") != NULL);
    heddle_status_free(status);
    arena_destroy(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_module),          cmocka_unit_test(test_function),  cmocka_unit_test(test_call),
      cmocka_unit_test(test_generic),         cmocka_unit_test(test_branches),  cmocka_unit_test(test_scopes),
      cmocka_unit_test(test_function_errors), cmocka_unit_test(test_locations), cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_shardings),       cmocka_unit_test(test_nesting),   cmocka_unit_test(test_long_texts),
      cmocka_unit_test(test_cut_texts),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
