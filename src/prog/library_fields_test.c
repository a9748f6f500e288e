// The table of fields against the structs, and fields set and read by name.
#include <string.h>

#include "base/testing.h"
#include "prog/library_fields.h"

static size_t size_of(const program_field *f) {
  switch (f->kind) {
    case PROGRAM_FIELD_BOOL: return sizeof(bool);
    case PROGRAM_FIELD_INT: return sizeof(int64_t);
    case PROGRAM_FIELD_INTS: return sizeof(program_ints);
    case PROGRAM_FIELD_NUMBER:
    case PROGRAM_FIELD_NAME:
    case PROGRAM_FIELD_KERNEL: break;
  }
  return sizeof(int);
}

static size_t aligned(size_t at, size_t size) {
  const size_t to = size > 8 ? 8 : size;
  return (at + to - 1) / to * to;
}

// No byte of a struct but padding is without a row.
static void test_table_has_every_field(void **state) {
  (void)state;
  static const size_t sizes[PROGRAM_THUNK_KIND_COUNT] = {
      [THUNK_GEMM] = sizeof(program_gemm),         [THUNK_CONVOLUTION] = sizeof(program_convolution),
      [THUNK_FFT] = sizeof(program_fft),           [THUNK_SORT] = sizeof(program_sort),
      [THUNK_TOP_K] = sizeof(program_top_k),       [THUNK_CONCATENATE] = sizeof(program_concatenate),
      [THUNK_RANDOM] = sizeof(program_random),     [THUNK_COLLECTIVE] = sizeof(program_collective),
      [THUNK_TRANSFER] = sizeof(program_transfer),
  };
  for (int kind = 0; kind < PROGRAM_THUNK_KIND_COUNT; kind++) {
    int count;
    const program_field *fields = program_fields((program_thunk_kind)kind, &count);
    size_t at = offsetof(program_thunk, gemm), largest = 1;
    for (int k = 0; k < count; k++) {
      const size_t size = size_of(&fields[k]), alignment = size > 8 ? 8 : size;
      if (fields[k].offset != aligned(at, size))
        fail_msg("%s: a field in front of %s has no row", program_thunk_kind_name((program_thunk_kind)kind),
                 fields[k].name);
      at = fields[k].offset + size;
      if (alignment > largest) largest = alignment;
    }
    const size_t end = aligned(at, largest) - offsetof(program_thunk, gemm);
    if (end != sizes[kind])
      fail_msg("%s: the last field has no row", program_thunk_kind_name((program_thunk_kind)kind));
  }
}

static named_attribute number(const char *name, const int64_t *value) {
  return (named_attribute){.name = name, .kind = NAMED_INTS, .count = 1, .ints = value};
}

static void check(heddle_status s) {
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
}

static void expect(heddle_status s, heddle_code code, const char *words) {
  assert_int_equal(heddle_status_code(s), code);
  if (!strstr(heddle_status_message(s), words)) fail_msg("%s: %s", words, heddle_status_message(s));
  heddle_status_free(s);
}

static const named_attribute *find(int count, const named_attribute *list, const char *name) {
  for (int k = 0; k < count; k++)
    if (strcmp(list[k].name, name) == 0) return &list[k];
  return NULL;
}

static void test_there_and_back(void **state) {
  (void)state;
  arena *a = arena_create();
  program_thunk t = {.kind = THUNK_CONVOLUTION};
  program_fields_clear(&t);
  assert_int_equal(t.convolution.input_batch, -1);
  assert_int_equal(t.convolution.feature_group_count, 1);
  int64_t two = 2, list[] = {3, 1, 2};
  const named_attribute given[] = {number("feature_group_count", &two),
                                   number("bias", &two),
                                   {.name = "stride", .kind = NAMED_INTS, .count = 3, .ints = list},
                                   {.name = "activation", .kind = NAMED_TEXT, .text = "relu"}};
  for (int k = 0; k < 4; k++) check(program_field_set(a, &t, &given[k]));
  two = list[0] = 0;  // what was given is copied
  assert_int_equal(t.convolution.feature_group_count, 2);
  assert_true(t.convolution.bias);
  assert_int_equal(t.convolution.activation, PROGRAM_RELU);
  int count;
  const named_attribute *made = program_fields_as_attributes(a, &t, &count);
  assert_int_equal(find(count, made, "feature_group_count")->ints[0], 2);
  assert_int_equal(find(count, made, "stride")->count, 3);
  assert_int_equal(find(count, made, "stride")->ints[0], 3);
  assert_string_equal(find(count, made, "activation")->text, "relu");
  assert_null(find(count, made, "input_batch"));
  assert_null(find(count, made, "size"));
  arena_destroy(a);
}

// The first value of an enum is a value as any other.
static void test_enums(void **state) {
  (void)state;
  arena *a = arena_create();
  program_thunk t = {.kind = THUNK_FFT};
  program_fields_clear(&t);
  int count;
  const named_attribute *made = program_fields_as_attributes(a, &t, &count);
  assert_int_equal(find(count, made, "fft_type")->ints[0], PROGRAM_FFT_FORWARD);
  const int64_t beyond = PROGRAM_FFT_TYPE_COUNT;
  named_attribute given = number("fft_type", &beyond);
  expect(program_field_set(a, &t, &given), HEDDLE_INVALID, "fft: found fft_type");
  t.kind = THUNK_COLLECTIVE;
  program_fields_clear(&t);
  given = (named_attribute){.name = "target", .kind = NAMED_TEXT, .text = "reduce-scatter"};
  check(program_field_set(a, &t, &given));
  assert_int_equal(t.collective.target, PROGRAM_REDUCE_SCATTER);
  assert_string_equal(program_thunk_target(&t), "reduce-scatter");
  given = (named_attribute){.name = "reducer", .kind = NAMED_TEXT, .text = "divide"};
  expect(program_field_set(a, &t, &given), HEDDLE_UNIMPLEMENTED, "\"divide\"");
  arena_destroy(a);
}

static void test_refusals(void **state) {
  (void)state;
  arena *a = arena_create();
  program_thunk t = {.kind = THUNK_TOP_K};
  program_fields_clear(&t);
  const int64_t numbers[] = {1, 2};
  named_attribute given = number("window", numbers);
  expect(program_field_set(a, &t, &given), HEDDLE_INVALID, "top-k: found window");
  given = (named_attribute){.name = "k", .kind = NAMED_INTS, .count = 2, .ints = numbers};
  expect(program_field_set(a, &t, &given), HEDDLE_INVALID, "no single number");
  given = (named_attribute){.name = "k", .kind = NAMED_TEXT, .text = "two"};
  expect(program_field_set(a, &t, &given), HEDDLE_INVALID, "no number");
  arena_destroy(a);
}

// A custom call takes whatever it is given; that it has side effects is for the runtime.
static void test_custom_call(void **state) {
  (void)state;
  arena *a = arena_create();
  program_thunk t = {.kind = THUNK_CUSTOM_CALL};
  program_fields_clear(&t);
  const int64_t one = 1;
  const named_attribute given[] = {{.name = "scale", .kind = NAMED_DOUBLE, .number = 0.5},
                                   number("has_side_effect", &one),
                                   {.name = "mode", .kind = NAMED_TEXT, .text = "fast"}};
  for (int k = 0; k < 3; k++) check(program_field_set(a, &t, &given[k]));
  assert_true(t.custom_call.has_side_effect);
  int count;
  const named_attribute *made = program_fields_as_attributes(a, &t, &count);
  assert_int_equal(count, 2);
  assert_true(find(count, made, "scale")->number == 0.5);
  assert_string_equal(find(count, made, "mode")->text, "fast");
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table_has_every_field),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_enums),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_custom_call),
  };
  return cmocka_run_group_tests_name("prog/library_fields", tests, NULL, NULL);
}
