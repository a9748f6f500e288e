// A convolution of many small groups, such as a depthwise one, of any type but the complex ones: the lanes of a vector
// are output features of neighbouring groups. As products of matrices such groups are hardly wider than one column.
//
// Each position of the input is brought into lanes first: for input feature i of a group there is a row in which every
// output feature has its own group's feature i. The sum of a block of output features stays in registers while all of
// the window passes. What lies outside of the input is left out.
#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"
#include "base/pool.h"
#include "lib/convolution_form.h"

enum {
  LINE = 64,                 // bytes of a vector
  BLOCKS = 4,                // vectors summed at a time, so that one sum need not wait for another
  MOST_GROUP_FEATURES = 16,  // of the input; more are a product of matrices
  MOST_OUTPUTS = 8,          // of a group
  INPUT_BYTES = 1 << 18,     // of a part's input in lanes, which stay in the second-level cache
};

// --- the plan

static int64_t outputs_of(const convolution_form *f) { return f->output_features / f->feature_groups; }

static int64_t lines(int64_t bytes) { return int64_ceil_div(bytes, LINE) * LINE; }

// Bytes of a row of all output features.
static int64_t row_bytes(const convolution_form *f, work_type w) { return lines(f->output_features * work_size(w)); }

// Whether each output feature has an input feature of its own, so that lanes are what they are in memory.
static bool is_depthwise(const convolution_form *f) { return f->group_features == 1 && outputs_of(f) == 1; }

// Whether the input need not be brought into lanes.
static bool lies_in_lanes(const convolution_form *f, work_type w) {
  const dtype t = f->input;
  const bool is_work = w == WORK_F32   ? t == DTYPE_F32
                       : w == WORK_F64 ? t == DTYPE_F64
                       : w == WORK_U32 ? t == DTYPE_S32 || t == DTYPE_U32
                                       : t == DTYPE_S64 || t == DTYPE_U64;
  return is_work && is_depthwise(f) && f->output_features * work_size(w) % LINE == 0;
}

static bool takes(const convolution_form *f, work_type w) {
  if (w != WORK_F32 && w != WORK_F64 && w != WORK_U32 && w != WORK_U64) return false;
  if (f->feature_groups < 2 || f->batch_groups > 1 || f->spatial_rank == 0 || convolution_is_dilated(f)) return false;
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].low < 0 || f->dims[d].input == 0) return false;
  return f->group_features <= MOST_GROUP_FEATURES && outputs_of(f) <= MOST_OUTPUTS &&
         f->output_features * work_size(w) >= LINE / 2 && convolution_positions(f) > 0 &&
         convolution_kernel_size(f) * f->group_features > 0;
}

bool convolution_direct_plan(const convolution_form *f, work_type w, convolution_direct *p) {
  if (!takes(f, w)) return false;
  const int64_t row = row_bytes(f, w), all = row * f->group_features * convolution_input_positions(f);
  *p = (convolution_direct){.work = w, .row = row, .kernel = row * f->group_features * convolution_kernel_size(f)};
  p->lies_in_lanes = lies_in_lanes(f, w);
  p->cut = convolution_cut_positions(f, int64_max(convolution_parts_wanted(f), all / INPUT_BYTES));
  for (int64_t k = 0; k < convolution_cut_count(&p->cut); k++) {
    convolution_part part;
    if (!convolution_part_of(f, &p->cut, k, &part)) return false;
    const int64_t input = row * f->group_features * convolution_input_positions(&part.form);
    if (!p->lies_in_lanes) p->input = int64_max(p->input, input);
  }
  p->taps = lines(convolution_kernel_size(f) / f->dims[f->spatial_rank - 1].kernel * 2 * (int64_t)sizeof(int64_t));
  p->features = lines(int64_max(f->input_features, f->output_features) * work_size(w));
  return true;
}

static int64_t share_of(const convolution_direct *p) { return p->input + p->taps + p->features + p->row; }

// The kernel in lanes and the bias, then what each thread wants.
int64_t convolution_direct_scratch(const convolution_direct *p, int threads) {
  return p->kernel + p->row + share_of(p) * convolution_cut_threads(&p->cut, threads);
}

// --- one position

// The rows along the last dim of a window that meet the input, and their elements begin … end - 1, which do, too.
typedef struct window {
  int64_t count, begin, end;
  const char *input, *kernel;     // in lanes
  int64_t *input_at, *kernel_at;  // bytes to where each row begins
  int64_t origin;                 // bytes to the window's first element of a row, which may lie in front of it
  int64_t input_step;             // bytes from one element of a row to the next
  int64_t features, row;          // of a group; bytes of a row of all output features
  const char *bias;               // in lanes
} window;

// Sums `count` blocks of output features, a constant of each caller, in vectors of `bytes`: what the machine has keeps
// them in registers, where the compiler would have larger ones in memory.
#define SUM_WINDOW(name, type, bytes, target)                                                                   \
  typedef type name##_lanes __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias));              \
  target static inline                                                                                          \
      __attribute__((always_inline)) void name##_blocks(int count, const window *w, int64_t at, char *sums) {   \
    name##_lanes sum[BLOCKS * LINE / (bytes)];                                                                  \
    const int64_t kernel_step = w->features * w->row;                                                           \
    const int parts = count * LINE / (bytes);                                                                   \
    for (int b = 0; b < parts; b++) sum[b] = *(const name##_lanes *)(const void *)(w->bias + at + b * (bytes)); \
    for (int64_t r = 0; r < w->count; r++) {                                                                    \
      const char *x = w->input + (w->input_at[r] + w->origin + w->begin * w->input_step + at);                  \
      const char *y = w->kernel + w->kernel_at[r] + w->begin * kernel_step + at;                                \
      for (int64_t k = w->begin; k < w->end; k++, x += w->input_step, y += kernel_step)                         \
        for (int64_t i = 0; i < kernel_step; i += w->row)                                                       \
          for (int b = 0; b < parts; b++)                                                                       \
            sum[b] += *(const name##_lanes *)(const void *)(x + i + b * (bytes)) *                              \
                      *(const name##_lanes *)(const void *)(y + i + b * (bytes));                               \
    }                                                                                                           \
    for (int b = 0; b < parts; b++) *(name##_lanes *)(void *)(sums + at + b * (bytes)) = sum[b];                \
  }                                                                                                             \
  target static void name(const window *w, char *sums) {                                                        \
    int64_t at = 0;                                                                                             \
    for (; at + BLOCKS * LINE <= w->row; at += BLOCKS * LINE) name##_blocks(BLOCKS, w, at, sums);               \
    for (; at < w->row; at += LINE) name##_blocks(1, w, at, sums);                                              \
  }

typedef void (*sum_fn)(const window *w, char *sums);

#define SUM_WINDOWS(suffix, bytes, target)                                             \
  SUM_WINDOW(sum_f32_##suffix, float, bytes, target)                                   \
  SUM_WINDOW(sum_f64_##suffix, double, bytes, target)                                  \
  SUM_WINDOW(sum_u32_##suffix, uint32_t, bytes, target)                                \
  SUM_WINDOW(sum_u64_##suffix, uint64_t, bytes, target)                                \
  static const sum_fn sums_##suffix[WORK_TYPE_COUNT] = {[WORK_F32] = sum_f32_##suffix, \
                                                        [WORK_F64] = sum_f64_##suffix, \
                                                        [WORK_U32] = sum_u32_##suffix, \
                                                        [WORK_U64] = sum_u64_##suffix};

SUM_WINDOWS(plain, 16, )
#if defined(__x86_64__)
SUM_WINDOWS(avx2, 32, __attribute__((target("avx2"))))
SUM_WINDOWS(avx512, LINE, __attribute__((target("avx512f,avx512dq"))))

static sum_fn sum_of(work_type w) {
  if (cpu_level_has_avx512()) return sums_avx512[w];
  return cpu_level_has_avx2() ? sums_avx2[w] : sums_plain[w];
}
#else
static sum_fn sum_of(work_type w) { return sums_plain[w]; }
#endif

// --- running

typedef struct execution {
  const convolution_form *form;
  const convolution_direct *plan;
  const lib_call *call;
  sum_fn sum;
  char *kernel, *bias, *shares;
} execution;

// One part while it is computed.
typedef struct part_run {
  const execution *execution;
  const convolution_form *form;
  window window;
  char *features, *sums;  // of one position
} part_run;

// Makes rows of lanes, one for each row of output features in `from`, which is dense.
static void bring_rows(const execution *x, const lib_array *from, int64_t rows, char *to) {
  const int64_t features = x->form->output_features;
  memset(to, 0, (size_t)(rows * x->plan->row));
  for (int64_t k = 0; k < rows && from; k++)
    work_load(x->plan->work, from, k * features, features, to + k * x->plan->row);
}

// Gives each of a group's outputs the group's feature, the groups' features being `step` elements apart.
#define SHARE(name, type)                                                                       \
  static void name(int64_t groups, int64_t outputs, int64_t step, const void *from, void *to) { \
    type *out = to;                                                                             \
    for (int64_t g = 0; g < groups; g++)                                                        \
      for (int64_t n = 0; n < outputs; n++) *out++ = ((const type *)from)[g * step];            \
  }

SHARE(share_u32, uint32_t)
SHARE(share_u64, uint64_t)

// Brings one position of the input into lanes: a row for each feature of a group.
static void bring_position(const part_run *p, int64_t first, char *to) {
  const execution *x = p->execution;
  const convolution_form *f = x->form;
  const int64_t row = x->plan->row, size = work_size(x->plan->work);
  char *features = is_depthwise(f) ? to : p->features;
  if (is_depthwise(f)) memset(to + row - LINE, 0, LINE);
  work_load(x->plan->work, &x->call->operands[0], first, f->input_features, features);
  for (int64_t i = 0; i < f->group_features && !is_depthwise(f); i++, to += row) {
    memset(to + row - LINE, 0, LINE);
    (size == 4 ? share_u32 : share_u64)(f->feature_groups, outputs_of(f), f->group_features, features + i * size, to);
  }
}

// The input's positions from element `first` on in lanes, at `to` if they don't lie so.
static const char *bring_input(const part_run *p, int64_t first, int64_t positions, char *to) {
  const execution *x = p->execution;
  const convolution_form *f = x->form;
  if (x->plan->lies_in_lanes) return (const char *)x->call->operands[0].data + first * work_size(x->plan->work);
  for (int64_t k = 0; k < positions; k++)
    bring_position(p, first + k * f->input_features, to + k * f->group_features * x->plan->row);
  return to;
}

// Finds the rows of the window of row `number` of the result, all but the last dim.
static void find_rows(part_run *p, int64_t number) {
  const convolution_form *f = p->form;
  window *w = &p->window;
  const int64_t window = f->dims[f->spatial_rank - 1].kernel, step = w->features * w->row;
  w->count = 0;
  for (int64_t t = 0; t < convolution_kernel_size(f) / window; t++) {
    const int64_t position = convolution_source_row(f, number, t);
    if (position < 0) continue;
    w->input_at[w->count] = position * step;
    w->kernel_at[w->count++] = t * window * step;
  }
}

static void relu(work_type w, int64_t count, char *sums) {
  float *f = (float *)(void *)sums;
  double *d = (double *)(void *)sums;
  for (int64_t k = 0; k < count && w == WORK_F32; k++) f[k] = f[k] < 0 ? 0 : f[k];
  for (int64_t k = 0; k < count && w == WORK_F64; k++) d[k] = d[k] < 0 ? 0 : d[k];
}

// One row of the result along the last dim, from element `at` on.
static void do_row(part_run *p, int64_t at) {
  const execution *x = p->execution;
  const convolution_dim *last = &p->form->dims[p->form->spatial_rank - 1];
  const int64_t features = p->form->output_features, step = p->window.features * p->window.row;
  for (int64_t k = 0; k < last->output; k++, at += features) {
    window w = p->window;
    const int64_t origin = k * last->stride - last->low, dilation = last->window_dilation;
    w.begin = origin < 0 ? int64_ceil_div(-origin, dilation) : 0;
    w.end = int64_min(last->kernel, int64_floor_div(last->input - 1 - origin, dilation) + 1);
    w.input_step = dilation * step;
    w.origin = origin * step;
    x->sum(&w, p->sums);
    if (p->form->has_relu) relu(x->plan->work, features, p->sums);
    work_store(x->plan->work, p->sums, &x->call->results[0], at, features);
  }
}

static void do_parts(void *argument, int64_t begin, int64_t end) {
  const execution *x = argument;
  const convolution_direct *plan = x->plan;
  char *own = x->shares + pool_thread() * share_of(plan);
  for (int64_t number = begin; number < end; number++) {
    convolution_part part;
    convolution_part_of(x->form, &plan->cut, number, &part);
    const convolution_form *f = &part.form;
    const convolution_dim *last = &f->dims[f->spatial_rank - 1];
    part_run p = {.execution = x, .form = f, .features = own + plan->input + plan->taps};
    p.sums = p.features + plan->features;
    p.window = (window){.kernel = x->kernel,
                        .input_at = (int64_t *)(void *)(own + plan->input),
                        .features = f->group_features,
                        .row = plan->row,
                        .bias = x->bias};
    p.window.kernel_at = p.window.input_at + convolution_kernel_size(f) / last->kernel;
    p.window.input = bring_input(&p, part.input_at, convolution_input_positions(f), own);
    for (int64_t r = 0; r < convolution_positions(f) / last->output; r++) {
      find_rows(&p, r);
      do_row(&p, part.result_at + r * last->output * f->output_features);
    }
  }
}

void convolution_direct_execute(const convolution_form *f, const convolution_direct *p, const lib_call *call) {
  execution x = {.form = f, .plan = p, .call = call, .sum = sum_of(p->work)};
  x.kernel = call->scratch;
  x.bias = x.kernel + p->kernel;
  x.shares = x.bias + p->row;
  bring_rows(&x, &call->operands[1], convolution_kernel_size(f) * f->group_features, x.kernel);
  bring_rows(&x, f->has_bias ? &call->operands[2] : NULL, 1, x.bias);
  pool_run(call->threads, convolution_cut_count(&p->cut), do_parts, &x);
}
