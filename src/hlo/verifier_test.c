// The verifier: a table of texts it refuses and accepts, and graphs that only code can build.
#include "hlo/text.h"

#include "base/testing.h"

typedef struct verifier_case {
  const char *text;     // a module, or the body of an entry computation if it does not begin with HloModule
  const char *message;  // null: accepted
} verifier_case;

static const char computations[] =
    "HloModule test\n"
    "add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = f32[] add(x, y) }\n"
    "sorted { x = f32[3] parameter(0)  ROOT r = f32[3] sort(x), dimensions={0}, to_apply=ge }\n"
    "ge { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=GE }\n"
    "neg { x = f32[3] parameter(0)  ROOT r = f32[3] negate(x) }\n";

static heddle_status parse(arena *a, const char *source, module **out) {
  text t = {0};
  bool is_module = strncmp(source, "HloModule", 9) == 0;
  if (!is_module) text_puts(&t, computations);
  text_printf(&t, is_module ? "%s" : "ENTRY main {\n%s }\n", source);
  heddle_status status = hlo_parse(a, "test.hlo", text_view(&t), out);
  text_free(&t);
  return status;
}

static void check(const verifier_case *cases, size_t count) {
  for (size_t k = 0; k < count; k++) {
    arena *a = arena_create();
    module *m;
    heddle_status status = parse(a, cases[k].text, &m);
    const char *message = heddle_status_message(status);
    if (!cases[k].message && !status_is_ok(status)) fail_msg("refused: %s\n%s", cases[k].text, message);
    if (cases[k].message && status_is_ok(status)) fail_msg("accepted: %s", cases[k].text);
    if (cases[k].message && !strstr(message, cases[k].message))
      fail_msg("%s\nfound: %s\nwanted: %s", cases[k].text, message, cases[k].message);
    heddle_status_free(status);
    arena_destroy(a);
  }
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))
#define P(number, shape) "p" #number " = " shape " parameter(" #number ")\n"

static void test_element_classes(void **state) {
  (void)state;
  static const verifier_case cases[] = {
      {P(0, "s32[2]") "ROOT r = s32[2] exponential(p0)", "exponential: operand 0 has shape s32[2]"},
      {P(0, "f32[2]") "ROOT r = f32[2] and(p0, p0)", "and: operand 0 has shape f32[2]"},
      {P(0, "pred[2]") "ROOT r = pred[2] and(p0, p0)", NULL},
      {P(0, "pred[2]") "ROOT r = pred[2] divide(p0, p0)", "divide: operand 0"},
      {P(0, "c64[2]") "ROOT r = c64[2] floor(p0)", "floor: operand 0"},
      {P(0, "token[]") "ROOT r = f32[] convert(p0)", "convert: operand 0 has shape token[]"},
      {P(0, "f32[3,3]") "ROOT r = f32[3,3] cholesky(p0), lower=true", NULL},
      {P(0, "s32[3,3]") "ROOT r = s32[3,3] cholesky(p0), lower=true", "cholesky: operand 0"},
  };
  CHECK(cases);
}

static void test_required_attributes(void **state) {
  (void)state;
  static const verifier_case cases[] = {
      {P(0, "f32[2]") "ROOT r = f32[2] transpose(p0)", "dimensions"},
      {P(0, "f32[2]") "ROOT r = pred[2] compare(p0, p0)", "direction"},
      {"ROOT r = s32[2] iota()", "iota_dimension"},
      {P(0, "(f32[2])") "ROOT r = f32[2] get-tuple-element(p0)", "index"},
      {P(0, "f32[2]") P(1, "f32[]") "ROOT r = f32[] reduce(p0, p1), dimensions={0}", "to_apply"},
      {P(0, "f32[2]") "ROOT r = f32[2] while(p0)", "condition"},
      {P(0, "f32[2]") "ROOT r = f32[2] custom-call(p0)", "custom_call_target"},
      {P(0, "f32[3]") "ROOT r = f32[3] fusion(p0), calls=neg", "kind"},
  };
  CHECK(cases);
}

static void test_attribute_values(void **state) {
  (void)state;
  static const verifier_case cases[] = {
      {P(0, "f32[2]") "ROOT r = pred[2] compare(p0, p0), direction=LT, type=TOTALORDER", NULL},
      {P(0, "u8[2]") "ROOT r = pred[2] compare(p0, p0), direction=LT, type=UNSIGNED", NULL},
      {P(0, "s8[2]") "ROOT r = pred[2] compare(p0, p0), direction=LT, type=UNSIGNED",
       "the comparison type is not one for s8"},
      {P(0, "s8[2]") "ROOT r = pred[2] compare(p0, p0), direction=LT, type=FLOAT",
       "the comparison type is not one for s8"},
      {P(0, "c64[2]") "ROOT r = pred[2] compare(p0, p0), direction=NE", NULL},
      {P(0, "c64[2]") "ROOT r = pred[2] compare(p0, p0), direction=LT", "c64 has no order"},
      {P(0, "f32[2]") "ROOT r = f32[2] reduce-precision(p0), exponent_bits=5, mantissa_bits=0", NULL},
      {P(0, "f32[2]") "ROOT r = f32[2] reduce-precision(p0), exponent_bits=0, mantissa_bits=10",
       "found 0 exponent and 10 mantissa bits"},
      {P(0, "f32[2]") "ROOT r = f32[2] reduce-precision(p0), exponent_bits=5, mantissa_bits=-1", "-1 mantissa bits"},
      {P(0,
         "f32[2]") "ROOT r = f32[2] custom-call(p0), custom_call_target=\"f\", operand_layout_constraints={f32[2]{0}}",
       NULL},
      {P(0, "f32[2]") "ROOT r = f32[2] custom-call(p0, p0), custom_call_target=\"f\", "
                      "operand_layout_constraints={f32[2]{0}}",
       "operand_layout_constraints has 1 shapes, wanted one for each of 2 operands"},
      {P(0,
         "f32[2]") "ROOT r = f32[2] custom-call(p0), custom_call_target=\"f\", operand_layout_constraints={f32[3]{0}}",
       "operand_layout_constraints has f32[3] for operand 0"},
  };
  CHECK(cases);
}

static void test_linear_algebra_and_transforms(void **state) {
  (void)state;
  static const verifier_case cases[] = {
      {P(0, "f32[2,3]") "ROOT r = f32[2,3] cholesky(p0), lower=true", "wanted square matrices"},
      {P(0, "f32[]") "ROOT r = f32[] cholesky(p0), lower=true", "wanted square matrices"},
      {P(0, "f32[4,4]") P(1, "f32[4,3]") "ROOT r = f32[4,3] triangular-solve(p0, p1), left_side=true", NULL},
      {P(0, "f32[4,4]") P(1, "f32[3,4]") "ROOT r = f32[3,4] triangular-solve(p0, p1), left_side=false", NULL},
      {P(0, "f32[4,4]") P(1, "f32[3,4]") "ROOT r = f32[3,4] triangular-solve(p0, p1), left_side=true",
       "does not fit f32[4,4] on its left"},
      {P(0, "f32[4,4]") P(1, "f32[4]") "ROOT r = f32[4] triangular-solve(p0, p1), left_side=true",
       "operand 1 has shape f32[4]"},
      {P(0, "c64[8]") "ROOT r = c64[8] fft(p0), fft_type=IFFT, fft_length={8}", NULL},
      {P(0, "f32[2,8]") "ROOT r = c64[2,5] fft(p0), fft_type=RFFT, fft_length={8}", NULL},
      {P(0, "c128[5]") "ROOT r = f64[8] fft(p0), fft_type=IRFFT, fft_length={8}", NULL},
      {P(0, "f32[8]") "ROOT r = c64[8] fft(p0), fft_type=RFFT, fft_length={8}", "wanted c64[5]"},
      {P(0, "f32[8]") "ROOT r = c64[8] fft(p0), fft_type=FFT, fft_length={8}", "wanted complex numbers"},
      {P(0, "c64[8]") "ROOT r = c64[8] fft(p0), fft_type=FFT, fft_length={9}", NULL},
      {P(0, "c64[8]") "ROOT r = c64[9] fft(p0), fft_type=FFT, fft_length={9}", "wanted c64[8]"},
      {P(0, "f32[8]") "ROOT r = c64[5] fft(p0), fft_type=RFFT, fft_length={9}",
       "dimension 0 of the operand has size 8, wanted 9"},
      {P(0, "c64[8]") "ROOT r = c64[8] fft(p0), fft_type=FFT, fft_length={8,8}", "fft_length has 2 entries"},
      {P(0, "f32[2,6]") "ROOT r = (f32[2,3], s32[2,3]) topk(p0), k=3, largest=true", NULL},
      {P(0, "f32[2,6]") "ROOT r = (f32[2,7], s32[2,7]) topk(p0), k=7, largest=true", "k is 7, wanted at most"},
      {P(0, "f32[]") "ROOT r = (f32[], s32[]) topk(p0), k=0, largest=true", "rank 1 or more"},
      {P(0, "f32[2,6]") "ROOT r = (f32[2,3], s64[2,3]) topk(p0), k=3, largest=true", "wanted (f32[2,3], s32[2,3])"},
  };
  CHECK(cases);
}

static void test_random_numbers_and_normalisation(void **state) {
  (void)state;
  static const verifier_case cases[] = {
      {P(0, "f32[]") "ROOT r = f32[9] rng(p0, p0), distribution=rng_uniform", NULL},
      {P(0, "f32[2]") "ROOT r = f32[9] rng(p0, p0), distribution=rng_uniform",
       "operand 0 has shape f32[2], wanted f32[]"},
      {P(0, "u64[2]") "ROOT r = (u64[2], u32[5]) rng-bit-generator(p0), algorithm=rng_philox", NULL},
      {P(0, "u64[2]") "ROOT r = u32[5] rng-bit-generator(p0), algorithm=rng_philox", NULL},
      {P(0, "u32[4]") "ROOT r = (u32[4], u32[5]) rng-bit-generator(p0), algorithm=rng_three_fry", NULL},
      {P(0, "u64[2]") "ROOT r = (u64[3], u32[5]) rng-bit-generator(p0), algorithm=rng_philox",
       "wanted the state and an array of integers"},
      {P(0, "u64[2]") "ROOT r = c64[5] rng-bit-generator(p0), algorithm=rng_philox",
       "wanted the state and an array of integers"},
      {P(0, "f32[2,3]") P(1, "f32[3]") "ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-training(p0, p1, p1), "
                                       "epsilon=0.1, feature_index=1",
       NULL},
      {P(0, "f32[2,3]") P(1, "f32[2]") "ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-training(p0, p1, p1), "
                                       "epsilon=0.1, feature_index=1",
       "operand 1 has shape f32[2], wanted f32[3]"},
      {P(0, "f32[2,3]")
           P(1, "f32[3]") "ROOT r = f32[2,3] batch-norm-inference(p0, p1, p1, p1, p1), epsilon=0.1, feature_index=2",
       "feature_index is 2, wanted a dimension below 2"},
      {P(0, "f32[2,3]") P(1, "f32[3]") "ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-grad(p0, p1, p1, p1, p1), "
                                       "epsilon=0.1, feature_index=1",
       "operand 4 has shape f32[3], wanted f32[2,3]"},
      {"ROOT r = u32[] partition-id()", NULL},
      {"ROOT r = s32[] replica-id()", "wanted u32[]"},
  };
  CHECK(cases);
}

static void test_messages(void **state) {
  (void)state;
  static const verifier_case cases[] = {
      {P(0, "f32[4]") "t = token[] after-all() ROOT r = (f32[4], u32[], token[]) send(p0, t), channel_id=1", NULL},
      {P(0, "f32[4]") "t = token[] after-all() ROOT r = (f32[3], u32[], token[]) send(p0, t), channel_id=1",
       "wanted (f32[4], u32[], token[])"},
      {P(0, "f32[4]") "t = token[] after-all() ROOT r = (f32[4], token[]) send(p0, t), channel_id=1",
       "wanted (f32[4], u32[], token[])"},
      {"t = token[] after-all() ROOT r = (f32[4], s32[], token[]) recv(t), channel_id=1", "wanted a value, u32[] and"},
      {"t = token[] after-all() r = (f32[4], u32[], token[]) recv(t), channel_id=1 "
       "ROOT d = (f32[4], token[]) recv-done(r), channel_id=1",
       NULL},
      {"t = token[] after-all() r = (f32[4], u32[], token[]) recv(t), channel_id=1 "
       "ROOT d = (f32[3], token[]) recv-done(r), channel_id=1",
       "wanted (f32[4], token[])"},
  };
  CHECK(cases);
}

// Operands of a permute of slices: `starts` of the input, which are the output's as well.
#define SLICES(starts, attributes) \
  P(0, "f32[4,2]") P(1, "s32[]") "s = (s32[], s32[]) tuple(p1, p1) l = ((s32[], s32[]), (s32[], s32[])) tuple(s, s) " \
  "b = (f32[4,2], f32[4,2]) tuple(p0, p0) ROOT r = f32[4,2] collective-permute(p0, p0, " starts ", " starts "), " \
  attributes

static void test_permutes_of_slices(void **state) {
  (void)state;
  static const verifier_case cases[] = {
      {SLICES("s", "source_target_pairs={{0,1},{1,0}}, slice_sizes={{1,2}}"), NULL},
      {SLICES("l", "source_target_pairs={{0,1},{0,2}}, slice_sizes={{1,2},{1,2}}"), NULL},
      {SLICES("s", "source_target_pairs={{0,1},{0,2}}, slice_sizes={{1,2}}"), "source 0 appears in more than 1 pairs"},
      {SLICES("s", "source_target_pairs={{0,1},{2,1}}, slice_sizes={{1,2}}"), "target 1 appears in more than 1 pairs"},
      {SLICES("s", "source_target_pairs={{0,1}}, slice_sizes={{1,2},{1,2}}"), "slice_sizes has 2 entries, wanted 1"},
      {SLICES("s", "source_target_pairs={{0,1}}, slice_sizes={{5,2}}"), "not those of a part of it"},
      {SLICES("l", "source_target_pairs={{0,1}}, slice_sizes={{1,2},{2,2}}"), "not those of a part of it"},
      {SLICES("p1", "source_target_pairs={{0,1}}, slice_sizes={{1,2}}"), "no start for each of the 2 dims"},
      {P(0, "f32[4]") "ROOT r = f32[4] collective-permute(p0), source_target_pairs={{0,1}}, slice_sizes={{1}}",
       "found 1 operands"},
  };
  CHECK(cases);
}

static void test_dynamic_sizes_pairs_and_collectives(void **state) {
  (void)state;
  static const verifier_case cases[] = {
      {P(0, "f32[6]") P(1, "s32[]") "ROOT r = f32[<=6] set-dimension-size(p0, p1), dimensions={0}", NULL},
      {P(0, "f32[6]") P(1, "s64[]") "ROOT r = f32[<=6] set-dimension-size(p0, p1), dimensions={0}",
       "operand 1 has shape s64[], wanted s32[]"},
      {P(0, "f32[6]") P(1, "s32[]") "ROOT r = f32[<=6] set-dimension-size(p0, p1), dimensions={1}",
       "dimensions[0] is 1"},
      {P(0, "f32[6]") P(1, "s32[]") "ROOT r = f32[<=2,<=3] dynamic-reshape(p0, p1, p1)", NULL},
      {P(0, "f32[6]") P(1, "s32[]") "ROOT r = f32[<=2,<=3] dynamic-reshape(p0, p1)", "found 1 sizes"},
      {P(0, "f32[3]") "s = (f32[3], f32[3], u32[]) copy-start(p0) ROOT r = f32[3] copy-done(s)", NULL},
      {P(0, "f32[3]") "s = (f32[3], f32[2], u32[]) copy-start(p0) ROOT r = f32[3] copy-done(s)",
       "begins with f32[3] twice"},
      {P(0, "f32[3]") "s = ((f32[3]), f32[3], u32[]) async-start(p0), calls=neg ROOT r = f32[3] async-done(s)", NULL},
      {P(0, "f32[3]") "s = ((f32[3]), f32[2], u32[]) async-start(p0), calls=neg ROOT r = f32[2] async-done(s)",
       "async-start: found the result's shape"},
      {P(0, "f32[3]") "s = ((f32[3]), f32[3], u32[]) async-start(p0), calls=neg ROOT r = f32[2] async-done(s)",
       "wanted f32[3]"},
      {P(0, "f32[4,2]") "ROOT r = f32[4,2] all-reduce(p0), replica_groups={{0}}, to_apply=add", NULL},
      {P(0, "f32[4,2]") "ROOT r = f32[4,3] all-reduce(p0), replica_groups={{0}}, to_apply=add", "wanted f32[4,2]"},
      {P(0, "s32[4,2]") "ROOT r = s32[4,2] all-reduce(p0), replica_groups={{0}}, to_apply=add", NULL},
      {P(0, "f32[4,2]") "ROOT r = f32[8,2] all-gather(p0), replica_groups={{0,1}}, dimensions={0}", NULL},
      {P(0, "f32[4,2]") "ROOT r = f32[8,3] all-gather(p0), replica_groups={{0,1}}, dimensions={0}",
       "but for dimension 0"},
      {P(0, "f32[4,2]") "ROOT r = f32[2,2] reduce-scatter(p0), replica_groups={{0,1}}, dimensions={0}, to_apply=add",
       NULL},
      {P(0, "f32[4,2]") "ROOT r = f32[2,2] reduce-scatter(p0), replica_groups={{0,1}}, dimensions={2}, to_apply=add",
       "dimensions[0] is 2"},
      {P(0, "f32[4]") "ROOT r = f32[8] all-gather(p0), replica_groups={{0,1},{2}}, dimensions={0}",
       "group 1 has 1 devices, wanted as many as group 0, 2"},
      {P(0, "f32[4]") "ROOT r = f32[12] all-gather(p0), replica_groups={{0,1}}, dimensions={0}",
       "a dimension of 4 becomes one of 12 among 2 devices"},
      {P(0, "f32[4]") "ROOT r = f32[16] all-gather(p0), replica_groups={{0,1}}, dimensions={0}, channel_id=1", NULL},
      {P(0, "f32[4]") "ROOT r = f32[4] reduce-scatter(p0), replica_groups={{0,1}}, dimensions={0}, to_apply=add",
       "a dimension of 4 becomes one of 4 among 2 devices"},
      {P(0, "f32[4]") "ROOT r = f32[4] all-to-all(p0), replica_groups={{0,1},{2}}, dimensions={0}", "group 1 has 1"},
      {P(0, "f32[4]") "ROOT r = f32[4] all-reduce(p0), replica_groups={{0,1},{2}}, to_apply=add", NULL},
      {P(0, "f32[4]") "ROOT r = f32[4] collective-permute(p0, p0), source_target_pairs={{0,1}}", "wanted (f32[4]"},
      {P(0, "f32[3]") P(1, "f32[]") "ROOT r = f32[3] add-dependency(p0, p1)",
       "operand 1 has shape f32[], wanted token[]"},
  };
  CHECK(cases);
}

static void test_fusions_and_modules(void **state) {
  (void)state;
  static const verifier_case cases[] = {

      {P(0, "f32[3]") "ROOT r = f32[3] fusion(p0), kind=kCustom, calls=sorted", NULL},
      {"HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] call(x), to_apply=e }", "calls itself"},
      {"HloModule m\na { x = f32[] parameter(0) ROOT r = f32[] call(x), to_apply=b }\n"
       "b { x = f32[] parameter(0) ROOT r = f32[] call(x), to_apply=a }\n"
       "ENTRY e { x = f32[] parameter(0) ROOT r = f32[] call(x), to_apply=a }",
       "calls itself"},
      {"HloModule m\nENTRY e { x = f32[] negate(y) y = f32[] negate(x) ROOT r = f32[] add(x, y) }",
       "depends on itself"},
      {"HloModule m\nENTRY e { x = f32[] parameter(1) ROOT r = f32[] negate(x) }", "parameter"},
      {"HloModule m\nENTRY e { x = f32[] parameter(0) y = f32[] parameter(0) ROOT r = f32[] add(x, y) }", "parameter"},
      {"HloModule m\nENTRY e { x = f32[] parameter(0) x = f32[] negate(x) ROOT r = f32[] negate(x) }", "x"},
      {"HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\nENTRY e { x = f32[2] parameter(0) ROOT r = "
       "f32[2] negate(x) }",
       NULL},
      {"HloModule m, entry_computation_layout={(f32[3]{0})->f32[2]{0}}\nENTRY e { x = f32[2] parameter(0) ROOT r = "
       "f32[2] negate(x) }",
       "parameter 0 has shape f32[2], entry_computation_layout says f32[3]"},
      {"HloModule m, entry_computation_layout={(f32[2]{0})->f32[3]{0}}\nENTRY e { x = f32[2] parameter(0) ROOT r = "
       "f32[2] negate(x) }",
       "the result has shape f32[2], entry_computation_layout says f32[3]"},
      {"HloModule m, entry_computation_layout={()->f32[2]{0}}\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] "
       "negate(x) }",
       "entry_computation_layout has 0 parameters, the entry computation 1"},
  };
  CHECK(cases);
}

// Graphs built by hand, as a pass with a bug would leave them.

typedef struct fixture {
  arena *arena;
  module *module;
  computation *main;
  instruction *parameter, *root;
} fixture;

static fixture make(void) {
  arena *a = arena_create();
  module *m = module_create(a, STR("m"));
  computation *c = m->entry = module_add_computation(m, STR("main"));
  instruction *p = computation_add_parameter(c, 0, STR("p"), shape_scalar(a, DTYPE_F32));
  instruction *r = computation_add(c, HLO_NEGATE, STR("r"), p->shape, 1, &p);
  computation_set_root(c, r);
  return (fixture){a, m, c, p, r};
}

static void expect(fixture *f, heddle_code code, const char *message) {
  heddle_status status = module_verify(f->module);
  assert_int_equal(heddle_status_code(status), code);
  if (!strstr(heddle_status_message(status), message)) fail_msg("%s", heddle_status_message(status));
  heddle_status_free(status);
  arena_destroy(f->arena);
}

static void test_graphs(void **state) {
  (void)state;
  fixture f = make();
  expect(&f, HEDDLE_OK, "");
  f = make();
  f.main->root = NULL;
  expect(&f, HEDDLE_INVALID, "computation 'main' has no root");
  f = make();
  f.module->entry = NULL;
  expect(&f, HEDDLE_INVALID, "no entry computation");
  f = make();
  f.root->name = f.parameter->name;
  expect(&f, HEDDLE_INVALID, "found two instructions named 'p'");
  f = make();
  module_add_computation(f.module, STR("other"))->name = STR("main");
  expect(&f, HEDDLE_INVALID, "found two computations named 'main'");
  f = make();
  f.parameter->users.size = 0;
  expect(&f, HEDDLE_INTERNAL, "has 1 uses of operands but 0 users");
  f = make();
  f.parameter->attributes->index = 1;
  expect(&f, HEDDLE_INVALID, "found parameter number 1, wanted 0");
  f = make();
  computation_add(f.main, HLO_PARAMETER, STR("q"), f.root->shape, 0, NULL);
  expect(&f, HEDDLE_INTERNAL, "has 2 parameters, its list 1");
  f = make();
  f.root->operands[0] = NULL;
  expect(&f, HEDDLE_INVALID, "operand 0 is missing");
  f = make();
  instruction_set_operand(f.root, 0, f.root);
  expect(&f, HEDDLE_INVALID, "'r' depends on itself");
  f = make();
  vec_push(f.arena, &f.parameter->control_predecessors, f.root);
  expect(&f, HEDDLE_INVALID, "depends on itself");
  f = make();
  f.root->shape = NULL;
  expect(&f, HEDDLE_INVALID, "it has no shape");
  f = make();
  f.root->opcode = HLO_ADD;
  expect(&f, HEDDLE_INVALID, "add: found 1 operands, wanted 2");
  f = make();
  f.root->opcode = HLO_CALL;
  expect(&f, HEDDLE_INVALID, "call: found 0 called computations, wanted 1");
}

static void test_graphs_across_computations(void **state) {
  (void)state;
  fixture f = make(), g = make();
  instruction_set_operand(f.root, 0, g.parameter);
  expect(&f, HEDDLE_INVALID, "operand 0, 'p', is not in the same computation");
  f = make();
  vec_push(f.arena, &f.root->control_predecessors, g.root);
  expect(&f, HEDDLE_INVALID, "the control predecessor 'r' is not in the same computation");
  f = make();
  f.root->opcode = HLO_CALL;
  instruction_set_called(f.root, 1, &g.main);
  expect(&f, HEDDLE_INVALID, "called computation 0 is not in the module");
  arena_destroy(g.arena);
}

// Depth comes from the user: none of these may cost stack or more than linear time.
static void test_long_chains(void **state) {
  (void)state;
  enum { LENGTH = 100000 };
  fixture f = make();
  instruction *last = f.root;
  for (int i = 0; i < LENGTH; i++) last = computation_add(f.main, HLO_NEGATE, (str){0}, last->shape, 1, &last);
  computation_set_root(f.main, last);
  expect(&f, HEDDLE_OK, "");

  f = make();
  computation *callee = f.main;
  for (int i = 0; i < LENGTH; i++) {
    computation *caller = module_add_computation(f.module, STR("caller"));
    instruction *p = computation_add_parameter(caller, 0, STR("p"), f.parameter->shape);
    instruction *call = computation_add(caller, HLO_CALL, STR("r"), p->shape, 1, &p);
    instruction_set_called(call, 1, &callee);
    computation_set_root(caller, call);
    callee = caller;
  }
  f.module->entry = callee;
  expect(&f, HEDDLE_OK, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_element_classes),
      cmocka_unit_test(test_required_attributes),
      cmocka_unit_test(test_attribute_values),
      cmocka_unit_test(test_linear_algebra_and_transforms),
      cmocka_unit_test(test_random_numbers_and_normalisation),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_permutes_of_slices),
      cmocka_unit_test(test_dynamic_sizes_pairs_and_collectives),
      cmocka_unit_test(test_fusions_and_modules),
      cmocka_unit_test(test_graphs),
      cmocka_unit_test(test_graphs_across_computations),
      cmocka_unit_test(test_long_chains),
  };
  return cmocka_run_group_tests_name("verifier", tests, NULL, NULL);
}
