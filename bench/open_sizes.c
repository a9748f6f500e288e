// A row softmax compiled once for all numbers of rows, and one for all numbers of rows and columns, beside the same
// compiled for each of a hundred: what their runs take.
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

enum { SIZES = 100, MOST = 4096, COLUMNS = 256, ROWS = 64, LEAST_COLUMNS = 32, ROUNDS = 15 };

static const char by_rows[] = SOFTMAX_OF("256");
static const char by_columns[] =
    SOFTMAX("?",
            "  %c = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>\n"
            "  %k = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>\n");

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
  const void *input;
  void *output;
} side;

static void run(const side *s, int times) {
  const void *const *inputs = &s->input;
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

// What is compiled for all sizes may add a row up in another order where its length is open.
static bool is_close(const float *x, const float *y, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (!(fabsf(x[k] - y[k]) <= 1e-6F * fabsf(y[k]))) return false;
  return true;
}

typedef struct workload {
  const char *what, *text;
  heddle_program *open;
  float *x, *outputs[2];
} workload;

// result: what a run takes on either side, and what compiling for the size takes.
static void compare_at(workload *w, const int64_t *dims, double *result) {
  const int64_t *const input_dims[] = {dims};
  const heddle_array shape = {.element_type = "f32", .rank = 2, .dims = dims};
  heddle_compile_options compile = HEDDLE_COMPILE_OPTIONS_INIT;
  compile.parameters = &shape;
  compile.parameter_count = 1;
  compile.threads = 1;
  side sides[2] = {{w->open, HEDDLE_RUN_OPTIONS_INIT, w->x, w->outputs[0]},
                   {NULL, HEDDLE_RUN_OPTIONS_INIT, w->x, w->outputs[1]}};
  sides[0].options.input_dims = input_dims;
  const double start = seconds();
  need(heddle_compile(w->text, strlen(w->text), "softmax.mlir", &compile, &sides[1].program));
  result[2] = seconds() - start;
  time_both(sides, result);
  if (!is_close(w->outputs[0], w->outputs[1], dims[0] * dims[1])) {
    fprintf(stderr, "results differ at %lld x %lld\n", (long long)dims[0], (long long)dims[1]);
    exit(1);
  }
  heddle_program_free(sides[1].program);
}

// From `least` to MOST, each by the same factor larger.
static int64_t size_at(int k, int64_t least) {
  return llround((double)least * pow((double)MOST / (double)least, (k + 1) / (double)SIZES));
}

static void compare(workload *w, bool by_row) {
  const double start = seconds();
  heddle_compile_options compile = HEDDLE_COMPILE_OPTIONS_INIT;
  compile.threads = 1;
  need(heddle_compile(w->text, strlen(w->text), "softmax.mlir", &compile, &w->open));
  const double compiling = seconds() - start;
  double logs = 0, worst = 0, all = 0;
  for (int k = 0; k < SIZES; k++) {
    const int64_t dims[] = {by_row ? size_at(k, 1) : ROWS, by_row ? COLUMNS : size_at(k, LEAST_COLUMNS)};
    double result[3];
    compare_at(w, dims, result);
    const double ratio = result[0] / result[1];
    logs += log(ratio);
    worst = fmax(worst, ratio);
    all += result[2];
    if (ratio > 1.2)
      printf("%5lld x %lld: %.2f us, compiled for them %.2f us\n", (long long)dims[0], (long long)dims[1],
             result[0] * 1e6, result[1] * 1e6);
  }
  printf("%s: %d sizes: geometric mean %.3f, worst %.2f; compiled in %.0f ms, for each size %.0f ms together\n",
         w->what, SIZES, exp(logs / SIZES), worst, compiling * 1e3, all * 1e3);
  heddle_program_free(w->open);
}

int main(void) {
  const size_t bytes = sizeof(float) * COLUMNS * MOST;
  workload w = {.x = aligned_alloc(64, bytes), .outputs = {aligned_alloc(64, bytes), aligned_alloc(64, bytes)}};
  if (!w.x || !w.outputs[0] || !w.outputs[1]) return 1;
  for (size_t k = 0; k < bytes / sizeof *w.x; k++) w.x[k] = (float)(k * 37 % 1001) / 100.0F;
  w.what = "open rows";
  w.text = by_rows;
  compare(&w, true);
  w.what = "open rows and columns";
  w.text = by_columns;
  compare(&w, false);
  free(w.x);
  free(w.outputs[0]);
  free(w.outputs[1]);
  return 0;
}
