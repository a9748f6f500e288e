// A convolution of one feature to one, such as a filter of a signal or of a grey image: the lanes of a vector are
// neighbours along the last dim. Libraries, whose lanes are features, leave all lanes but one idle.
//
// A part's input is copied with its padding along the last dim, so that a window's reads need no look at the borders;
// zeros there are multiplied (convolution_outside.c). Sums of several vectors stay in registers while all of the window
// passes.
#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"
#include "base/pool.h"
#include "lib/convolution_form.h"

enum {
  LINE = 64,  // bytes of a vector
  LANES = LINE / sizeof(float),
  BLOCKS = 4,  // vectors summed at a time, so that one sum need not wait for another
  STEP = LANES * BLOCKS,
  ROW = 1 << 12,  // elements of a part's row at most, if the last dim is the one that is cut
};

bool convolution_lines_plan(const convolution_form *f, convolution_lines *p) {
  if (f->spatial_rank == 0 || f->batch_groups > 1 || convolution_is_dilated(f)) return false;
  if (f->input_features != 1 || f->output_features != 1 || convolution_input_positions(f) == 0) return false;
  if (convolution_kernel_size(f) == 0 || convolution_positions(f) == 0) return false;
  const convolution_dim *last = &f->dims[f->spatial_rank - 1];
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].low < 0) return false;
  if (last->stride > 1 || last->high < 0) return false;
  int64_t parts = convolution_parts_wanted(f);
  if (f->spatial_rank == 1) parts = int64_max(parts, f->output_batch * int64_ceil_div(last->output, ROW));
  *p = (convolution_lines){.cut = convolution_cut_positions(f, parts)};
  for (int64_t k = 0; k < convolution_cut_count(&p->cut); k++) {
    convolution_part part;
    if (!convolution_part_of(f, &p->cut, k, &part)) return false;
    const convolution_dim *w = &part.form.dims[f->spatial_rank - 1];
    const int64_t row = int64_ceil_div(w->output, STEP) * STEP + (w->kernel - 1) * w->window_dilation;
    p->row = int64_max(p->row, row);
    p->input = int64_max(p->input, convolution_input_positions(&part.form) / w->input * row);
  }
  p->taps = convolution_kernel_size(f) / last->kernel;
  return true;
}

static int64_t lines(int64_t bytes) { return int64_ceil_div(bytes, LINE) * LINE; }

static int64_t share_of(const convolution_lines *p) {
  return lines(p->input * (int64_t)sizeof(float)) + lines(2 * p->taps * (int64_t)sizeof(float *));
}

int64_t convolution_lines_scratch(const convolution_lines *p, int threads) {
  return share_of(p) * convolution_cut_threads(&p->cut, threads);
}

// --- one row

// The rows of a window that meet the input, where they begin in the padded input and in the kernel.
typedef struct window {
  int64_t count, size, dilation;  // of rows; of their elements
  const float **input, **kernel;
  float bias;
} window;

// Sums of STEP neighbours from element `at` on. The size of a vector is ours, not the machine's.
#define SUM_STEP(name, target)                                                                           \
  target static void name(const window *w, int64_t at, float *sums) {                                    \
    typedef float lanes __attribute__((vector_size(LINE), aligned(sizeof(float)), may_alias));           \
    lanes sum[BLOCKS];                                                                                   \
    for (int b = 0; b < BLOCKS; b++) sum[b] = w->bias + (lanes){0};                                      \
    for (int64_t r = 0; r < w->count; r++) {                                                             \
      const float *x = w->input[r] + at, *y = w->kernel[r];                                              \
      for (int64_t k = 0; k < w->size; k++, x += w->dilation)                                            \
        for (int b = 0; b < BLOCKS; b++) sum[b] += y[k] * *(const lanes *)(const void *)(x + b * LANES); \
    }                                                                                                    \
    for (int b = 0; b < BLOCKS; b++) *(lanes *)(void *)(sums + b * LANES) = sum[b];                      \
  }

typedef void (*sum_fn)(const window *w, int64_t at, float *sums);

SUM_STEP(sum_plain, )
#if defined(__x86_64__)
SUM_STEP(sum_avx2, __attribute__((target("avx2"))))
SUM_STEP(sum_avx512, __attribute__((target("avx512f,avx512dq"))))

static sum_fn choose_sum(void) {
  if (cpu_level_has_avx512()) return sum_avx512;
  return cpu_level_has_avx2() ? sum_avx2 : sum_plain;
}
#else
static sum_fn choose_sum(void) { return sum_plain; }
#endif

// --- running

typedef struct execution {
  const convolution_form *form;
  const convolution_lines *plan;
  const convolution_arrays *arrays;
  sum_fn sum;
} execution;

static void pad(const convolution_dim *last, int64_t rows, int64_t row, const float *from, float *to) {
  const int64_t count = int64_min(last->input, row - last->low);
  for (int64_t k = 0; k < rows; k++, from += last->input, to += row) {
    memset(to, 0, (size_t)row * sizeof(float));
    if (count > 0) memcpy(to + last->low, from, (size_t)count * sizeof(float));
  }
}

static void do_row(const execution *x, const window *w, int64_t count, float *to) {
  float rest[STEP];
  for (int64_t at = 0; at < count; at += STEP) {
    const int64_t many = int64_min(STEP, count - at);
    x->sum(w, at, many == STEP ? to + at : rest);
    if (many < STEP) memcpy(to + at, rest, (size_t)many * sizeof(float));
  }
  if (x->form->has_relu) convolution_images_relu(count, to);
}

static void do_part(const execution *x, const convolution_part *part, char *own) {
  const convolution_form *f = &part->form;
  const convolution_dim *last = &f->dims[f->spatial_rank - 1];
  float *input = (float *)(void *)own;
  window w = {.size = last->kernel, .dilation = last->window_dilation, .bias = x->arrays->bias ? *x->arrays->bias : 0};
  w.input = (const float **)(void *)(own + lines(x->plan->input * (int64_t)sizeof(float)));
  w.kernel = w.input + x->plan->taps;
  pad(last, convolution_input_positions(f) / last->input, x->plan->row,
      (const float *)x->arrays->input + part->input_at, input);
  for (int64_t r = 0; r < convolution_positions(f) / last->output; r++) {
    w.count = 0;
    for (int64_t t = 0; t < x->plan->taps; t++) {
      const int64_t position = convolution_source_row(f, r, t);
      if (position < 0) continue;
      w.input[w.count] = input + position / last->input * x->plan->row;
      w.kernel[w.count++] = x->arrays->kernel + t * last->kernel;
    }
    do_row(x, &w, last->output, (float *)x->arrays->result + part->result_at + r * last->output);
  }
}

static void do_parts(void *argument, int64_t begin, int64_t end) {
  const execution *x = argument;
  char *own = (char *)x->arrays->scratch + pool_thread() * share_of(x->plan);
  for (int64_t number = begin; number < end; number++) {
    convolution_part part;
    convolution_part_of(x->form, &x->plan->cut, number, &part);
    do_part(x, &part, own);
  }
}

void convolution_lines_execute(const convolution_form *f, const convolution_lines *p, int threads,
                               const convolution_arrays *arrays) {
  execution x = {.form = f, .plan = p, .arrays = arrays, .sum = choose_sum()};
  pool_run(threads, convolution_cut_count(&p->cut), do_parts, &x);
}
