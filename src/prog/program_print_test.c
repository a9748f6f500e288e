// Every field of every struct of a program is on paper: a table says of each field what the text must have, and that no
// byte of a struct is without a row. Whoever adds a field is told to print it.
#include <string.h>

#include "base/testing.h"
#include "prog/library_fields.h"
#include "prog/program_print.h"

typedef struct field {
  size_t offset, size;
  const char *shown;  // null: of another row, or nothing that a text could show
} field;

#define FIELD(type, name, text) {offsetof(type, name), sizeof(((type *)NULL)->name), text}
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

// The rows are in order and leave nothing but padding between them.
static void check_rows(const char *what, const char *out, size_t size, int count, const field *rows) {
  size_t at = 0;
  for (int k = 0; k < count; k++) {
    if (rows[k].offset - at >= 8) fail_msg("%s: a field in front of row %d has no row", what, k);
    at = rows[k].offset + rows[k].size;
    if (rows[k].shown && !strstr(out, rows[k].shown))
      fail_msg("%s, row %d: no '%s' in\n%s", what, k, rows[k].shown, out);
  }
  if (size - at >= 8) fail_msg("%s: the last field has no row", what);
}

#define CHECK(type, out, rows) check_rows(#type, out, sizeof(type), COUNT(rows), rows)

static const int64_t dims[] = {3, 5}, order[] = {0, 1};
static const int slices[] = {41, 42, 43, 44, 45};
static const program_array arrays[] = {{DTYPE_F16, 2, dims, 46}, {DTYPE_S8, 1, dims, 47}};
static const source_location made_at = {"made.hlo", 48, 49};

// A program of one thunk; the text lives until text_free.
static const char *print(program *p, const program_thunk *t, text *out) {
  const program_thunk *const thunks[] = {t};
  p->entry = (program_sequence){1, thunks};
  text_free(out);
  *out = (text){0};
  program_print(out, p);
  p->entry = (program_sequence){0};
  return text_cstr(out);
}

static program_thunk thunk_of(program_thunk_kind kind) {
  program_thunk t = {.kind = kind,
                     .name = "named",
                     .where = made_at,
                     .origin = "jit(f)",
                     .is_hidden = true,
                     .read_count = 2,
                     .reads = slices,
                     .write_count = 1,
                     .writes = &slices[2],
                     .resident_bytes = 51,
                     .operand_count = 1,
                     .operands = arrays,
                     .result_count = 1,
                     .results = &arrays[1]};
  program_fields_clear(&t);
  return t;
}

static const unsigned char constant[] = {0xde, 0xad, 0xbe, 0xef};
static const program_value parameters[] = {{"first", {DTYPE_BF16, 2, dims, order}, -1}};
static const program_value results[] = {{"", {DTYPE_F32, 2, dims, order}, 0}, {"", {DTYPE_S32, 0, NULL, NULL}, -1}};
static const program_dynamic_size dynamic[] = {{0, 1, 6}};
static const program_node nodes[] = {
    {DTYPE_TUPLE, 3}, {DTYPE_F32, 0}, {DTYPE_TUPLE, 1}, {DTYPE_S32, 0}, {DTYPE_TOKEN, 0}};
static const program_allocation allocations[] = {{PROGRAM_CONSTANT, 7, 4, constant},
                                                 {PROGRAM_TEMPORARY, 8, 9000, NULL}};
static const program_slice all_slices[] = {{1, 128, 256, true}};
static const program_image images[] = {{PROGRAM_PTX, NULL, 0}};
static const program_kernel kernels[] = {
    {"entry_point", 10, 3, 2, 11, 12, 13, {14, 15, 16}, {17, 18, 19}, 20, 51, 52, 53}};
static const program_symbol symbols[] = {{"b", 54, 55}, {"s", 1, 2}, {"q", 0, 3}};
static const program_derived_size derived[] = {{PROGRAM_QUOTIENT, {62, 63}, {64}}};
static const program_size_check checks[] = {{"too small", {-60, 0, 61}}};
static const program_open_number open_numbers[] = {{56, {57, 58, 0, -59}}};

static program whole(void) {
  return (program){.name = "by_hand",
                   .where = made_at,
                   .device_count = 21,
                   .partition_count = 22,
                   .parameter_count = 1,
                   .parameters = parameters,
                   .result_count = 2,
                   .given_result_count = 23,
                   .results = results,
                   .dynamic_count = 1,
                   .dynamic = dynamic,
                   .node_count = 5,
                   .nodes = nodes,
                   .allocation_count = 2,
                   .allocations = allocations,
                   .temporary_bytes = 24,
                   .streams = 65,
                   .memory_limit = 25,
                   .slice_count = 1,
                   .slices = all_slices,
                   .image_count = 1,
                   .images = images,
                   .kernel_count = 1,
                   .kernels = kernels,
                   .sizes = {.symbol_count = 3,
                             .degree = 1,
                             .symbols = symbols,
                             .derived_count = 1,
                             .derived = derived,
                             .number_count = 1,
                             .numbers = open_numbers,
                             .is_for_given = true,
                             .check_count = 1,
                             .checks = checks}};
}

static void test_program(void **state) {
  (void)state;
  program p = whole();
  program_thunk t = thunk_of(THUNK_COPY);
  text out = {0};
  const char *shown = print(&p, &t, &out);
  const field program_rows[] = {
      FIELD(program, name, "program by_hand for cpu"),
      FIELD(program, where, "at made.hlo:48:49"),
      FIELD(program, device, "for cpu"),
      FIELD(program, device_count, "devices 21"),
      FIELD(program, partition_count, "partitions 22"),
      FIELD(program, parameter_count, "parameter 0"),
      FIELD(program, parameters, "parameter 0"),
      FIELD(program, result_count, "result 1"),
      FIELD(program, given_result_count, "callers see 23 results"),
      FIELD(program, results, "result 1"),
      FIELD(program, dynamic_count, "has the size in"),
      FIELD(program, dynamic, "has the size in"),
      FIELD(program, node_count, "returns (result 0, (result 1), token)"),
      FIELD(program, nodes, "returns"),
      FIELD(program, allocation_count, "allocation 1"),
      FIELD(program, allocations, "allocation 1"),
      FIELD(program, temporary_bytes, "temporary bytes 24"),
      FIELD(program, streams, "streams 65"),
      FIELD(program, memory_limit, "memory limit 25 bytes"),
      FIELD(program, slice_count, "slice 0"),
      FIELD(program, slices, "slice 0"),
      FIELD(program, image_count, "image 0"),
      FIELD(program, images, "image 0"),
      FIELD(program, kernel_count, "kernel 0"),
      FIELD(program, kernels, "kernel 0"),
      FIELD(program, entry, "entry\n    copy named"),
      FIELD(program, sizes, "size b: 54 to 55\n"),
  };
  CHECK(program, shown, program_rows);
  const field value_rows[] = {FIELD(program_value, name, "parameter 0 = first: "),
                              FIELD(program_value, shape, "bf16[3,5]{0,1}, 30 bytes"),
                              FIELD(program_value, donated_parameter, "result 0 takes over parameter 0")};
  CHECK(program_value, shown, value_rows);
  const field shape_rows[] = {FIELD(program_shape, type, "f32["), FIELD(program_shape, rank, "s32[]{}"),
                              FIELD(program_shape, dims, "[3,5]"), FIELD(program_shape, minor_to_major, "{0,1}")};
  CHECK(program_shape, shown, shape_rows);
  const field dynamic_rows[] = {FIELD(program_dynamic_size, result, "result 0 dim"),
                                FIELD(program_dynamic_size, dimension, "dim 1 has"),
                                FIELD(program_dynamic_size, size, "in result 6")};
  CHECK(program_dynamic_size, shown, dynamic_rows);
  const field node_rows[] = {FIELD(program_node, type, "token)"), FIELD(program_node, count, "(result 1)")};
  CHECK(program_node, shown, node_rows);
  const field allocation_rows[] = {
      FIELD(program_allocation, kind, "allocation 1: temporary"), FIELD(program_allocation, number, "constant 7"),
      FIELD(program_allocation, bytes, "9000 bytes"), FIELD(program_allocation, data, "deadbeef")};
  CHECK(program_allocation, shown, allocation_rows);
  const field slice_rows[] = {FIELD(program_slice, allocation, "slice 0: allocation 1"),
                              FIELD(program_slice, offset, "from 128"), FIELD(program_slice, bytes, "256 bytes"),
                              FIELD(program_slice, is_temporary, "bytes, temporary")};
  CHECK(program_slice, shown, slice_rows);
  const field sizes_rows[] = {FIELD(program_sizes, symbol_count, "size s: 1 to 2"),
                              FIELD(program_sizes, degree, "degree 1\n"),
                              FIELD(program_sizes, symbols, "size b"),
                              FIELD(program_sizes, derived_count, "size q is"),
                              FIELD(program_sizes, derived, "size q is"),
                              FIELD(program_sizes, number_count, "number 56"),
                              FIELD(program_sizes, numbers, "number 56"),
                              FIELD(program_sizes, check_count, "wanted"),
                              FIELD(program_sizes, checks, "wanted"),
                              FIELD(program_sizes, is_for_given, "at sizes alone that others are made for")};
  CHECK(program_sizes, shown, sizes_rows);
  const field symbol_rows[] = {FIELD(program_symbol, name, "size b: "), FIELD(program_symbol, least, "54 to"),
                               FIELD(program_symbol, most, "to 55")};
  CHECK(program_symbol, shown, symbol_rows);
  const field derived_rows[] = {FIELD(program_derived_size, kind, "the quotient of"),
                                FIELD(program_derived_size, left, "of 63*b + 62"),
                                FIELD(program_derived_size, right, "and 64\n")};
  CHECK(program_derived_size, shown, derived_rows);
  const field number_rows[] = {FIELD(program_open_number, number, "number 56 is "),
                               FIELD(program_open_number, terms, "-59*b*s + 58*b + 57\n")};
  CHECK(program_open_number, shown, number_rows);
  const field condition_rows[] = {FIELD(program_size_check, message, ": \"too small\""),
                                  FIELD(program_size_check, terms, "wanted 61*s - 60 >= 0")};
  CHECK(program_size_check, shown, condition_rows);
  const field image_rows[] = {FIELD(program_image, format, "image 0: ptx"), FIELD(program_image, data, NULL),
                              FIELD(program_image, size, NULL)};
  CHECK(program_image, shown, image_rows);
  text_free(&out);
}

// What a CPU is asked to do and what a GPU is.
static void test_kernels(void **state) {
  (void)state;
  program p = whole();
  program_thunk t = thunk_of(THUNK_KERNEL);
  t.launch = (program_launch){0, 2, &slices[3]};
  text out = {0};
  const char *shown = print(&p, &t, &out);
  const field launch_rows[] = {FIELD(program_launch, kernel, "runs kernel 0"),
                               FIELD(program_launch, buffer_count, NULL),
                               FIELD(program_launch, buffers, "on slices 44 45")};
  CHECK(program_launch, shown, launch_rows);
  const field cpu_rows[] = {
      FIELD(program_kernel, entry, "kernel 0: entry_point"),
      FIELD(program_kernel, image, "in image 10"),
      FIELD(program_kernel, forms, "in image 10 to 13"),
      FIELD(program_kernel, buffer_count, "buffers 2"),
      FIELD(program_kernel, tiles, "tiles 11"),
      FIELD(program_kernel, tile_bytes, "tile bytes 12"),
      FIELD(program_kernel, tile_operations, "tile operations 13"),
      FIELD(program_kernel, grid, NULL),
      FIELD(program_kernel, block, NULL),
      FIELD(program_kernel, shared_bytes, NULL),
      FIELD(program_kernel, pieces, "51 pieces a tile"),
      FIELD(program_kernel, rest, "rest by kernel 52"),
      FIELD(program_kernel, first_tile, "from tile 53"),
  };
  CHECK(program_kernel, shown, cpu_rows);
  p.device = TARGET_NVPTX;
  shown = print(&p, &t, &out);
  assert_non_null(strstr(shown, "grid 14,15,16\n"));
  assert_non_null(strstr(shown, "block 17,18,19\n"));
  assert_non_null(strstr(shown, "shared bytes 20\n"));
  text_free(&out);
}

static void test_thunk(void **state) {
  (void)state;
  program p = whole();
  program_thunk inner = thunk_of(THUNK_MEMSET), t = thunk_of(THUNK_WHILE);
  const program_thunk *const body[] = {&inner};
  const program_sequence sequences[] = {{0, NULL}, {1, body}};
  inner.pattern = 0x12345678;
  t.sequence_count = 2;
  t.sequences = sequences;
  t.control = (program_control){50, true};
  text out = {0};
  const char *shown = print(&p, &t, &out);
  const field rows[] = {
      FIELD(program_thunk, kind, "    while named"),
      FIELD(program_thunk, name, "while named"),
      FIELD(program_thunk, where, "at made.hlo:48:49"),
      FIELD(program_thunk, origin, "of jit(f)"),
      FIELD(program_thunk, is_hidden, "hidden from profiles"),
      FIELD(program_thunk, read_count, "reads 41 42\n"),
      FIELD(program_thunk, reads, "reads 41 42"),
      FIELD(program_thunk, write_count, "writes 43\n"),
      FIELD(program_thunk, writes, "writes 43"),
      FIELD(program_thunk, resident_bytes, "touches 51 bytes"),
      FIELD(program_thunk, sequence_count, "sequence 0\n      sequence 1\n        memset named"),
      FIELD(program_thunk, sequences, "pattern 0x12345678"),
      FIELD(program_thunk, operand_count, "operand 0"),
      FIELD(program_thunk, operands, "operand 0: f16[3,5] in slice 46"),
      FIELD(program_thunk, result_count, "result 0"),
      FIELD(program_thunk, results, "result 0: s8[3] in slice 47"),
      {offsetof(program_thunk, gemm), sizeof(program_thunk) - offsetof(program_thunk, gemm), "by slice 50, a pred"},
  };
  CHECK(program_thunk, shown, rows);
  t = thunk_of(THUNK_FOR);
  t.trip_count = 51;
  assert_non_null(strstr(print(&p, &t, &out), "trips 51\n"));
  t = thunk_of(THUNK_CONDITIONAL);
  t.control = (program_control){52, false};
  assert_non_null(strstr(print(&p, &t, &out), "by slice 52, a number\n"));
  text_free(&out);
}

// --- library calls: what a field says and how it looks

static const int64_t list[] = {60, 61};

static named_attribute give(const program_field *f, const int64_t *number) {
  if (f->kind == PROGRAM_FIELD_NAME)
    return (named_attribute){.name = f->name, .kind = NAMED_TEXT, .text = f->names[f->name_count - 1]};
  if (f->kind == PROGRAM_FIELD_INTS)
    return (named_attribute){.name = f->name, .kind = NAMED_INTS, .count = 2, .ints = list};
  return (named_attribute){.name = f->name, .kind = NAMED_INTS, .count = 1, .ints = number};
}

static const char *look(arena *a, const program_field *f, int64_t number) {
  switch (f->kind) {
    case PROGRAM_FIELD_BOOL: return arena_printf(a, "%s = %s\n", f->name, number ? "true" : "false");
    case PROGRAM_FIELD_INT: return arena_printf(a, "%s = %d\n", f->name, (int)number);
    case PROGRAM_FIELD_INTS: return arena_printf(a, "%s = 60,61\n", f->name);
    case PROGRAM_FIELD_KERNEL: return arena_printf(a, "%s = kernel %d\n", f->name, (int)number);
    case PROGRAM_FIELD_NUMBER:
    case PROGRAM_FIELD_NAME: break;
  }
  return arena_printf(a, "%s = %s\n", f->name, f->names[f->name_count - 1]);
}

static void check_library_call(arena *a, program_thunk_kind kind) {
  program p = whole();
  program_thunk t = thunk_of(kind);
  text out = {0};
  int count;
  const program_field *fields = program_fields(kind, &count);
  int64_t numbers[32];
  for (int k = 0; k < count; k++) {
    numbers[k] = 70 + k;
    if (fields[k].kind == PROGRAM_FIELD_BOOL) numbers[k] = !fields[k].absent;
    if (fields[k].name_count) numbers[k] = fields[k].name_count - 1;
    const named_attribute given = give(&fields[k], &numbers[k]);
    assert_true(status_is_ok(program_field_set(a, &t, &given)));
  }
  const char *shown = print(&p, &t, &out);
  for (int k = 0; k < count; k++) {
    const char *wanted = look(a, &fields[k], numbers[k]);
    if (!strstr(shown, wanted)) fail_msg("no '%s' in\n%s", wanted, shown);
  }
  text_free(&out);
}

static void test_library_calls(void **state) {
  (void)state;
  arena *a = arena_create();
  int kinds = 0;
  for (int kind = 0; kind < PROGRAM_THUNK_KIND_COUNT; kind++) {
    int count;
    program_fields((program_thunk_kind)kind, &count);
    if (count == 0) continue;
    kinds++;
    check_library_call(a, (program_thunk_kind)kind);
  }
  assert_int_equal(kinds, 9);
  arena_destroy(a);
}

static void test_custom_call(void **state) {
  (void)state;
  const named_attribute attributes[] = {{.name = "rows", .kind = NAMED_INTS, .count = 2, .ints = list},
                                        {.name = "scale", .kind = NAMED_DOUBLE, .number = 0.5},
                                        {.name = "mode", .kind = NAMED_TEXT, .text = "\"fast\""}};
  program p = whole();
  program_thunk t = thunk_of(THUNK_CUSTOM_CALL);
  t.custom_call = (program_custom_call){"a.target", true, 3, attributes};
  text out = {0};
  const char *shown = print(&p, &t, &out);
  const field rows[] = {FIELD(program_custom_call, target, "target = \"a.target\""),
                        FIELD(program_custom_call, has_side_effect, "has_side_effect = true"),
                        FIELD(program_custom_call, attribute_count, "attribute scale = 0.5\n"),
                        FIELD(program_custom_call, attributes, "attribute mode = \"\\\"fast\\\"\"\n")};
  CHECK(program_custom_call, shown, rows);
  assert_non_null(strstr(shown, "attribute rows = 60,61\n"));
  text_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_program),       cmocka_unit_test(test_kernels),     cmocka_unit_test(test_thunk),
      cmocka_unit_test(test_library_calls), cmocka_unit_test(test_custom_call),
  };
  return cmocka_run_group_tests_name("prog/program_print", tests, NULL, NULL);
}
