// Transforms of all kinds and up to three dims against the sum that defines them; the same bits on any number of
// threads.
#include "lib/fft.h"

#include "base/cpu_level.h"
#include "lib/testing.h"

enum { MAX = 4 };
static const double pi = 3.14159265358979323846;

// One dim of [outer, n, inner] by definition.
static void transform(double complex *x, int64_t outer, int64_t n, int64_t inner, int sign) {
  double complex *line = calloc((size_t)n + 1, sizeof *line), *roots = calloc((size_t)n + 1, sizeof *roots);
  for (int64_t k = 0; k < n; k++) {
    const double angle = sign * 2 * pi * (double)k / (double)n;
    roots[k] = work_complex(cos(angle), sin(angle));
  }
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      double complex *at = x + o * n * inner + i;
      for (int64_t k = 0; k < n; k++) {
        line[k] = 0;
        for (int64_t j = 0; j < n; j++) line[k] += at[j * inner] * roots[j * k % n];
      }
      for (int64_t k = 0; k < n; k++) at[k * inner] = line[k];
    }
  free(line);
  free(roots);
}

// Dims first … rank - 1 of an array of `dims`.
static void transform_all(double complex *x, int rank, const int64_t *dims, int first, int sign) {
  for (int d = first; d < rank; d++) {
    int64_t outer = 1, inner = 1;
    for (int k = 0; k < d; k++) outer *= dims[k];
    for (int k = d + 1; k < rank; k++) inner *= dims[k];
    transform(x, outer, dims[d], inner, sign);
  }
}

typedef struct form {
  int kind, rank, count;  // of dims, of those transformed
  int64_t dims[MAX];      // of the signal, at full length
} form;

static lib_array array_of(arena *a, const form *f, bool is_spectrum, dtype complexes) {
  int64_t dims[MAX];
  memcpy(dims, f->dims, sizeof dims);
  const bool is_half = f->kind >= 2 && is_spectrum, is_real = f->kind >= 2 && !is_spectrum;
  if (is_half) dims[f->rank - 1] = dims[f->rank - 1] ? dims[f->rank - 1] / 2 + 1 : 0;
  return testing_array(a, is_real ? dtypes[complexes].part : complexes, f->rank, dims);
}

static void execute(arena *a, const form *f, const lib_array *from, const lib_array *to, int threads) {
  const int64_t kind = f->kind;
  const named_attribute attributes[] = {
      testing_int("fft_type", &kind),
      {.name = "fft_length", .kind = NAMED_INTS, .count = f->count, .ints = f->dims + f->rank - f->count}};
  lib_call call = {.operand_count = 1,
                   .operands = from,
                   .result_count = 1,
                   .results = to,
                   .attribute_count = 2,
                   .attributes = attributes,
                   .threads = threads};
  fft_plan *plan;
  heddle_status status = fft_plan_make(a, &call, &plan);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  call.scratch = aligned_alloc(64, ((size_t)fft_plan_scratch(plan) + 63) / 64 * 64);
  fft_plan_execute(plan, &call);
  free(call.scratch);
  fft_plan_release(plan);
}

// What the result should be, as complex numbers at full length.
static double complex *wanted_of(arena *a, const form *f, const lib_array *from) {
  const int64_t last = f->dims[f->rank - 1], line = from->dims[f->rank - 1];
  int64_t lines = 1;
  for (int d = 0; d < f->rank - 1; d++) lines *= f->dims[d];
  double complex *x = arena_array(a, double complex, lines *last + 1);
  for (int64_t k = 0; k < lines * line; k++) {
    double part[2];
    testing_at(from, k, part);
    x[k / line * last + k % line] = work_complex(part[0], part[1]);
  }
  const int first = f->rank - f->count, sign = f->kind % 2 ? 1 : -1;
  if (f->kind == 3) {
    for (int d = first; d < f->rank - 1; d++) {
      int64_t outer = 1, inner = 1;
      for (int k = 0; k < d; k++) outer *= f->dims[k];
      for (int k = d + 1; k < f->rank; k++) inner *= f->dims[k];
      transform(x, outer, f->dims[d], inner, sign);
    }
    for (int64_t k = 0; k < lines; k++) {
      double complex *at = x + k * last;
      at[0] = creal(at[0]);
      for (int64_t j = last / 2 + 1; j < last; j++) at[j] = conj(at[last - j]);
      if (last % 2 == 0) at[last / 2] = creal(at[last / 2]);
    }
    transform(x, lines, last, 1, sign);
  } else {
    transform_all(x, f->rank, f->dims, first, sign);
  }
  double scale = 1;
  for (int k = 0; k < f->count && sign > 0; k++) scale /= (double)f->dims[first + k];
  for (int64_t k = 0; k < lines * last; k++) x[k] *= scale;
  return x;
}

static void check(const form *f, dtype complexes) {
  arena *a = arena_create();
  const lib_array from = array_of(a, f, f->kind == 3, complexes), to = array_of(a, f, f->kind != 3, complexes);
  testing_fill(&from, 3);
  const int64_t count = lib_element_count(&to), line = to.dims[f->rank - 1], last = f->dims[f->rank - 1];
  execute(a, f, &from, &to, 1);
  const double complex *wanted = wanted_of(a, f, &from);
  double largest = 1;
  for (int64_t k = 0; k < count; k++) largest = fmax(largest, cabs(wanted[k / line * last + k % line]));
  const double tolerance = (complexes == DTYPE_C64 ? 1e-6 : 1e-13) * largest;
  for (int64_t k = 0; k < count; k++) {
    double part[2];
    testing_at(&to, k, part);
    const double complex want = wanted[k / line * last + k % line];
    if (!(fabs(part[0] - creal(want)) <= tolerance))
      fail_msg("kind %d rank %d count %d dims %d %d %d: [%d] %g %g wanted %g %g", f->kind, f->rank, f->count,
               (int)f->dims[0], (int)f->dims[1], (int)f->dims[2], (int)k, part[0], part[1], creal(want), cimag(want));
    if (f->kind != 3) assert_true(fabs(part[1] - cimag(want)) <= tolerance);
  }
  for (int threads = 2; threads <= 4; threads++) {
    const lib_array again = array_of(a, f, f->kind != 3, complexes);
    execute(a, f, &from, &again, threads);
    assert_memory_equal(again.data, to.data, (size_t)(count * dtypes[to.type].bytes));
  }
  arena_destroy(a);
}

static void test_kinds(void **state) {
  (void)state;
  static const form forms[] = {{0, 1, 1, {8}},          {0, 1, 1, {1}},       {0, 2, 1, {5, 7}},
                               {0, 2, 2, {6, 9}},       {0, 3, 2, {3, 4, 5}}, {0, 3, 3, {4, 1, 6}},
                               {0, 4, 3, {2, 3, 4, 5}}, {0, 2, 1, {600, 33}}, {0, 2, 1, {0, 4}},
                               {0, 2, 2, {3, 0}},       {0, 2, 2, {40, 70}},  {0, 3, 1, {2, 1, 2}}};
  for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
    for (int kind = 0; kind < 4; kind++) {
      form f = forms[k];
      f.kind = kind;
      check(&f, DTYPE_C64);
      check(&f, DTYPE_C128);
    }
}

// Enough lines for several groups and threads.
static void test_threads(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    const form f = {kind, 3, 2, {9, 70, 45}};
    check(&f, DTYPE_C64);
  }
}

// Lines across that are brought into blocks of columns: powers of two, primes, just beyond what is done in place; as
// many columns as a few blocks hold and some more or less, several sets of them, more than one such dim.
static void test_blocks(void **state) {
  (void)state;
  static const form forms[] = {{0, 2, 2, {65, 18}},    {0, 2, 2, {128, 32}},   {0, 3, 2, {3, 67, 33}},
                               {0, 3, 2, {2, 256, 9}}, {0, 3, 3, {66, 70, 5}}, {0, 2, 2, {257, 16}},
                               {0, 2, 2, {97, 17}},    {0, 3, 3, {80, 3, 31}}, {0, 2, 2, {300, 8}}};
  for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
    for (int kind = 0; kind < 4; kind++) {
      form f = forms[k];
      f.kind = kind;
      check(&f, DTYPE_C64);
      check(&f, DTYPE_C128);
    }
}

// Lines in lanes: every radix, odd and even real lines, large prime factors, groups that are not full.
static void test_lanes(void **state) {
  (void)state;
  static const form forms[] = {{0, 2, 1, {9, 1001}}, {0, 2, 1, {5, 1000}},  {0, 2, 1, {17, 120}}, {0, 2, 1, {4, 61}},
                               {0, 2, 1, {11, 67}},  {0, 2, 1, {8, 323}},   {0, 2, 1, {6, 134}},  {0, 2, 1, {7, 64}},
                               {0, 2, 1, {12, 243}}, {0, 2, 1, {4, 2}},     {0, 2, 1, {4, 3}},    {0, 2, 2, {250, 21}},
                               {0, 2, 2, {89, 13}},  {0, 3, 2, {2, 48, 10}}};
  for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
    for (int kind = 0; kind < 4; kind++) {
      form f = forms[k];
      f.kind = kind;
      check(&f, DTYPE_C64);
      check(&f, DTYPE_C128);
      cpu_level_limit(CPU_LEVEL_V2);
      check(&f, DTYPE_C64);
      check(&f, DTYPE_C128);
      cpu_level_limit(CPU_LEVEL_NATIVE);
    }
}

// Real lines and lengths that are no powers of two are done in lanes, which take scratch memory.
static void test_way(void **state) {
  (void)state;
  static const struct {
    int64_t lines, size, kind;
    bool is_lanes;
  } cases[] = {{8, 1001, 2, true},  {8, 1024, 2, true},  {8, 1000, 0, true},
               {8, 1024, 0, false}, {3, 1000, 0, false}, {8, 100000, 0, false}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    arena *a = arena_create();
    const form f = {(int)cases[k].kind, 2, 1, {cases[k].lines, cases[k].size}};
    const lib_array from = array_of(a, &f, false, DTYPE_C64), to = array_of(a, &f, true, DTYPE_C64);
    const named_attribute attributes[] = {testing_int("fft_type", &cases[k].kind),
                                          testing_int("fft_length", &cases[k].size)};
    const lib_call call = {.operand_count = 1,
                           .operands = &from,
                           .result_count = 1,
                           .results = &to,
                           .attribute_count = 2,
                           .attributes = attributes,
                           .threads = 1};
    fft_plan *plan;
    assert_true(status_is_ok(fft_plan_make(a, &call, &plan)));
    assert_int_equal(fft_plan_scratch(plan) > 0, cases[k].is_lanes);
    fft_plan_release(plan);
    arena_destroy(a);
  }
}

static void test_refusals(void **state) {
  (void)state;
  arena *a = arena_create();
  const int64_t dims[2] = {3, 4}, half[2] = {3, 3}, length = 4, other = 6, kinds[] = {0, 1, 2, 3, 7};
  const lib_array real = testing_array(a, DTYPE_F32, 2, dims), spectrum = testing_array(a, DTYPE_C64, 2, half);
  for (int k = 0; k < 5; k++) {
    named_attribute attributes[] = {testing_int("fft_type", &kinds[k]), testing_int("fft_length", &other)};
    lib_call call = {.operand_count = 1,
                     .operands = &real,
                     .result_count = 1,
                     .results = &spectrum,
                     .attribute_count = 2,
                     .attributes = attributes};
    fft_plan *plan;
    heddle_status status = fft_plan_make(a, &call, &plan);
    assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
    heddle_status_free(status);
    attributes[1].ints = &length;
    if (k == 2) continue;  // this one fits
    status = fft_plan_make(a, &call, &plan);
    assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
    heddle_status_free(status);
  }
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinds), cmocka_unit_test(test_threads), cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_lanes), cmocka_unit_test(test_way),     cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests_name("lib/fft", tests, NULL, NULL);
}
