// A convolution that multiplies each position of the input by all of the kernel, one product of matrices, and then adds
// what comes out where it belongs in the result: a sum for each position of the kernel. That does no work for holes in
// a dilated input and no more for few output features than for many, where the libraries' convolutions, which keep
// output features in the lanes of their registers, do most of it for nothing. Nothing outside of the input is
// multiplied.
//
// The matrix product is of the kernel by the transposed input, so that positions lie side by side and sums are added
// along rows of the result. Along the last dim a dilated input's sums go to every so-manieth element: each of these
// phases has a row of its own until all are there.
#include <stdatomic.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"
#include "lib/convolution_form.h"
#include "lib/gemm_product.h"

enum {
  FEW_FEATURES = 4,
  LEAST_FEATURES = 16,       // of the input, so that products are worth their sums
  PRODUCTS_BYTES = 1 << 19,  // of a part, which stay in the second-level cache
};

static convolution_dim last_dim(const convolution_form *f) {
  static const convolution_dim point = {
      .input = 1, .kernel = 1, .output = 1, .stride = 1, .base_dilation = 1, .window_dilation = 1};
  return f->spatial_rank ? f->dims[f->spatial_rank - 1] : point;
}

static int64_t products_of(const convolution_form *f) { return convolution_kernel_size(f) * f->output_features; }

// Elements of a row of sums of one phase.
static int64_t row_of(const convolution_form *f) {
  const convolution_dim last = last_dim(f);
  return int64_ceil_div(last.output, last.base_dilation);
}

bool convolution_spread_pays(const convolution_form *f) {
  return f->output_features <= FEW_FEATURES && f->input_features >= LEAST_FEATURES && convolution_kernel_size(f) > 1;
}

static bool takes(const convolution_form *f) {
  if (f->feature_groups > 1 || f->batch_groups > 1 || convolution_input_positions(f) == 0) return false;
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].stride > 1 || f->dims[d].low < 0) return false;
  return convolution_positions(f) > 0 && products_of(f) * f->group_features > 0;
}

bool convolution_spread_plan(const convolution_form *f, convolution_spread *s) {
  if (!takes(f)) return false;
  const int64_t bytes = products_of(f) * convolution_input_positions(f) * (int64_t)sizeof(float);
  s->cut = convolution_cut_positions(f, int64_max(convolution_parts_wanted(f), bytes / PRODUCTS_BYTES));
  s->products = s->sums = 0;
  for (int64_t k = 0; k < convolution_cut_count(&s->cut); k++) {
    convolution_part part;
    if (!convolution_part_of(f, &s->cut, k, &part)) return false;
    s->products = int64_max(s->products, products_of(f) * convolution_input_positions(&part.form));
    s->sums = int64_max(s->sums, last_dim(f).base_dilation * f->output_features * row_of(&part.form));
  }
  return true;
}

// Bytes of a thread.
static int64_t share_of(const convolution_spread *s) {
  enum { LINE = 64 };
  return int64_ceil_div((s->products + s->sums) * (int64_t)sizeof(float), LINE) * LINE;
}

int64_t convolution_spread_scratch(const convolution_spread *s, int threads) {
  return share_of(s) * convolution_cut_threads(&s->cut, threads);
}

// --- running

typedef struct execution {
  const convolution_form *form;
  const convolution_spread *spread;
  const convolution_arrays *arrays;
  atomic_bool has_failed;
} execution;

// One part while it is computed.
typedef struct spreading {
  const convolution_form *form;
  convolution_dim last;
  const float *bias;      // null without one
  const float *products;  // [kernel position, output feature, input position]
  float *sums;            // [output feature, phase, row]: one row of the result
  int64_t positions, row;
} spreading;

static void begin_row(const spreading *s) {
  const int64_t count = s->last.base_dilation * s->row;
  for (int64_t o = 0; o < s->form->output_features; o++)
    for (int64_t k = 0; k < count; k++) s->sums[o * count + k] = s->bias ? s->bias[o] : 0;
}

// Adds the products of one kernel position by the row of the input that begins at `position`.
static void add_row(const spreading *s, int64_t tap, int64_t position) {
  const convolution_dim *w = &s->last;
  const int64_t shift = w->low - tap % w->kernel * w->window_dilation, features = s->form->output_features;
  const int64_t phase = int64_floor_mod(shift, w->base_dilation), offset = int64_floor_div(shift, w->base_dilation);
  const int64_t first = int64_max(0, -offset);
  const int64_t end = int64_min(w->input, int64_ceil_div(int64_max(w->output - phase, 0), w->base_dilation) - offset);
  for (int64_t o = 0; o < features; o++) {
    const float *from = s->products + (tap * features + o) * s->positions + position;
    float *to = s->sums + (o * w->base_dilation + phase) * s->row + offset;
    for (int64_t k = first; k < end; k++) to[k] += from[k];
  }
}

static void put_row(const spreading *s, float *to) {
  const int64_t features = s->form->output_features, dilation = s->last.base_dilation;
  const bool has_relu = s->form->has_relu;
  for (int64_t o = 0; o < features; o++)
    for (int64_t phase = 0; phase < dilation; phase++) {
      const float *from = s->sums + (o * dilation + phase) * s->row;
      for (int64_t k = phase, n = 0; k < s->last.output; k += dilation, n++)
        to[k * features + o] = has_relu && from[n] < 0 ? 0 : from[n];
    }
}

static void spread_rows(const spreading *s, float *result) {
  const convolution_form *f = s->form;
  const int64_t rows = convolution_positions(f) / s->last.output, taps = convolution_kernel_size(f) / s->last.kernel;
  for (int64_t r = 0; r < rows; r++) {
    begin_row(s);
    for (int64_t t = 0; t < taps; t++) {
      const int64_t position = convolution_source_row(f, r, t);
      for (int64_t k = 0; position >= 0 && k < s->last.kernel; k++) add_row(s, t * s->last.kernel + k, position);
    }
    put_row(s, result + r * s->last.output * f->output_features);
  }
}

static void do_parts(void *argument, int64_t begin, int64_t end) {
  execution *x = argument;
  char *own = (char *)x->arrays->scratch + pool_thread() * share_of(x->spread);
  for (int64_t number = begin; number < end; number++) {
    convolution_part part;
    convolution_part_of(x->form, &x->spread->cut, number, &part);
    const convolution_form *f = &part.form;
    float *products = (float *)(void *)own;
    const int64_t positions = convolution_input_positions(f), size[3] = {products_of(f), positions, f->group_features};
    const gemm_matrix kernel = {.data = x->arrays->kernel, .leading = f->group_features};
    const gemm_matrix input = {(const float *)x->arrays->input + part.input_at, f->input_features, true};
    const gemm_sums to = {.data = products, .leading = positions};
    if (!gemm_product(WORK_F32, size, &kernel, &input, &to)) atomic_store(&x->has_failed, true);
    const spreading s = {f,         last_dim(f), x->arrays->bias, products, products + x->spread->products,
                         positions, row_of(f)};
    spread_rows(&s, (float *)x->arrays->result + part.result_at);
  }
}

heddle_status convolution_spread_execute(const convolution_form *f, const convolution_spread *s, int threads,
                                         const convolution_arrays *arrays) {
  execution x = {.form = f, .spread = s, .arrays = arrays};
  pool_run(threads, convolution_cut_count(&s->cut), do_parts, &x);
  if (!atomic_load(&x.has_failed)) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a convolution");
}
