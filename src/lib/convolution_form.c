// Reads a convolution's geometry from the attributes of its call and checks it against the shapes.
#include "lib/convolution_form.h"

#include <string.h>

#include "base/int64.h"

// Dim number `name` of the call; -1 if it is none of `rank` dims.
static int dim_of(const lib_call *call, const char *name, int rank) {
  const int64_t d = lib_int(call, name, -1);
  return d >= 0 && d < rank ? (int)d : -1;
}

// The spatial dims behind `at` of an order; false if the list is missing or wrong.
static bool add_spatial(const lib_call *call, const char *name, int spatial_rank, int rank, int *order) {
  const named_attribute *list = lib_ints(call, name);
  if (!list) return spatial_rank == 0;
  if (list->count != spatial_rank) return false;
  for (int d = 0; d < spatial_rank; d++) {
    if (list->ints[d] < 0 || list->ints[d] >= rank) return false;
    order[d] = (int)list->ints[d];
  }
  return true;
}

static bool is_permutation(const int *order, int rank) {
  unsigned seen = 0;
  for (int d = 0; d < rank; d++) {
    if (order[d] < 0) return false;
    seen |= 1u << order[d];
  }
  return seen == (1u << rank) - 1;
}

static bool read_orders(const lib_call *call, convolution_form *f) {
  const int n = f->spatial_rank, rank = n + 2;
  f->input_order[0] = dim_of(call, "input_batch", rank);
  f->input_order[n + 1] = dim_of(call, "input_feature", rank);
  f->kernel_order[n] = dim_of(call, "kernel_input_feature", rank);
  f->kernel_order[n + 1] = dim_of(call, "kernel_output_feature", rank);
  f->output_order[0] = dim_of(call, "output_batch", rank);
  f->output_order[n + 1] = dim_of(call, "output_feature", rank);
  return add_spatial(call, "input_spatial", n, rank, f->input_order + 1) &&
         add_spatial(call, "kernel_spatial", n, rank, f->kernel_order) &&
         add_spatial(call, "output_spatial", n, rank, f->output_order + 1) && is_permutation(f->input_order, rank) &&
         is_permutation(f->kernel_order, rank) && is_permutation(f->output_order, rank);
}

// Entry d of a list with one number for each spatial dim.
static bool window_entry(const lib_call *call, const char *name, int d, int count, int64_t otherwise, int64_t *to) {
  const named_attribute *list = lib_ints(call, name);
  if (list && list->count != count) return false;
  *to = list ? list->ints[d] : otherwise;
  return true;
}

// Numbers beyond this are no sensible windows, and sums of them could overflow.
static const int64_t most_sensible = (int64_t)1 << 40;

static bool is_sensible(int64_t x) { return x >= -most_sensible && x <= most_sensible; }

// What `count` elements reach with so many steps from each to the next. An array of no elements may have any other dim.
static bool reach_of(int64_t count, int64_t dilation, int64_t *out) {
  const int64_t last = count > 0 ? int64_saturating_mul(count - 1, dilation) : -1;
  *out = last < most_sensible ? last + 1 : most_sensible;
  return last < most_sensible;
}

static bool read_dim(const lib_call *call, convolution_form *f, int d) {
  convolution_dim *w = &f->dims[d];
  const int n = f->spatial_rank;
  int64_t reversed, size;
  w->input = call->operands[0].dims[f->input_order[d + 1]];
  w->kernel = call->operands[1].dims[f->kernel_order[d]];
  w->output = call->results[0].dims[f->output_order[d + 1]];
  const bool all =
      window_entry(call, "size", d, n, w->kernel, &size) && window_entry(call, "stride", d, n, 1, &w->stride) &&
      window_entry(call, "padding_low", d, n, 0, &w->low) && window_entry(call, "padding_high", d, n, 0, &w->high) &&
      window_entry(call, "base_dilation", d, n, 1, &w->base_dilation) &&
      window_entry(call, "window_dilation", d, n, 1, &w->window_dilation) &&
      window_entry(call, "window_reversal", d, n, 0, &reversed);
  if (!all || size != w->kernel || w->stride < 1 || w->base_dilation < 1 || w->window_dilation < 1) return false;
  if (!is_sensible(w->stride) || !is_sensible(w->low) || !is_sensible(w->high) || !is_sensible(w->base_dilation) ||
      !is_sensible(w->window_dilation))
    return false;
  w->is_reversed = reversed != 0;
  int64_t reach, base;
  if (!reach_of(w->kernel, w->window_dilation, &reach) || !reach_of(w->input, w->base_dilation, &base)) return false;
  base += w->low + w->high;
  const int64_t wanted = base < reach || base < 0 ? 0 : (base - reach) / w->stride + 1;
  return w->output == wanted || w->kernel == 0;
}

static bool groups_fit(const lib_call *call, const convolution_form *f) {
  const int n = f->spatial_rank;
  const lib_array *result = &call->results[0];
  if (f->feature_groups < 1 || f->batch_groups < 1) return false;
  return (f->feature_groups == 1 || f->batch_groups == 1) &&
         f->input_features == int64_saturating_mul(f->group_features, f->feature_groups) &&
         f->output_features % f->feature_groups == 0 && f->output_features % f->batch_groups == 0 &&
         f->input_batch % f->batch_groups == 0 && f->output_batch == f->input_batch / f->batch_groups &&
         result->dims[f->output_order[n + 1]] == f->output_features;
}

heddle_status convolution_form_of(const lib_call *call, convolution_form *f) {
  *f = (convolution_form){0};
  f->has_bias = lib_int(call, "bias", 0) != 0;
  const char *activation = lib_text(call, "activation");
  f->has_relu = activation && strcmp(activation, "relu") == 0;
  if (activation && activation[0] && !f->has_relu)
    return status_error(HEDDLE_INVALID, "a convolution with activation '%s'", activation);
  if (call->operand_count != (f->has_bias ? 3 : 2) || call->result_count != 1)
    return status_error(HEDDLE_INVALID, "a convolution of %d operands", call->operand_count);
  const lib_array *input = &call->operands[0], *kernel = &call->operands[1], *result = &call->results[0];
  f->spatial_rank = input->rank - 2;
  if (f->spatial_rank < 0 || kernel->rank != input->rank || result->rank != input->rank)
    return status_error(HEDDLE_INVALID, "a convolution of ranks that do not fit together");
  if (f->spatial_rank > CONVOLUTION_MAX_SPATIAL)
    return status_error(HEDDLE_UNIMPLEMENTED, "a convolution of %d spatial dims", f->spatial_rank);
  if (!read_orders(call, f)) return status_error(HEDDLE_INVALID, "a convolution whose dim numbers are no permutation");
  f->input = input->type;
  f->kernel = kernel->type;
  f->result = result->type;
  f->input_batch = input->dims[f->input_order[0]];
  f->input_features = input->dims[f->input_order[f->spatial_rank + 1]];
  f->group_features = kernel->dims[f->kernel_order[f->spatial_rank]];
  f->output_features = kernel->dims[f->kernel_order[f->spatial_rank + 1]];
  f->output_batch = result->dims[f->output_order[0]];
  f->feature_groups = lib_int(call, "feature_group_count", 1);
  f->batch_groups = lib_int(call, "batch_group_count", 1);
  for (int d = 0; d < f->spatial_rank; d++)
    if (!read_dim(call, f, d)) return status_error(HEDDLE_INVALID, "a convolution whose window does not fit dim %d", d);
  if (!groups_fit(call, f)) return status_error(HEDDLE_INVALID, "a convolution whose groups do not fit its features");
  if (f->has_bias && (call->operands[2].rank != 1 || call->operands[2].dims[0] != f->output_features))
    return status_error(HEDDLE_INVALID, "a convolution whose bias is not one number for each output feature");
  return convolution_kernel_find(call, f);
}

void convolution_dense_strides(int rank, const int64_t *dims, int64_t *strides) {
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= dims[d];
  }
}

bool convolution_is_dense(int rank, const int64_t *dims, const int64_t *strides) {
  int64_t dense[CONVOLUTION_MAX_RANK] = {0};
  convolution_dense_strides(rank, dims, dense);
  for (int d = 0; d < rank; d++)
    if (dims[d] > 1 && strides[d] != dense[d]) return false;
  return true;
}

int64_t convolution_source_row(const convolution_form *f, int64_t number, int64_t tap) {
  const int last = f->spatial_rank - 1;
  int64_t at = 0, step = last < 0 ? 1 : f->dims[last].input;
  for (int d = last - 1; d >= 0; d--) {
    const convolution_dim *w = &f->dims[d];
    const int64_t source = convolution_source(w, number % w->output * w->stride - w->low, tap % w->kernel);
    if (source < 0) return -1;
    at += source * step;
    step *= w->input;
    number /= w->output;
    tap /= w->kernel;
  }
  return at + number * step;
}
