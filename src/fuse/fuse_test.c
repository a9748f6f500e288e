// Which operations share a kernel, which go to a library, and the reasons given.
#include "fuse/fuse.h"

#include "base/arena_testing.h"
#include "fuse/library.h"
#include "kernel/kernel.h"
#include "kernel/sizes.h"
#include "kernel/testing.h"

static module *fuse(arena *a, const char *source) {
  const target_description target = target_cpu(2);
  module *m = testing_parse(a, source);
  testing_require(fuse_run(m, &target, NULL, NULL), source);
  testing_require(module_verify(m), source);
  return m;
}

static int count(const computation *c, hlo_opcode op) {
  int found = 0;
  for (int k = 0; k < c->instructions.size; k++) found += c->instructions.data[k]->opcode == op;
  return found;
}

static const instruction *first(const computation *c, hlo_opcode op) {
  for (int k = 0; k < c->instructions.size; k++)
    if (c->instructions.data[k]->opcode == op) return c->instructions.data[k];
  fail_msg("no %s", hlo_op_text(op));
  return NULL;
}

#define ADD "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
#define MAX "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }\n"

static void test_softmax_is_one_kernel(void **state) {
  const module *m = fuse(*state, ADD MAX
                         "ENTRY e {\n"
                         "  x = f32[512,1024] parameter(0)\n"
                         "  least = f32[] constant(-inf)\n"
                         "  zero = f32[] constant(0)\n"
                         "  m = f32[512] reduce(x, least), dimensions={1}, to_apply=max\n"
                         "  mb = f32[512,1024] broadcast(m), dimensions={0}\n"
                         "  d = f32[512,1024] subtract(x, mb)\n"
                         "  p = f32[512,1024] exponential(d)\n"
                         "  s = f32[512] reduce(p, zero), dimensions={1}, to_apply=add\n"
                         "  sb = f32[512,1024] broadcast(s), dimensions={0}\n"
                         "  ROOT q = f32[512,1024] divide(p, sb)\n"
                         "}\n");
  assert_int_equal(count(m->entry, HLO_FUSION), 1);
  assert_int_equal(count(m->entry, HLO_CONSTANT) + count(m->entry, HLO_REDUCE), 0);
}

// What is read at two places is computed once where computing it again is dear.
static void test_values_at_two_places_are_stored(void **state) {
  const module *m = fuse(*state,
                         "ENTRY e {\n"
                         "  x = f32[512,512] parameter(0)\n"
                         "  l = f32[512,512] log(x)\n"
                         "  t = f32[512,512] transpose(l), dimensions={1,0}\n"
                         "  y = f32[512,512] add(l, t)\n"
                         "  k = f32[512,512] log(y)\n"
                         "  u = f32[512,512] transpose(k), dimensions={1,0}\n"
                         "  ROOT z = f32[512,512] add(k, u)\n"
                         "}\n");
  assert_true(count(m->entry, HLO_FUSION) >= 2);
}

// x = log(x); x = x + transpose(x), again and again.
static const char *diamonds(arena *a, int length, int size) {
  text t = {0};
  const char *s = arena_printf(a, "f32[%d,%d]", size, size);
  text_printf(&t, "ENTRY e {\n  x0 = %s parameter(0)\n", s);
  for (int k = 0; k < length; k++)
    text_printf(&t, "  l%d = %s log(x%d)\n  t%d = %s transpose(l%d), dimensions={1,0}\n  %sx%d = %s add(l%d, t%d)\n", k,
                s, k, k, s, k, k + 1 == length ? "ROOT " : "", k + 1, s, k, k);
  text_puts(&t, "}\n");
  const char *source = arena_strdup(a, t.data, t.size);
  text_free(&t);
  return source;
}

static double work_of(arena *a, const module *m) {
  const target_description target = target_cpu(2);
  double sum = 0;
  for (int k = 0; k < m->entry->instructions.size; k++) {
    const instruction *i = m->entry->instructions.data[k];
    if (i->opcode != HLO_FUSION) continue;
    kernel_plan *kernel;
    assert_true(status_is_ok(kernel_plan_create(a, i->called[0], "main", &target, 0, NULL, &kernel)));
    sum += kernel->work;
  }
  return sum;
}

static void test_diamonds_take_linear_work(void **state) {
  static const int sizes[] = {1, 20, 600};
  for (int k = 0; k < 3; k++) {
    double one = work_of(*state, fuse(*state, diamonds(*state, 1, sizes[k])));
    double many = work_of(*state, fuse(*state, diamonds(*state, 64, sizes[k])));
    assert_true(many <= 64 * 8 * one);
  }
}

static void test_long_chains_are_cut(void **state) {
  arena *a = *state;
  text t = {0};
  text_puts(&t, "ENTRY e {\n  x0 = f32[64] parameter(0)\n");
  for (int k = 0; k < 3000; k++) text_printf(&t, "  x%d = f32[64] tanh(x%d)\n", k + 1, k);
  text_puts(&t, "  ROOT r = f32[64] negate(x3000)\n}\n");
  const module *m = fuse(a, text_cstr(&t));
  text_free(&t);
  assert_in_range(count(m->entry, HLO_FUSION), 3000 / 256, 40);
  for (int k = 0; k < m->computations.size; k++)
    if (m->computations.data[k] != m->entry) assert_true(m->computations.data[k]->instructions.size <= 256);
}

// However many operands a concatenate has, no kernel has code for more than 64 of them: slices and arrays are read
// where they lie, and what has to be computed gets kernels of its own.
// Siblings share a loop, but not one that walks dozens of large arrays at a time.
static void test_siblings_write_few_arrays(void **state) {
  arena *a = *state;
  text t = {0}, results = {0}, names = {0};
  text_puts(&t, "ENTRY e {\n  x = f32[640000] parameter(0)\n");
  for (int k = 0; k < 64; k++) {
    text_printf(&t, "  s%d = f32[10000] slice(x), slice={[%d:%d]}\n", k, k * 10000, k * 10000 + 10000);
    text_printf(&t, "  t%d = f32[10000] %s(s%d)\n", k, k % 2 ? "sine" : "tanh", k);
    text_printf(&results, "%sf32[10000]", k ? "," : "");
    text_printf(&names, "%st%d", k ? "," : "", k);
  }
  text_printf(&t, "  ROOT r = (%s) tuple(%s)\n}\n", text_cstr(&results), text_cstr(&names));
  const module *m = fuse(a, text_cstr(&t));
  assert_in_range(count(m->entry, HLO_FUSION), 64 / 8, 16);
  for (int k = 0; k < m->entry->instructions.size; k++) {
    const instruction *i = m->entry->instructions.data[k];
    if (i->opcode == HLO_FUSION) assert_true(i->shape->tuple_size <= 8);
  }
  text_free(&t), text_free(&results), text_free(&names);
}

static void test_wide_concatenates_are_copied(void **state) {
  enum { COUNT = 3000 };
  arena *a = *state;
  text t = {0};
  text_printf(&t, "ENTRY e {\n  x = f32[%d] parameter(0)\n  y = f32[4] parameter(1)\n", 4 * COUNT);
  for (int k = 0; k < COUNT; k++)
    text_printf(&t, "  s%d = f32[4] slice(x), slice={[%d:%d]}\n", k, 4 * (k * 7 % COUNT), 4 * (k * 7 % COUNT) + 4);
  text_puts(&t, "  n = f32[4] sine(y)\n");
  text_printf(&t, "  ROOT c = f32[%d] concatenate(y, y, n", 4 * COUNT + 12);
  for (int k = 0; k < COUNT; k++) text_printf(&t, ", s%d", k);
  text_puts(&t, "), dimensions={0}\n}\n");
  const module *m = fuse(a, text_cstr(&t));
  text_free(&t);
  library_call call;
  assert_int_equal(count(m->entry, HLO_FUSION), 2);
  assert_int_equal(library_kind_of(m->entry->root), LIBRARY_CONCATENATE);
  assert_true(status_is_ok(library_describe(a, m->entry->root, &call)));
  assert_int_equal(call.operand_count, 3);
  const named_attribute *offsets = &call.attributes[2], *sizes = &call.attributes[4];
  assert_string_equal(offsets->name, "offset");
  assert_int_equal(offsets->count, COUNT + 3);
  assert_int_equal(offsets->ints[4], 28);
  assert_string_equal(sizes->name, "size");
  assert_int_equal(sizes->ints[COUNT + 2], 4);
}

static void test_bias_and_relu_go_to_the_library(void **state) {
  arena *a = *state;
  const module *m = fuse(a,
                         "ENTRY e {\n"
                         "  x = f32[64,128] parameter(0)\n"
                         "  w = f32[128,256] parameter(1)\n"
                         "  b = f32[256] parameter(2)\n"
                         "  zero = f32[] constant(0)\n"
                         "  d = f32[64,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                         "  bb = f32[64,256] broadcast(b), dimensions={1}\n"
                         "  s = f32[64,256] add(bb, d)\n"
                         "  z = f32[64,256] broadcast(zero), dimensions={}\n"
                         "  ROOT r = f32[64,256] maximum(s, z)\n"
                         "}\n");
  const instruction *f = first(m->entry, HLO_FUSION);
  assert_int_equal(f->attributes->kind, FUSION_CUSTOM);
  assert_int_equal(library_kind_of(f), LIBRARY_GEMM);
  library_call call;
  assert_true(status_is_ok(library_describe(a, f, &call)));
  assert_int_equal(call.operand_count, 3);
  assert_int_equal(call.operands[2]->dims[0], 256);
  assert_string_equal(shape_text(a, call.results[0]), "f32[1,64,256]");
  assert_string_equal(call.attributes[call.attribute_count - 1].text, "relu");
}

// A slice for each array, none for tokens, wherever they stand.
static void test_tokens_are_not_handed_to_libraries(void **state) {
  const module *m = fuse(*state,
                         "ENTRY e { x = f32[8] parameter(0) t = token[] after-all()\n"
                         "  y = (f32[], f32[3]) parameter(1) p = ((token[], f32[8]), token[]) custom-call(t, x, y),\n"
                         "    custom_call_target=\"any\"\n"
                         "  q = (token[], f32[8]) get-tuple-element(p), index=0\n"
                         "  ROOT r = f32[8] get-tuple-element(q), index=1 }\n");
  library_call call;
  assert_true(status_is_ok(library_describe(*state, first(m->entry, HLO_CUSTOM_CALL), &call)));
  assert_int_equal(call.operand_count, 3);
  for (int k = 0; k < call.operand_count; k++) assert_int_equal(call.operand_leaves[k], k);
  assert_int_equal(call.result_count, 1);
}

static void test_every_computation_of_a_sequence_is_fused(void **state) {
  const module *m = fuse(*state,
                         "test { s = (f32[8], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=1\n"
                         "  n = s32[] constant(4) ROOT r = pred[] compare(i, n), direction=LT }\n"
                         "step { s = (f32[8], s32[]) parameter(0) x = f32[8] get-tuple-element(s), index=0\n"
                         "  i = s32[] get-tuple-element(s), index=1 y = f32[8] sine(x) one = s32[] constant(1)\n"
                         "  j = s32[] add(i, one) ROOT r = (f32[8], s32[]) tuple(y, j) }\n"
                         "ENTRY e { x = f32[8] parameter(0) i = s32[] parameter(1) t = (f32[8], s32[]) tuple(x, i)\n"
                         "  ROOT w = (f32[8], s32[]) while(t), condition=test, body=step }\n");
  const instruction *loop = first(m->entry, HLO_WHILE);
  assert_int_equal(count(loop->called[0], HLO_COMPARE), 0);
  assert_true(count(loop->called[0], HLO_FUSION) == 1 && count(loop->called[1], HLO_FUSION) >= 1);
  assert_int_equal(count(loop->called[1], HLO_SINE), 0);
}

// A loop over 8 elements, of `turns` turns, whose body makes y of x.
static const module *fuse_loop(arena *a, const char *turns, const char *body) {
  return fuse(a,
              arena_printf(a,
                           "test { s = (f32[8], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=1\n"
                           "  n = s32[] constant(%s) ROOT r = pred[] compare(i, n), direction=LT }\n"
                           "step { s = (f32[8], s32[]) parameter(0) x = f32[8] get-tuple-element(s), index=0\n"
                           "  i = s32[] get-tuple-element(s), index=1 y = f32[8] %s one = s32[] constant(1)\n"
                           "  j = s32[] add(i, one) ROOT r = (f32[8], s32[]) tuple(y, j) }\n"
                           "ENTRY e { x = f32[8] parameter(0) i = s32[] constant(0) t = (f32[8], s32[]) tuple(x, i)\n"
                           "  ROOT w = (f32[8], s32[]) while(t), condition=test, body=step }\n",
                           turns, body));
}

static void test_turns_of_elements_are_one_kernel(void **state) {
  const module *m = fuse_loop(*state, "40", "sine(x)");
  assert_int_equal(count(m->entry, HLO_WHILE), 0);
  assert_int_equal(count(m->entry, HLO_FUSION), 1);
  const computation *fused = first(m->entry, HLO_FUSION)->called[0];
  assert_int_equal(count(fused, HLO_WHILE), 1);
  assert_int_equal(literal_get_int(m->entry->root->operands[1]->literal, 0), 40);
}

static void test_turns_on_small_arrays_are_one_kernel(void **state) {
  assert_int_equal(count(fuse_loop(*state, "40", "reverse(x), dimensions={0}")->entry, HLO_WHILE), 0);
}

static void test_long_loops_stay(void **state) {
  assert_non_null(first(fuse_loop(*state, "2000000000", "sine(x)")->entry, HLO_WHILE));
}

static void test_updates_stay_in_place(void **state) {
  const module *m = fuse(*state,
                         "ENTRY e { c = f32[1024,64] parameter(0) u = f32[1,64] parameter(1) i = s32[] parameter(2)\n"
                         "  z = s32[] constant(0) big = f32[1024,64] negate(c) v = f32[1,64] exponential(u)\n"
                         "  ROOT r = f32[1024,64] dynamic-update-slice(big, v, i, z) }\n");
  const computation *fused = m->entry->root->called[0];
  assert_int_equal(fused->root->opcode, HLO_DYNAMIC_UPDATE_SLICE);
  assert_int_equal(fused->root->operands[0]->opcode, HLO_PARAMETER);
  assert_int_equal(count(fused, HLO_EXPONENTIAL), 1);
}

static void test_what_nobody_computes_is_refused(void **state) {
  arena *a = *state;
  const target_description target = target_cpu(1);
  module *m;
  assert_true(status_is_ok(hlo_parse(a, "f.hlo",
                                     STR("ENTRY e { p = f32[<=4] parameter(0) n = s32[] parameter(1)\n"
                                         "  ROOT d = f32[<=4] set-dimension-size(p, n), dimensions={0} }\n"),
                                     &m)));
  heddle_status s = fuse_run(m, &target, NULL, NULL);
  assert_int_equal(heddle_status_code(s), HEDDLE_UNIMPLEMENTED);
  assert_non_null(strstr(heddle_status_message(s), "f.hlo:2:"));
  heddle_status_free(s);
}

// Their code would take minutes and gigabytes.
static void test_too_many_results_are_refused(void **state) {
  arena *a = *state;
  const target_description target = target_cpu(1);
  for (int count = KERNEL_MOST_VARIADIC; count <= KERNEL_MOST_VARIADIC + 1; count++) {
    text t = {0}, scalars = {0}, operands = {0};
    text_puts(&t, "f {");
    for (int k = 0; k < 2 * count; k++) text_printf(&t, " p%d = f32[] parameter(%d)", k, k);
    for (int k = 0; k < count; k++) {
      text_printf(&scalars, "%sf32[]", k ? "," : "");
      text_printf(&operands, "%sx", k ? "," : "");
    }
    text_printf(&t, " ROOT t = (%s) tuple(p0", text_cstr(&scalars));
    for (int k = 1; k < count; k++) text_printf(&t, ",p%d", k);
    text_printf(&t, ") }\nENTRY e { x = f32[4] parameter(0) z = f32[] constant(0)\n  ROOT r = (%s) reduce(%s",
                text_cstr(&scalars), text_cstr(&operands));
    for (int k = 0; k < count; k++) text_puts(&t, ",z");
    text_puts(&t, "), dimensions={0}, to_apply=f }\n");
    module *m = testing_parse(a, text_cstr(&t));
    heddle_status s = fuse_run(m, &target, NULL, NULL);
    assert_int_equal(heddle_status_code(s), count > KERNEL_MOST_VARIADIC ? HEDDLE_UNIMPLEMENTED : HEDDLE_OK);
    if (count > KERNEL_MOST_VARIADIC) assert_non_null(strstr(heddle_status_message(s), "test.hlo:3:"));
    heddle_status_free(s);
    text_free(&t), text_free(&scalars), text_free(&operands);
  }
}

// Nor is a kernel planned that somebody else has put together.
static void test_too_wide_kernels_are_refused(void **state) {
  arena *a = *state;
  const target_description target = target_cpu(1);
  for (int count = KERNEL_MOST_VARIADIC; count <= KERNEL_MOST_VARIADIC + 1; count++) {
    text t = {0};
    text_printf(&t, "ENTRY e { x = f32[4] parameter(0)\n  ROOT c = f32[%d] concatenate(x", 4 * count);
    for (int k = 1; k < count; k++) text_puts(&t, ",x");
    text_puts(&t, "), dimensions={0} }\n");
    const module *m = testing_parse(a, text_cstr(&t));
    kernel_plan *k;
    heddle_status s = kernel_plan_create(a, m->entry, "main", &target, 0, NULL, &k);
    assert_int_equal(heddle_status_code(s), count > KERNEL_MOST_VARIADIC ? HEDDLE_UNIMPLEMENTED : HEDDLE_OK);
    if (count > KERNEL_MOST_VARIADIC) assert_non_null(strstr(heddle_status_message(s), "test.hlo:2:"));
    heddle_status_free(s);
    text_free(&t);
  }
}

static void test_reasons(void **state) {
  arena *a = *state;
  const target_description target = target_cpu(1);
  module *m;
  text t = {0};
  assert_true(
      status_is_ok(hlo_parse(a, "test",
                             STR("ENTRY e { p = f32[64,64] parameter(0) q = f32[64,64] parameter(1)\n"
                                 "  n = f32[64,64] negate(p) s = f32[64,64] sine(n)\n"
                                 "  v = f32[4096] reshape(s)\n"
                                 "  d = f32[64,64] dot(s, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                                 "  ROOT t = (f32[64,64], f32[4096]) tuple(d, v) }\n"),
                             &m)));
  assert_true(status_is_ok(fuse_run(m, &target, NULL, &t)));
  assert_non_null(strstr(text_cstr(&t), "s: kernel loop sine_fusion"));
  assert_non_null(strstr(text_cstr(&t), "v: bitcast"));
  assert_non_null(strstr(text_cstr(&t), "d: library GEMM f32[1,64,64] x f32[1,64,64]"));
  text_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_softmax_is_one_kernel),
      TESTING_IN_ARENA(test_values_at_two_places_are_stored),
      TESTING_IN_ARENA(test_diamonds_take_linear_work),
      TESTING_IN_ARENA(test_long_chains_are_cut),
      TESTING_IN_ARENA(test_siblings_write_few_arrays),
      TESTING_IN_ARENA(test_wide_concatenates_are_copied),
      TESTING_IN_ARENA(test_bias_and_relu_go_to_the_library),
      TESTING_IN_ARENA(test_tokens_are_not_handed_to_libraries),
      TESTING_IN_ARENA(test_every_computation_of_a_sequence_is_fused),
      TESTING_IN_ARENA(test_turns_of_elements_are_one_kernel),
      TESTING_IN_ARENA(test_turns_on_small_arrays_are_one_kernel),
      TESTING_IN_ARENA(test_long_loops_stay),
      TESTING_IN_ARENA(test_updates_stay_in_place),
      TESTING_IN_ARENA(test_what_nobody_computes_is_refused),
      TESTING_IN_ARENA(test_too_many_results_are_refused),
      TESTING_IN_ARENA(test_too_wide_kernels_are_refused),
      TESTING_IN_ARENA(test_reasons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
