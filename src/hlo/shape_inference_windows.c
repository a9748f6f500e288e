// Shape rules of what slides a window over an array: reduce-window, select-and-scatter, convolution.
#include "hlo/shape_rules.h"

__extension__ typedef __int128 wide;

// (W1) Window sizes, strides and dilations are positive. (W2) The padded size fits into 64 bits. The number of places a
// window has along a dim of size `size` goes to *out.
static heddle_status window_places(const instruction *i, int d, int64_t size, window_dim w, int64_t *out) {
  if (w.size < 1 || w.stride < 1 || w.window_dilation < 1 || w.base_dilation < 1)
    return RULE_ERROR(i, "window dimension %d has size %lld, stride %lld and dilations %lld and %lld, wanted 1 or more",
                      d, (long long)w.size, (long long)w.stride, (long long)w.window_dilation,
                      (long long)w.base_dilation);
  *out = -1;
  if (size == -1) return status_ok();
  wide base = size == 0 ? 0 : (wide)(size - 1) * w.base_dilation + 1;
  wide padded = base + w.padding_low + w.padding_high;
  wide extent = (wide)(w.size - 1) * w.window_dilation + 1;
  if (padded > INT64_MAX) return RULE_ERROR(i, "window dimension %d: the padded size is too large", d);
  *out = padded < extent ? 0 : (int64_t)((padded - extent) / w.stride + 1);
  return status_ok();
}

// A window over every dim of an array.
static heddle_status window_over(const instruction *i, const shape *s, dims_builder *b) {
  const window *w = &i->attributes->window;
  if (w->rank != s->rank)
    return RULE_ERROR(i, "the window has %d dimensions, wanted one for each of the operand's %d", w->rank, s->rank);
  for (int d = 0; d < s->rank; d++) {
    int64_t positions;
    TRY(window_places(i, d, s->dims[d], w->dims[d], &positions));
    dims_builder_push(b, positions, shape_is_dynamic_dim(s, d));
  }
  return status_ok();
}

// (C1) 2 N operands: N arrays of the same dims, and for each an initial value, a scalar of its type. (C2) The window
// has a dim for each of theirs.
heddle_status shape_rule_reduce_window(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  if (i->operand_count % 2)
    return RULE_ERROR(i, "found %d operands, wanted as many initial values as arrays", i->operand_count);
  int n = i->operand_count / 2;
  const shape **results = arena_array(a, const shape *, n);
  dims_builder b = {0};
  TRY(window_over(i, i->operands[0]->shape, &b));
  for (int k = 0; k < n; k++) {
    TRY(shape_rule_wants_same_dims(a, i, 0, k));
    dtype t = i->operands[k]->shape->dtype;
    TRY(shape_rule_wants_scalar(a, i, n + k, t));
    TRY(dims_builder_finish(a, i, &b, t, &results[k]));
  }
  *out = shape_rule_reduced(a, i, n, results);
  return status_ok();
}

// (C1) Operand, source and initial value are arrays of the same type, the last a scalar. (C2) The source has an element
// for each place of the window.
heddle_status shape_rule_select_and_scatter(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, 3));
  const shape *operand = i->operands[0]->shape, *source = i->operands[1]->shape, *wanted;
  TRY(shape_rule_wants_scalar(a, i, 2, operand->dtype));
  dims_builder b = {0};
  TRY(window_over(i, operand, &b));
  TRY(dims_builder_finish(a, i, &b, operand->dtype, &wanted));
  if (!dtype_same_in_floats(source->dtype, wanted->dtype) || !shape_rule_dims_agree(source, wanted))
    return RULE_ERROR(i, "the source has shape %s, wanted %s, an element for each place of the window",
                      shape_text(a, source), shape_text(a, wanted));
  *out = operand;
  return status_ok();
}

// (C1) dim_labels names every dim of an array once.
static heddle_status check_labels(const instruction *i, const char *what, const shape *s, int64_t first, int64_t second,
                                  const int64_t *spatial, int spatial_rank) {
  if (s->rank != spatial_rank + 2)
    return RULE_ERROR(i, "the %s has rank %d, dim_labels wants %d", what, s->rank, spatial_rank + 2);
  uint64_t seen = 0;
  const int64_t ends[2] = {first, second};
  TRY(shape_rule_wants_dims(i, "dim_labels", (int_list){ends, 2}, s->rank, &seen));
  return shape_rule_wants_dims(i, "dim_labels", (int_list){spatial, spatial_rank}, s->rank, &seen);
}

static bool divides(int64_t divisor, int64_t size) { return size == -1 || size % divisor == 0; }

// (C2) Group counts are positive and not both above 1. (C3) feature_group_count divides the input's features and the
// kernel's output features; batch_group_count the input's batch and the kernel's output features. (C4) The kernel's
// input features are those of one group.
static heddle_status check_groups(const instruction *i, const convolution_dims *c) {
  const shape *input = i->operands[0]->shape, *kernel = i->operands[1]->shape;
  int64_t features = i->attributes->feature_group_count, batches = i->attributes->batch_group_count;
  if (features < 1 || batches < 1 || (features > 1 && batches > 1))
    return RULE_ERROR(i, "found feature_group_count %lld and batch_group_count %lld, wanted 1 for one of them",
                      (long long)features, (long long)batches);
  int64_t in = input->dims[c->input_feature], out = kernel->dims[c->kernel_output_feature];
  int64_t batch = input->dims[c->input_batch], group = kernel->dims[c->kernel_input_feature];
  if (!divides(features, in) || !divides(features, out))
    return RULE_ERROR(i, "feature_group_count is %lld, wanted a divisor of %lld input and %lld output features",
                      (long long)features, (long long)in, (long long)out);
  if (!divides(batches, batch) || !divides(batches, out))
    return RULE_ERROR(i, "batch_group_count is %lld, wanted a divisor of a batch of %lld and %lld output features",
                      (long long)batches, (long long)batch, (long long)out);
  if (in != -1 && !shape_rule_sizes_agree(in / features, group))
    return RULE_ERROR(i, "the kernel has %lld input features, wanted %lld of the input in %lld groups",
                      (long long)group, (long long)in, (long long)features);
  return status_ok();
}

// (C5) The window has a dim for each spatial dim, of the kernel's size. Puts the result's sizes into b.
static heddle_status spatial_dims(const instruction *i, const convolution_dims *c, dims_builder *b) {
  const shape *input = i->operands[0]->shape, *kernel = i->operands[1]->shape;
  const window *w = &i->attributes->window;
  if (w->rank != c->spatial_rank)
    return RULE_ERROR(i, "the window has %d dimensions, wanted one for each of %d spatial ones", w->rank,
                      c->spatial_rank);
  for (int d = 0; d < w->rank; d++) {
    int64_t size = kernel->dims[c->kernel_spatial[d]], from = c->input_spatial[d], to = c->output_spatial[d];
    if (!shape_rule_sizes_agree(size, w->dims[d].size))
      return RULE_ERROR(i, "window dimension %d has size %lld, the kernel %lld", d, (long long)w->dims[d].size,
                        (long long)size);
    TRY(window_places(i, d, input->dims[from], w->dims[d], &b->dims[to]));
    b->dynamic_dims |= (uint64_t)shape_is_dynamic_dim(input, (int)from) << to;
  }
  return status_ok();
}

// A convolution of more than two operands is a sparse or scaled one: its shape is taken as given.
heddle_status shape_rule_convolution(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  const shape *input = i->operands[0]->shape, *kernel = i->operands[1]->shape;
  const convolution_dims *c = &i->attributes->dim_labels;
  int n = c->spatial_rank;
  dims_builder b = {.rank = input->rank};
  TRY(check_labels(i, "input", input, c->input_batch, c->input_feature, c->input_spatial, n));
  TRY(check_labels(i, "kernel", kernel, c->kernel_input_feature, c->kernel_output_feature, c->kernel_spatial, n));
  const shape result = {.rank = input->rank};
  TRY(check_labels(i, "result", &result, c->output_batch, c->output_feature, c->output_spatial, n));
  if (i->operand_count > 2) {
    TRY(shape_rule_wants_array_result(i));
    *out = i->shape;
    return status_ok();
  }
  if (!shape_rule_multiplies(input->dtype, kernel->dtype))
    return RULE_ERROR(i, "cannot multiply %s by %s", dtype_name(input->dtype), dtype_name(kernel->dtype));
  TRY(check_groups(i, c));
  TRY(spatial_dims(i, c, &b));
  int64_t batch = input->dims[c->input_batch];
  b.dims[c->output_batch] = batch == -1 ? -1 : batch / i->attributes->batch_group_count;
  b.dims[c->output_feature] = kernel->dims[c->kernel_output_feature];
  b.dynamic_dims |= (uint64_t)shape_is_dynamic_dim(input, (int)c->input_batch) << c->output_batch;
  b.dynamic_dims |= (uint64_t)shape_is_dynamic_dim(kernel, (int)c->kernel_output_feature) << c->output_feature;
  bool is_wider = i->shape && dtypes[i->shape->dtype].class == dtypes[input->dtype].class;
  const dtype wider = dtype_is_float(kernel->dtype) && !dtype_is_float(input->dtype) ? kernel->dtype : input->dtype;
  return dims_builder_finish(a, i, &b, is_wider ? i->shape->dtype : wider, out);
}
