// LHLO as text: programs written by hand, what is refused and where.
#include "lhlo/lhlo.h"

#include "base/status.h"
#include "base/testing.h"

#define ADD                                                                           \
  "func.func private @add(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {\n" \
  "  %0 = stablehlo.add %a, %b : tensor<8xf32>\n"                                     \
  "  return %0 : tensor<8xf32>\n"                                                     \
  "}\n"
#define UPDATE                                                                                                        \
  "func.func private @update(%a: tensor<8xf32>, %b: tensor<2xf32>, %i: tensor<i32>) -> tensor<8xf32> {\n"             \
  "  %0 = stablehlo.dynamic_update_slice %a, %b, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>\n" \
  "  return %0 : tensor<8xf32>\n"                                                                                     \
  "}\n"
#define MAIN "func.func @main(%p: memref<8xf32>, %r: memref<8xf32> {lmhlo.result}) {\n"
#define TEMP "%t = \"memref.alloc\"() : () -> memref<256xi8>\n"
#define VIEW(name, offset, type)                       \
  "%o" name " = \"arith.constant\"() {value = " offset \
  " : index} : () -> index\n"                          \
  "%" name " = \"memref.view\"(%t, %o" name ") : (memref<256xi8>, index) -> memref<" type ">\n"
#define CALL_ADD(a, b, r)                             \
  "\"lmhlo.fusion\"(%" a ", %" b ", %" r              \
  ") {callee = @add, segments = array<i64: 2, 1>} : " \
  "(memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()\n"
#define END "return\n}\n"

static heddle_status parse(arena *a, const char *source, lhlo_program **out) {
  const target_description target = target_cpu(2);
  return lhlo_parse(a, str_from(source), "x.lhlo", &target, out);
}

static lhlo_program *parsed(arena *a, const char *source) {
  lhlo_program *p = NULL;
  heddle_status s = parse(a, source, &p);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  return p;
}

static void refuse(const char *source, int line, const char *word) {
  arena *a = arena_create();
  lhlo_program *p = NULL;
  heddle_status s = parse(a, source, &p);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  if (!strstr(heddle_status_message(s), word)) fail_msg("'%s' has no '%s'", heddle_status_message(s), word);
  assert_int_equal(status_where(s).line, line);
  heddle_status_free(s);
  arena_destroy(a);
}

static void test_devices(void **state) {
  (void)state;
  arena *a = arena_create();
  const char *copy = "\"lmhlo.copy\"(%p, %r) {segments = array<i64: 1, 1>} : (memref<8xf32>, memref<8xf32>) -> ()\n";
  const char *form = "module @m attributes {mhlo.num_replicas = %d : i64, mhlo.num_partitions = %d : i64} {\n%s%s%s}\n";
  assert_int_equal(parsed(a, arena_printf(a, "%s%s%s", MAIN, copy, END))->device_count, 1);
  lhlo_program *p = parsed(a, arena_printf(a, form, 2, 3, MAIN, copy, END));
  assert_true(p->device_count == 6 && p->partition_count == 3);
  refuse(arena_printf(a, form, 0, 3, MAIN, copy, END), 1, "mhlo.num_replicas, wanted 1 to 1024");
  refuse(arena_printf(a, form, 2, 1000, MAIN, copy, END), 1, "found 2000 devices, wanted 1 to 1024");
  arena_destroy(a);
}

static void test_programs_are_written_by_hand(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p =
      parsed(a, ADD MAIN TEMP VIEW("v", "128", "8xf32") CALL_ADD("p", "p", "v") CALL_ADD("v", "p", "r") END);
  assert_int_equal(p->parameter_count, 1);
  assert_int_equal(p->result_count, 1);
  assert_int_equal(p->temporary_bytes, 256);
  assert_int_equal(p->peak_bytes, 256 + 64);
  assert_int_equal(p->entry.ops.size, 2);
  assert_int_equal(p->kernel_count, 1);
  assert_int_equal(p->entry.ops.data[0]->results[0].offset, 128);
  assert_string_equal(p->allocations[p->entry.ops.data[1]->results[0].allocation].name, "r0");
  arena_destroy(a);
}

static void test_kernels_write_over_what_they_read_elementwise(void **state) {
  (void)state;
  arena *a = arena_create();
  lhlo_program *p = parsed(a, ADD MAIN TEMP VIEW("v", "0", "8xf32") CALL_ADD("p", "p", "v") CALL_ADD(
                                  "v", "p", "v") "\"lmhlo.copy\"(%v, %r) : (memref<8xf32>, memref<8xf32>) -> ()\n" END);
  assert_int_equal(p->kernel_count, 2);
  const kernel_plan *k = p->entry.ops.data[1]->kernel;
  assert_int_equal(k->slices[k->outputs[0].slice].kind, KERNEL_PARAMETER);
  assert_int_equal(p->entry.ops.data[2]->kind, LHLO_COPY);
  arena_destroy(a);
}

#define HUGE "1073741824x1073741824xf32"

static void test_sizes_have_limits(void **state) {
  (void)state;
  refuse("func.func private @turn(%a: tensor<" HUGE ">) -> tensor<" HUGE
         "> {\n"
         "  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<" HUGE ">) -> tensor<" HUGE
         ">\n"
         "  return %t : tensor<" HUGE
         ">\n}\n"
         "func.func @main(%p: memref<" HUGE ">, %r: memref<" HUGE
         "> {lmhlo.result}) {\n"
         "\"lmhlo.fusion\"(%p, %r) {callee = @turn, segments = array<i64: 1, 1>} : (memref<" HUGE ">, memref<" HUGE
         ">) -> ()\n" END,
         1, "the limit");
}

// A splat's text is no measure of its bytes: who reads what others wrote can say how many there may be.
static void test_splats_have_a_budget(void **state) {
  arena *a = arena_create();
  (void)state;
  const char *source =
      "func.func private @f(%a: tensor<4096xi8>) -> tensor<4096xi8> {\n"
      "  %c = stablehlo.constant dense<1> : tensor<4096xi8>\n"
      "  %0 = stablehlo.add %a, %c : tensor<4096xi8>\n"
      "  return %0 : tensor<4096xi8>\n"
      "}\n"
      "func.func @main(%p: memref<4096xi8>, %r: memref<4096xi8> {lmhlo.result}) {\n"
      "\"lmhlo.fusion\"(%p, %r) {callee = @f, segments = array<i64: 1, 1>} : (memref<4096xi8>, memref<4096xi8>) -> "
      "()\n" END;
  const target_description target = target_cpu(2);
  lhlo_program *p = NULL;
  heddle_status s = lhlo_parse_limited(a, str_from(source), "x.lhlo", &target, 4095, &p);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(s), "repeats one element"));
  assert_int_equal(status_where(s).line, 2);
  heddle_status_free(s);
  assert_true(status_is_ok(lhlo_parse_limited(a, str_from(source), "x.lhlo", &target, 4096, &p)));
  arena_destroy(a);
}

static void test_kernels_have_results(void **state) {
  (void)state;
  refuse("func.func private @none(%a: tensor<8xf32>) {\n  return\n}\n" MAIN
         "\"lmhlo.fusion\"(%p) {callee = @none, segments = array<i64: 1, 0>} : (memref<8xf32>) -> ()\n" END,
         5, "no results");
}

static void test_overlaps_are_refused(void **state) {
  (void)state;
  // Both operands are the memory written to.
  refuse(ADD MAIN TEMP VIEW("v", "0", "8xf32") CALL_ADD("p", "p", "v") CALL_ADD("v", "v", "v") END, 10, "overlaps");
  // Half of it.
  refuse(ADD MAIN TEMP VIEW("v", "0", "32xf32")
             VIEW("w", "64", "32xf32") "\"lmhlo.copy\"(%v, %w) : (memref<32xf32>, memref<32xf32>) -> ()\n" END,
         11, "overlaps");
  refuse(ADD MAIN CALL_ADD("p", "p", "p") END, 6, "only read");
  refuse(UPDATE MAIN
         "\"lmhlo.fusion\"(%p, %p, %p, %r) {callee = @update, segments = array<i64: 3, 1>} : (memref<8xf32>, "
         "memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()\n" END,
         6, "operand 1 has type");
}

static void test_updates_need_the_memory_they_update(void **state) {
  (void)state;
  refuse(UPDATE
         "func.func @main(%p: memref<8xf32>, %u: memref<2xf32>, %i: memref<i32>, %r: memref<8xf32> {lmhlo.result}) {\n"
         "\"lmhlo.fusion\"(%p, %u, %i, %r) {callee = @update, segments = array<i64: 3, 1>} : (memref<8xf32>, "
         "memref<2xf32>, memref<i32>, memref<8xf32>) -> ()\n" END,
         6, "same memory");
}

static void test_what_nobody_wrote_is_not_read(void **state) {
  (void)state;
  refuse(ADD MAIN TEMP VIEW("v", "0", "8xf32") CALL_ADD("v", "p", "r") END, 9, "nothing wrote");
  refuse(ADD MAIN TEMP END, 1, "nothing writes result r0");
  // A loop's body may not run.
  refuse(ADD MAIN TEMP VIEW("v", "0", "8xf32") VIEW("c", "64", "i1")
             "\"lmhlo.while\"(%c) ({\n\"lmhlo.terminator\"() : () -> ()\n}, {\n\"lmhlo.terminator\"() : () -> ()\n}) : "
             "(memref<i1>) -> ()\n" END,
         11, "nothing wrote");
}

static void test_views_stay_inside(void **state) {
  (void)state;
  refuse(ADD MAIN TEMP VIEW("v", "256", "8xf32") END, 8, "inside the 256 bytes");
  refuse(ADD MAIN TEMP VIEW("v", "32", "8xf32") END, 8, "multiple of 64");
  refuse(ADD MAIN TEMP VIEW("v", "-64", "8xf32") END, 8, "inside");
  refuse(ADD MAIN TEMP "%u = \"memref.alloc\"() : () -> memref<64xi8>\n" END, 7, "second memref.alloc");
  refuse(ADD MAIN "%u = \"memref.alloc\"() : () -> memref<64xf32>\n" END, 6, "wanted bytes");
}

static void test_operations_must_be_known(void **state) {
  (void)state;
  refuse(ADD MAIN
         "\"lmhlo.nothing\"(%p, %r) {segments = array<i64: 1, 1>} : (memref<8xf32>, memref<8xf32>) -> ()\n" END,
         6, "found lmhlo.nothing, wanted an operation of LHLO");
  refuse(ADD MAIN "\"lmhlo.nothing\"(%p, %r) : (memref<8xf32>, memref<8xf32>) -> ()\n" END, 6,
         "found lmhlo.nothing, wanted an operation of LHLO");
  refuse(ADD MAIN
         "\"lmhlo.fusion\"(%p, %r) {callee = @sub, segments = array<i64: 1, 1>} : (memref<8xf32>, "
         "memref<8xf32>) -> ()\n" END,
         6, "no function @sub");
  refuse(ADD MAIN
         "\"lmhlo.fusion\"(%p, %r) {callee = @add, segments = array<i64: 1, 1>} : (memref<8xf32>, "
         "memref<8xf32>) -> ()\n" END,
         6, "wanted 2");
  refuse(ADD MAIN
         "\"lmhlo.fusion\"(%p, %r) {callee = @add, segments = array<i64: 1, 5>} : (memref<8xf32>, "
         "memref<8xf32>) -> ()\n" END,
         6, "segments");
  refuse(ADD, 1, "@main");
}

#define DONATED                                          \
  "func.func @main(%p: memref<8xf32>, %q: memref<8xf32>" \
  ", %r: memref<8xf32> {lmhlo.result, lmhlo.donated = 0 : i64}) {\n"

static void test_donated_memory_has_one_name(void **state) {
  (void)state;
  arena *a = arena_create();
  const lhlo_program *p = parsed(a, ADD DONATED CALL_ADD("r", "q", "r") END);
  assert_int_equal(p->allocations[2].donated_parameter, 0);
  assert_int_equal(p->peak_bytes, 64);
  assert_true(str_is(p->entry.ops.data[0]->source->name, "add"));
  refuse(ADD DONATED CALL_ADD("p", "q", "r") END, 6,
         "operand 0 of lmhlo.fusion lies in p0, which is donated: wanted r0");
  refuse(ADD DONATED
         "%v = \"lmhlo.view\"(%p) {offset = 0 : i64} : (memref<8xf32>) -> memref<2x4xf32>\n"
         "\"lmhlo.copy\"(%v, %r) : (memref<2x4xf32>, memref<8xf32>) -> ()\n" END,
         7, "wanted r0");
  refuse(ADD
         "func.func @main(%p: memref<8xf32>, %q: memref<8xf32> {lmhlo.result, lmhlo.donated = 0 : i64}, "
         "%r: memref<8xf32> {lmhlo.result, lmhlo.donated = 0 : i64}) {\n" END,
         5, "donated twice");
  arena_destroy(a);
}

static void test_blocks_end_once(void **state) {
  (void)state;
  refuse(ADD MAIN CALL_ADD("p", "p", "r") "}\n", 6, "without func.return");
  refuse(ADD MAIN "}\n", 5, "without a return");
  refuse(ADD MAIN CALL_ADD("p", "p", "r") "return\n" CALL_ADD("p", "p", "r") END, 8,
         "found an operation behind the end of its block");
  refuse("func.func @main(%p: memref<8xf32>) -> memref<8xf32> {\nreturn %p : memref<8xf32>\n}\n", 2,
         "of 1 values, wanted none");
  refuse(ADD MAIN "\"lmhlo.terminator\"() : () -> ()\n" END, 6, "found lmhlo.terminator, wanted");
  refuse(ADD MAIN "\"lmhlo.call\"(%p, %r) ({\n\"lmhlo.terminator\"() : () -> ()\n" CALL_ADD("p", "p", "r")
                      "\"lmhlo.terminator\"() : () -> ()\n"
                      "}) {segments = array<i64: 1, 1>} : (memref<8xf32>, memref<8xf32>) -> ()\n" END,
         7, "found lmhlo.terminator, wanted");
}

#define SLICED(last, product, result)                                                                       \
  "func.func private @product(%x: tensor<32x40xf32>, %w: tensor<16x24xf32>) -> tensor<32x24xf32> {\n"       \
  "  %0 = \"stablehlo.slice\"(%x) {start_indices = array<i64: 0, 24>, limit_indices = array<i64: 32, " last \
  ">, strides = array<i64: 1, 1>} : (tensor<32x40xf32>) -> tensor<32x16xf32>\n"                             \
  "  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : "                                    \
  "(tensor<32x16xf32>, tensor<16x24xf32>) -> tensor<32x24xf32>\n" product "  return " result                \
  " : tensor<32x24xf32>\n"                                                                                  \
  "}\n"                                                                                                     \
  "func.func @main(%x: memref<32x40xf32>, %w: memref<16x24xf32>, %r: memref<32x24xf32> {lmhlo.result}) {\n" \
  "\"lmhlo.library\"(%x, %w, %r) {callee = @product, segments = array<i64: 2, 1>, kind = \"custom\"} : "    \
  "(memref<32x40xf32>, memref<16x24xf32>, memref<32x24xf32>) -> ()\n" END

static int64_t attribute_of(const library_call *call, const char *name) {
  for (int k = 0; k < call->attribute_count; k++)
    if (strcmp(call->attributes[k].name, name) == 0) return call->attributes[k].ints[0];
  fail_msg("there is no %s", name);
  return 0;
}

// A product of a slice reads it from inside of the array; the slice has to lie there, and nothing unknown may follow.
static void test_products_of_slices(void **state) {
  (void)state;
  arena *a = arena_create();
  const lhlo_op *op = parsed(a, SLICED("40", "", "%1"))->entry.ops.data[0];
  assert_int_equal(op->kind, LHLO_LIBRARY);
  assert_int_equal(attribute_of(op->library, "lhs_offset"), 24);
  assert_int_equal(attribute_of(op->library, "lhs_elements"), 32 * 40);
  assert_int_equal(attribute_of(op->library, "lhs_strides"), 40);
  refuse(SLICED("41", "", "%1"), 2, "slice");
  lhlo_program *p;
  heddle_status s = parse(a, SLICED("40", "  %2 = stablehlo.exponential %1 : tensor<32x24xf32>\n", "%2"), &p);
  assert_int_equal(heddle_status_code(s), HEDDLE_UNIMPLEMENTED);
  assert_non_null(strstr(heddle_status_message(s), "no library knows"));
  assert_int_equal(status_where(s).line, 3);
  heddle_status_free(s);
  arena_destroy(a);
}

// Words alone do not make a text LHLO.
static void test_recognizes(void **state) {
  (void)state;
#define BODY(x) "module { func.func @main(%a: tensor<f32>) -> tensor<f32> { " x " return %a : tensor<f32> } }"
  static const char *const yes[] = {
      BODY("\"lmhlo.fusion\"(%a) : (tensor<f32>) -> ()\n"),
      BODY("%0 = \"profile.start\"() : () -> i64\n"),
      "module attributes {lmhlo.peak_bytes = 4 : i64} { }",
      "func.func @main(%p: memref<f32>, %r: memref<f32> {lmhlo.result}) { return }",
      BODY("// \" a comment\n \"lmhlo.copy\"(%a, %a) : (tensor<f32>, tensor<f32>) -> ()\n"),
  };
  static const char *const no[] = {
      BODY("// \"lmhlo.fusion\"(%a) lmhlo.result\n"),
      BODY("%0 = stablehlo.custom_call @lmhlo.fusion(%a) : (tensor<f32>) -> tensor<f32>\n"),
      BODY("%0 = call @\"lmhlo.fusion\"(%a) : (tensor<f32>) -> tensor<f32>\n"),
      BODY("%0 = stablehlo.custom_call @f(%a) {backend_config = \"\\\"lmhlo.fusion\\\"(\"} : (tensor<f32>) -> "
           "tensor<f32>\n"),
      BODY("%lmhlo.x = stablehlo.negate %a : tensor<f32> loc(callsite(\"lmhlo.py\"(\"f\":1:1) at "
           "\"lmhlo.py\"(\"g\":2:2)))\n"),
      "#lmhlo.x = loc(\"profile.py\"(\"lmhlo.py\":1:1))\nmodule { }",
      "HloModule m\nENTRY e { ROOT lmhlo.x = f32[] parameter(0) }",
      "module { \"lmhlo.",
  };
#undef BODY
  for (size_t k = 0; k < sizeof yes / sizeof *yes; k++)
    if (!lhlo_is(str_from(yes[k]))) fail_msg("not taken for LHLO: %s", yes[k]);
  for (size_t k = 0; k < sizeof no / sizeof *no; k++)
    if (lhlo_is(str_from(no[k]))) fail_msg("taken for LHLO: %s", no[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products_of_slices),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_splats_have_a_budget),
      cmocka_unit_test(test_programs_are_written_by_hand),
      cmocka_unit_test(test_kernels_write_over_what_they_read_elementwise),
      cmocka_unit_test(test_overlaps_are_refused),
      cmocka_unit_test(test_sizes_have_limits),
      cmocka_unit_test(test_kernels_have_results),
      cmocka_unit_test(test_updates_need_the_memory_they_update),
      cmocka_unit_test(test_what_nobody_wrote_is_not_read),
      cmocka_unit_test(test_views_stay_inside),
      cmocka_unit_test(test_operations_must_be_known),
      cmocka_unit_test(test_donated_memory_has_one_name),
      cmocka_unit_test(test_blocks_end_once),
      cmocka_unit_test(test_recognizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
