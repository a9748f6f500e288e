// Programs compiled once for all sizes beside the same compiled for each of a hundred: what their runs take. A softmax
// over rows, a transpose, sums of columns, and a bias that is broadcast along rows.
//
//   open_sizes [WORKLOAD …]    those whose names begin so; all without any
//
// Prints each size at which the program for all sizes takes more than 1.2 times as long, then the geometric mean of the
// ratios, the worst one, and what compiling takes on either side. On one thread, since waking others takes longer than
// most of these. The fastest of many runs counts, which alternate.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/softmax_testing.h"
#include "heddle/heddle.h"

enum { SIZES = 100, MOST_ELEMENTS = 1 << 20, MOST_PARAMETERS = 2, ROUNDS = 15 };

static const char by_rows[] = SOFTMAX_OF("256");
static const char by_columns[] =
    SOFTMAX("?",
            "  %c = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>\n"
            "  %k = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>\n");

static const char transpose[] =
    "func.func public @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {\n"
    "  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>\n"
    "  return %0 : tensor<?x?xf32>\n}\n";

static const char column_sums[] =
    "func.func public @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?x?xf32>, "
    "tensor<f32>) -> tensor<?xf32>\n"
    "  return %0 : tensor<?xf32>\n}\n";

static const char bias[] =
    "func.func public @main(%x: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {\n"
    "  %m = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>\n"
    "  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>\n"
    "  %r = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>\n"
    "  %c = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
    "  %s = stablehlo.concatenate %r, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
    "  %y = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> "
    "tensor<?x?xf32>\n"
    "  %0 = stablehlo.add %x, %y : tensor<?x?xf32>\n"
    "  return %0 : tensor<?x?xf32>\n}\n";

// Its first parameter is a matrix, the second, where there is one, as long as the matrix has columns. A size of 0 is
// one of a hundred from `least` to `most`, each by the same factor larger, to a multiple of `step`.
typedef struct workload {
  const char *name, *text;
  int parameters;
  bool sums_columns;  // into a result as long as there are columns
  int64_t rows, columns, least, most, step;
} workload;

static const workload workloads[] = {
    {"rows", by_rows, 1, false, 0, 256, 1, 4096, 1},
    {"rows-and-columns", by_columns, 1, false, 64, 0, 32, 4096, 1},
    {"short-rows", by_columns, 1, false, 512, 0, 2, 64, 1},
    {"transpose", transpose, 1, false, 0, 0, 8, 1024, 1},
    {"transpose-16", transpose, 1, false, 0, 0, 16, 1024, 16},
    {"transpose-64", transpose, 1, false, 0, 0, 64, 1024, 64},
    {"column-sums", column_sums, 1, true, 0, 0, 8, 1024, 1},
    {"bias", bias, 2, false, 0, 0, 8, 1024, 1},
};

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(heddle_status s) {
  if (heddle_status_code(s) == HEDDLE_OK) return;
  fprintf(stderr, "%s\n", heddle_status_message(s));
  heddle_status_free(s);
  exit(1);
}

// A program, and how it is called.
typedef struct side {
  heddle_program *program;
  heddle_run_options options;
  const void *inputs[MOST_PARAMETERS];
  void *output;
} side;

static void run(const side *s, int times) {
  const void *const *inputs = s->inputs;
  void *const *outputs = &s->output;
  for (int k = 0; k < times; k++) need(heddle_program_run_with(s->program, &s->options, &inputs, &outputs));
}

// Seconds of one run, the best of ROUNDS stretches of at least half a millisecond.
static void time_both(side *sides, double *best) {
  int times = 1;
  for (double took = 0; took < 5e-4; times *= 2) {
    const double start = seconds();
    run(&sides[1], times);
    took = seconds() - start;
  }
  best[0] = best[1] = INFINITY;
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < 2; k++) {
      const double start = seconds();
      run(&sides[k], times);
      best[k] = fmin(best[k], (seconds() - start) / times);
    }
}

// What is compiled for all sizes may add up in another order where a length is open.
static bool is_close(const float *x, const float *y, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (!(fabsf(x[k] - y[k]) <= 1e-5F * fabsf(y[k]))) return false;
  return true;
}

// What the runs of all workloads read and write.
typedef struct arrays {
  float *x, *outputs[2];
} arrays;

// result: what a run takes on either side, and what compiling for the size takes.
static void compare_at(const workload *w, heddle_program *open, const arrays *a, const int64_t *dims, double *result) {
  const int64_t *const input_dims[] = {dims, &dims[1]};
  const heddle_array shapes[] = {{.element_type = "f32", .rank = 2, .dims = dims},
                                 {.element_type = "f32", .rank = 1, .dims = &dims[1]}};
  heddle_compile_options compile = HEDDLE_COMPILE_OPTIONS_INIT;
  compile.parameters = shapes;
  compile.parameter_count = w->parameters;
  compile.threads = 1;
  side sides[2] = {{open, HEDDLE_RUN_OPTIONS_INIT, {a->x, a->x}, a->outputs[0]},
                   {NULL, HEDDLE_RUN_OPTIONS_INIT, {a->x, a->x}, a->outputs[1]}};
  sides[0].options.input_dims = input_dims;
  const double start = seconds();
  need(heddle_compile(w->text, strlen(w->text), "open.mlir", &compile, &sides[1].program));
  result[2] = seconds() - start;
  time_both(sides, result);
  if (!is_close(a->outputs[0], a->outputs[1], w->sums_columns ? dims[1] : dims[0] * dims[1])) {
    fprintf(stderr, "%s: results differ at %lld x %lld\n", w->name, (long long)dims[0], (long long)dims[1]);
    exit(1);
  }
  heddle_program_free(sides[1].program);
}

static int64_t size_at(const workload *w, int k) {
  const double factor = (double)w->most / (double)w->least;
  const int64_t size = llround((double)w->least * pow(factor, (k + 1) / (double)SIZES));
  return size / w->step * w->step;
}

static void compare(const workload *w, const arrays *a) {
  heddle_program *open;
  const double start = seconds();
  heddle_compile_options compile = HEDDLE_COMPILE_OPTIONS_INIT;
  compile.threads = 1;
  need(heddle_compile(w->text, strlen(w->text), "open.mlir", &compile, &open));
  const double compiling = seconds() - start;
  double logs = 0, worst = 0, all = 0;
  int count = 0;
  int64_t before = 0;
  for (int k = 0; k < SIZES; k++) {
    const int64_t size = size_at(w, k), dims[] = {w->rows ? w->rows : size, w->columns ? w->columns : size};
    double result[3];
    if (size == before) continue;
    before = size;
    compare_at(w, open, a, dims, result);
    const double ratio = result[0] / result[1];
    logs += log(ratio);
    worst = fmax(worst, ratio);
    all += result[2];
    count++;
    if (ratio > 1.2)
      printf("%5lld x %lld: %.2f us, compiled for them %.2f us\n", (long long)dims[0], (long long)dims[1],
             result[0] * 1e6, result[1] * 1e6);
  }
  printf("%s: %d sizes: geometric mean %.3f, worst %.2f; compiled in %.0f ms, for each size %.0f ms together\n",
         w->name, count, exp(logs / count), worst, compiling * 1e3, all * 1e3);
  fflush(stdout);
  heddle_program_free(open);
}

static bool is_wanted(const char *name, int count, char **wanted) {
  bool is = count == 0;
  for (int k = 0; k < count; k++) is = is || strncmp(name, wanted[k], strlen(wanted[k])) == 0;
  return is;
}

int main(int argc, char **argv) {
  const size_t bytes = sizeof(float) * MOST_ELEMENTS;
  const arrays a = {aligned_alloc(64, bytes), {aligned_alloc(64, bytes), aligned_alloc(64, bytes)}};
  if (!a.x || !a.outputs[0] || !a.outputs[1]) return 1;
  for (size_t k = 0; k < MOST_ELEMENTS; k++) a.x[k] = (float)(k * 37 % 1001) / 100.0F;
  for (size_t k = 0; k < sizeof workloads / sizeof *workloads; k++)
    if (is_wanted(workloads[k].name, argc - 1, argv + 1)) compare(&workloads[k], &a);
  free(a.x);
  free(a.outputs[0]);
  free(a.outputs[1]);
  return 0;
}
