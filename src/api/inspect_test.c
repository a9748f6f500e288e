// What callers are told of a program, of its compilation and of the library, and callers with other headers.
#include <string.h>

#include "api/testing.h"
#include "heddle/allocator.h"
#include "heddle/heddle.h"
#include "heddle/version.h"

static const char source[] =
    "HloModule sums, input_output_alias={ {}: (0, {}, may-alias) }\n"
    "ENTRY e {\n"
    "  x = f32[64,64] parameter(0)\n"
    "  y = f32[64,64] parameter(1)\n"
    "  c = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  d = f32[64,64] dot(c, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT r = f32[64,64] tanh(d)\n"
    "}\n";

static heddle_program *compile(const char *text, const heddle_compile_options *options) {
  heddle_program *p;
  testing_expect(heddle_compile(text, strlen(text), "test.hlo", options, &p), HEDDLE_OK, "");
  return p;
}

// As the struct was in the first versions that had a size; what lies behind it is the caller's.
typedef struct older_options {
  size_t struct_size;
  bool exact;
  int threads;
} older_options;

static void test_older_and_newer_callers(void **state) {
  (void)state;
  struct {
    older_options options;
    void *others[8];
  } memory = {{sizeof(older_options), true, 1}, {&memory, &memory, &memory, &memory, &memory, &memory}};
  heddle_program_free(compile(source, (const heddle_compile_options *)(const void *)&memory.options));
  struct {
    heddle_compile_options options;
    void *newer;
  } later = {{HEDDLE_SIZED(later), .threads = 1}, NULL};
  heddle_program_free(compile(source, &later.options));
  heddle_program *p;
  later.newer = &later;
  testing_expect(heddle_compile(source, strlen(source), NULL, &later.options, &p), HEDDLE_INVALID,
                 "heddle_compile_options");
  assert_null(p);
  testing_expect(heddle_compile(source, strlen(source), NULL, &(heddle_compile_options){.threads = 1}, &p),
                 HEDDLE_INVALID, "heddle_compile_options of struct_size 0");
  p = compile("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }", NULL);
  testing_expect(heddle_program_run_with(p, &(heddle_run_options){0}, NULL, NULL), HEDDLE_INVALID,
                 "heddle_run_options of struct_size 0");
  heddle_program_free(p);
}

static void test_signature_and_memory(void **state) {
  (void)state;
  heddle_program *p = compile(source, NULL);
  assert_string_equal(heddle_program_name(p), "sums");
  assert_string_equal(heddle_program_parameter_name(p, 1), "y");
  assert_string_equal(heddle_program_parameter_name(p, 2), "");
  assert_int_equal(heddle_program_parameter_alias(p, 0), 0);
  assert_int_equal(heddle_program_parameter_alias(p, 1), -1);
  assert_int_equal(heddle_program_parameter_alias(p, -1), -1);
  heddle_memory m = HEDDLE_MEMORY_INIT;
  testing_expect(heddle_program_memory(p, &m), HEDDLE_OK, "");
  assert_true(m.parameter_bytes == 32768 && m.result_bytes == 16384 && m.constant_bytes == 0);
  assert_true(m.temporary_bytes >= 16384 && m.temporary_bytes <= 65536 && m.code_bytes > 100);
  assert_true(m.peak_bytes == 32768 + m.temporary_bytes);
  testing_expect(heddle_program_memory(p, NULL), HEDDLE_INVALID, "null");
  testing_expect(heddle_program_memory(NULL, &m), HEDDLE_INVALID, "null");
  heddle_program_free(p);
  assert_string_equal(heddle_program_name(NULL), "");
}

static void test_stages(void **state) {
  (void)state;
  static const char *const stages[][2] = {
      {"hlo", "HloModule sums"}, {"fused", "fusion("},        {"plan", "kernel @main"},
      {"lhlo", "lmhlo."},        {"program", "program sums"}, {"mlir", "func.func @main"},
      {"lowered", "llvm.func"},  {"llvm", "target triple"},   {"asm", "\t.globl"},
  };
  heddle_program *p = compile(source, &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = 2});
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
    char *text;
    testing_expect(heddle_program_text(p, stages[i][0], &text), HEDDLE_OK, "");
    if (!strstr(text, stages[i][1])) fail_msg("%s: %s", stages[i][0], text);
    heddle_text_free(text);
  }
  char *text;
  testing_expect(heddle_program_text(p, "ptx", &text), HEDDLE_INVALID, "\"ptx\"");
  assert_null(text);
  testing_expect(heddle_program_text(p, NULL, &text), HEDDLE_INVALID, "null");
  heddle_program_free(p);
  p = compile(
      "func.func @main(%p: memref<3xf32>, %r: memref<3xf32> {lmhlo.result}) {\n"
      "  \"lmhlo.add\"(%p, %p, %r) : (memref<3xf32>, memref<3xf32>, memref<3xf32>) -> ()\n  return\n}\n",
      NULL);
  testing_expect(heddle_program_text(p, "hlo", &text), HEDDLE_INVALID, "written as LHLO");
  testing_expect(heddle_program_text(p, "plan", &text), HEDDLE_OK, "");
  assert_non_null(strstr(text, "kernel @main"));
  heddle_text_free(text);
  heddle_program_free(p);
}

typedef struct seen {
  char stages[512];
  int kernels, done;
  heddle_cancellation *cancellation;
} seen;

static void see(void *user, const heddle_progress *progress) {
  seen *s = user;
  assert_true(progress->struct_size >= sizeof *progress);
  if (strcmp(progress->stage, "kernels") == 0) {
    assert_true(progress->total == 0 || progress->done <= progress->total);
    s->kernels = progress->total;
    s->done = progress->done;
    if (s->cancellation) heddle_cancel(s->cancellation);
    if (progress->done) return;
  }
  strcat(strcat(s->stages, progress->stage), " ");
}

static void test_progress(void **state) {
  (void)state;
  seen s = {0};
  heddle_compile_options options = HEDDLE_COMPILE_OPTIONS_INIT;
  options.progress = see;
  options.progress_user = &s;
  heddle_program_free(compile(source, &options));
  assert_string_equal(s.stages, "import opt fuse plan kernels link done ");
  assert_true(s.kernels == 1 && s.done == 1);
  testing_expect(heddle_cancellation_create(&options.cancellation), HEDDLE_OK, "");
  s = (seen){.cancellation = options.cancellation};
  heddle_program *p;
  testing_expect(heddle_compile(source, strlen(source), NULL, &options, &p), HEDDLE_CANCELLED, "cancelled");
  assert_null(strstr(s.stages, "done"));
  heddle_cancellation_free(options.cancellation);
}

static void test_files_and_places(void **state) {
  (void)state;
  heddle_program *p;
  testing_expect(heddle_compile_file(HEDDLE_SOURCE_DIR "/examples/softmax.mlir", NULL, &p), HEDDLE_OK, "");
  assert_true(heddle_program_parameter_count(p) > 0);
  heddle_program_free(p);
  testing_expect(heddle_compile_file(HEDDLE_SOURCE_DIR "/no such file", NULL, &p), HEDDLE_INVALID, "no such file");
  testing_expect(heddle_compile_file(NULL, NULL, &p), HEDDLE_INVALID, "null");
  assert_null(p);
  const char wrong[] = "HloModule m\nENTRY e { ROOT x = f32[2] paramter(0) }";
  heddle_status s = heddle_compile(wrong, strlen(wrong), "bad.hlo", NULL, &p);
  assert_string_equal(heddle_status_file(s), "bad.hlo");
  assert_true(heddle_status_line(s) == 2 && heddle_status_column(s) > 1);
  assert_null(strchr(heddle_status_summary(s), '\n'));
  assert_string_equal(heddle_code_name(heddle_status_code(s)), "invalid");
  heddle_status_free(s);
  const heddle_status none = {0};
  assert_true(!heddle_status_file(none) && heddle_status_line(none) == 0 && !heddle_status_summary(none)[0]);
  assert_string_equal(heddle_code_name((heddle_code)99), "unknown");
}

static void test_library(void **state) {
  (void)state;
  assert_string_equal(heddle_version(), HEDDLE_VERSION);
  assert_int_equal(heddle_version_number(), HEDDLE_VERSION_NUMBER);
  assert_true(heddle_has_feature("compile") && !heddle_has_feature("no such feature") && !heddle_has_feature(NULL));
  int count = 0;
  while (heddle_feature(count)) assert_true(heddle_has_feature(heddle_feature(count++)));
  assert_true(count > 5 && !heddle_feature(-1));
  testing_expect(heddle_set_allocator(&(heddle_allocator){HEDDLE_SIZED(heddle_allocator)}), HEDDLE_INVALID, "null");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_older_and_newer_callers),
      cmocka_unit_test(test_signature_and_memory),
      cmocka_unit_test(test_stages),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_files_and_places),
      cmocka_unit_test(test_library),
  };
  return cmocka_run_group_tests_name("api/inspect", tests, NULL, NULL);
}
