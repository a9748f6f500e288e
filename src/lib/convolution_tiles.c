// A convolution is the product of two matrices: rows are the result's positions, columns the output features of a
// group, and the depth goes over the kernel's positions and the group's input features. The kernel is such a matrix as
// it lies in memory; the other one, which repeats the input for each kernel position, is never made as a whole: each
// tile of it is gathered, widened, when it is multiplied.
#include "base/int64.h"
#include "lib/convolution_form.h"

#include <string.h>

typedef struct gathering {
  const convolution_form *form;
  const lib_array *input;  // [batch, spatial…, feature]
  int64_t strides[CONVOLUTION_MAX_SPATIAL];
  int64_t batch_stride;
  int64_t line;    // elements of the depth for one position in all but the last dim of the kernel
  bool is_joined;  // of such a line what lies inside the input is contiguous there
  work_type work;
} gathering;

// Elements first … first + count - 1 of the input, or zeros if `inside` is false.
static char *put(const gathering *g, bool inside, int64_t first, int64_t count, char *to) {
  if (inside) work_load(g->work, g->input, first, count, to);
  else memset(to, 0, (size_t)(count * work_size(g->work)));
  return to + count * work_size(g->work);
}

// Elements begin … end - 1 of a line whose kernel positions follow each other in the input.
static char *put_joined(const gathering *g, const convolution_dim *w, int64_t base, int64_t origin, int64_t begin,
                        int64_t end, char *to) {
  const int64_t features = g->form->group_features;
  const int64_t first = int64_max(0, -origin) * features, limit = int64_min(w->kernel, w->input - origin) * features;
  const int64_t inside = int64_min(int64_max(first, begin), end), outside = int64_max(int64_min(limit, end), inside);
  to = put(g, false, 0, inside - begin, to);
  to = put(g, true, base + origin * features + inside, outside - inside, to);
  return put(g, false, 0, end - outside, to);
}

static char *put_line(const gathering *g, const convolution_dim *w, int64_t base, int64_t origin, int64_t begin,
                      int64_t end, char *to) {
  if (g->is_joined) return put_joined(g, w, base, origin, begin, end, to);
  const int64_t features = g->form->group_features,
                stride = g->form->spatial_rank ? g->strides[g->form->spatial_rank - 1] : 0;
  while (begin < end) {
    const int64_t k = begin / features, feature = begin % features, count = int64_min(features - feature, end - begin);
    const int64_t source = convolution_source(w, origin, k);
    to = put(g, source >= 0, base + source * stride + feature, count, to);
    begin += count;
  }
  return to;
}

// One row of a tile: the window at position `row`, whose origin in each dim is in `origins`.
static void put_row(const gathering *g, const gemm_tile *t, int64_t base, const int64_t *origins, char *to) {
  static const convolution_dim point = {.input = 1, .kernel = 1, .base_dilation = 1, .window_dilation = 1};
  const convolution_form *f = g->form;
  const int outer = f->spatial_rank ? f->spatial_rank - 1 : 0;
  const convolution_dim *last = f->spatial_rank ? &f->dims[outer] : &point;
  const int64_t end = t->depth + t->depths;
  for (int64_t depth = t->depth; depth < end;) {
    const int64_t line = depth / g->line, begin = depth - line * g->line,
                  stop = int64_min(g->line, end - line * g->line);
    int64_t rest = line, at = base;
    bool inside = true;
    for (int d = outer - 1; d >= 0 && inside; d--) {
      const int64_t source = convolution_source(&f->dims[d], origins[d], rest % f->dims[d].kernel);
      inside = source >= 0;
      at += source * g->strides[d];
      rest /= f->dims[d].kernel;
    }
    if (inside) to = put_line(g, last, at, f->spatial_rank ? origins[outer] : 0, begin, stop, to);
    else to = put(g, false, 0, stop - begin, to);
    depth += stop - begin;
  }
}

static void gather(const void *argument, work_type w, const gemm_tile *t, void *to) {
  const gathering *g = argument;
  const convolution_form *f = g->form;
  int64_t first = t->batch * f->group_features;  // of this group
  if (f->batch_groups > 1) first = t->batch * f->output_batch * g->batch_stride;
  for (int64_t r = 0; r < t->rows; r++) {
    int64_t rest = t->row + r, origins[CONVOLUTION_MAX_SPATIAL] = {0};
    for (int d = f->spatial_rank - 1; d >= 0; d--) {
      origins[d] = rest % f->dims[d].output * f->dims[d].stride - f->dims[d].low;
      rest /= f->dims[d].output;
    }
    put_row(g, t, first + rest * g->batch_stride, origins, (char *)to + r * t->leading * work_size(w));
  }
}

heddle_status convolution_tiles_plan(const convolution_form *f, gemm_plan *plan) {
  const int64_t groups = f->feature_groups * f->batch_groups;
  const gemm_form form = {.lhs = f->input,
                          .rhs = f->kernel,
                          .result = f->result,
                          .batch = groups,
                          .rows = convolution_positions(f),
                          .columns = f->output_features / groups,
                          .depth = convolution_kernel_size(f) * f->group_features,
                          .loads_lhs = true,
                          .right_groups = groups,
                          .has_bias = f->has_bias,
                          .has_relu = f->has_relu};
  return gemm_plan_make_of(&form, plan);
}

heddle_status convolution_tiles_execute(const convolution_form *f, const gemm_plan *plan, const lib_call *call) {
  gathering g = {.form = f, .input = &call->operands[0], .work = plan->work};
  int64_t stride = f->input_features;
  for (int d = f->spatial_rank - 1; d >= 0; d--) {
    g.strides[d] = stride;
    stride *= f->dims[d].input;
  }
  g.batch_stride = stride;
  g.line = f->group_features;
  if (f->spatial_rank) {
    const convolution_dim *last = &f->dims[f->spatial_rank - 1];
    g.line *= last->kernel;
    g.is_joined = last->base_dilation == 1 && last->window_dilation == 1 && f->feature_groups == 1;
  }
  return gemm_plan_execute_with(plan, call, gather, &g);
}
