// Convolutions, with padding given or as an operand (dynamic_conv), and the windows that reductions share with them.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

static heddle_status wants(lowering *l, const char *name, int_list list, int size) {
  if (!list.size || list.size == size) return status_ok();
  return lowering_invalid(l->op, "%s has %d entries, wanted %d", name, list.size, size);
}

static int64_t entry(int_list list, int k, int64_t missing) { return list.size ? list.data[k] : missing; }

heddle_status build_window(lowering *l, int rank, int_list sizes, int_list strides, int_list padding,
                           int_list base_dilations, int_list window_dilations, window *out) {
  TRY(wants(l, "the window's list of sizes", sizes, rank));
  TRY(wants(l, "window_strides", strides, rank));
  TRY(wants(l, "padding", padding, 2 * rank));
  TRY(wants(l, "the list of base dilations", base_dilations, rank));
  TRY(wants(l, "the list of window dilations", window_dilations, rank));
  window_dim *dims = arena_array(l->arena, window_dim, rank);
  for (int k = 0; k < rank; k++)
    dims[k] = (window_dim){.size = entry(sizes, k, 1),
                           .stride = entry(strides, k, 1),
                           .padding_low = entry(padding, 2 * k, 0),
                           .padding_high = entry(padding, 2 * k + 1, 0),
                           .base_dilation = entry(base_dilations, k, 1),
                           .window_dilation = entry(window_dilations, k, 1)};
  *out = (window){rank, dims};
  return status_ok();
}

// One of the three lists of labels: two named dims and the spatial ones.
static heddle_status read_labels(lowering *l, const ir_attribute *numbers, const char *const *names, int64_t *first,
                                 int64_t *second, int64_t **spatial, int *rank) {
  int_list list;
  *first = lowering_field_int(numbers, names[0], -1);
  *second = lowering_field_int(numbers, names[1], -1);
  TRY(lowering_field_ints(l, l->op, numbers, names[2], &list));
  *spatial = arena_array(l->arena, int64_t, list.size);
  for (int k = 0; k < list.size; k++) (*spatial)[k] = list.data[k];
  if (*rank < 0) *rank = list.size;
  if (list.size == *rank) return status_ok();
  return lowering_invalid(l->op, "%s has %d entries, wanted %d", names[2], list.size, *rank);
}

static heddle_status read_numbers(lowering *l, convolution_dims *c) {
  static const char *const names[3][3] = {
      {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
      {"kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions"},
      {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"},
  };
  const ir_attribute *numbers = ir_find(l->op, "dimension_numbers");
  *c = (convolution_dims){.spatial_rank = -1};
  if (!numbers) return lowering_invalid(l->op, "attribute dimension_numbers is missing");
  TRY(read_labels(l, numbers, names[0], &c->input_batch, &c->input_feature, &c->input_spatial, &c->spatial_rank));
  TRY(read_labels(l, numbers, names[1], &c->kernel_input_feature, &c->kernel_output_feature, &c->kernel_spatial,
                  &c->spatial_rank));
  TRY(read_labels(l, numbers, names[2], &c->output_batch, &c->output_feature, &c->output_spatial, &c->spatial_rank));
  c->input_rank = c->kernel_rank = c->output_rank = c->spatial_rank + 2;
  return status_ok();
}

// The kernel's sizes are the window's.
static heddle_status kernel_sizes(lowering *l, const shape *kernel, const convolution_dims *c, int_list *out) {
  int64_t *sizes = arena_array(l->arena, int64_t, c->spatial_rank);
  *out = (int_list){sizes, c->spatial_rank};
  for (int k = 0; k < c->spatial_rank; k++) {
    int64_t d = c->kernel_spatial[k];
    if (d < 0 || d >= kernel->rank)
      return lowering_invalid(l->op, "kernel_spatial_dimensions[%d] is %lld, wanted one below %d", k, (long long)d,
                              kernel->rank);
    sizes[k] = kernel->dims[d];
  }
  return status_ok();
}

static heddle_status set_reversal(lowering *l, const ir_operation *op, window *w) {
  int_list reversal = {0};
  TRY(lowering_ints(l, op, "window_reversal", &reversal));
  TRY(wants(l, "window_reversal", reversal, w->rank));
  for (int k = 0; k < w->rank; k++) w->dims[k].reversal = entry(reversal, k, 0) != 0;
  return status_ok();
}

static heddle_status read_window(lowering *l, const ir_operation *op, const convolution_dims *c, const shape *kernel,
                                 int_list padding, window *w) {
  int_list strides = {0}, lhs_dilation = {0}, rhs_dilation = {0}, sizes = {0};
  TRY(lowering_ints(l, op, "window_strides", &strides));
  TRY(lowering_ints(l, op, "lhs_dilation", &lhs_dilation));
  TRY(lowering_ints(l, op, "rhs_dilation", &rhs_dilation));
  TRY(kernel_sizes(l, kernel, c, &sizes));
  TRY(build_window(l, c->spatial_rank, sizes, strides, padding, lhs_dilation, rhs_dilation, w));
  return set_reversal(l, op, w);
}

static heddle_status convolve(lowering *l, const ir_operation *op, instruction *const *operands, int_list padding,
                              instruction **out) {
  int64_t features = 1, batches = 1;
  convolution_dims c = {0};
  window w;
  instruction *both[] = {operands[0], operands[1]};
  TRY(read_numbers(l, &c));
  TRY(lowering_int(op, "feature_group_count", 1, &features));
  TRY(lowering_int(op, "batch_group_count", 1, &batches));
  TRY(read_window(l, op, &c, operands[1]->shape, padding, &w));
  TRY(lowering_open_windows(l, &(open_windows){1, both, c.input_spatial}, &w));
  dtype to = ir_type_dtype(op->results[0]->type);
  instruction *i = build_add(l, HLO_CONVOLUTION, shape_scalar(l->arena, to), 2, both);
  i->attributes->window = w;
  if (c.spatial_rank) build_mark(i, HLO_ATTRIBUTE_WINDOW);
  i->attributes->dim_labels = c;
  build_mark(i, HLO_ATTRIBUTE_DIM_LABELS);
  if (features != 1) build_set_int(i, HLO_ATTRIBUTE_FEATURE_GROUP_COUNT, features);
  if (batches != 1) build_set_int(i, HLO_ATTRIBUTE_BATCH_GROUP_COUNT, batches);
  TRY(build_precision(l, i));
  *out = i;
  return build_infer(l, i);
}

heddle_status lower_convolution(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  int_list padding;
  TRY(lowering_ints(l, op, "padding", &padding));
  return convolve(l, op, operands, padding, &results[0]);
}

heddle_status lower_dynamic_conv(lowering *l, const ir_operation *op, instruction *const *operands,
                                 instruction **results) {
  int_list padding;
  TRY(lowering_fold_ints(l, operands[2], "padding", &padding.data, &padding.size));
  return convolve(l, op, operands, padding, &results[0]);
}
