// Bytecode in good and bad condition: samples of several VHLO versions (test/import/inputs) read to the same program
// as their text, whatever is broken in them gives an error that names the byte, and files made here by hand do what
// no writer would.
#include <stdio.h>
#include <stdlib.h>

#include "base/arena_testing.h"
#include "base/file.h"
#include "mlir/ir_compare.h"
#include "mlir/print.h"
#include "mlir/text.h"
#include "vhlo/bytecode.h"
#include "vhlo/bytecode_reader.h"
#include "vhlo/vhlo_operation.h"

#define INPUTS HEDDLE_SOURCE_DIR "/test/import/inputs/"

enum { CORRUPTIONS = 400, SMALL_EXPANSION = 1 << 20 };

static const char *const samples[][2] = {
    {INPUTS "builtin_attributes.2.mlirbc", INPUTS "builtin_attributes.mlir"},
    {INPUTS "builtin_attributes.5.mlirbc", INPUTS "builtin_attributes.mlir"},
    {INPUTS "builtin_attributes.6.mlirbc", INPUTS "builtin_attributes.mlir"},
    {INPUTS "vhlo_every_version.0.9.mlirbc", INPUTS "vhlo_every_version.mlir"},
    {INPUTS "vhlo_every_version.0.12.mlirbc", INPUTS "vhlo_every_version.mlir"},
    {INPUTS "vhlo_every_version.0.14.mlirbc", INPUTS "vhlo_every_version.mlir"},
    {INPUTS "vhlo_every_version.0.15.mlirbc", INPUTS "vhlo_every_version.mlir"},
    {INPUTS "vhlo_every_version.1.0.mlirbc", INPUTS "vhlo_every_version.mlir"},
    {INPUTS "vhlo_every_version.1.17.mlirbc", INPUTS "vhlo_every_version.mlir"},
    {INPUTS "vhlo_mixed.1.17.mlirbc", INPUTS "vhlo_mixed.mlir"},
    {INPUTS "vhlo_newest.1.17.mlirbc", INPUTS "vhlo_newest.mlir"},
};
enum { OLDEST_SAMPLE = 3, SAMPLE_COUNT = sizeof samples / sizeof *samples };

static void check_ok(heddle_status status) {
  if (!status_is_ok(status)) print_error("%s\n", heddle_status_message(status));
  assert_true(status_is_ok(status));
}

static str read_sample(arena *a, int i) {
  str bytes;
  check_ok(file_read(a, samples[i][0], &bytes));
  return bytes;
}

static void test_samples(void **state) {
  for (int i = 0; i < SAMPLE_COUNT; i++) {
    arena_reset(*state);
    str source;
    ir_module *read, **written;
    int count;
    // What is read does not point into the bytes.
    const str bytes = read_sample(*state, i);
    char *gone = malloc(bytes.size);
    memcpy(gone, bytes.data, bytes.size);
    check_ok(bytecode_read(*state, samples[i][0], (str){gone, bytes.size}, &read));
    free(gone);
    check_ok(file_read(*state, samples[i][1], &source));
    check_ok(mlir_text_read(*state, samples[i][1], source, &count, &written));
    assert_int_equal(count, 1);
    heddle_status status = ir_compare(read, written[0], vhlo_operation_is_default);
    if (!status_is_ok(status)) print_error("%s\n", samples[i][0]);
    check_ok(status);
  }
}

// A module's operations carry no line, but where they came from.
static void test_places(void **state) {
  ir_module *m;
  check_ok(bytecode_read(*state, "sample", read_sample(*state, OLDEST_SAMPLE), &m));
  const ir_operation *function = m->operation->regions[0]->blocks.data[0]->operations.data[0];
  assert_int_equal(function->op, IR_OP_FUNC);
  assert_string_equal(function->where.file, "sample");
  assert_int_equal(function->where.line, 0);
  assert_int_equal(function->location.line, 2);
  assert_true(function->location.file.size > 0);
}

static void check_refused(heddle_status status, const char *part) {
  if (status_is_ok(status)) print_error("read, wanted an error with: %s\n", part);
  assert_false(status_is_ok(status));
  if (!strstr(heddle_status_message(status), part))
    print_error("found: %swanted: %s\n", heddle_status_message(status), part);
  assert_non_null(strstr(heddle_status_message(status), part));
  heddle_status_free(status);
}

// The producer's name follows the container's version; the newest sample's is StableHLO_v1.17.0.
static void check_version(arena *a, const char *producer, const char *error) {
  ir_module *m;
  str bytes = str_copy(a, read_sample(a, SAMPLE_COUNT - 1));
  memcpy((char *)bytes.data + 5, producer, strlen(producer));
  heddle_status status = bytecode_read(a, "sample", bytes, &m);
  assert_int_equal(heddle_status_code(status), HEDDLE_UNIMPLEMENTED);
  check_refused(status, error);
}

static void test_versions(void **state) {
  check_version(*state, "StableHLO_v1.18.0", "found VHLO 1.18, supported are 0.9 to 1.17");
  check_version(*state, "StableHLO_v2.00.0", "found VHLO 2.0, supported are 0.9 to 1.17");
  check_version(*state, "StableHLO_v0.08.0", "found VHLO 0.8, supported are 0.9 to 1.17");
  ir_module *m;
  str bytes = str_copy(*state, read_sample(*state, OLDEST_SAMPLE));
  ((char *)bytes.data)[4] = (7 << 1) | 1;
  check_refused(bytecode_read(*state, "sample", bytes, &m), "found version 7 of MLIR bytecode, supported are 0 to 6");
  check_refused(bytecode_read(*state, "sample", STR("HloModule m"), &m), "magic number");
}

static void test_truncation(void **state) {
  static const int chosen[] = {OLDEST_SAMPLE, SAMPLE_COUNT - 1};
  for (size_t s = 0; s < sizeof chosen / sizeof *chosen; s++) {
    arena *keep = arena_create();
    str bytes = read_sample(keep, chosen[s]);
    for (size_t size = 0; size < bytes.size; size++) {
      arena_reset(*state);
      ir_module *m;
      check_refused(bytecode_read(*state, "short", (str){bytes.data, size}, &m), "short: error: at byte ");
    }
    arena_destroy(keep);
  }
}

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

// One to four bytes are changed behind the head. What still reads must be possible to walk.
static void check_corruption(arena *a, str bytes, uint64_t *seed) {
  ir_module *m;
  char *copy = arena_strdup(a, bytes.data, bytes.size);
  int changes = 1 + (int)(next_random(seed) % 4);
  for (int i = 0; i < changes; i++) copy[24 + next_random(seed) % (bytes.size - 24)] = (char)next_random(seed);
  heddle_status status = bytecode_read_limited(a, "bad", (str){copy, bytes.size}, SMALL_EXPANSION, &m);
  if (status_is_ok(status)) check_ok(ir_compare(m, m, NULL));
  else check_refused(status, "bad: error: ");
}

static void test_corruption(void **state) {
  uint64_t seed = 88172645463325252u;
  for (int s = 0; s < SAMPLE_COUNT; s++) {
    arena *keep = arena_create();
    str bytes = read_sample(keep, s);
    for (int i = 0; i < CORRUPTIONS; i++) {
      arena_reset(*state);
      check_corruption(*state, bytes, &seed);
    }
    arena_destroy(keep);
  }
}

// A file by hand, of container version 1: a module with one constant, whose attributes and types a test chooses.
static void put(text *t, int value) { text_putc(t, (char)(value << 1 | 1)); }

static void put_wide(text *t, int64_t value) {
  uint64_t zigzag = (uint64_t)value << 1;
  text_putc(t, 0);
  for (int i = 0; i < 8; i++) text_putc(t, (char)(zigzag >> (8 * i)));
}

static void put_two(text *t, int value) {
  text_putc(t, (char)((value << 2 | 2) & 0xff));
  text_putc(t, (char)(value >> 6));
}

static void put_section(text *file, int id, text *content) {
  text_putc(file, (char)id);
  put_two(file, (int)content->size);
  text_append(file, text_view(content));
  text_free(content);
}

typedef struct parts {
  text bytes, builtin_sizes, vhlo_sizes, type_sizes;  // sizes as the file has them
  int builtin, vhlo, types;
} parts;

// Every entry's content is put first, then this.
static void end_entry(parts *p, text *sizes, int *count, size_t start) {
  put_two(sizes, (int)(p->bytes.size - start) << 1 | 1);
  ++*count;
}

// Attributes 0 to 2 are an unknown location, {value = attribute 3} and "value"; `fill` adds those from 3 on, VHLO's,
// and the types, of which 0 is the constant's.
static void make_file(text *out, void (*fill)(parts *p)) {
  static const char names[] = "builtin\0vhlo\0module\0constant_v1\0value";
  static const int sizes[] = {6, 12, 7, 5, 8};  // of the last first
  text strings = {0}, dialects = {0}, places = {0}, ir = {0};
  parts p = {0};
  put(&strings, 5);
  for (int i = 0; i < 5; i++) put(&strings, sizes[i]);
  text_append(&strings, (str){names, sizeof names});
  static const int dialect_section[] = {2, 0, 1 << 1, 0, 1, 2, 1, 1, 3};
  for (int i = 0; i < 9; i++) put(&dialects, dialect_section[i]);
  put(&p.bytes, 15);
  end_entry(&p, &p.builtin_sizes, &p.builtin, 0);
  static const int dictionary[] = {1, 1, 2, 3};
  for (int i = 0; i < 4; i++) put(&p.bytes, dictionary[i]);
  end_entry(&p, &p.builtin_sizes, &p.builtin, 1);
  put(&p.bytes, 2);
  put(&p.bytes, 4);
  end_entry(&p, &p.builtin_sizes, &p.builtin, 5);
  fill(&p);
  put_two(&places, p.builtin + p.vhlo);
  put(&places, p.types);
  put(&places, 0), put(&places, p.builtin), text_append(&places, text_view(&p.builtin_sizes));
  put(&places, 1), put_two(&places, p.vhlo), text_append(&places, text_view(&p.vhlo_sizes));
  put(&places, 1), put(&places, p.types), text_append(&places, text_view(&p.type_sizes));
  put(&ir, 1 << 1), put(&ir, 0), text_putc(&ir, 0x10), put(&ir, 0), put(&ir, 1 << 1);
  put(&ir, 1), put(&ir, 1), put(&ir, 1 << 1);
  put(&ir, 1), text_putc(&ir, 3), put(&ir, 0), put(&ir, 1), put(&ir, 1), put(&ir, 0);
  text_puts(out, "ML\xefR");
  put(out, 1);
  text_append(out, (str){"hand", sizeof "hand"});
  put_section(out, 0, &strings);
  put_section(out, 1, &dialects);
  put_section(out, 3, &places);
  put_section(out, 2, &p.bytes);
  put_section(out, 4, &ir);
  text_free(&p.builtin_sizes);
  text_free(&p.vhlo_sizes);
  text_free(&p.type_sizes);
}

// The constant: a tensor of the given size whose elements are all 1.5, in attribute 3; types 0 and 1.
static void fill_splat(parts *p, int64_t size) {
  static const char element[] = {0, 0, (char)0xc0, 0x3f};
  size_t start = p->bytes.size;
  put(&p->bytes, 15), put(&p->bytes, 0), put(&p->bytes, 4);
  text_append(&p->bytes, (str){element, sizeof element});
  end_entry(p, &p->vhlo_sizes, &p->vhlo, start);
  start = p->bytes.size;
  put(&p->bytes, 20), put(&p->bytes, 1), put_wide(&p->bytes, size), put(&p->bytes, 1);
  end_entry(p, &p->type_sizes, &p->types, start);
  start = p->bytes.size;
  put(&p->bytes, 4);
  end_entry(p, &p->type_sizes, &p->types, start);
}

static void fill_small(parts *p) { fill_splat(p, 3); }
static void fill_huge(parts *p) { fill_splat(p, (int64_t)1 << 30); }
static void fill_enormous(parts *p) { fill_splat(p, INT64_MAX / 2); }

// Attribute 3 + i is an array of `width` times attribute 3 + next.
static void fill_arrays(parts *p, int count, int width, bool is_cycle) {
  for (int i = 0; i < count; i++) {
    size_t start = p->bytes.size;
    bool is_last = i + 1 == count;
    put(&p->bytes, 1), put(&p->bytes, is_last && !is_cycle ? 0 : width);
    for (int j = 0; j < width && (!is_last || is_cycle); j++) put_two(&p->bytes, is_last ? 3 : 3 + i + 1);
    end_entry(p, &p->vhlo_sizes, &p->vhlo, start);
  }
  size_t start = p->bytes.size;
  put(&p->bytes, 4);
  end_entry(p, &p->type_sizes, &p->types, start);
}

static void fill_cycle(parts *p) { fill_arrays(p, 3, 1, true); }
static void fill_deep(parts *p) { fill_arrays(p, IR_MAX_DEPTH + 1, 1, false); }
static void fill_wide(parts *p) { fill_arrays(p, 40, 2, false); }
static void fill_plain(parts *p) { fill_arrays(p, 4, 2, false); }

static heddle_status read_within(arena *a, void (*fill)(parts *p), int64_t most_expanded, ir_module **out) {
  text file = {0};
  make_file(&file, fill);
  heddle_status status = bytecode_read_limited(a, "hand", text_view(&file), most_expanded, out);
  text_free(&file);
  return status;
}

static heddle_status read_by_hand(arena *a, void (*fill)(parts *p), ir_module **out) {
  return read_within(a, fill, INT32_MAX, out);
}

static void test_by_hand(void **state) {
  ir_module *m;
  check_ok(read_by_hand(*state, fill_small, &m));
  const ir_operation *o = m->operation->regions[0]->blocks.data[0]->operations.data[0];
  assert_int_equal(o->op, IR_OP_CONSTANT);
  const literal *value = ir_find(o, "value")->elements;
  assert_int_equal(shape_element_count(value->shape), 3);
  for (int i = 0; i < 3; i++) assert_true(literal_get_double(value, i) == 1.5);
  check_ok(read_by_hand(*state, fill_plain, &m));
  check_refused(read_within(*state, fill_small, 11, &m), "found repeated values of more than 11 bytes");
  check_ok(read_within(*state, fill_huge, 1000, &m));  // one element stands for all
  const ir_attribute *huge = ir_find(m->operation->regions[0]->blocks.data[0]->operations.data[0], "value");
  assert_true(ir_elements_repeat(huge) && ir_elements_count(huge) == (int64_t)1 << 30);
  assert_true(literal_get_double(huge->elements, 0) == 1.5);
  check_refused(read_by_hand(*state, fill_enormous, &m), "hand: error: ");
  check_refused(read_by_hand(*state, fill_cycle, &m), "that contains itself");
  check_refused(read_by_hand(*state, fill_deep, &m), "nested more than 200 deep");
  check_refused(read_by_hand(*state, fill_wide, &m), "found a type or attribute of more than");
}

static void fill_type(parts *p, int code) {
  const size_t start = p->bytes.size;
  put(&p->bytes, code);
  if (code == 1) put(&p->bytes, 1);  // complex numbers, of type 1
  end_entry(p, &p->type_sizes, &p->types, start);
}

// Type 0, of one code, and attribute 3, whose bytes behind its code are given.
static void fill_entries(parts *p, bool is_builtin, int code, const char *bytes, size_t size, int type) {
  size_t start = p->bytes.size;
  put(&p->bytes, code);
  text_append(&p->bytes, (str){bytes, size});
  if (is_builtin) end_entry(p, &p->builtin_sizes, &p->builtin, start);
  else end_entry(p, &p->vhlo_sizes, &p->vhlo, start);
  fill_type(p, type);
}

// Numbers below 64 as the file has them.
#define N(value) ((char)((value) << 1 | 1))
enum {
  BUILTIN_ARRAY = 17,
  VHLO_ACCURACY = 20,
  VHLO_AXIS = 22,
  VHLO_MESH = 25,
  VHLO_PRED = 0,
  VHLO_COMPLEX,
  VHLO_F32 = 4
};

static void fill_booleans(parts *p) {
  static const char bytes[] = {N(0), N(3), N(3), 0, 2, 1};
  fill_entries(p, true, BUILTIN_ARRAY, bytes, sizeof bytes, VHLO_PRED);
}

static void fill_complex(parts *p) {
  static const char bytes[] = {N(0), N(1), N(8), 0, 0, 0, 0, 0, 0, 0, 0};
  fill_entries(p, true, BUILTIN_ARRAY, bytes, sizeof bytes, VHLO_COMPLEX);
  fill_type(p, VHLO_F32);
}

static void fill_accuracy(parts *p) {
  static const char bytes[] = {N(0), N(0), N(0), N(2)};  // its mode is "value"
  fill_entries(p, false, VHLO_ACCURACY, bytes, sizeof bytes, VHLO_PRED);
}

static void fill_axis(parts *p) {
  static const char bytes[] = {N(2), N(1), N(2)};  // a part of it is "value"
  fill_entries(p, false, VHLO_AXIS, bytes, sizeof bytes, VHLO_PRED);
}

// An attribute as text, which is not encoded.
static void fill_text(parts *p, const char *text) {
  const size_t start = p->bytes.size;
  text_append(&p->bytes, (str){text, strlen(text) + 1});
  put_two(&p->vhlo_sizes, (int)(p->bytes.size - start) << 1);
  p->vhlo++;
  fill_type(p, VHLO_PRED);
}

static void fill_map(parts *p) { fill_text(p, "affine_map<(d0) -> (d0)>"); }
static void fill_unbalanced(parts *p) { fill_text(p, "affine_map<(d0) -> d0)>"); }
static void fill_nothing(parts *p) { fill_text(p, "affine_nap<(d0) -> (d0)>"); }

static void fill_mesh(parts *p) {
  static const char bytes[] = {N(2), N(0)};  // its axes are "value"
  fill_entries(p, false, VHLO_MESH, bytes, sizeof bytes, VHLO_PRED);
}

// Whatever is accepted has a text, and that is the same program.
static void test_attributes(void **state) {
  ir_module *m, **again;
  int count;
  text printed = {0};
  check_ok(read_by_hand(*state, fill_booleans, &m));
  mlir_print_module(&printed, m, &(mlir_print_options){.generic = true});
  assert_non_null(strstr(text_cstr(&printed), "array<i1: false, true, true>"));
  check_ok(mlir_text_read(*state, "printed", text_view(&printed), &count, &again));
  check_ok(ir_compare(m, again[0], vhlo_operation_is_default));
  text_free(&printed);
  check_refused(read_by_hand(*state, fill_complex, &m), "wanted an integer or floating point type");
  check_refused(read_by_hand(*state, fill_accuracy, &m), "wanted a mode of accuracy");
  check_refused(read_by_hand(*state, fill_axis, &m), "wanted a part of an axis");
  check_refused(read_by_hand(*state, fill_mesh, &m), "wanted an array of axes");
  check_ok(read_by_hand(*state, fill_map, &m));
  check_refused(read_by_hand(*state, fill_unbalanced, &m), "wanted one of a dialect's attributes");
  check_refused(read_by_hand(*state, fill_nothing, &m), "wanted one of a dialect's attributes");
}

// An operation's region uses its result.
static void test_dominance(void **state) {
  str bytes;
  ir_module *m;
  check_ok(file_read(*state, INPUTS "own_result.mlirbc", &bytes));
  check_refused(bytecode_read(*state, "sample", bytes, &m), "inside of the operation that defines it");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_samples),    cmocka_unit_test(test_places),     cmocka_unit_test(test_versions),
      cmocka_unit_test(test_truncation), cmocka_unit_test(test_corruption), cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_attributes), cmocka_unit_test(test_dominance),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
