// Convolution canonicalizer: convolutions take the forms that libraries have.
//
// Windows that run backwards read a reversed kernel forwards. Batch groups, of which each convolves its part of the
// batch with its part of the kernel's output features, are feature groups once the batch's parts lie among the
// features. A window of one element that touches every element once is a dot, where features are the most minor dim:
// there nothing has to be transposed. Orders of dims stay as they are: libraries take NHWC and NCHW alike.
#include "opt/passes.h"

#include "opt/rewrite.h"
#include "opt/worklist.h"

static instruction *with_operands(const builder *b, const instruction *i, instruction *input, instruction *kernel) {
  return rewrite_with(b, i, i->shape, (instruction *[]){input, kernel});
}

static instruction *reverse_kernel(const builder *b, instruction *i) {
  const window *w = &i->attributes->window;
  int64_t dims[SHAPE_MAX_RANK];
  int count = 0;
  for (int k = 0; k < w->rank; k++)
    if (w->dims[k].reversal) dims[count++] = i->attributes->dim_labels.kernel_spatial[k];
  if (count == 0) return NULL;
  instruction *reverse = builder_add(b, HLO_REVERSE, i->operands[1]->shape, 1, &i->operands[1]);
  builder_set_dimensions(b, reverse, count, dims);
  instruction *by = with_operands(b, i, i->operands[0], reverse);
  for (int k = 0; k < w->rank; k++) by->attributes->window.dims[k].reversal = false;
  return by;
}

// [batch = groups x rest, feature] -> [rest, groups x feature], wherever the two dims are.
static instruction *groups_among_features(const builder *b, instruction *x, int64_t batch, int64_t feature,
                                          int64_t groups) {
  const int rank = x->shape->rank;
  int64_t dims[SHAPE_MAX_RANK + 1], order[SHAPE_MAX_RANK + 1], joined[SHAPE_MAX_RANK];
  int split = 0, moved = 0;
  // The batch dim becomes two: groups, then the rest.
  for (int d = 0; d < rank; d++) {
    if (d == batch) dims[split++] = groups;
    dims[split++] = d == batch ? x->shape->dims[d] / groups : x->shape->dims[d];
  }
  for (int d = 0; d < rank; d++) {
    if (d == feature) order[moved++] = batch;
    order[moved++] = d + (d >= batch);
  }
  for (int d = 0; d < rank; d++)
    joined[d] = d == batch ? x->shape->dims[d] / groups : d == feature ? x->shape->dims[d] * groups : x->shape->dims[d];
  instruction *parts = builder_reshape(b, x, rank + 1, dims);
  return builder_reshape(b, builder_transpose(b, parts, order), rank, joined);
}

static instruction *regroup(const builder *b, instruction *i) {
  const convolution_dims *labels = &i->attributes->dim_labels;
  const int64_t groups = i->attributes->batch_group_count;
  if (groups <= 1 || i->attributes->feature_group_count > 1 || i->operands[0]->shape->rank >= SHAPE_MAX_RANK)
    return NULL;
  instruction *input = groups_among_features(b, i->operands[0], labels->input_batch, labels->input_feature, groups);
  instruction *by = with_operands(b, i, input, i->operands[1]);
  by->attributes->batch_group_count = 1;
  by->attributes->feature_group_count = groups;
  attributes_mark(by->attributes, HLO_ATTRIBUTE_FEATURE_GROUP_COUNT);
  return by;
}

// Whether the window is one element that stands once on every element of the input.
static bool is_pointwise(const instruction *i) {
  const window *w = &i->attributes->window;
  for (int k = 0; k < w->rank; k++) {
    const window_dim *d = &w->dims[k];
    if (d->size != 1 || d->stride != 1 || d->padding_low || d->padding_high || d->base_dilation != 1) return false;
  }
  return i->attributes->feature_group_count <= 1 && i->attributes->batch_group_count <= 1;
}

// Whether input and result have the same dims in the same order, features last.
static bool has_features_last(const convolution_dims *labels, int rank) {
  for (int k = 0; k < labels->spatial_rank; k++)
    if (labels->input_spatial[k] != labels->output_spatial[k]) return false;
  return labels->input_batch == labels->output_batch && labels->input_feature == rank - 1 &&
         labels->output_feature == rank - 1 && labels->spatial_rank == rank - 2;
}

enum { SHORT_SUM = 16 };  // terms, up to which a convolution is not worth a library's product

static instruction *as_dot(const builder *b, instruction *i) {
  const convolution_dims *labels = &i->attributes->dim_labels;
  const shape *input = i->operands[0]->shape, *kernel = i->operands[1]->shape;
  if (!is_pointwise(i) || !has_features_last(labels, input->rank) || kernel->rank != input->rank) return NULL;
  if (input->dims[input->rank - 1] <= SHORT_SUM || i->attributes->dot_algorithm.size) return NULL;
  const bool input_first = labels->kernel_input_feature < labels->kernel_output_feature;
  const int64_t features[] = {kernel->dims[labels->kernel_input_feature], kernel->dims[labels->kernel_output_feature]};
  instruction *matrix =
      builder_reshape(b, i->operands[1], 2, (int64_t[]){features[!input_first], features[input_first]});
  instruction *dot = builder_add(b, HLO_DOT, i->shape, 2, (instruction *[]){i->operands[0], matrix});
  int64_t *depth = arena_array(b->arena, int64_t, 2);
  depth[0] = input->rank - 1;
  depth[1] = input_first ? 0 : 1;
  dot->attributes->lhs_contracting_dims = (int_list){&depth[0], 1};
  dot->attributes->rhs_contracting_dims = (int_list){&depth[1], 1};
  dot->attributes->operand_precision = i->attributes->operand_precision;
  dot->attributes->precision_count = i->attributes->precision_count;
  return dot;
}

static instruction *canonicalize(const builder *b, instruction *i) {
  if (i->opcode != HLO_CONVOLUTION || i->operand_count != 2) return NULL;
  instruction *by = reverse_kernel(b, i);
  if (!by) by = regroup(b, i);
  return by ? by : as_dot(b, i);
}

static heddle_status run(pass_context *context, void *unit) { return worklist_run(context, unit, canonicalize); }

const pass opt_convolution_canonicalizer = {
    .name = "convolution-canonicalizer",
    .summary = "convolutions take the forms that libraries have",
    .order_reason = "behind the movers, and before dots, as a convolution of one element is one",
    .use = PASS_NEEDED,
    .run = run,
};
