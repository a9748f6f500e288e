// The n-th allocation fails, for every n of a compilation and a run: every outcome is a status, nothing leaks (the
// sanitized build looks), and the next compilation works.
//
// Heddle's own calls come here by the linker's --wrap.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/testing.h"
#include "heddle/heddle.h"

enum { LIMIT_SECONDS = 600 };

static atomic_long calls, first_to_fail, last_to_fail;  // the numbers of calls that fail, from 1; 0: none

// Objects of C++ that a callback's end leaves behind are lost (base/guard.h); nothing of Heddle's own is.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:operator new\nleak:libMLIR\nleak:libLLVM\n"; }

// MLIR's C interface and its C++ headers, which are linked into the program, do not look at what they get. They are
// asked for little, and only where there is room (guard_check_room).
static bool is_mlir(void *caller) {
  Dl_info where;
  if (!dladdr(caller, &where) || !where.dli_sname) return false;
  return strncmp(where.dli_sname, "mlir", 4) == 0 || strncmp(where.dli_sname, "_Z", 2) == 0;
}

static bool fails(void *caller) {
  const long number = ++calls;
  return first_to_fail && number >= first_to_fail && number <= last_to_fail && !is_mlir(caller);
}

#define FAILS fails(__builtin_return_address(0))

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return FAILS ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return FAILS ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return FAILS ? NULL : __real_realloc(old, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return FAILS ? NULL : __real_aligned_alloc(alignment, size);
}
int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
  return FAILS ? ENOMEM : __real_posix_memalign(out, alignment, size);
}

typedef struct subject {
  const char *source;
  int64_t sizes[2];  // of an open one's dims
  float wanted[49];
} subject;

// One kernel; the array is copied.
static subject small = {
    "HloModule m\nENTRY e { x = f32[7,7]{0,1} parameter(0) ROOT y = f32[7,7]{0,1} negate(x) }\n", {0}, {0}};

// A fusion, a matrix product, a convolution, a loop, a sort and a constant to fold; the arrays are copied.
static subject large = {
    "HloModule m\n"
    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }\n"
    "body { s = (f32[8,8], s32[]) parameter(0) x = f32[8,8] get-tuple-element(s), index=0 "
    "n = s32[] get-tuple-element(s), index=1 o = s32[] constant(1) k = s32[] add(n, o) "
    "d = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} t = f32[8,8] tanh(d) "
    "ROOT r = (f32[8,8], s32[]) tuple(t, k) }\n"
    "cond { s = (f32[8,8], s32[]) parameter(0) n = s32[] get-tuple-element(s), index=1 m = s32[] constant(3) "
    "ROOT c = pred[] compare(n, m), direction=LT }\n"
    "ENTRY e { x = f32[8,8]{0,1} parameter(0) i = s32[8,8] iota(), iota_dimension=0 j = s32[8,8] multiply(i, i) "
    "f = f32[8,8] convert(j) y = f32[8,8] add(x, f) z = s32[] constant(0) "
    "s = (f32[8,8], s32[]) tuple(y, z) w = (f32[8,8], s32[]) while(s), condition=cond, body=body "
    "u = f32[8,8] get-tuple-element(w), index=0 v = f32[1,8,8,1] reshape(u) k = f32[2,2,1,1] constant({{{{1}},{{2}}},"
    "{{{3}},{{4}}}}) c = f32[1,7,7,1] convolution(v, k), window={size=2x2}, dim_labels=b01f_01io->b01f "
    "q = f32[7,7] reshape(c) ROOT l = f32[7,7] sort(q), dimensions={1}, to_apply=less }\n",
    {0},
    {0}};

// One kernel that takes its size, for which it is compiled several times.
static subject open_size = {
    "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
    "  %y = stablehlo.negate %x : tensor<?xf32>\n  return %y : tensor<?xf32>\n}\n",
    {49},
    {0}};

// One that turns open dims, for whose multiples there is code of its own.
static subject open_turned = {
    "func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {\n"
    "  %y = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>\n"
    "  %z = stablehlo.negate %y : tensor<?x?xf32>\n  return %z : tensor<?x?xf32>\n}\n",
    {7, 7},
    {0}};

static heddle_status attempt(const subject *of, int threads, float *found) {
  float x[64];
  for (int i = 0; i < 64; i++) x[i] = (float)(i % 7) / 8;
  heddle_program *p = NULL;
  heddle_status s =
      heddle_compile(of->source, strlen(of->source), "test.hlo",
                     &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = threads}, &p);
  if (heddle_status_code(s) != HEDDLE_OK) {
    assert_null(p);
    return s;
  }
  const void *inputs[] = {x};
  void *outputs[] = {found};
  const int64_t *dims[] = {of->sizes};
  s = of->sizes[0] == 0
          ? heddle_program_run(p, inputs, outputs)
          : heddle_program_run_with(p, &(heddle_run_options){HEDDLE_SIZED(heddle_run_options), .input_dims = dims},
                                    (const void *const *const[]){inputs}, (void *const *const[]){outputs});
  heddle_program_free(p);
  return s;
}

// The allocations first … last fail; true if all went well nevertheless.
static bool works_without(const subject *of, int threads, long first, long last) {
  float found[49] = {0};
  calls = 0;
  last_to_fail = last;
  first_to_fail = first;
  heddle_status s = attempt(of, threads, found);
  first_to_fail = 0;
  const heddle_code code = heddle_status_code(s);
  if (code != HEDDLE_OK && code != HEDDLE_OUT_OF_MEMORY)
    fail_msg("allocation %ld: code %d: %s", first, code, heddle_status_message(s));
  if (code == HEDDLE_OUT_OF_MEMORY) assert_non_null(strstr(heddle_status_message(s), "memory"));
  if (code == HEDDLE_OK) assert_memory_equal(found, of->wanted, sizeof found);
  heddle_status_free(s);
  return code == HEDDLE_OK;
}

static long count_calls(const subject *of, int threads) {
  assert_true(works_without(of, threads, LONG_MAX, LONG_MAX));
  return calls;
}

static int set_up(void **state) {
  (void)state;
  heddle_status s = attempt(&large, 1, large.wanted);
  if (heddle_status_code(s) == HEDDLE_OK) s = attempt(&small, 1, small.wanted);
  if (heddle_status_code(s) == HEDDLE_OK) s = attempt(&open_size, 1, open_size.wanted);
  if (heddle_status_code(s) == HEDDLE_OK) s = attempt(&open_turned, 1, open_turned.wanted);
  const bool is_ok = heddle_status_code(s) == HEDDLE_OK;
  if (!is_ok) fputs(heddle_status_message(s), stderr);
  heddle_status_free(s);
  return !is_ok;
}

static void fail_each(const subject *of, int threads, long step, bool all_after) {
  const long count = count_calls(of, threads);
  long failures = 0;
  for (long n = 1; n <= count; n += step) failures += !works_without(of, threads, n, all_after ? LONG_MAX : n);
  // About six in ten allocations are needed by themselves; where threads race for the numbers, the sample of thirty
  // scatters.
  assert_true(count > 50 && failures * step > count / 4);
  assert_true(works_without(of, threads, LONG_MAX, LONG_MAX));
}

static void test_one_fails(void **state) {
  (void)state;
  fail_each(&small, 1, 1, false);
  fail_each(&large, 1, 101, false);
}

static void test_all_fail_from_one_on(void **state) {
  (void)state;
  fail_each(&small, 1, 3, true);
  fail_each(&large, 1, 103, true);
}

static void test_kernel_that_takes_sizes(void **state) {
  (void)state;
  fail_each(&open_size, 1, 23, false);
  fail_each(&open_size, 1, 29, true);
}

// The code for multiples comes last; what it has is the program's already.
static void test_code_for_some_sizes(void **state) {
  (void)state;
  const long count = count_calls(&open_turned, 1);
  for (long k = 960; k < 1000; k += 8) assert_false(works_without(&open_turned, 1, count / 1000 * k, LONG_MAX));
  assert_true(works_without(&open_turned, 1, LONG_MAX, LONG_MAX));
}

static void test_on_several_threads(void **state) {
  (void)state;
  fail_each(&large, 3, 107, false);
  fail_each(&large, 3, 109, true);
}

int main(void) {
  alarm(LIMIT_SECONDS);  // what does not end is a failure
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_fails),
      cmocka_unit_test(test_all_fail_from_one_on),
      cmocka_unit_test(test_kernel_that_takes_sizes),
      cmocka_unit_test(test_code_for_some_sizes),
      cmocka_unit_test(test_on_several_threads),
  };
  return cmocka_run_group_tests_name("api/exhaustion", tests, set_up, NULL);
}
