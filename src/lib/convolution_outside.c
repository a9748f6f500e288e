// What lies outside of the input, which is padding and the holes of dilation, has no part in HLO's sums; oneDNN and the
// tiles multiply it as zeros. That is the same unless the kernel holds infinities or NaN, whose products with zero are
// NaN. Then the elements into which such a weight goes, and whose windows reach outside, are computed once more, by the
// definition: of each window the input is gathered once and multiplied by every affected output feature's weights.
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "lib/convolution_form.h"
#include "lib/element.h"

typedef struct mending {
  const convolution_form *form;
  const lib_call *call;
  work_type work;               // F64 or C128
  int parts;                    // doubles an element has
  int64_t taps, groups, group;  // of the kernel; of features or batches; output features of one
  int64_t input_strides[CONVOLUTION_MAX_RANK], kernel_strides[CONVOLUTION_MAX_RANK];  // by canonical dims
  int64_t result_strides[CONVOLUTION_MAX_RANK];
  double *kernel;     // all of it, widened, dense in the order of its array's dims
  bool *is_affected;  // output features
  atomic_bool has_failed;
} mending;

// One window: of each tap, whether it meets the input, and the group's features there.
typedef struct meeting {
  bool *meets;
  double *input;
} meeting;

// --- whether there is something to do

static bool reaches(const convolution_dim *w, int64_t output) {
  for (int64_t k = 0; k < w->kernel; k++)
    if (convolution_source(w, output * w->stride - w->low, k) < 0) return true;
  return false;
}

bool convolution_reaches_outside(const convolution_form *f) {
  for (int d = 0; d < f->spatial_rank; d++) {
    const convolution_dim *w = &f->dims[d];
    if (w->low > 0 || w->high > 0 || w->base_dilation > 1) return true;
  }
  return false;
}

// --- one window

static void canonical_strides(const lib_array *a, const int *order, int64_t *strides) {
  int64_t lying[CONVOLUTION_MAX_RANK];
  convolution_dense_strides(a->rank, a->dims, lying);
  for (int d = 0; d < a->rank; d++) strides[d] = lying[order[d]];
}

// Gathers the window at `output` (by spatial dims) of a group's image and features, whose first element is `base`.
static void gather(const mending *m, const int64_t *output, int64_t base, const meeting *to) {
  const convolution_form *f = m->form;
  const int64_t step = m->input_strides[f->spatial_rank + 1], features = f->group_features;
  for (int64_t tap = 0; tap < m->taps; tap++) {
    int64_t rest = tap, at = base;
    bool meets = true;
    for (int d = f->spatial_rank - 1; d >= 0 && meets; d--) {
      const convolution_dim *w = &f->dims[d];
      const int64_t source = convolution_source(w, output[d] * w->stride - w->low, rest % w->kernel);
      rest /= w->kernel;
      meets = source >= 0;
      at += source * m->input_strides[d + 1];
    }
    to->meets[tap] = meets;
    double *into = to->input + tap * features * m->parts;
    if (meets && step == 1) work_load(m->work, &m->call->operands[0], at, features, into);
    else
      for (int64_t k = 0; meets && k < features; k++)
        work_load(m->work, &m->call->operands[0], at + k * step, 1, into + k * m->parts);
  }
}

static int64_t tap_in_kernel(const mending *m, int64_t tap) {
  int64_t at = 0;
  for (int d = m->form->spatial_rank - 1; d >= 0; d--) {
    const convolution_dim *w = &m->form->dims[d];
    const int64_t k = tap % w->kernel;
    at += (w->is_reversed ? w->kernel - 1 - k : k) * m->kernel_strides[d];
    tap /= w->kernel;
  }
  return at;
}

static void sum_products(const mending *m, int64_t output_feature, const meeting *window, double sum[2]) {
  const convolution_form *f = m->form;
  const int64_t step = m->kernel_strides[f->spatial_rank], features = f->group_features;
  const int64_t column = output_feature * m->kernel_strides[f->spatial_rank + 1];
  for (int64_t tap = 0; tap < m->taps; tap++) {
    if (!window->meets[tap]) continue;
    const double *x = window->input + tap * features * m->parts;
    const double *y = m->kernel + (column + tap_in_kernel(m, tap)) * m->parts;
    for (int64_t k = 0; k < features && m->parts == 1; k++) sum[0] += x[k] * y[k * step];
    for (int64_t k = 0; k < features && m->parts == 2; k++) {
      const double *u = x + 2 * k, *v = y + 2 * k * step;
      sum[0] += u[0] * v[0] - u[1] * v[1];
      sum[1] += u[0] * v[1] + u[1] * v[0];
    }
  }
}

static void mend_feature(const mending *m, int64_t feature, int64_t position, const meeting *window) {
  double sum[2] = {0}, bias[2];
  sum_products(m, feature, window, sum);
  if (m->form->has_bias) {
    work_load(m->work, &m->call->operands[2], feature, 1, bias);
    for (int k = 0; k < m->parts; k++) sum[k] += bias[k];
  }
  if (m->form->has_relu && sum[0] < 0) sum[0] = 0;
  const int64_t at = position + feature * m->result_strides[m->form->spatial_rank + 1];
  work_store(m->work, sum, &m->call->results[0], at, 1);
}

static void mend_position(const mending *m, int64_t number, const meeting *window) {
  const convolution_form *f = m->form;
  int64_t output[CONVOLUTION_MAX_SPATIAL] = {0}, rest = number, position = 0;
  bool is_outside = false;
  for (int d = f->spatial_rank - 1; d >= 0; d--) {
    output[d] = rest % f->dims[d].output;
    rest /= f->dims[d].output;
    position += output[d] * m->result_strides[d + 1];
    is_outside = is_outside || reaches(&f->dims[d], output[d]);
  }
  position += rest * m->result_strides[0];
  for (int64_t g = 0; g < m->groups && is_outside; g++) {
    const int64_t image = f->batch_groups > 1 ? g * f->output_batch + rest : rest;
    const int64_t first = f->feature_groups > 1 ? g * f->group_features : 0;
    bool is_gathered = false;
    for (int64_t k = g * m->group; k < (g + 1) * m->group; k++) {
      if (!m->is_affected[k]) continue;
      const int64_t base = image * m->input_strides[0] + first * m->input_strides[f->spatial_rank + 1];
      if (!is_gathered) gather(m, output, base, window);
      is_gathered = true;
      mend_feature(m, k, position, window);
    }
  }
}

static void mend_positions(void *argument, int64_t begin, int64_t end) {
  mending *m = argument;
  const size_t elements = (size_t)(m->taps * m->form->group_features * m->parts);
  const meeting window = {calloc((size_t)m->taps, sizeof(bool)), calloc(elements, sizeof(double))};
  if (!window.meets || !window.input) atomic_store(&m->has_failed, true);
  else
    for (int64_t k = begin; k < end; k++) mend_position(m, k, &window);
  free(window.meets);
  free(window.input);
}

// --- all of them

static void find_affected(mending *m, const lib_array *kernel, int64_t count) {
  const int64_t stride = m->kernel_strides[m->form->spatial_rank + 1];
  convolution_kernel_load(m->form, kernel, m->work, m->kernel);
  for (int64_t k = 0; k < count * m->parts; k++)
    if (!isfinite(m->kernel[k])) m->is_affected[k / m->parts / stride % m->form->output_features] = true;
}

heddle_status convolution_mend_outside(const convolution_form *f, const lib_call *call) {
  const bool is_complex = dtype_is_complex(f->result);
  mending m = {.form = f, .call = call, .work = is_complex ? WORK_C128 : WORK_F64, .parts = is_complex ? 2 : 1};
  m.taps = convolution_kernel_size(f);
  m.groups = f->feature_groups * f->batch_groups;
  m.group = f->output_features / m.groups;
  canonical_strides(&call->operands[0], f->input_order, m.input_strides);
  canonical_strides(&call->operands[1], f->kernel_order, m.kernel_strides);
  canonical_strides(&call->results[0], f->output_order, m.result_strides);
  const int64_t count = lib_element_count(&call->operands[1]);
  m.kernel = malloc((size_t)(count * m.parts) * sizeof(double));
  m.is_affected = calloc((size_t)f->output_features, sizeof(bool));
  if (!m.kernel || !m.is_affected) atomic_store(&m.has_failed, true);
  else {
    find_affected(&m, &call->operands[1], count);
    const bool is_shared = element_is_shared(&call->results[0]);
    pool_run(is_shared ? 1 : call->threads, convolution_positions(f), mend_positions, &m);
  }
  free(m.kernel);
  free(m.is_affected);
  if (!atomic_load(&m.has_failed)) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a convolution with infinite weights");
}
