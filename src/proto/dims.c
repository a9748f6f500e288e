// Attributes that are structures over dimensions: slices, paddings, windows, convolutions.
#include "proto/transfer.h"

heddle_status proto_read_slice(proto_transfer *t) {
  size_t rank = t->p->n_slice_dimensions;
  t->x->slice = (slice_config){(int)rank, arena_array(t->arena, slice_dim, rank)};
  for (size_t k = 0; k < rank; k++) {
    const Xla__HloInstructionProto__SliceDimensions *d = t->p->slice_dimensions[k];
    t->x->slice.dims[k] = (slice_dim){d->start, d->limit, d->stride};
  }
  return status_ok();
}

heddle_status proto_write_slice(proto_transfer *t) {
  const slice_config *s = &t->x->slice;
  t->p->n_slice_dimensions = (size_t)s->rank;
  t->p->slice_dimensions = arena_array(t->arena, Xla__HloInstructionProto__SliceDimensions *, s->rank);
  for (int k = 0; k < s->rank; k++) {
    Xla__HloInstructionProto__SliceDimensions *d = arena_new(t->arena, Xla__HloInstructionProto__SliceDimensions);
    xla__hlo_instruction_proto__slice_dimensions__init(d);
    d->start = s->dims[k].start;
    d->limit = s->dims[k].limit;
    d->stride = s->dims[k].stride;
    t->p->slice_dimensions[k] = d;
  }
  return status_ok();
}

heddle_status proto_read_padding(proto_transfer *t) {
  const Xla__PaddingConfig *from = t->p->padding_config;
  size_t rank = from ? from->n_dimensions : 0;
  t->x->padding = (padding_config){(int)rank, arena_array(t->arena, padding_dim, rank)};
  for (size_t k = 0; k < rank; k++) {
    const Xla__PaddingConfig__PaddingConfigDimension *d = from->dimensions[k];
    t->x->padding.dims[k] = (padding_dim){d->edge_padding_low, d->edge_padding_high, d->interior_padding};
  }
  return status_ok();
}

heddle_status proto_write_padding(proto_transfer *t) {
  const padding_config *from = &t->x->padding;
  Xla__PaddingConfig *to;
  HLO_PROTO_NEW(t->arena, to, PaddingConfig, padding_config);
  to->n_dimensions = (size_t)from->rank;
  to->dimensions = arena_array(t->arena, Xla__PaddingConfig__PaddingConfigDimension *, from->rank);
  for (int k = 0; k < from->rank; k++) {
    Xla__PaddingConfig__PaddingConfigDimension *d = arena_new(t->arena, Xla__PaddingConfig__PaddingConfigDimension);
    xla__padding_config__padding_config_dimension__init(d);
    d->edge_padding_low = from->dims[k].low;
    d->edge_padding_high = from->dims[k].high;
    d->interior_padding = from->dims[k].interior;
    to->dimensions[k] = d;
  }
  t->p->padding_config = to;
  return status_ok();
}

heddle_status proto_read_window(proto_transfer *t) {
  const Xla__Window *from = t->p->window;
  if (!from) return status_ok();
  t->x->window = (window){(int)from->n_dimensions, arena_array(t->arena, window_dim, from->n_dimensions)};
  for (size_t k = 0; k < from->n_dimensions; k++) {
    const Xla__WindowDimension *d = from->dimensions[k];
    t->x->window.dims[k] = (window_dim){.size = d->size,
                                        .stride = d->stride,
                                        .padding_low = d->padding_low,
                                        .padding_high = d->padding_high,
                                        .window_dilation = d->window_dilation,
                                        .base_dilation = d->base_dilation,
                                        .reversal = d->window_reversal != 0};
  }
  if (from->n_dimensions) attributes_mark(t->x, HLO_ATTRIBUTE_WINDOW);
  return status_ok();
}

heddle_status proto_write_window(proto_transfer *t) {
  const window *from = &t->x->window;
  if (!from->rank && t->i->opcode == HLO_CUSTOM_CALL) return status_ok();
  Xla__Window *to;
  HLO_PROTO_NEW(t->arena, to, Window, window);
  to->n_dimensions = (size_t)from->rank;
  to->dimensions = arena_array(t->arena, Xla__WindowDimension *, from->rank);
  for (int k = 0; k < from->rank; k++) {
    const window_dim *d = &from->dims[k];
    Xla__WindowDimension *out;
    HLO_PROTO_NEW(t->arena, out, WindowDimension, window_dimension);
    to->dimensions[k] = out;
    out->size = d->size;
    out->stride = d->stride;
    out->padding_low = d->padding_low;
    out->padding_high = d->padding_high;
    out->window_dilation = d->window_dilation;
    out->base_dilation = d->base_dilation;
    out->window_reversal = d->reversal;
  }
  t->p->window = to;
  return status_ok();
}

// Adds the dimensions to `seen`, and the one behind the last to *rank.
static heddle_status mark_labels(const char *what, size_t count, const int64_t *dims, uint64_t *seen, int *rank) {
  for (size_t k = 0; k < count; k++) {
    if (dims[k] < 0 || dims[k] >= SHAPE_MAX_RANK || (*seen >> dims[k] & 1))
      return status_error(HEDDLE_INVALID,
                          "convolution_dimension_numbers: found dimension %lld of the %s, wanted another "
                          "one for each role, from 0 and below %d",
                          (long long)dims[k], what, SHAPE_MAX_RANK);
    *seen |= (uint64_t)1 << dims[k];
    if (*rank <= dims[k]) *rank = (int)dims[k] + 1;
  }
  return status_ok();
}

// Dimensions that the text marks with `?` are no part of a message, but for the gaps that they leave.
static heddle_status labels_rank(const char *what, int64_t first, int64_t second, size_t count, const int64_t *spatial,
                                 int *rank) {
  uint64_t seen = 0;
  *rank = 0;
  TRY(mark_labels(what, 2, (int64_t[]){first, second}, &seen, rank));
  return mark_labels(what, count, spatial, &seen, rank);
}

heddle_status proto_read_dim_labels(proto_transfer *t) {
  const Xla__ConvolutionDimensionNumbers *from = t->p->convolution_dimension_numbers;
  if (!from && t->i->opcode == HLO_CONVOLUTION)
    return status_error(HEDDLE_INVALID, "found no convolution_dimension_numbers, wanted them");
  if (!from) return status_ok();
  size_t rank = from->n_input_spatial_dimensions;
  if (from->n_kernel_spatial_dimensions != rank || from->n_output_spatial_dimensions != rank)
    return status_error(HEDDLE_INVALID, "input, kernel and output have %zu, %zu and %zu spatial dimensions", rank,
                        from->n_kernel_spatial_dimensions, from->n_output_spatial_dimensions);
  arena *a = t->arena;
  t->x->dim_labels = (convolution_dims){.spatial_rank = (int)rank,
                                        .input_batch = from->input_batch_dimension,
                                        .input_feature = from->input_feature_dimension,
                                        .kernel_input_feature = from->kernel_input_feature_dimension,
                                        .kernel_output_feature = from->kernel_output_feature_dimension,
                                        .output_batch = from->output_batch_dimension,
                                        .output_feature = from->output_feature_dimension,
                                        .input_spatial = proto_ints(a, rank, from->input_spatial_dimensions),
                                        .kernel_spatial = proto_ints(a, rank, from->kernel_spatial_dimensions),
                                        .output_spatial = proto_ints(a, rank, from->output_spatial_dimensions)};
  convolution_dims *d = &t->x->dim_labels;
  TRY(labels_rank("input", d->input_batch, d->input_feature, rank, d->input_spatial, &d->input_rank));
  TRY(labels_rank("kernel", d->kernel_input_feature, d->kernel_output_feature, rank, d->kernel_spatial,
                  &d->kernel_rank));
  TRY(labels_rank("output", d->output_batch, d->output_feature, rank, d->output_spatial, &d->output_rank));
  attributes_mark(t->x, HLO_ATTRIBUTE_DIM_LABELS);
  return status_ok();
}

heddle_status proto_write_dim_labels(proto_transfer *t) {
  if (!attributes_has(t->x, HLO_ATTRIBUTE_DIM_LABELS) && attributes_is_default(t->x, HLO_ATTRIBUTE_DIM_LABELS))
    return status_ok();
  const convolution_dims *from = &t->x->dim_labels;
  Xla__ConvolutionDimensionNumbers *to;
  HLO_PROTO_NEW(t->arena, to, ConvolutionDimensionNumbers, convolution_dimension_numbers);
  size_t rank = (size_t)from->spatial_rank;
  to->input_batch_dimension = from->input_batch;
  to->input_feature_dimension = from->input_feature;
  to->kernel_input_feature_dimension = from->kernel_input_feature;
  to->kernel_output_feature_dimension = from->kernel_output_feature;
  to->output_batch_dimension = from->output_batch;
  to->output_feature_dimension = from->output_feature;
  to->n_input_spatial_dimensions = to->n_kernel_spatial_dimensions = to->n_output_spatial_dimensions = rank;
  to->input_spatial_dimensions = proto_ints(t->arena, rank, from->input_spatial);
  to->kernel_spatial_dimensions = proto_ints(t->arena, rank, from->kernel_spatial);
  to->output_spatial_dimensions = proto_ints(t->arena, rank, from->output_spatial);
  t->p->convolution_dimension_numbers = to;
  return status_ok();
}
