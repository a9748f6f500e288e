// A caller chooses the platform by its name, and runs programs of all of them alike. What needs a device is skipped,
// with the reason, where there is none.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/compile.h"
#include "api/save.h"
#include "api/testing.h"
#include "heddle/heddle.h"
#include "heddle/version.h"
#include "import/import.h"

enum { ROWS = 65, COLUMNS = 130, COUNT = ROWS * COLUMNS, CHILD_SECONDS = 60 };

// A kernel, sums of rows, and a sort, which the host does between kernels.
static const char source[] =
    "HloModule m\n"
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }\n"
    "ENTRY e { x = f32[65,130] parameter(0) y = f32[65,130] parameter(1)\n"
    "  n = f32[65,130] negate(x) d = f32[65,130] multiply(n, y) zero = f32[] constant(0)\n"
    "  s = f32[65] reduce(d, zero), dimensions={1}, to_apply=add\n"
    "  o = f32[65] sort(s), dimensions={0}, to_apply=less\n"
    "  ROOT t = (f32[65,130], f32[65]) tuple(d, o) }\n";

typedef struct outcome {
  float products[COUNT], sorted[ROWS];
} outcome;

static float x[COUNT], y[COUNT];

static heddle_status compile(const char *text, const char *platform, heddle_program **out) {
  const heddle_compile_options options = {HEDDLE_SIZED(heddle_compile_options), .threads = 2, .platform = platform};
  return heddle_compile(text, strlen(text), "test.hlo", &options, out);
}

static heddle_program *made_for(const char *text, const char *platform) {
  heddle_program *p = NULL;
  testing_expect(compile(text, platform, &p), HEDDLE_OK, "");
  return p;
}

static heddle_status run(heddle_program *p, outcome *out) {
  memset(out, 0xff, sizeof *out);
  return heddle_program_run(p, (const void *[]){x, y}, (void *[]){out->products, out->sorted});
}

static void need_device(void) {
  char *devices;
  heddle_status s = heddle_platform_devices("vulkan", &devices);
  if (heddle_status_code(s) == HEDDLE_OK) {
    heddle_text_free(devices);
    return;
  }
  print_message("skipped: %s", heddle_status_message(s));
  heddle_status_free(s);
  skip();
}

static int fill(void **state) {
  (void)state;
  for (int k = 0; k < COUNT; k++) {
    x[k] = (float)(k * 37 % 101 - 50);
    y[k] = (float)(k * 53 % 67 - 33);
  }
  return 0;
}

// Sums of whole numbers are the same in every order.
static void test_same_results(void **state) {
  (void)state;
  need_device();
  static outcome wanted, found;
  heddle_program *host = made_for(source, "cpu"), *device = made_for(source, "Vulkan");
  assert_string_equal(heddle_program_platform(host), "cpu");
  assert_string_equal(heddle_program_platform(device), "vulkan");
  testing_expect(run(host, &wanted), HEDDLE_OK, "");
  for (int k = 0; k < 3; k++) {
    testing_expect(run(device, &found), HEDDLE_OK, "");
    assert_memory_equal(&found, &wanted, sizeof wanted);
  }
  heddle_memory memory = HEDDLE_MEMORY_INIT;
  testing_expect(heddle_program_memory(device, &memory), HEDDLE_OK, "");
  assert_true(memory.code_bytes > 0 && memory.parameter_bytes == 2 * (int64_t)sizeof x);
  heddle_program_free(device);
  heddle_program_free(host);
}

static void test_lhlo(void **state) {
  (void)state;
  need_device();
  heddle_program *p = made_for(
      "func.func @main(%p: memref<3xf32>, %r: memref<3xf32> {lmhlo.result}) {\n"
      "  \"lmhlo.add\"(%p, %p, %r) : (memref<3xf32>, memref<3xf32>, memref<3xf32>) -> ()\n"
      "  return\n}\n",
      "vulkan");
  float sums[3];
  testing_expect(heddle_program_run(p, (const void *[]){(float[]){1, 2, 3}}, (void *[]){sums}), HEDDLE_OK, "");
  assert_true(sums[0] == 2 && sums[1] == 4 && sums[2] == 6);
  assert_string_equal(heddle_program_platform(p), "vulkan");
  heddle_program_free(p);
}

static void test_stages(void **state) {
  (void)state;
  need_device();
  heddle_program *p = made_for(source, "vulkan");
  static const char *const shown[][2] = {{"hlo", "negate"},          {"fused", "fusion"},   {"plan", "128 threads"},
                                         {"lhlo", "lmhlo"},          {"program", "kernel"}, {"mlir", "tensor"},
                                         {"lowered", "spirv.module"}};
  for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
    char *text;
    testing_expect(heddle_program_text(p, shown[k][0], &text), HEDDLE_OK, "");
    if (!strstr(text, shown[k][1])) fail_msg("%s: %s", shown[k][0], text);
    heddle_text_free(text);
  }
  char *text;
  testing_expect(heddle_program_text(p, "llvm", &text), HEDDLE_INVALID, "for vulkan: it has no stage \"llvm\"");
  testing_expect(heddle_program_text(p, "asm", &text), HEDDLE_INVALID, "for vulkan: it has no stage \"asm\"");
  heddle_program_free(p);
}

static const char open_source[] =
    "module @m { func.func public @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n"
    "  %0 = stablehlo.add %x, %x : tensor<?x4xf32>\n"
    "  return %0 : tensor<?x4xf32> } }";

static void run_at(heddle_program *p, int64_t rows) {
  static float given[1000 * 4], found[1000 * 4];
  for (int k = 0; k < rows * 4; k++) given[k] = (float)k;
  memset(found, 0xff, sizeof found);
  const int64_t *dims[] = {(int64_t[]){rows, 4}};
  const void *const *inputs[] = {(const void *[]){given}};
  void *const *outputs[] = {(void *[]){found}};
  testing_expect(heddle_program_run_with(p, &(heddle_run_options){HEDDLE_SIZED(heddle_run_options), .input_dims = dims},
                                         inputs, outputs),
                 HEDDLE_OK, "");
  for (int k = 0; k < rows * 4; k++)
    if (found[k] != 2 * given[k]) fail_msg("%d rows, element %d: %f", (int)rows, k, found[k]);
}

static void test_open_sizes(void **state) {
  (void)state;
  need_device();
  const heddle_compile_options specialized = {HEDDLE_SIZED(heddle_compile_options), .specializes = true,
                                              .platform = "vulkan"};
  heddle_program *p;
  testing_expect(compile(open_source, "vulkan", &p), HEDDLE_UNIMPLEMENTED, "for CPUs alone: for vulkan");
  testing_expect(heddle_compile(open_source, strlen(open_source), "open.mlir", &specialized, &p), HEDDLE_OK, "");
  run_at(p, 1);
  run_at(p, 1000);
  run_at(p, 37);
  heddle_program_free(p);
}

// A child of a process that has the device is told so, runs what is the host's, and does not hang.
static void test_fork(void **state) {
  (void)state;
  need_device();
  static outcome wanted, found;
  heddle_program *p = made_for(source, "vulkan");
  testing_expect(run(p, &wanted), HEDDLE_OK, "");
  const pid_t child = fork();
  if (child == 0) {
    static const char words[] = "is open in the process that forked this one";
    heddle_program *other;
    char *devices;
    alarm(CHILD_SECONDS);
    testing_expect(run(p, &found), HEDDLE_DEVICE_FAILED, words);
    testing_expect(compile(source, "vulkan", &other), HEDDLE_DEVICE_FAILED, words);
    testing_expect(heddle_platform_devices("vulkan", &devices), HEDDLE_DEVICE_FAILED, words);
    heddle_program_free(p);
    other = made_for(source, "cpu");
    testing_expect(run(other, &found), HEDDLE_OK, "");
    assert_memory_equal(&found, &wanted, sizeof wanted);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  testing_expect(run(p, &found), HEDDLE_OK, "");
  assert_memory_equal(&found, &wanted, sizeof wanted);
  heddle_program_free(p);
}

// --- without a device

static void test_names(void **state) {
  (void)state;
  static const char *const wrong[] = {"", "gpu", "null", "nvptx", "cpu ", "vulkan0"};
  heddle_program *p;
  char *devices;
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    char words[64];
    snprintf(words, sizeof words, "found the platform \"%s\", wanted cpu or vulkan", wrong[k]);
    testing_expect(compile(source, wrong[k], &p), HEDDLE_INVALID, words);
    assert_null(p);
    testing_expect(heddle_platform_devices(wrong[k], &devices), HEDDLE_INVALID, words);
    assert_null(devices);
  }
  testing_expect(heddle_platform_devices(NULL, &devices), HEDDLE_INVALID, "\"(null)\"");
  testing_expect(heddle_platform_devices("cpu", NULL), HEDDLE_INVALID, "found null");
  testing_expect(heddle_platform_devices("CPU", &devices), HEDDLE_OK, "");
  assert_string_equal(devices, "cpu\n");
  heddle_text_free(devices);
  assert_string_equal(heddle_program_platform(NULL), "");
  assert_true(heddle_has_feature("platform") && heddle_has_feature("target:vulkan"));
}

// With a driver or without one: the device's name is nobody's.
static void test_no_device(void **state) {
  (void)state;
  const char *before = getenv("HEDDLE_VULKAN_DEVICE");
  char *kept = before ? strdup(before) : NULL;
  setenv("HEDDLE_VULKAN_DEVICE", "a device that nobody has", 1);
  heddle_program *p;
  testing_expect(compile(source, "vulkan", &p), HEDDLE_DEVICE_FAILED, "");
  assert_null(p);
  if (kept) setenv("HEDDLE_VULKAN_DEVICE", kept, 1);
  else unsetenv("HEDDLE_VULKAN_DEVICE");
  free(kept);
}

// A caller whose header ends before the field has no platform, whatever stands behind its struct.
static void test_older_header(void **state) {
  (void)state;
  static outcome found;
  heddle_compile_options o;
  memset(&o, 0xa5, sizeof o);
  memset(&o, 0, offsetof(heddle_compile_options, platform));
  o.struct_size = offsetof(heddle_compile_options, platform);
  o.threads = 1;
  heddle_program *p = NULL;
  testing_expect(heddle_compile(source, strlen(source), "test.hlo", &o, &p), HEDDLE_OK, "");
  assert_string_equal(heddle_program_platform(p), "cpu");
  testing_expect(run(p, &found), HEDDLE_OK, "");
  heddle_program_free(p);
}

// --- saved programs

static void save(target_kind target, text *out) {
  arena *a = arena_create();
  module *m;
  compiled c;
  const compile_options options = {
      .threads = 2, .is_saved = true, .target = target == TARGET_VULKAN ? target_vulkan() : NULL};
  testing_expect(import_module(a, "m.hlo", str_from(source), NULL, &m), HEDDLE_OK, "");
  testing_expect(compile_module(a, m, &options, &c), HEDDLE_OK, "");
  testing_expect(save_to_text(&c, out), HEDDLE_OK, "");
  compiled_release(&c);
  arena_destroy(a);
}

static heddle_status compile_saved(const text *file, const char *platform, heddle_program **out) {
  const heddle_compile_options options = {HEDDLE_SIZED(heddle_compile_options), .platform = platform};
  return heddle_compile(file->data, file->size, "saved", &options, out);
}

// A file for the platform is loaded where that is asked for, or nothing.
static void check_saved(target_kind target, const char *own, const char *other) {
  static outcome wanted, found;
  const char *const asked[] = {own, NULL};
  text file = {0};
  save(target, &file);
  heddle_program *p = made_for(source, "cpu");
  testing_expect(run(p, &wanted), HEDDLE_OK, "");
  heddle_program_free(p);
  for (int k = 0; k < 3; k++) {
    if (k < 2) testing_expect(compile_saved(&file, asked[k], &p), HEDDLE_OK, "");
    else testing_expect(heddle_program_load_memory(file.data, file.size, NULL, &p), HEDDLE_OK, "");
    assert_string_equal(heddle_program_platform(p), own);
    testing_expect(run(p, &found), HEDDLE_OK, "");
    assert_memory_equal(&found, &wanted, sizeof wanted);
    heddle_program_free(p);
  }
  char words[64];
  snprintf(words, sizeof words, "found the platform %s, but the program was saved for %s", other, own);
  testing_expect(compile_saved(&file, other, &p), HEDDLE_INVALID, words);
  assert_null(p);
  testing_expect(compile_saved(&file, "cuda", &p), HEDDLE_INVALID, "found the platform \"cuda\"");
  assert_null(p);
  text_free(&file);
}

// A device by its number or its name, and streams.
static void test_devices(void **state) {
  (void)state;
  heddle_program *p;
  heddle_compile_options options = {HEDDLE_SIZED(heddle_compile_options), .device = "0"};
  testing_expect(heddle_compile(source, strlen(source), "test.hlo", &options, &p), HEDDLE_INVALID,
                 "found the device 0, but the program is for the platform cpu");
  options.device = NULL;
  options.streams = 17;
  testing_expect(heddle_compile(source, strlen(source), "test.hlo", &options, &p), HEDDLE_INVALID,
                 "found 17 streams, wanted 0 to 16");
  need_device();
  static outcome wanted, found;
  p = made_for(source, "cpu");
  testing_expect(run(p, &wanted), HEDDLE_OK, "");
  heddle_program_free(p);
  options.platform = "vulkan";
  options.streams = 3;
  options.device = "0";
  testing_expect(heddle_compile(source, strlen(source), "test.hlo", &options, &p), HEDDLE_OK, "");
  testing_expect(run(p, &found), HEDDLE_OK, "");
  assert_memory_equal(&found, &wanted, sizeof wanted);
  heddle_program_free(p);
  options.device = "no such device";
  testing_expect(heddle_compile(source, strlen(source), "test.hlo", &options, &p), HEDDLE_DEVICE_FAILED,
                 "no Vulkan device called no such device");
  text file = {0};
  save(TARGET_VULKAN, &file);
  heddle_load_options loading = {HEDDLE_SIZED(heddle_load_options), .device = "99"};
  testing_expect(heddle_program_load_memory(file.data, file.size, &loading, &p), HEDDLE_DEVICE_FAILED, "called 99");
  loading.device = "0";
  testing_expect(heddle_program_load_memory(file.data, file.size, &loading, &p), HEDDLE_OK, "");
  testing_expect(run(p, &found), HEDDLE_OK, "");
  assert_memory_equal(&found, &wanted, sizeof wanted);
  heddle_program_free(p);
  text_free(&file);
}

static void test_saved_for_host(void **state) {
  (void)state;
  check_saved(TARGET_CPU, "cpu", "vulkan");
}

static void test_saved_for_device(void **state) {
  (void)state;
  need_device();
  check_saved(TARGET_VULKAN, "vulkan", "cpu");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),          cmocka_unit_test(test_no_device),
      cmocka_unit_test(test_older_header),   cmocka_unit_test(test_devices),
      cmocka_unit_test(test_saved_for_host), cmocka_unit_test(test_saved_for_device),
      cmocka_unit_test(test_same_results),   cmocka_unit_test(test_lhlo),
      cmocka_unit_test(test_stages),         cmocka_unit_test(test_open_sizes),
      cmocka_unit_test(test_fork),
  };
  return cmocka_run_group_tests_name("api/platform", tests, fill, NULL);
}
