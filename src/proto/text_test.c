// Messages as text: every kind of value, what the format tolerates, what it refuses and where.
#include "proto/text.h"

#include <math.h>

#include <hlo.pb-c.h>

#include "base/arena_testing.h"

#define READ(a, Type, type, source) ((Xla__##Type *)read_message((a), (source), &xla__##type##__descriptor))

static ProtobufCMessage *read_message(arena *a, const char *source, const ProtobufCMessageDescriptor *type) {
  ProtobufCMessage *m;
  heddle_status status = proto_text_read(a, "test", str_from(source), type, &m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  return m;
}

static void test_numbers(void **state) {
  const Xla__LiteralProto *l =
      READ(*state, LiteralProto, literal_proto,
           "s32s: -2147483648 s32s: 0x7fffffff s32s: 017 s64s: [-9223372036854775808, 9223372036854775807, - 5] "
           "u32s: 4294967295 u64s: 18446744073709551615 f32s: [1.5, -2e3, inf, -inf, nan, 3f, .5, 7] "
           "f64s: 1e300 f64s: 0.1 preds: [true, false, t, f, 1, 0, True, False]");
  assert_int_equal(l->n_s32s, 3);
  assert_int_equal(l->s32s[0], INT32_MIN);
  assert_int_equal(l->s32s[1], INT32_MAX);
  assert_int_equal(l->s32s[2], 15);
  assert_int_equal(l->n_s64s, 3);
  assert_true(l->s64s[0] == INT64_MIN && l->s64s[1] == INT64_MAX && l->s64s[2] == -5);
  assert_true(l->u32s[0] == UINT32_MAX && l->u64s[0] == UINT64_MAX);
  assert_int_equal(l->n_f32s, 8);
  assert_true(l->f32s[0] == 1.5F && l->f32s[1] == -2000 && l->f32s[2] == INFINITY && l->f32s[3] == -INFINITY);
  assert_true(isnan(l->f32s[4]) && l->f32s[5] == 3 && l->f32s[6] == .5F && l->f32s[7] == 7);
  assert_true(l->f64s[0] == 1e300 && l->f64s[1] == 0.1);
  for (size_t k = 0; k < 8; k++) assert_int_equal(l->preds[k], k % 2 == 0);
}

static void test_strings(void **state) {
  const Xla__HloInstructionProto *i =
      READ(*state, HloInstructionProto, hlo_instruction_proto,
           "name: 'it\\'s' \"\\x41\\102\\n\"\n  '\\u00e9\\U0001F600' backend_config: \"\\000\\377\\\"\\\\\"");
  assert_string_equal(i->name, "it'sAB\n\xc3\xa9\xf0\x9f\x98\x80");
  assert_int_equal(i->backend_config.len, 4);
  assert_memory_equal(i->backend_config.data, "\0\xff\"\\", 4);
}

static void test_messages(void **state) {
  const Xla__ShapeProto *s =
      READ(*state, ShapeProto, shape_proto,
           "# a tuple\nelement_type: TUPLE; tuple_shapes < element_type: 11, dimensions: [] >\n"
           "tuple_shapes: [ { element_type: S8 }, <element_type: U8 dimensions: 2 dimensions: [3, 4]> ] layout: {}");
  assert_int_equal(s->element_type, XLA__PRIMITIVE_TYPE__TUPLE);
  assert_int_equal(s->n_tuple_shapes, 3);
  assert_int_equal(s->tuple_shapes[0]->element_type, XLA__PRIMITIVE_TYPE__F32);
  assert_int_equal(s->tuple_shapes[1]->element_type, XLA__PRIMITIVE_TYPE__S8);
  assert_int_equal(s->tuple_shapes[2]->n_dimensions, 3);
  assert_int_equal(s->tuple_shapes[2]->dimensions[2], 4);
  assert_non_null(s->layout);
}

static void test_choice(void **state) {
  const Xla__ResultAccuracy *l = READ(*state, ResultAccuracy, result_accuracy, "mode: HIGHEST");
  const Xla__ResultAccuracy *r = READ(*state, ResultAccuracy, result_accuracy, "tolerance { ulps: 3 }");
  assert_int_equal(l->specs_case, XLA__RESULT_ACCURACY__SPECS_MODE);
  assert_int_equal(l->mode, XLA__RESULT_ACCURACY__MODE__HIGHEST);
  assert_int_equal(r->specs_case, XLA__RESULT_ACCURACY__SPECS_TOLERANCE);
  assert_int_equal(r->tolerance->ulps, 3);
}

static void test_unknown_fields(void **state) {
  const Xla__HloInstructionProto *i =
      READ(*state, HloInstructionProto, hlo_instruction_proto,
           "new_flag: true new_number: -1.5e-3 new_name: 'a' \"}\" new_enum: VALUE new_list: [1, 'x', { y: -inf }] "
           "[some.extension/x] { deep < z: [[]] w { } > } new_message { a: 1, b { c: '{' } } new_other: < > id: 7");
  assert_int_equal(i->id, 7);
}

static void test_print(void **state) {
  arena *a = *state;
  static const char source[] =
      "name: \"q\\\"\\\\\\n\\001\\351\"\n"
      "opcode: \"pad\"\n"
      "shape {\n"
      "  element_type: F8E4M3FN\n"
      "  dimensions: 2\n"
      "  dimensions: -3\n"
      "  is_dynamic_dimension: true\n"
      "  is_dynamic_dimension: false\n"
      "}\n"
      "literal {\n"
      "  u64s: 18446744073709551615\n"
      "  f32s: 0.1\n"
      "  f32s: -0\n"
      "  f32s: -inf\n"
      "  f32s: nan\n"
      "  f64s: 0.30000000000000004\n"
      "}\n"
      "epsilon: 0.001\n"
      "backend_config: \"\\000x\"\n"
      "cross_program_prefetch_index: 0\n";
  text t = {0};
  proto_text_print(&t, read_message(a, source, &xla__hlo_instruction_proto__descriptor));
  assert_string_equal(text_cstr(&t), source);
  text_free(&t);
}

typedef struct refusal {
  const char *source, *message;
  int line, column;
} refusal;

static const refusal refusals[] = {
    {"id 7", "found '7', wanted ':'", 1, 4},
    {"id: x", "integer of 64 bits", 1, 5},
    {"id: 9223372036854775808", "integer of 64 bits", 1, 5},
    {"exponent_bits: 2147483648", "integer of 32 bits", 1, 16},
    {"literal { u32s: -1 }", "an unsigned integer of 32 bits", 1, 17},
    {"literal { u32s: 08 }", "an unsigned integer", 1, 17},
    {"epsilon: small", "wanted a number", 1, 10},
    {"epsilon: 1.2.3", "wanted a number", 1, 10},
    {"epsilon:", "wanted a number", 1, 9},
    {"is_stable: 2", "wanted true or false", 1, 12},
    {"shape { element_type: F31 }", "'F31', which is no PrimitiveType", 1, 23},
    {"name: x", "wanted a string", 1, 7},
    {"name: 'x\n'", "a string that never ends", 1, 7},
    {"name: 'x\\", "an unknown escape", 1, 9},
    {"name: 'x\\q'", "an unknown escape", 1, 9},
    {"name: '\\x'", "without a character", 1, 8},
    {"id: 1\n  id: 2", "found id twice", 2, 3},
    {"shape {\n element_type: F32\n", "found the end", 3, 1},
    {"shape { element_type: F32 >", "found '>'", 1, 27},
    {"shape: 3", "wanted '{'", 1, 8},
    {"dimensions: [1 2]", "wanted ',' or ']'", 1, 16},
    {"dimensions: [1,]", "integer", 1, 16},
    {"}", "wanted a field", 1, 1},
    {"unknown_field", "wanted a value", 1, 14},
    {"unknown_field: {", "wanted a value", 1, 17},
    {"unknown_field: { a ] }", "wanted a value", 1, 20},
};

static void test_refusals(void **state) {
  for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
    const refusal *r = &refusals[k];
    ProtobufCMessage *m;
    heddle_status status =
        proto_text_read(*state, "test", str_from(r->source), &xla__hlo_instruction_proto__descriptor, &m);
    if (status_is_ok(status)) fail_msg("accepted: %s", r->source);
    source_location where = status_where(status);
    if (!strstr(heddle_status_message(status), r->message) || where.line != r->line || where.column != r->column)
      fail_msg("%s: found %s at %d:%d, wanted %s at %d:%d", r->source, heddle_status_message(status), where.line,
               where.column, r->message, r->line, r->column);
    heddle_status_free(status);
  }
}

static void test_fields(void **state) {
  (void)state;
  assert_true(proto_text_has_field(STR("a: 1 b { hlo { } } hlo { }"), "hlo"));
  assert_false(proto_text_has_field(STR("a: 1 b { hlo { } }"), "hlo"));
  assert_false(proto_text_has_field(STR("hlo"), "hlo"));
  assert_true(proto_text_starts_with(STR("name: 'x' what"), "name"));
  assert_true(proto_text_starts_with(STR("hlo {"), "hlo"));
  assert_false(proto_text_starts_with(STR("hlo { x = 1"), "hlo"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers),  cmocka_unit_test(test_strings),        cmocka_unit_test(test_messages),
      cmocka_unit_test(test_choice),   cmocka_unit_test(test_unknown_fields), cmocka_unit_test(test_print),
      cmocka_unit_test(test_refusals), cmocka_unit_test(test_fields),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
