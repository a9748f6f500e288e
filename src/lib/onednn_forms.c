// Arrays and windows of one spatial dim, or of none, are described as ones of two, since some implementations take no
// fewer.
#include "lib/onednn_forms.h"

enum { LEAST_SPATIAL = 2 };

bool onednn_forms_take(const convolution_form *f) {
  if (f->spatial_rank > ONEDNN_FORMS_SPATIAL || f->batch_groups > 1) return false;
  if (f->input_batch > INT32_MAX || f->input_features > INT32_MAX || f->output_features > INT32_MAX) return false;
  if (convolution_positions(f) * f->output_features == 0 || convolution_kernel_size(f) * f->group_features == 0)
    return false;
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].input == 0) return false;
  return true;
}

static int spatial_of(const convolution_form *f) {
  return f->spatial_rank > LEAST_SPATIAL ? f->spatial_rank : LEAST_SPATIAL;
}

// Where oneDNN has our first spatial dim: behind dims of one element, if there are any.
static int lead_of(const convolution_form *f) { return spatial_of(f) - f->spatial_rank; }

// By [batch, feature, spatial…].
bool onednn_forms_images(const convolution_form *f, bool is_result, dnnl_memory_desc_t *to) {
  dnnl_dims_t dims = {is_result ? f->output_batch : f->input_batch, is_result ? f->output_features : f->input_features,
                      1, 1};
  int64_t *spatial = dims + 2 + lead_of(f);
  for (int d = 0; d < f->spatial_rank; d++) spatial[d] = is_result ? f->dims[d].output : f->dims[d].input;
  const dnnl_format_tag_t tag = spatial_of(f) == LEAST_SPATIAL ? dnnl_nhwc : dnnl_ndhwc;
  return onednn_ok(EXTERNAL(dnnl_memory_desc_init_by_tag)(to, spatial_of(f) + 2, dims, dnnl_f32, tag));
}

// Elements from the first of a kernel with these strides to where nothing of it lies any more.
static int64_t beyond(const convolution_form *f, const int64_t *strides) {
  const int n = f->spatial_rank;
  int64_t most = int64_max(f->group_features * strides[n], f->output_features * strides[n + 1]);
  for (int d = 0; d < n; d++) most = int64_max(most, f->dims[d].kernel * strides[d]);
  return most;
}

// By [group, out, in, spatial…]. oneDNN takes no strides that lead from one dim's elements to another's.
bool onednn_forms_kernel(const convolution_form *f, const int64_t *given, dnnl_memory_desc_t *to) {
  const int64_t outputs = f->output_features / f->feature_groups;
  const int64_t in = given ? given[f->spatial_rank] : 0, out = given ? given[f->spatial_rank + 1] : 0;
  dnnl_dims_t dims, strides;
  int rank = 0;
  if (f->feature_groups > 1) dims[rank] = f->feature_groups, strides[rank++] = outputs * out;
  dims[rank] = outputs, strides[rank++] = out;
  dims[rank] = f->group_features, strides[rank++] = in;
  for (int d = 0; d < lead_of(f); d++) dims[rank] = 1, strides[rank++] = given ? beyond(f, given) : 0;
  for (int d = 0; d < f->spatial_rank; d++) dims[rank] = f->dims[d].kernel, strides[rank++] = given ? given[d] : 0;
  if (!given) return onednn_ok(EXTERNAL(dnnl_memory_desc_init_by_tag)(to, rank, dims, dnnl_f32, dnnl_format_tag_any));
  return onednn_ok(EXTERNAL(dnnl_memory_desc_init_by_strides)(to, rank, dims, dnnl_f32, strides));
}

// A deconvolution's padding is what the window's reach has more of it than ours. Padding behind is what the windows
// need, which is less than none where a stride leaves elements over.
static bool describe_dim(const convolution_dim *w, bool is_dilated, onednn_forms_reach *to, int d) {
  const int64_t reach = (w->kernel - 1) * w->window_dilation;
  if (is_dilated && w->stride > 1) return false;
  to->strides[d] = is_dilated ? w->base_dilation : w->stride;
  to->dilates[d] = w->window_dilation - 1;
  to->low[d] = is_dilated ? reach - w->low : w->low;
  to->high[d] = is_dilated ? reach - w->high : (w->output - 1) * w->stride + reach + 1 - w->low - w->input;
  return to->low[d] >= 0 && to->high[d] > -to->strides[d];
}

bool onednn_forms_window(const convolution_form *f, onednn_forms_reach *to) {
  const bool is_dilated = convolution_is_dilated(f);
  *to = (onednn_forms_reach){.strides = {1, 1, 1}};
  for (int d = 0; d < f->spatial_rank; d++)
    if (!describe_dim(&f->dims[d], is_dilated, to, d + lead_of(f))) return false;
  return true;
}
