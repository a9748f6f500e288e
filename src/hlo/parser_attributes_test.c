// Attributes, one by one: read, stored where attributes.h says, printed, read again.
#include <stdio.h>

#include "base/arena_testing.h"
#include "hlo/parser.h"
#include "hlo/text.h"

// Attributes are read without the verifier, which would want operands that fit them.
static hlo_attributes *parse(arena *a, hlo_opcode op, const char *source) {
  pending_instruction pending = {0};
  hlo_attributes *x = attributes_create(a);
  parser p;
  parser_start(&p, a, a, "test", str_from(source));
  p.module = module_create(a, STR("m"));
  if (!parser_attributes(&p, op, op, x, &pending) || p.tok.kind != TOKEN_END) {
    heddle_status status = parser_status(&p);
    fail_msg("%s: %s", source, heddle_status_message(status));
  }
  return x;
}

static const char *print(arena *a, hlo_opcode op, hlo_attributes *x) {
  module *m = module_create(a, STR("m"));
  instruction *i =
      computation_add(module_add_computation(m, STR("e")), op, STR("i"), shape_scalar(a, DTYPE_F32), 0, NULL);
  i->attributes = x;
  text t = {0};
  hlo_print_instruction(&t, i, HLO_PRINT_SHORT);
  const char *copy = arena_strdup(a, t.data, t.size);
  text_free(&t);
  return strchr(copy, ')') + 1;
}

// `printed` null: as the source.
static hlo_attributes *expect(arena *a, hlo_opcode op, const char *source, const char *printed) {
  hlo_attributes *x = parse(a, op, source);
  if (!printed) printed = source;
  assert_string_equal(print(a, op, x), printed);
  hlo_attributes *again = parse(a, op, printed);
  assert_true(attributes_equal(x, again));
  assert_true(attributes_equal(x, attributes_copy(a, x)));
  return x;
}

static void test_plain(void **state) {
  assert_int_equal(expect(*state, HLO_TRANSPOSE, ", dimensions={1,0}", NULL)->dimensions.data[0], 1);
  assert_int_equal(expect(*state, HLO_BROADCAST, ", dimensions={}", NULL)->dimensions.size, 0);
  assert_int_equal(expect(*state, HLO_GET_TUPLE_ELEMENT, ", index=3", NULL)->index, 3);
  assert_int_equal(expect(*state, HLO_IOTA, ", iota_dimension=0", NULL)->iota_dimension, 0);
  assert_int_equal(expect(*state, HLO_COMPARE, ", direction=GE, type=TOTALORDER", NULL)->compare_type,
                   COMPARISON_TOTAL_ORDER);
  assert_int_equal(expect(*state, HLO_COMPARE, ", direction=EQ", NULL)->direction, COMPARE_EQ);
  assert_int_equal(expect(*state, HLO_FUSION, ", kind=kOutput", ", kind=kOutput")->kind, FUSION_OUTPUT);
  assert_true(expect(*state, HLO_BATCH_NORM_GRAD, ", epsilon=0.001, feature_index=2", NULL)->epsilon == 0.001);
  assert_true(expect(*state, HLO_BATCH_NORM_GRAD, ", epsilon=1.2345678901234567, feature_index=0", NULL)->epsilon ==
              1.2345678901234567);
  assert_false(expect(*state, HLO_TOPK, ", k=2, largest=false", NULL)->largest);
  assert_true(expect(*state, HLO_TOPK, ", k=2", NULL)->largest);
  assert_int_equal(expect(*state, HLO_FFT, ", fft_type=IRFFT, fft_length={4,6}", NULL)->fft_type, FFT_IRFFT);
  assert_int_equal(expect(*state, HLO_RNG, ", distribution=rng_normal", NULL)->distribution, RANDOM_NORMAL);
  assert_int_equal(expect(*state, HLO_RNG_BIT_GENERATOR, ", algorithm=rng_philox", NULL)->algorithm, RANDOM_PHILOX);
  assert_true(
      str_is(expect(*state, HLO_DOT, ", algorithm=dot_bf16_bf16_f32", NULL)->dot_algorithm, "dot_bf16_bf16_f32"));
  assert_int_equal(
      expect(*state, HLO_TRIANGULAR_SOLVE, ", left_side=true, lower=true, transpose_a=ADJOINT", NULL)->transpose_a,
      TRANSPOSE_ADJOINT);
  assert_int_equal(expect(*state, HLO_REDUCE_PRECISION, ", exponent_bits=5, mantissa_bits=0", NULL)->exponent_bits, 5);
}

static void test_defaults_that_were_written(void **state) {
  const char *written = ", dim_labels=bf_io->bf, feature_group_count=1";
  hlo_attributes *x = expect(*state, HLO_CONVOLUTION, written, NULL);
  assert_true(attributes_has(x, HLO_ATTRIBUTE_FEATURE_GROUP_COUNT));
  assert_false(attributes_has(x, HLO_ATTRIBUTE_BATCH_GROUP_COUNT));
  assert_int_equal(x->batch_group_count, 1);
  assert_true(attributes_equal(x, parse(*state, HLO_CONVOLUTION, ", dim_labels=bf_io->bf")));
}

static void test_slices_and_padding(void **state) {
  hlo_attributes *x = expect(*state, HLO_SLICE, ", slice={[0:4], [1:5:2]}", NULL);
  assert_int_equal(x->slice.rank, 2);
  assert_int_equal(x->slice.dims[0].stride, 1);
  assert_int_equal(x->slice.dims[1].limit, 5);
  assert_int_equal(expect(*state, HLO_SLICE, ", slice={}", NULL)->slice.rank, 0);
  expect(*state, HLO_SLICE, ", slice={[0:4:1],[1:5:1]}", ", slice={[0:4], [1:5]}");
  x = expect(*state, HLO_PAD, ", padding=0_-1x-2_3_1", NULL);
  assert_int_equal(x->padding.dims[0].high, -1);
  assert_int_equal(x->padding.dims[1].low, -2);
  assert_int_equal(x->padding.dims[1].interior, 1);
  assert_int_equal(expect(*state, HLO_PAD, ", padding=0_1_0x2_1_0", ", padding=0_1x2_1")->padding.rank, 2);
  assert_int_equal(expect(*state, HLO_PAD, ", padding=", NULL)->padding.rank, 0);
}

static void test_windows(void **state) {
  const char *all = ", window={size=3x2 stride=2x1 pad=1_0x-1_2 lhs_dilate=1x2 rhs_dilate=3x1 rhs_reversal=0x1}";
  window_dim *d = expect(*state, HLO_REDUCE_WINDOW, all, NULL)->window.dims;
  assert_int_equal(d[0].stride, 2);
  assert_int_equal(d[1].padding_low, -1);
  assert_int_equal(d[1].base_dilation, 2);
  assert_int_equal(d[0].window_dilation, 3);
  assert_true(d[1].reversal);
  expect(*state, HLO_REDUCE_WINDOW, ", window={size=3x2 stride=1x1 pad=0_0x0_0}", ", window={size=3x2}");
  assert_int_equal(expect(*state, HLO_REDUCE_WINDOW, ", window={}", NULL)->window.rank, 0);
  all = ", window={size=1 pad=-9223372036854775808_9223372036854775807 rhs_dilate=9223372036854775807}";
  d = expect(*state, HLO_REDUCE_WINDOW, all, NULL)->window.dims;
  assert_true(d[0].padding_low == INT64_MIN && d[0].padding_high == INT64_MAX);
}

static void test_dim_labels(void **state) {
  convolution_dims d = expect(*state, HLO_CONVOLUTION, ", dim_labels=b01f_01io->f10b", NULL)->dim_labels;
  assert_int_equal(d.spatial_rank, 2);
  assert_int_equal(d.input_feature, 3);
  assert_int_equal(d.kernel_input_feature, 2);
  assert_int_equal(d.output_batch, 3);
  assert_int_equal(d.output_spatial[0], 2);
  assert_int_equal(d.output_spatial[1], 1);
  d = expect(*state, HLO_CONVOLUTION, ", dim_labels=b0f?_0io?->b0?f", NULL)->dim_labels;
  assert_int_equal(d.input_rank, 4);
  assert_int_equal(d.output_feature, 3);
  expect(*state, HLO_CONVOLUTION, ", dim_labels=fb_oi->bf", NULL);
}

static void test_groups(void **state) {
  group_list g = expect(*state, HLO_ALL_GATHER, ", dimensions={0}, replica_groups={{0,1},{2,3}}", NULL)->replica_groups;
  assert_int_equal(g.size, 2);
  assert_int_equal(g.groups[1].data[0], 2);
  assert_int_equal(expect(*state, HLO_ALL_TO_ALL, ", replica_groups={}", NULL)->replica_groups.size, 0);
  g = expect(*state, HLO_ALL_TO_ALL, ", replica_groups=[2,4]<=[8]", NULL)->replica_groups;
  assert_int_equal(g.size, 2);
  assert_int_equal(g.groups[1].data[3], 7);
  g = expect(*state, HLO_ALL_TO_ALL, ", replica_groups=[4,2]<=[2,4]T(1,0)", NULL)->replica_groups;
  const int64_t transposed[] = {0, 4, 1, 5, 2, 6, 3, 7};
  for (int i = 0; i < 8; i++) assert_int_equal(g.groups[i / 2].data[i % 2], transposed[i]);
  g = expect(*state, HLO_COLLECTIVE_PERMUTE, ", source_target_pairs={{0,1},{1,0}}", NULL)->source_target_pairs;
  assert_int_equal(g.groups[0].data[1], 1);
}

static void test_mesh_groups(void **state) {
  const struct {
    const char *text;
    int size;
    int64_t devices[8];
  } cases[] = {
      {"mesh['x'=2]{x}", 1, {0, 1}},
      {"mesh['x'=2,'y'=2] {'y'}", 2, {0, 1, 2, 3}},
      {"mesh['x'=2,'y'=2] {'x'}", 2, {0, 2, 1, 3}},
      {"mesh['x'=2,'y'=2] {'y','x'}", 1, {0, 2, 1, 3}},
      {"mesh[x=2,y=2] {}", 4, {0, 1, 2, 3}},
      {"mesh['a'=1,'b'=2,'c'=2], device_ids=([2,2]T(1,0)) {'c'}", 2, {0, 2, 1, 3}},
      {"mesh['x'=4], device_ids=(3,1,0,2) {'x':(2)2}", 2, {3, 1, 0, 2}},
      {"mesh['x'=8] {'x':(2)2}", 4, {0, 2, 1, 3, 4, 6, 5, 7}},
      {"mesh['x'=8] {'x':(1)2}", 4, {0, 4, 1, 5, 2, 6, 3, 7}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[128];
    snprintf(text, sizeof text, ", replica_groups=%s", cases[k].text);
    group_list g = expect(*state, HLO_ALL_TO_ALL, text, NULL)->replica_groups;
    assert_int_equal(g.size, cases[k].size);
    for (int n = 0, d = 0; n < g.size; n++)
      for (int i = 0; i < g.groups[n].size; i++) assert_int_equal(g.groups[n].data[i], cases[k].devices[d++]);
  }
  static const char *const wrong[] = {"mesh",
                                      "mesh['x'=2",
                                      "mesh['x'=2] {'y'}",
                                      "mesh['x'=2] {'x','x'}",
                                      "mesh['x'=2], dimensions={0}",
                                      "mesh['x'=0] {'x'}",
                                      "mesh['x'=6] {'x':(4)2}",
                                      "mesh['x'=2] {'x':(0)2}",
                                      "mesh['x'=2], device_ids=(0) {'x'}",
                                      "mesh['x'=9999999] {'x'}",
                                      "mesh['x'=4], device_ids=([2,2]T(1,1)) {'x'}"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    pending_instruction pending = {0};
    parser p;
    parser_start(&p, *state, *state, "test", str_from(arena_printf(*state, ", replica_groups=%s", wrong[k])));
    p.module = module_create(*state, STR("m"));
    assert_false(parser_attributes(&p, HLO_ALL_TO_ALL, HLO_ALL_TO_ALL, attributes_create(*state), &pending));
    heddle_status status = parser_status(&p);
    assert_non_null(strstr(heddle_status_message(status), "no axes of a mesh"));
    heddle_status_free(status);
  }
}

// The name stands for two different things.
static void test_slice_sizes(void **state) {
  assert_int_equal(parse(*state, HLO_GATHER, ", slice_sizes={1,4}")->slice_sizes.data[1], 4);
  expect(*state, HLO_COLLECTIVE_PERMUTE, ", source_target_pairs={{0,1}}, slice_sizes={{1,8},{1,8}}",
         ", slice_sizes={{1,8},{1,8}}, source_target_pairs={{0,1}}");
}

static void test_precisions(void **state) {
  hlo_attributes *x = expect(*state, HLO_DOT, ", operand_precision={highest,default}", NULL);
  assert_int_equal(x->precision_count, 2);
  assert_int_equal(x->operand_precision[0], PRECISION_HIGHEST);
  expect(*state, HLO_DOT, ", operand_precision={HIGH, PACKED_NIBBLE}", ", operand_precision={high,packed_nibble}");
}

static void test_custom_calls(void **state) {
  hlo_attributes *x = expect(*state, HLO_CUSTOM_CALL, ", custom_call_target=\"a\\\"b\\\\c\\x01\"", NULL);
  assert_true(str_is(x->custom_call_target, "a\"b\\c\x01"));
  x = expect(*state, HLO_CUSTOM_CALL,
             ", custom_call_target=\"\", operand_layout_constraints={f32[2,3]{0,1}, (s32[], token[])}, "
             "output_to_operand_aliasing={{0}: (1, {})}, api_version=API_VERSION_TYPED_FFI, "
             "literal=s32[2,2]{1,0} {{1, 2}, /*i0=1*/ {3, 4}}",
             NULL);
  assert_int_equal(x->operand_layout_count, 2);
  expect(*state, HLO_CUSTOM_CALL, ", custom_call_target=\"f\", literal=( s32[2]{0} {4, 1}, (pred[] true) )", NULL);
  assert_true(str_is(*attributes_raw(x, "api_version"), "API_VERSION_TYPED_FFI"));
  assert_null(attributes_raw(x, "schedule"));
}

static void test_backend_config(void **state) {
  hlo_attributes *x = expect(*state, HLO_ADD, ", backend_config=\"{\\\"k\\\":[1,2]}\"", NULL);
  assert_true(str_is(x->backend_config, "{\"k\":[1,2]}"));
  assert_false(x->backend_config_is_json);
  x = expect(*state, HLO_ADD, ", backend_config={\"k\":[\"}\",2]}", NULL);
  assert_true(x->backend_config_is_json);
  assert_true(str_is(x->backend_config, "{\"k\":[\"}\",2]}"));
  assert_true(expect(*state, HLO_ADD, ", backend_config=\"\"", NULL)->backend_config.size == 0);
  expect(*state, HLO_ADD, ", backend_config={}", NULL);
  expect(*state, HLO_ADD, ", backend_config={diag = 78 : ui8, side = 76 : ui8}", NULL);
}

static void test_raw(void **state) {
  static const char *const same[] = {", sharding={devices=[2,1]<=[2]}",
                                     ", sharding={{replicated}, {maximal device=0}}",
                                     ", frontend_attributes={a=\"x\",b={\"k\": [1]},c=\"#sdy<[{}, {\\\"y\\\"}]>\"}",
                                     ", statistics={visualizing_index=0,s=33}",
                                     ", metadata={op_type=\"add\" op_name=\"a \\\"b\\\"\" stack_frame_id=2}",
                                     ", original_value={({\"v1\" {0}}, {\"v2\"})}"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) expect(*state, HLO_ADD, same[i], NULL);
  expect(*state, HLO_DOMAIN, ", domain={kind=\"sharding\", entry={replicated}, exit={maximal device=0}}", NULL);
  expect(*state, HLO_OUTFEED, ", outfeed_config=\"x, y\", outfeed_shape=(f32[2]{0}, s32[])", NULL);
  expect(*state, HLO_DOT, ", sparsity=L.1@2:4", NULL);
  expect(*state, HLO_CONVOLUTION, ", dim_labels=b0f_0io->b0f, convolution_kind=wgrad, sparsity_config={}", NULL);
  expect(*state, HLO_ALL_REDUCE, ", mode=cross_replica_and_partition", NULL);
  expect(*state, HLO_SCALED_DOT, ", algorithm=dot_bf16_bf16_f32", NULL);
  expect(*state, HLO_ADD, ", sharding={\n  replicated\n}", NULL);
  hlo_attributes *l = parse(*state, HLO_ADD, ", metadata={op_name=\"a\"}"), *r = parse(*state, HLO_ADD, "");
  assert_true(attributes_equal(l, r));
  assert_false(attributes_equal(parse(*state, HLO_ADD, ", sharding={replicated}"), r));
}

// Every opcode accepts every attribute its row names, and every name in a row is known.
static void test_rows(void **state) {
  arena *a = *state;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++)
    for (const char *at = hlo_ops[op].attributes; at && *at;) {
      size_t size = strcspn(at, " ");
      str name = {at, size - (at[size - 1] == '!')};
      if (hlo_attribute_from_text(name) == HLO_ATTRIBUTE_COUNT)
        fail_msg("%s names the unknown attribute '" STR_FMT "'", hlo_ops[op].text, STR_ARG(name));
      parser p;
      parser_start(&p, a, a, "test", str_from(arena_printf(a, ", " STR_FMT "=;", STR_ARG(name))));
      p.module = module_create(a, STR("m"));
      pending_instruction pending = {0};
      bool is_ok = parser_attributes(&p, (hlo_opcode)op, (hlo_opcode)op, attributes_create(a), &pending);
      heddle_status status = parser_status(&p);
      if (!is_ok && strstr(heddle_status_message(status), "takes no attribute"))
        fail_msg("%s", heddle_status_message(status));
      heddle_status_free(status);
      at += size + (at[size] == ' ');
    }
}

// What a module made by hand does not mark is printed all the same.
static void test_made_by_hand(void **state) {
  hlo_attributes *x = attributes_create(*state);
  int64_t dims[] = {1, 0};
  x->dimensions = (int_list){dims, 2};
  assert_string_equal(print(*state, HLO_TRANSPOSE, x), ", dimensions={1,0}");
  x = attributes_create(*state);
  assert_string_equal(print(*state, HLO_COMPARE, x), ", direction=EQ");
  assert_string_equal(print(*state, HLO_FUSION, x), ", kind=kLoop");
  x->custom_call_target = STR("f");
  x->custom_call_has_side_effect = true;
  assert_string_equal(print(*state, HLO_CUSTOM_CALL, x),
                      ", custom_call_target=\"f\", custom_call_has_side_effect=true");
}

static void test_differences_have_names(void **state) {
  const char *difference = NULL;
  assert_false(attributes_compare(parse(*state, HLO_IOTA, ", iota_dimension=0"),
                                  parse(*state, HLO_IOTA, ", iota_dimension=1"), &difference));
  assert_string_equal(difference, "iota_dimension");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain),
      cmocka_unit_test(test_defaults_that_were_written),
      cmocka_unit_test(test_slices_and_padding),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_dim_labels),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_mesh_groups),
      cmocka_unit_test(test_slice_sizes),
      cmocka_unit_test(test_precisions),
      cmocka_unit_test(test_custom_calls),
      cmocka_unit_test(test_backend_config),
      cmocka_unit_test(test_raw),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_made_by_hand),
      cmocka_unit_test(test_differences_have_names),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
