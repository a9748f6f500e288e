// Where a convolution's kernel lies that is a part of a larger array, and walks through it, run by run of elements that
// lie side by side.
#include <math.h>

#include "lib/convolution.h"
#include "lib/convolution_form.h"
#include "lib/element.h"
#include "lib/finite.h"

enum { STRIP = 512 };

// --- its place

int64_t convolution_kernel_elements(const lib_call *call) {
  return lib_int(call, "kernel_elements", lib_element_count(&call->operands[1]));
}

// How far a run may move the kernel's beginning; -1 if the attribute makes no sense.
static double most_moved(const lib_call *call) {
  const named_attribute *x = lib_ints(call, "kernel_start");
  if (!x || x->count == 0) return 0;
  return x->count == 4 && x->ints[2] >= 0 && x->ints[3] >= 0 ? (double)x->ints[2] * (double)x->ints[3] : -1;
}

heddle_status convolution_kernel_find(const lib_call *call, convolution_form *f) {
  const lib_array *a = &call->operands[1];
  const named_attribute *strides = lib_ints(call, "kernel_strides");
  const int64_t own = lib_element_count(a), count = convolution_kernel_elements(call);
  const int64_t offset = lib_int(call, "kernel_offset", 0);
  const double moved = most_moved(call);
  convolution_dense_strides(a->rank, a->dims, f->kernel_strides);
  if (own == 0) return status_ok();
  bool fits = count >= own && offset >= 0 && offset < count && moved >= 0 && (!strides || strides->count == a->rank);
  for (int d = 0; fits && strides && d < a->rank; d++) {
    f->kernel_strides[d] = strides->ints[d];
    fits = strides->ints[d] >= 0 && strides->ints[d] <= count;
  }
  double last = moved;
  for (int d = 0; d < a->rank; d++) last += (double)(a->dims[d] - 1) * (double)f->kernel_strides[d];
  f->kernel_offset = offset;
  if (!fits || last >= (double)(count - offset))
    return status_error(HEDDLE_INVALID, "a convolution whose kernel leads out of its array");
  if (!element_is_shared(a) || (!strides && count == own)) return status_ok();
  return status_error(HEDDLE_INVALID, "a convolution by a part of an array of %s", dtype_name(a->type));
}

// --- walks

typedef struct kernel_walk {
  const convolution_form *form;
  const lib_array *kernel;
  int outer;        // dims in front of those whose elements lie side by side
  int64_t run, at;  // elements of a run; where the present one begins
  int64_t index[CONVOLUTION_MAX_RANK];
} kernel_walk;

static kernel_walk begin_walk(const convolution_form *f, const lib_array *kernel) {
  kernel_walk w = {.form = f, .kernel = kernel, .outer = kernel->rank, .run = 1, .at = f->kernel_offset};
  for (; w.outer > 0; w.outer--) {
    const int64_t size = kernel->dims[w.outer - 1];
    if (size != 1 && f->kernel_strides[w.outer - 1] != w.run) break;
    w.run *= size;
  }
  return w;
}

// False behind the last run.
static bool next_run(kernel_walk *w) {
  for (int d = w->outer - 1; d >= 0; d--) {
    const int64_t stride = w->form->kernel_strides[d];
    w->at += stride;
    if (++w->index[d] < w->kernel->dims[d]) return true;
    w->at -= w->kernel->dims[d] * stride;
    w->index[d] = 0;
  }
  return false;
}

static bool is_run_finite(const lib_array *kernel, int64_t at, int64_t count) {
  const dtype t = kernel->type;
  if (t == DTYPE_F32) return finite_f32(count, (const float *)kernel->data + at);
  if (t == DTYPE_C64) return finite_f32(2 * count, (const float *)kernel->data + 2 * at);
  const bool is_narrow = dtypes[t].bits < 32, is_complex = dtype_is_complex(t);
  double wide[2 * STRIP];
  float narrow[STRIP];
  for (int64_t first = 0; first < count; first += STRIP) {
    const int64_t many = int64_min(count - first, STRIP);
    const work_type w = is_narrow ? WORK_F32 : is_complex ? WORK_C128 : WORK_F64;
    work_load(w, kernel, at + first, many, is_narrow ? (void *)narrow : (void *)wide);
    if (is_narrow && !finite_f32(many, narrow)) return false;
    for (int64_t k = 0; !is_narrow && k < (is_complex ? 2 * many : many); k++)
      if (!isfinite(wide[k])) return false;
  }
  return true;
}

bool convolution_kernel_is_finite(const convolution_form *f, const lib_array *kernel) {
  if (!dtype_is_inexact(kernel->type) || lib_element_count(kernel) == 0) return true;
  kernel_walk w = begin_walk(f, kernel);
  do
    if (!is_run_finite(kernel, w.at, w.run)) return false;
  while (next_run(&w));
  return true;
}

void convolution_kernel_load(const convolution_form *f, const lib_array *kernel, work_type type, void *to) {
  if (lib_element_count(kernel) == 0) return;
  kernel_walk w = begin_walk(f, kernel);
  char *next = to;
  do {
    work_load(type, kernel, w.at, w.run, next);
    next += w.run * work_size(type);
  } while (next_run(&w));
}
