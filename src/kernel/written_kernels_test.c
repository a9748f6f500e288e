// Which kernels a module becomes, and what is refused with name and place.
#include "kernel/written_kernels.h"

#include "kernel/testing.h"

static heddle_status plan_source(arena *a, const char *source, written_kernels **out) {
  return written_kernels_plan(a, testing_parse(a, source), target_cpu(2), out);
}

static written_kernels *plan(arena *a, const char *source) {
  written_kernels *p = 0;
  testing_require(plan_source(a, source, &p), source);
  return p;
}

static void refuse(const char *source, heddle_code code, int line, const char *word) {
  arena *a = arena_create();
  written_kernels *p = 0;
  heddle_status status = plan_source(a, source, &p);
  assert_int_equal(heddle_status_code(status), code);
  assert_non_null(strstr(heddle_status_message(status), word));
  assert_int_equal(status_where(status).line, line);
  heddle_status_free(status);
  arena_destroy(a);
}

static void test_one_fusion_is_one_kernel(void **state) {
  (void)state;
  arena *a = arena_create();
  written_kernels *p = plan(a,
                            "HloModule m\n"
                            "f { x = f32[4,4] parameter(0)\n y = f32[4,4] parameter(1)\n"
                            "  ROOT r = f32[4,4] add(x, y) }\n"
                            "ENTRY e { u = f32[4,4] parameter(0)\n v = f32[4,4] parameter(1)\n"
                            "  ROOT r = f32[4,4] fusion(v, v), kind=kLoop, calls=f }\n");
  assert_int_equal(p->kernel_count, 1);
  const kernel_plan *k = p->kernels[0];
  assert_string_equal(k->name, "main");
  assert_true(str_is(k->computation->name, "f"));
  assert_int_equal(k->input_count, 2);  // both arguments are the second parameter's buffer
  assert_int_equal(k->slice_count, 2);
  assert_int_equal(k->inputs[0].slice, 0);
  assert_int_equal(k->inputs[1].slice, 0);
  assert_int_equal(k->slices[0].number, 1);
  assert_int_equal(k->slices[1].kind, KERNEL_RESULT);
  arena_destroy(a);
}

static void test_results_are_grouped_by_element_count(void **state) {
  (void)state;
  arena *a = arena_create();
  written_kernels *p = plan(a,
                            "HloModule m\n"
                            "ENTRY e { u = f32[8] parameter(0)\n v = f32[2,3] parameter(1)\n w = f32[6] parameter(2)\n"
                            "  unused = f32[8] parameter(3)\n n = f32[8] negate(u)\n k = f32[2,3] negate(v)\n"
                            "  l = f32[6] negate(w)\n z = f32[0,3] constant({})\n"
                            "  ROOT t = (f32[8], f32[2,3], f32[8], f32[6], f32[0,3]) tuple(n, k, u, l, z) }\n");
  assert_int_equal(p->result_count, 5);
  assert_true(p->result_is_tuple);
  assert_int_equal(p->kernel_count, 2);
  assert_int_equal(p->kernels[0]->output_count, 2);
  assert_int_equal(p->kernels[0]->slices[p->kernels[0]->outputs[1].slice].number, 2);
  assert_int_equal(p->kernels[0]->input_count, 1);
  assert_int_equal(p->kernels[1]->output_count, 2);
  assert_int_equal(p->kernels[1]->slices[p->kernels[1]->outputs[1].slice].number, 3);
  assert_string_equal(p->kernels[1]->name, "main_1");
  text out = {0};
  written_kernels_print(&out, p);
  assert_non_null(strstr(text_cstr(&out), "writes result 3 = l, slice 3"));
  text_free(&out);
  arena_destroy(a);
}

static void test_variadic_reduce_has_two_results(void **state) {
  (void)state;
  arena *a = arena_create();
  written_kernels *p = plan(a,
                            "HloModule m\n"
                            "r { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] parameter(2)\n"
                            "  d = f32[] parameter(3)\n s = f32[] add(a, c)\n t = f32[] multiply(b, d)\n"
                            "  ROOT u = (f32[], f32[]) tuple(s, t) }\n"
                            "ENTRY e { x = f32[4,8] parameter(0)\n i = f32[] constant(0)\n j = f32[] constant(1)\n"
                            "  ROOT v = (f32[4], f32[4]) reduce(x, x, i, j), dimensions={1}, to_apply=r }\n");
  assert_int_equal(p->kernel_count, 1);
  assert_int_equal(p->kernels[0]->output_count, 2);
  assert_int_equal(p->kernels[0]->outputs[1].element, 1);
  arena_destroy(a);
}

static void test_refusals(void **state) {
  (void)state;
  refuse(
      "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n s = f32[4] sort(x), dimensions={0}, to_apply=c\n"
      " ROOT r = f32[4] negate(s)\n}\nc {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT l = pred[] compare(a, b), direction=LT\n}\n",
      HEDDLE_UNIMPLEMENTED, 4, "sort s");
  refuse(
      "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n t = (f32[4], f32[4]) tuple(x, x)\n"
      " ROOT g = f32[4] get-tuple-element(t), index=1\n}\n",
      HEDDLE_UNIMPLEMENTED, 5, "get-tuple-element g of tuple");
  refuse(
      "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n t = (f32[4]) parameter(1)\n"
      " ROOT g = ((f32[4]), f32[4]) tuple(t, x)\n}\n",
      HEDDLE_UNIMPLEMENTED, 4, "parameter t gives a tuple that is part of a result");
  refuse(
      "HloModule m\nENTRY e {\n x = (f32[4], f32[4]) parameter(0)\n ROOT g = f32[4] get-tuple-element(x), index=0\n}\n",
      HEDDLE_UNIMPLEMENTED, 4, "of parameter");
  refuse("HloModule m\nENTRY e {\n x = f32[<=4] parameter(0)\n ROOT g = f32[<=4] negate(x)\n}\n", HEDDLE_UNIMPLEMENTED,
         4, "dynamic shape");
  refuse(
      "HloModule m\nb {\n a = f32[] parameter(0)\n ROOT r = f32[] custom-call(a), custom_call_target=\"f\"\n}\n"
      "ENTRY e {\n x = f32[4] parameter(0)\n ROOT g = f32[4] map(x), dimensions={0}, to_apply=b\n}\n",
      HEDDLE_UNIMPLEMENTED, 4, "custom-call r");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_fusion_is_one_kernel),
      cmocka_unit_test(test_results_are_grouped_by_element_count),
      cmocka_unit_test(test_variadic_reduce_has_two_results),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
