// What is kept is found again, by the same key alone; damage is noticed, and the folder keeps its size, also where many
// processes write at a time.
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/compile.h"
#include "api/open_compile.h"
#include "api/open_kernel.h"
#include "api/testing.h"
#include "base/file.h"
#include "base/kernel_cache.h"
#include "base/testing.h"
#include "heddle/heddle.h"
#include "import/import.h"

static char folder[] = "kernel_cache_test.XXXXXX";

static int set_up(void **state) {
  (void)state;
  return !mkdtemp(folder) || setenv("HEDDLE_CACHE", folder, 1);
}

// The entries; deletes them if asked.
static int count_entries(arena *a, bool deletes, const char **last) {
  int count = 0;
  DIR *all = opendir(folder);
  assert_non_null(all);
  for (const struct dirent *d = all ? readdir(all) : NULL; d; d = readdir(all)) {
    if (d->d_name[0] == '.') continue;
    *last = arena_printf(a, "%s/%s", folder, d->d_name);
    if (deletes) unlink(*last);
    count++;
  }
  if (all) closedir(all);
  return count;
}

static int tear_down(void **state) {
  (void)state;
  arena *a = arena_create();
  const char *last;
  count_entries(a, true, &last);
  arena_destroy(a);
  return rmdir(folder);
}

static void test_keeps_and_finds(void **state) {
  (void)state;
  arena *a = arena_create();
  const kernel_cache_key key = kernel_cache_key_of(STR("one")), other = kernel_cache_key_of(STR("two"));
  str code;
  assert_true(key.parts[0] != other.parts[0] && key.parts[1] != other.parts[1] && key.parts[0] != key.parts[1]);
  assert_false(kernel_cache_find(a, &key, &code));
  kernel_cache_keep(&key, STR("some code"));
  assert_true(kernel_cache_find(a, &key, &code) && str_is(code, "some code"));
  assert_false(kernel_cache_find(a, &other, &code));
  // Damage: the entry is forgotten.
  const char *path;
  str file;
  assert_int_equal(count_entries(a, false, &path), 1);
  assert_true(status_is_ok(file_read(a, path, &file)));
  ((char *)(uintptr_t)file.data)[file.size - 1] ^= 1;
  assert_true(status_is_ok(file_write(path, file)));
  assert_false(kernel_cache_find(a, &key, &code));
  assert_int_equal(count_entries(a, false, &path), 0);
  // Another's entry under this name.
  kernel_cache_keep(&other, STR("other code"));
  assert_int_equal(count_entries(a, false, &path), 1);
  assert_int_equal(rename(path, arena_printf(a, "%s/%016llx%016llx", folder, (unsigned long long)key.parts[0],
                                             (unsigned long long)key.parts[1])),
                   0);
  assert_false(kernel_cache_find(a, &key, &code));
  arena_destroy(a);
}

static void write_many(int first) {
  char code[1000] = {0};
  for (int k = first; k < first + 200; k++) {
    char name[16];
    snprintf(name, sizeof name, "%d", k % 300);
    const kernel_cache_key key = kernel_cache_key_of(str_from(name));
    kernel_cache_keep(&key, (str){code, sizeof code});
  }
}

static void test_stays_small(void **state) {
  (void)state;
  arena *a = arena_create();
  const char *last;
  setenv("HEDDLE_CACHE_BYTES", "20000", 1);
  pid_t children[4];
  for (int k = 0; k < 4; k++) {
    children[k] = fork();
    if (children[k] == 0) {
      write_many(70 * k);
      _exit(0);
    }
  }
  kill(children[3], SIGKILL);
  for (int k = 0; k < 4; k++) waitpid(children[k], NULL, 0);
  write_many(0);
  assert_true(count_entries(a, true, &last) <= 19);
  unsetenv("HEDDLE_CACHE_BYTES");
  arena_destroy(a);
}

// Neither a large entry behind small ones nor one that is larger than the bound makes the folder larger than that.
static void test_stays_small_with_large_entries(void **state) {
  (void)state;
  arena *a = arena_create();
  const char *last;
  static const char code[30000] = {0};
  const kernel_cache_key large = kernel_cache_key_of(STR("large")), larger = kernel_cache_key_of(STR("larger"));
  setenv("HEDDLE_CACHE_BYTES", "20000", 1);
  write_many(0);
  kernel_cache_keep(&large, (str){code, 8000});
  const int count = count_entries(a, false, &last);
  assert_true(count > 1 && 8000 + (count - 1) * 1000 <= 20000);
  kernel_cache_keep(&larger, (str){code, sizeof code});
  assert_int_equal(count_entries(a, false, &last), count);
  setenv("HEDDLE_CACHE_BYTES", "0", 1);
  kernel_cache_keep(&larger, (str){code, 1});
  assert_int_equal(count_entries(a, true, &last), count);
  unsetenv("HEDDLE_CACHE_BYTES");
  arena_destroy(a);
}

static double seconds_of(const compile_times *times, const char *name) {
  for (int k = 0; k < times->count; k++)
    if (strcmp(times->stages[k].name, name) == 0) return times->stages[k].seconds;
  return 0;
}

static const char first_source[] =
    "HloModule m\n"
    "ENTRY e { x = f32[100] parameter(0) y = f32[100] tanh(x) ROOT z = f32[100] multiply(y, x) }";

// Its second kernel is the other's first, under other names.
static const char second_source[] =
    "HloModule other\n"
    "ENTRY f { p = f32[48,64] parameter(1) q = f32[64,48] transpose(p), dimensions={1,0}\n"
    "  u = f32[100] parameter(0) v = f32[100] tanh(u) w = f32[100] multiply(v, u)\n"
    "  ROOT t = (f32[100], f32[64,48]) tuple(w, q) }";

static void compile(arena *a, const char *source, bool exact, compiled *out) {
  module *m;
  const compile_options options = {.threads = 1, .exact = exact};
  testing_expect(import_module(a, "m.hlo", str_from(source), NULL, &m), HEDDLE_OK, "");
  testing_expect(compile_module(a, m, &options, out), HEDDLE_OK, "");
}

// A second compilation generates no code, and gives the same; so does another program with the same kernel.
static void test_compiles_once(void **state) {
  (void)state;
  arena *a = arena_create();
  compiled programs[4];
  const char *last;
  static _Alignas(64) float x[100], p[48 * 64], turned[64 * 48], results[4][128];
  for (int k = 0; k < 100; k++) x[k] = (float)k / 50 - 1;
  compile(a, first_source, false, &programs[0]);
  compile(a, first_source, false, &programs[1]);
  compile(a, first_source, true, &programs[2]);
  assert_true(seconds_of(&programs[0].times, "codegen") > 0);
  assert_true(seconds_of(&programs[1].times, "codegen") == 0);
  assert_true(seconds_of(&programs[2].times, "codegen") > 0);
  assert_int_equal(count_entries(a, false, &last), 2);
  compile(a, second_source, false, &programs[3]);
  assert_int_equal(programs[3].image_count, 2);
  assert_int_equal(count_entries(a, true, &last), 3);
  for (int k = 0; k < 4; k++) {
    testing_expect(executable_run(programs[k].executable, (void *[]){x, p}, (void *[]){results[k], turned}), HEDDLE_OK,
                   "");
    if (k != 2) assert_memory_equal(results[k], results[0], sizeof x);
    compiled_release(&programs[k]);
  }
  arena_destroy(a);
}

// A bias along an open dim, so that the kernel takes sizes.
static const char open_source[] =
    "func.func @main(%x: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {\n"
    "  %m = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>\n"
    "  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>\n"
    "  %r = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>\n"
    "  %c = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
    "  %s = stablehlo.concatenate %r, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
    "  %y = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>\n"
    "  %z = stablehlo.add %x, %y : tensor<?x?xf32>\n"
    "  return %z : tensor<?x?xf32>\n}";

// Kernels that take sizes come with the table that they read these from.
static void test_compiles_open_sizes_once(void **state) {
  (void)state;
  enum { SIZE = 37 };
  int entries = 0;
  arena *a = arena_create();
  const char *last;
  static _Alignas(64) float x[SIZE * SIZE], b[SIZE], results[SIZE * SIZE];
  for (int k = 0; k < SIZE * SIZE; k++) x[k] = (float)k;
  for (int k = 0; k < SIZE; k++) b[k] = (float)(3 * k) / 8;
  for (int k = 0; k < 2; k++) {
    const import_options import = {0};
    const compile_options options = {.threads = 1};
    compiled c;
    testing_expect(open_compile(a, "open.mlir", str_from(open_source), &import, &options, &c), HEDDLE_OK, "");
    if (k == 0) entries = count_entries(a, false, &last);
    assert_int_equal(count_entries(a, false, &last), entries);
    assert_true(c.tables[0].count > 0);
    assert_int_equal(seconds_of(&c.times, "codegen") > 0, k == 0);
    compiled_release(&c);
  }
  heddle_program *kept = NULL;
  testing_expect(heddle_compile(open_source, strlen(open_source), "open.mlir", NULL, &kept), HEDDLE_OK, "");
  const int64_t x_dims[] = {SIZE, SIZE}, b_dims[] = {SIZE};
  const int64_t *const dims[] = {x_dims, b_dims};
  const heddle_run_options options = {HEDDLE_SIZED(heddle_run_options), .input_dims = dims};
  const void *const inputs[] = {x, b}, *const *all_inputs = inputs;
  void *const outputs[] = {results}, *const *all_outputs = outputs;
  testing_expect(heddle_program_run_with(kept, &options, &all_inputs, &all_outputs), HEDDLE_OK, "");
  for (int k = 0; k < SIZE * SIZE; k++) assert_true(results[k] == x[k] + b[k % SIZE]);
  heddle_program_free(kept);
  count_entries(a, true, &last);
  arena_destroy(a);
}

// A table that is not whole is none.
static void test_reads_tables(void **state) {
  (void)state;
  arena *a = arena_create();
  int64_t terms[2 * PROGRAM_MOST_TERMS] = {3, 1, 4};
  terms[PROGRAM_MOST_TERMS] = -7;
  text t = {0};
  open_kernel_table_write(&(open_kernel_table){2, terms}, &t);
  const size_t table_bytes = t.size;
  text_puts(&t, "code");
  open_kernel_table found;
  for (size_t size = 0; size <= t.size; size++) {
    str bytes = {text_cstr(&t), size};
    assert_int_equal(open_kernel_table_read(a, &bytes, &found), size >= table_bytes);
    if (size < table_bytes) continue;
    assert_int_equal(found.count, 2);
    assert_memory_equal(found.terms, terms, sizeof terms);
    assert_true(str_equal(bytes, (str){"code", size - table_bytes}));
  }
  for (int64_t count = -1; count < INT64_MAX / 4; count = count * 3 + 6) {
    str bytes = {(const char *)&count, sizeof count};
    assert_false(open_kernel_table_read(a, &bytes, &found));
  }
  text_free(&t);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keeps_and_finds),
      cmocka_unit_test(test_stays_small),
      cmocka_unit_test(test_stays_small_with_large_entries),
      cmocka_unit_test(test_compiles_once),
      cmocka_unit_test(test_compiles_open_sizes_once),
      cmocka_unit_test(test_reads_tables),
  };
  return cmocka_run_group_tests_name("api/kernel_cache", tests, set_up, tear_down);
}
