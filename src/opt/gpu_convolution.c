// Calls of cuDNN's convolutions as convolutions of HLO.
//
// Window and dim_labels of all of them describe the forward convolution. The gradient of its input is a convolution of
// the result's gradient, dilated by the strides, with the kernel turned around and its features exchanged; the gradient
// of its kernel is one of the input with the result's gradient as the kernel, in which batch and features change
// places.
#include "opt/gpu_calls.h"

static const convolution_dims *labels_of(const instruction *i) { return &i->attributes->dim_labels; }

// Whether the call has two arrays of the labels' ranks and a window of theirs. Vectors of features (int8x4, int8x32)
// have a dim without a label.
static bool is_plain(const instruction *i) {
  const convolution_dims *c = labels_of(i);
  const shape *out = gpu_result_shape(i, 0);
  bool has_all = attributes_has(i->attributes, HLO_ATTRIBUTE_DIM_LABELS) && i->operand_count >= 2 && out;
  if (!has_all || i->attributes->window.rank != c->spatial_rank) return false;
  const int rank = c->spatial_rank + 2;
  const shape *shapes[] = {i->operands[0]->shape, i->operands[1]->shape, out};
  for (int k = 0; k < 3; k++)
    if (!shape_is_array(shapes[k]) || shapes[k]->rank != rank || !shape_is_static(shapes[k])) return false;
  return c->input_rank == rank && c->kernel_rank == rank && c->output_rank == rank;
}

static instruction *convolve(const builder *b, instruction *x, instruction *kernel, const window *w,
                             const convolution_dims *c, int64_t feature_groups, int64_t batch_groups) {
  const dtype accumulator = gpu_accumulation_type(x->shape->dtype);
  bool is_small_float = dtype_is_float(x->shape->dtype) && dtypes[x->shape->dtype].bits < 16;
  bool converts = is_small_float || kernel->shape->dtype != x->shape->dtype;
  instruction *operands[] = {converts ? builder_convert(b, x, accumulator) : x,
                             converts ? builder_convert(b, kernel, accumulator) : kernel};
  instruction *i = builder_add(b, HLO_CONVOLUTION, shape_scalar(b->arena, accumulator), 2, operands);
  hlo_attributes *to = i->attributes;
  to->window = *w;
  to->dim_labels = *c;
  to->feature_group_count = feature_groups;
  to->batch_group_count = batch_groups;
  if (w->rank) attributes_mark(to, HLO_ATTRIBUTE_WINDOW);
  attributes_mark(to, HLO_ATTRIBUTE_DIM_LABELS);
  if (feature_groups != 1) attributes_mark(to, HLO_ATTRIBUTE_FEATURE_GROUP_COUNT);
  if (batch_groups != 1) attributes_mark(to, HLO_ATTRIBUTE_BATCH_GROUP_COUNT);
  return builder_infer(b, i);
}

// --- what stands around the product

typedef struct conv_config {
  double scale, side_scale, leak;
  str activation;
} conv_config;

// The scale is what every compiler writes.
static bool read_config(const builder *b, const instruction *i, conv_config *to) {
  const str config = gpu_config_of(i, "cudnn_conv_backend_config");
  double mode = 0;
  *to = (conv_config){.activation = STR("kNone")};
  if (!gpu_config_number(b, config, "conv_result_scale", &to->scale)) return false;
  gpu_config_number(b, config, "side_input_scale", &to->side_scale);
  gpu_config_number(b, config, "leakyrelu_alpha", &to->leak);
  if (gpu_config_number(b, config, "activation_mode", &mode))
    to->activation = str_from(arena_printf(b->arena, "%d", (int)mode));
  else gpu_config_text(b, config, "activation_mode", &to->activation);
  double reordered = 0;
  gpu_config_number(b, config, "reordered_int8_nchw_vect", &reordered);
  return reordered == 0;
}

static instruction *elu(const builder *b, instruction *x) {
  instruction *is_above = builder_compare(b, x, builder_like(b, x, 0), COMPARE_GT);
  return builder_select(b, is_above, x, builder_unary(b, HLO_EXPONENTIAL_MINUS_ONE, x));
}

static instruction *leaky_relu(const builder *b, instruction *x, double leak) {
  instruction *is_above = builder_compare(b, x, builder_like(b, x, 0), COMPARE_GT);
  return builder_select(b, is_above, x, builder_binary(b, HLO_MULTIPLY, x, builder_like(b, x, leak)));
}

// Modes are written by name or by number.
static instruction *activated(const builder *b, instruction *x, const conv_config *c) {
  const str mode = c->activation;
  if (str_is(mode, "kNone") || str_is(mode, "0")) return x;
  if (str_is(mode, "kSigmoid") || str_is(mode, "1")) return builder_unary(b, HLO_LOGISTIC, x);
  if (str_is(mode, "kRelu") || str_is(mode, "2")) return gpu_relu(b, x);
  if (str_is(mode, "kRelu6") || str_is(mode, "3"))
    return builder_binary(b, HLO_MINIMUM, gpu_relu(b, x), builder_like(b, x, 6));
  if (str_is(mode, "kTanh") || str_is(mode, "5")) return builder_unary(b, HLO_TANH, x);
  if (str_is(mode, "kElu") || str_is(mode, "7")) return elu(b, x);
  if (str_is(mode, "kLeakyRelu") || str_is(mode, "8")) return leaky_relu(b, x, c->leak);
  return NULL;
}

// A product of integers is scaled as a float, unless nothing is done to it.
static instruction *scaled(const builder *b, const instruction *i, instruction *x, const conv_config *c) {
  bool is_whole = c->scale == 1 && i->operand_count == 2 && dtype_is_integer(gpu_result_shape(i, 0)->dtype);
  if (dtype_is_integer(x->shape->dtype) && !is_whole) x = builder_convert(b, x, DTYPE_F32);
  return gpu_scaled(b, x, c->scale);
}

static instruction *finish(const builder *b, const instruction *i, instruction *x, const conv_config *c) {
  x = x ? activated(b, x, c) : NULL;
  if (!x || !shape_same_dims(x->shape, gpu_result_shape(i, 0))) return NULL;
  x = gpu_narrowed(b, x, gpu_result_shape(i, 0)->dtype);
  return gpu_result(b, i, 1, &x);
}

// --- forward

static instruction *forward(const builder *b, instruction *i, const conv_config *c) {
  const hlo_attributes *a = i->attributes;
  instruction *x = convolve(b, i->operands[0], i->operands[1], &a->window, &a->dim_labels, a->feature_group_count,
                            a->batch_group_count);
  return scaled(b, i, x, c);
}

instruction *gpu_convolution_expand_forward(const builder *b, instruction *i) {
  conv_config c;
  if (i->operand_count != 2 || !is_plain(i) || !read_config(b, i, &c)) return NULL;
  return finish(b, i, forward(b, i, &c), &c);
}

// Operands: input, kernel, biases of the features, and another input that is added, scaled.
instruction *gpu_convolution_expand_bias_activation(const builder *b, instruction *i) {
  conv_config c;
  if (i->operand_count < 3 || i->operand_count > 4 || !is_plain(i) || !read_config(b, i, &c)) return NULL;
  instruction *x = forward(b, i, &c), *bias = i->operands[2];
  const int64_t feature = labels_of(i)->output_feature;
  if (!shape_is_array(bias->shape) || bias->shape->rank != 1 || !shape_is_array(x->shape) ||
      feature >= x->shape->rank || bias->shape->dims[0] != x->shape->dims[feature])
    return NULL;
  if (i->operand_count == 4) {
    instruction *side = i->operands[3];
    if (!shape_is_array(side->shape) || !shape_same_dims(side->shape, x->shape)) return NULL;
    x = builder_binary(b, HLO_ADD, x, gpu_scaled(b, builder_convert(b, side, x->shape->dtype), c.side_scale));
  }
  bias = builder_broadcast(b, builder_convert(b, bias, x->shape->dtype), x->shape, 1, &feature);
  return finish(b, i, builder_binary(b, HLO_ADD, x, bias), &c);
}

// --- gradients

static int64_t reach(int64_t size, int64_t dilation) { return size > 0 ? (size - 1) * dilation + 1 : 0; }

static window *window_for(const builder *b, int rank) {
  window *w = arena_new(b->arena, window);
  *w = (window){.rank = rank, .dims = arena_array(b->arena, window_dim, rank)};
  return w;
}

// The kernel [o, i / g] as [i, o / g] where features come in g groups.
static instruction *exchange_groups(const builder *b, instruction *kernel, const convolution_dims *c, int64_t groups) {
  const shape *s = kernel->shape;
  int64_t split[SHAPE_MAX_RANK], order[SHAPE_MAX_RANK], joined[SHAPE_MAX_RANK];
  int n = 0;
  if (groups == 1) return kernel;
  if (s->rank >= SHAPE_MAX_RANK || s->dims[c->kernel_output_feature] % groups) return NULL;
  for (int d = 0; d < s->rank; d++) {
    bool is_output = d == c->kernel_output_feature;
    if (is_output) split[n++] = groups;
    split[n++] = is_output ? s->dims[d] / groups : s->dims[d];
    joined[d] = is_output ? s->dims[d] / groups : d == c->kernel_input_feature ? s->dims[d] * groups : s->dims[d];
  }
  n = 0;
  for (int d = 0; d < s->rank; d++) {
    if (d == c->kernel_input_feature) order[n++] = c->kernel_output_feature;
    order[n++] = d < c->kernel_output_feature ? d : d + 1;
  }
  return builder_reshape(b, builder_transpose(b, builder_reshape(b, kernel, s->rank + 1, split), order), s->rank,
                         joined);
}

instruction *gpu_convolution_expand_input(const builder *b, instruction *i) {
  conv_config c;
  if (i->operand_count != 2 || !is_plain(i) || !read_config(b, i, &c) || i->attributes->batch_group_count != 1)
    return NULL;
  const convolution_dims *f = labels_of(i);
  const shape *from = i->operands[0]->shape, *to = gpu_result_shape(i, 0);
  const int64_t groups = i->attributes->feature_group_count;
  window *w = window_for(b, f->spatial_rank);
  for (int d = 0; d < w->rank; d++) {
    window_dim x = i->attributes->window.dims[d];
    int64_t span = reach(x.size, x.window_dilation), spread = reach(from->dims[f->output_spatial[d]], x.stride);
    int64_t low = span - 1 - x.padding_low, high = to->dims[f->input_spatial[d]] - spread - low + span - 1;
    if (x.base_dilation != 1) return NULL;
    w->dims[d] = (window_dim){.size = x.size,
                              .stride = 1,
                              .padding_low = low,
                              .padding_high = high,
                              .window_dilation = x.window_dilation,
                              .base_dilation = x.stride,
                              .reversal = !x.reversal};
  }
  instruction *kernel = groups > 0 ? exchange_groups(b, i->operands[1], f, groups) : NULL;
  if (!kernel) return NULL;
  convolution_dims labels = *f;
  labels.input_batch = f->output_batch, labels.input_feature = f->output_feature;
  labels.input_spatial = f->output_spatial, labels.output_spatial = f->input_spatial;
  labels.output_batch = f->input_batch, labels.output_feature = f->input_feature;
  labels.kernel_input_feature = f->kernel_output_feature, labels.kernel_output_feature = f->kernel_input_feature;
  instruction *x = convolve(b, i->operands[0], kernel, w, &labels, groups, 1);
  return finish(b, i, scaled(b, i, x, &c), &c);
}

instruction *gpu_convolution_expand_filter(const builder *b, instruction *i) {
  conv_config c;
  if (i->operand_count != 2 || !is_plain(i) || !read_config(b, i, &c) || i->attributes->batch_group_count != 1)
    return NULL;
  const convolution_dims *f = labels_of(i);
  const shape *input = i->operands[0]->shape, *gradient = i->operands[1]->shape, *to = gpu_result_shape(i, 0);
  window *w = window_for(b, f->spatial_rank);
  for (int d = 0; d < w->rank; d++) {
    window_dim x = i->attributes->window.dims[d];
    int64_t size = gradient->dims[f->output_spatial[d]];
    int64_t high = reach(to->dims[f->kernel_spatial[d]], x.window_dilation) - 1 + reach(size, x.stride) -
                   input->dims[f->input_spatial[d]] - x.padding_low;
    if (x.base_dilation != 1 || x.reversal) return NULL;
    w->dims[d] = (window_dim){.size = size,
                              .stride = x.window_dilation,
                              .padding_low = x.padding_low,
                              .padding_high = high,
                              .window_dilation = x.stride,
                              .base_dilation = 1};
  }
  convolution_dims labels = *f;
  labels.input_batch = f->input_feature, labels.input_feature = f->input_batch;
  labels.kernel_input_feature = f->output_batch, labels.kernel_output_feature = f->output_feature;
  labels.kernel_spatial = f->output_spatial, labels.output_spatial = f->kernel_spatial;
  labels.output_batch = f->kernel_input_feature, labels.output_feature = f->kernel_output_feature;
  instruction *x = convolve(b, i->operands[0], i->operands[1], w, &labels, 1, i->attributes->feature_group_count);
  return finish(b, i, scaled(b, i, x, &c), &c);
}
