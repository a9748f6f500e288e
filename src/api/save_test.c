// Programs saved and loaded: the same results, and what is said of files that are damaged, hostile or for others.
#include "api/save.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/testing.h"
#include "base/cpu_features.h"
#include "base/file.h"
#include "heddle/heddle.h"
#include "import/import.h"
#include "prog/program_file.h"
#include "prog/program_print.h"
#include "rt/saved_program.h"

static const char source[] =
    "HloModule m\n"
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }\n"
    "big { a = f32[32,64] parameter(0) ROOT r = f32[32,64] negate(a) }\n"
    "same { a = f32[32,64] parameter(0) ROOT r = f32[32,64] copy(a) }\n"
    "ENTRY e {\n"
    "  x = f32[32,64] parameter(0)\n"
    "  w = f32[64,64] iota(), iota_dimension=0\n"
    "  y = f32[32,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  zero = f32[] constant(0)\n"
    "  s = f32[32] reduce(y, zero), dimensions={1}, to_apply=add\n"
    "  o = f32[32] sort(s), dimensions={0}, to_apply=less\n"
    "  p = pred[] parameter(1)\n"
    "  b = f32[32,64] conditional(p, y, y), true_computation=big, false_computation=same\n"
    "  ROOT t = (f32[32], f32[32,64]) tuple(o, b)\n"
    "}\n";

enum { ROWS = 32, COLUMNS = 64 };

typedef struct fixture {
  arena *arena;
  text file;
} fixture;

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->arena = arena_create();
  module *m;
  compiled c;
  testing_expect(import_module(f->arena, "m.hlo", str_from(source), NULL, &m), HEDDLE_OK, "");
  testing_expect(compile_module(f->arena, m, &(compile_options){.threads = 2, .is_saved = true}, &c), HEDDLE_OK, "");
  testing_expect(save_to_text(&c, &f->file), HEDDLE_OK, "");
  compiled_release(&c);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  text_free(&f->file);
  arena_destroy(f->arena);
  free(f);
  return 0;
}

static void run(heddle_program *p, float *sorted, float *branch) {
  float x[ROWS * COLUMNS];
  const bool takes = true;
  for (int k = 0; k < ROWS * COLUMNS; k++) x[k] = (float)(k * 7 % 13 - 6);
  testing_expect(heddle_program_run(p, (const void *[]){x, &takes}, (void *[]){sorted, branch}), HEDDLE_OK, "");
}

static void test_gives_what_the_compiler_gives(void **state) {
  const fixture *f = *state;
  float sorted[3][ROWS], branch[3][ROWS * COLUMNS];
  heddle_program *programs[3];
  testing_expect(heddle_compile(source, strlen(source), NULL, NULL, &programs[0]), HEDDLE_OK, "");
  testing_expect(heddle_program_load_memory(f->file.data, f->file.size, NULL, &programs[1]), HEDDLE_OK, "");
  testing_expect(heddle_compile(f->file.data, f->file.size, NULL, NULL, &programs[2]), HEDDLE_OK, "");
  for (int k = 0; k < 3; k++) {
    run(programs[k], sorted[k], branch[k]);
    assert_memory_equal(sorted[k], sorted[0], sizeof sorted[0]);
    assert_memory_equal(branch[k], branch[0], sizeof branch[0]);
    assert_string_equal(heddle_program_name(programs[k]), "m");
    assert_int_equal(heddle_program_parameter_count(programs[k]), 2);
    assert_string_equal(heddle_program_parameter_name(programs[k], 1), "p");
    heddle_memory memory = HEDDLE_MEMORY_INIT, first = HEDDLE_MEMORY_INIT;
    testing_expect(heddle_program_memory(programs[k], &memory), HEDDLE_OK, "");
    testing_expect(heddle_program_memory(programs[0], &first), HEDDLE_OK, "");
    assert_true(memory.peak_bytes == first.peak_bytes && memory.constant_bytes == first.constant_bytes);
  }
  char *stage;
  testing_expect(heddle_program_text(programs[1], "hlo", &stage), HEDDLE_INVALID, "was loaded");
  for (int k = 0; k < 3; k++) heddle_program_free(programs[k]);
}

static void test_loads_a_file(void **state) {
  const fixture *f = *state;
  char path[] = "save_test.XXXXXX";
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
  testing_expect(file_write(path, text_view(&f->file)), HEDDLE_OK, "");
  heddle_program *p;
  float sorted[ROWS], branch[ROWS * COLUMNS];
  testing_expect(heddle_program_load(path, NULL, &p), HEDDLE_OK, "");
  assert_int_equal(unlink(path), 0);
  run(p, sorted, branch);
  heddle_program_free(p);
  testing_expect(heddle_program_load(path, NULL, &p), HEDDLE_INVALID, "cannot read");
  assert_null(p);
}

// --- damage

static heddle_status load_copy(const char *data, size_t size, bool trusts, saved_program **out) {
  return saved_program_read((str){data, size}, &(saved_program_options){.trusts_checksums = trusts, .threads = 1}, out);
}

static void test_every_length(void **state) {
  const fixture *f = *state;
  saved_program *p;
  for (size_t size = 0; size < f->file.size; size++) {
    heddle_status s = load_copy(f->file.data, size, size % 2, &p);
    assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
    heddle_status_free(s);
  }
  char *longer = calloc(1, f->file.size + 1);
  memcpy(longer, f->file.data, f->file.size);
  testing_expect(load_copy(longer, f->file.size + 1, false, &p), HEDDLE_INVALID, "its header says");
  free(longer);
}

// What a flip leaves is an error, or (between sections) the program as it was.
static void test_flipped_bits(void **state) {
  const fixture *f = *state;
  text first = {0}, other = {0};
  saved_program *p;
  testing_expect(load_copy(f->file.data, f->file.size, false, &p), HEDDLE_OK, "");
  program_print(&first, saved_program_plan(p));
  saved_program_close(p);
  int harmless = 0;
  for (size_t bit = 0; bit < 8 * f->file.size; bit += bit < 8 * 4096 ? 1 : 7) {
    f->file.data[bit / 8] ^= (char)(1 << bit % 8);
    heddle_status s = load_copy(f->file.data, f->file.size, false, &p);
    f->file.data[bit / 8] ^= (char)(1 << bit % 8);
    if (status_is_ok(s)) {
      program_print(&other, saved_program_plan(p));
      assert_true(str_equal(text_view(&first), text_view(&other)));
      text_free(&other);
      saved_program_close(p);
      harmless++;
    }
    heddle_status_free(s);
  }
  assert_true((size_t)harmless < 8 * 4096);
  text_free(&first);
}

// The record alone, whose checksum nobody looks at: loading ends with an error or a program that is not run.
static void test_flipped_bits_behind_the_checksum(void **state) {
  const fixture *f = *state;
  saved_program *p;
  for (size_t bit = 0; bit < 8 * f->file.size && bit < 8 * 8192; bit += 3) {
    f->file.data[bit / 8] ^= (char)(1 << bit % 8);
    heddle_status s = load_copy(f->file.data, f->file.size, true, &p);
    f->file.data[bit / 8] ^= (char)(1 << bit % 8);
    if (status_is_ok(s)) saved_program_close(p);
    heddle_status_free(s);
  }
}

static void test_other_versions(void **state) {
  const fixture *f = *state;
  saved_program *p;
  f->file.data[8]++;
  testing_expect(load_copy(f->file.data, f->file.size, false, &p), HEDDLE_UNIMPLEMENTED,
                 "has format 2 and was written by 'heddle ");
  f->file.data[8]--;
}

// --- files for others

// The file again, as `change` leaves it.
static heddle_status load_changed(const fixture *f, void (*change)(program_saved *saved)) {
  str bytes;
  saved_program *p;
  program_saved saved;
  arena *a = arena_create();
  testing_expect(file_map_copy(text_view(&f->file), &bytes), HEDDLE_OK, "");
  testing_expect(program_file_read(a, bytes, NULL, &saved), HEDDLE_OK, "");
  change(&saved);
  int count;
  const str *parts = program_file_parts(a, &saved, &count, NULL);
  text file = {0};
  for (int k = 0; k < count; k++) text_append(&file, parts[k]);
  heddle_status s = load_copy(file.data, file.size, false, &p);
  if (status_is_ok(s)) saved_program_close(p);
  text_free(&file);
  file_unmap(bytes);
  arena_destroy(a);
  return s;
}

static program_code *code_of(program_saved *s) { return (program_code *)(uintptr_t)s->codes; }
static void change_nothing(program_saved *s) { (void)s; }
static void want_feature(program_saved *s) { code_of(s)->features = "+sse2,+time-travel"; }
static void want_machine(program_saved *s) { code_of(s)->machine = "pdp-11"; }
static void want_code(program_saved *s) { s->code_count = 0; }
static void lose_image(program_saved *s) { code_of(s)->image_count = 0; }
static void want_plan(program_saved *s) { code_of(s)->plan = s->plan_count; }
static void want_no_plan(program_saved *s) { code_of(s)->plan = -1; }
static void lose_plans(program_saved *s) { s->plan_count = 0; }
static void call_other(program_saved *s) { ((program_kernel *)(uintptr_t)s->plans->kernels)->entry = "abort"; }
static void name_nobody(program_saved *s) { ((program_kernel *)(uintptr_t)s->plans->kernels)->entry = NULL; }
static void lose_place(program_saved *s) { ((program_thunk *)(uintptr_t)s->plans->entry.thunks[0])->where.line = -1; }
static void cut_slice(program_saved *s) { ((program_slice *)(uintptr_t)s->plans->slices)->bytes++; }

static void test_says_what_is_missing(void **state) {
  const fixture *f = *state;
  testing_expect(load_changed(f, change_nothing), HEDDLE_OK, "");
  testing_expect(load_changed(f, want_feature), HEDDLE_UNIMPLEMENTED, "native needs time-travel");
  testing_expect(load_changed(f, want_machine), HEDDLE_UNIMPLEMENTED, "native is for pdp-11");
  testing_expect(load_changed(f, want_code), HEDDLE_UNIMPLEMENTED, "it has none at all");
  testing_expect(load_changed(f, want_plan), HEDDLE_INVALID, "is for plan 1, which is not there");
  testing_expect(load_changed(f, want_no_plan), HEDDLE_INVALID, "is for plan -1, which is not there");
  testing_expect(load_changed(f, lose_plans), HEDDLE_INVALID, "is for plan 0, which is not there");
  testing_expect(load_changed(f, lose_image), HEDDLE_INVALID, "kernel 0 of the program");
  testing_expect(load_changed(f, call_other), HEDDLE_INVALID, "no function 'abort'");
  testing_expect(load_changed(f, name_nobody), HEDDLE_INVALID, "kernel 0 of the program");
  testing_expect(load_changed(f, lose_place), HEDDLE_INVALID, "a place that it names is none");
  testing_expect(load_changed(f, cut_slice), HEDDLE_INVALID, "slice 0");
}

// --- several instruction sets

static int weight(int row, int column) { return row * column % 7 - 3; }

// Narrow vectors leave the product to a library, wide ones make a kernel of it.
static void write_levels_source(text *out) {
  text_puts(out, "ENTRY e {\n  x = f32[96,7] parameter(0)\n  w = f32[7,64] constant({");
  for (int row = 0; row < 7; row++) {
    text_puts(out, row ? ",{" : "{");
    for (int k = 0; k < 64; k++) text_printf(out, "%s%d", k ? "," : "", weight(row, k));
    text_puts(out, "}");
  }
  text_puts(out, "})\n  ROOT y = f32[96,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n");
}

static const void *constant_of(const program *p) {
  for (int k = 0; k < p->allocation_count; k++)
    if (p->allocations[k].kind == PROGRAM_CONSTANT) return p->allocations[k].data;
  fail_msg("the program has no constant");
  return NULL;
}

// What every plan that this machine has instructions for computes.
static void run_levels(const char *path) {
  static _Alignas(64) float x[96 * 7], r[96 * 64];
  for (int k = 0; k < 96 * 7; k++) x[k] = (float)(k % 5 - 2);
  for (int level = CPU_LEVEL_V2; level <= CPU_LEVEL_V4; level++) {
    saved_program *p;
    if (!cpu_level_runs((cpu_level)level)) continue;
    const saved_program_options options = {.threads = 1, .level = cpu_levels[level].name};
    testing_expect(saved_program_open(path, &options, &p), HEDDLE_OK, "");
    assert_int_equal(saved_program_code(p)->plan, level == CPU_LEVEL_V4);
    testing_expect(executable_run(saved_program_invocable(p)->executable, (void *[]){x}, (void *[]){r}), HEDDLE_OK, "");
    for (int k = 0; k < 96 * 64; k++) {
      int sum = 0;
      for (int i = 0; i < 7; i++) sum += ((k / 64 * 7 + i) % 5 - 2) * weight(i, k % 64);
      assert_true(r[k] == (float)sum);
    }
    saved_program_close(p);
  }
}

static void test_levels_have_plans(void **state) {
  (void)state;
  arena *a = arena_create();
  text from = {0};
  module *m;
  compiled levels[3];
  static const cpu_level names[] = {CPU_LEVEL_V2, CPU_LEVEL_V3, CPU_LEVEL_V4};
  write_levels_source(&from);
  testing_expect(import_module(a, "m.hlo", text_view(&from), NULL, &m), HEDDLE_OK, "");
  for (int k = 0; k < 3; k++)
    testing_expect(
        compile_module(a, m, &(compile_options){.threads = 2, .is_saved = true, .cpu = names[k]}, &levels[k]),
        HEDDLE_OK, "");
  char path[] = "save_test.XXXXXX";
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
  testing_expect(save_programs(path, 3, levels), HEDDLE_OK, "");
  str bytes;
  program_saved saved;
  testing_expect(file_map(path, &bytes), HEDDLE_OK, "");
  testing_expect(program_file_read(a, bytes, NULL, &saved), HEDDLE_OK, "");
  assert_int_equal(saved.code_count, 3);
  assert_int_equal(saved.plan_count, 2);
  assert_true(saved.codes[0].plan == 0 && saved.codes[1].plan == 0 && saved.codes[2].plan == 1);
  assert_ptr_equal(constant_of(&saved.plans[0]), constant_of(&saved.plans[1]));
  file_unmap(bytes);
  run_levels(path);
  unlink(path);
  for (int k = 0; k < 3; k++) compiled_release(&levels[k]);
  text_free(&from);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gives_what_the_compiler_gives),
      cmocka_unit_test(test_loads_a_file),
      cmocka_unit_test(test_every_length),
      cmocka_unit_test(test_flipped_bits),
      cmocka_unit_test(test_flipped_bits_behind_the_checksum),
      cmocka_unit_test(test_other_versions),
      cmocka_unit_test(test_says_what_is_missing),
      cmocka_unit_test(test_levels_have_plans),
  };
  return cmocka_run_group_tests_name("api/save", tests, set_up, tear_down);
}
