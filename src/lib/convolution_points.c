// Convolutions of images whose features come first by windows of one element: of each image the kernel, which is a
// matrix, is multiplied by the image, which is one as it lies, [feature, position]. Nothing is turned round: what is
// not taken of the image, since the windows take steps, is left out of a copy of each part, as is what has to be
// widened.
#include <stdatomic.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"
#include "lib/convolution_form.h"
#include "lib/gemm_product.h"

enum {
  PART_BYTES = 1 << 19,  // of what a part copies, which should stay in a second-level cache
  LEAST_POSITIONS = 256  // of a part, so that few parts pack the kernel again
};

static bool is_f32(const convolution_lying *l) { return l->type == DTYPE_F32; }

// Whether each window stands on one element of the image.
static bool is_points(const convolution_form *f, bool *steps) {
  *steps = false;
  for (int d = 0; d < f->spatial_rank; d++) {
    const convolution_dim *w = &f->dims[d];
    if (w->kernel != 1 || w->low != 0 || w->base_dilation > 1) return false;
    if (w->output > 0 && (w->output - 1) * w->stride >= w->input) return false;
    *steps |= w->stride > 1 || w->output != w->input;
  }
  return f->feature_groups == 1 && f->batch_groups == 1;
}

bool convolution_points_plan(const convolution_form *f, const convolution_lying *input, const convolution_lying *result,
                             convolution_points *p) {
  bool steps = false;
  if (!input->is_known || !input->is_planar || !result->is_known || !result->is_planar) return false;
  if (!is_points(f, &steps) || convolution_positions(f) == 0 || f->input_features == 0) return false;
  *p = (convolution_points){.input = *input, .result = *result, .steps = steps, .copies = steps || !is_f32(input)};
  const int64_t positions = result->positions;
  const int64_t bytes = (p->copies ? f->input_features : 0) + (is_f32(result) ? 0 : f->output_features);
  int64_t parts = int64_max(1, int64_ceil_div(convolution_parts_wanted(f), f->output_batch));
  parts = int64_max(parts, int64_ceil_div(bytes * (int64_t)sizeof(float) * positions, PART_BYTES));
  p->columns = int64_min(positions, int64_max(int64_ceil_div(positions, parts), LEAST_POSITIONS));
  p->parts = int64_ceil_div(positions, p->columns);
  p->copied = p->copies ? f->input_features * p->columns : 0;
  p->sums = is_f32(result) ? 0 : f->output_features * p->columns;
  return true;
}

static int64_t share_of(const convolution_points *p) {
  enum { LINE = 64 };
  return int64_round_up((p->copied + p->sums) * (int64_t)sizeof(float), LINE);
}

static int64_t threads_for(const convolution_form *f, const convolution_points *p, int threads) {
  return int64_max(int64_min(threads, p->parts * f->output_batch), 1);
}

int64_t convolution_points_scratch(const convolution_form *f, const convolution_points *p, int threads) {
  return share_of(p) * threads_for(f, p, threads);
}

// --- running

typedef struct execution {
  const convolution_form *form;
  const convolution_points *points;
  const convolution_points_arrays *arrays;
  atomic_bool has_failed;
} execution;

// Where the element that position `at` of the result meets lies in one feature of an image.
static int64_t source_of(const convolution_form *f, int64_t at) {
  int64_t source = 0, stride = 1;
  for (int d = f->spatial_rank - 1; d >= 0; d--) {
    const convolution_dim *w = &f->dims[d];
    source += at % w->output * w->stride * stride;
    at /= w->output;
    stride *= w->input;
  }
  return source;
}

// Of one feature `count` elements, each so many steps from the one before.
static void copy_row(int64_t step, const lib_array *from, int64_t first, int64_t count, float *to) {
  float strip[256];
  const int64_t most = int64_max(1, (int64_t)(sizeof strip / sizeof *strip) / step);
  const float *all = from->data;
  if (step == 1) {
    work_load(WORK_F32, from, first, count, to);
    return;
  }
  if (from->type == DTYPE_F32) {
    for (int64_t k = 0; k < count; k++) to[k] = all[first + k * step];
    return;
  }
  for (int64_t k = 0; k < count; k += most) {
    const int64_t many = int64_min(most, count - k);
    work_load(WORK_F32, from, first + k * step, (many - 1) * step + 1, strip);
    for (int64_t n = 0; n < many; n++) to[k + n] = strip[n * step];
  }
}

// To [feature, position], by rows of the last dim where windows take steps.
static void copy_part(const execution *x, int64_t image, int64_t at, int64_t count, float *to) {
  const convolution_form *f = x->form;
  const convolution_points *p = x->points;
  const lib_array from = {.type = p->input.type, .data = (void *)x->arrays->input};
  const convolution_dim *last = &f->dims[f->spatial_rank > 0 ? f->spatial_rank - 1 : 0];
  for (int64_t k = 0, many; k < count; k += many) {
    many = p->steps ? int64_min(count - k, last->output - (at + k) % last->output) : count;
    const int64_t source = image * f->input_features * p->input.positions + (p->steps ? source_of(f, at + k) : at);
    for (int64_t c = 0; c < f->input_features; c++)
      copy_row(p->steps ? last->stride : 1, &from, source + c * p->input.positions, many, to + c * count + k);
  }
}

static void finish(const execution *x, int64_t count, float *sums, int64_t leading) {
  const float *bias = x->arrays->bias;
  for (int64_t o = 0; o < x->form->output_features; o++, sums += leading) {
    for (int64_t k = 0; bias && k < count; k++) sums[k] += bias[o];
    if (x->form->has_relu) convolution_images_relu(count, sums);
  }
}

static bool do_part(const execution *x, int64_t image, int64_t at, int64_t count, float *own) {
  const convolution_form *f = x->form;
  const convolution_points *p = x->points;
  const int64_t size[3] = {f->output_features, count, f->input_features};
  const int64_t begin = image * f->output_features * p->result.positions + at;
  const lib_array to = {.type = p->result.type, .data = x->arrays->result};
  gemm_matrix right = {.data = own, .leading = count};
  gemm_sums sums = {.data = own + p->copied, .leading = count};
  if (p->copies) copy_part(x, image, at, count, own);
  else
    right = (gemm_matrix){(const float *)x->arrays->input + image * f->input_features * p->input.positions + at,
                          p->input.positions, false};
  if (p->sums == 0) sums = (gemm_sums){.data = (float *)to.data + begin, .leading = p->result.positions};
  if (!gemm_product(WORK_F32, size, &x->arrays->kernel, &right, &sums)) return false;
  finish(x, count, sums.data, sums.leading);
  for (int64_t o = 0; p->sums > 0 && o < f->output_features; o++)
    work_store(WORK_F32, (const float *)sums.data + o * count, &to, begin + o * p->result.positions, count);
  return true;
}

static void do_parts(void *argument, int64_t begin, int64_t end) {
  execution *x = argument;
  const convolution_points *p = x->points;
  char *own = (char *)x->arrays->scratch + pool_thread() * share_of(p);
  for (int64_t number = begin; number < end; number++) {
    const int64_t at = number % p->parts * p->columns, count = int64_min(p->columns, p->result.positions - at);
    if (!do_part(x, number / p->parts, at, count, (float *)(void *)own)) atomic_store(&x->has_failed, true);
  }
}

heddle_status convolution_points_execute(const convolution_form *f, const convolution_points *p, int threads,
                                         const convolution_points_arrays *arrays) {
  execution x = {.form = f, .points = p, .arrays = arrays};
  pool_run(threads, p->parts * f->output_batch, do_parts, &x);
  if (!atomic_load(&x.has_failed)) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a convolution");
}
