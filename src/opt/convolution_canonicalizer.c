// Convolution canonicalizer: convolutions take the forms that libraries have.
//
// Windows that run backwards read a reversed kernel forwards. Batch groups, of which each convolves its part of the
// batch with its part of the kernel's output features, are feature groups once the batch's parts lie among the
// features. A window of one element that touches every element once is a dot, where features are the most minor dim, or
// come first and there is one image: there nothing has to be transposed. Orders of dims stay as they are: libraries
// take NHWC and NCHW alike.
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

// Whether input and result have the same dims in the same order, features at `feature`.
static bool has_features_at(const convolution_dims *labels, int rank, int feature) {
  for (int k = 0; k < labels->spatial_rank; k++)
    if (labels->input_spatial[k] != labels->output_spatial[k]) return false;
  return labels->input_batch == labels->output_batch && labels->input_feature == feature &&
         labels->output_feature == feature && labels->spatial_rank == rank - 2;
}

enum { SHORT_SUM = 16 };  // terms, up to which a convolution is not worth a library's product

// The kernel as a matrix; *depth is its dim of input features.
static instruction *kernel_matrix(const builder *b, const instruction *i, int *depth) {
  const convolution_dims *labels = &i->attributes->dim_labels;
  const shape *kernel = i->operands[1]->shape;
  const bool input_first = labels->kernel_input_feature < labels->kernel_output_feature;
  const int64_t features[] = {kernel->dims[labels->kernel_input_feature], kernel->dims[labels->kernel_output_feature]};
  *depth = input_first ? 0 : 1;
  return builder_reshape(b, i->operands[1], 2, (int64_t[]){features[!input_first], features[input_first]});
}

static instruction *build_dot(const builder *b, const instruction *i, const shape *s, instruction *lhs, int lhs_depth,
                              instruction *rhs, int rhs_depth) {
  instruction *dot = builder_add(b, HLO_DOT, s, 2, (instruction *[]){lhs, rhs});
  int64_t *depth = arena_array(b->arena, int64_t, 2);
  depth[0] = lhs_depth;
  depth[1] = rhs_depth;
  dot->attributes->lhs_contracting_dims = (int_list){&depth[0], 1};
  dot->attributes->rhs_contracting_dims = (int_list){&depth[1], 1};
  dot->attributes->operand_precision = i->attributes->operand_precision;
  dot->attributes->precision_count = i->attributes->precision_count;
  return dot;
}

// Of one image whose features come first: the kernel's matrix by the image's.
static instruction *planar_dot(const builder *b, const instruction *i) {
  const shape *s = i->shape;
  int64_t dims[SHAPE_MAX_RANK];
  int depth, rank = 0;
  dims[rank++] = s->dims[1];
  for (int d = 0; d < s->rank; d++)
    if (d != 1) dims[rank++] = s->dims[d];
  instruction *matrix = kernel_matrix(b, i, &depth);
  instruction *dot = build_dot(b, i, shape_array(b->arena, s->dtype, rank, dims), matrix, depth, i->operands[0], 1);
  if (i->attributes->precision_count == 2) {
    precision_kind *precision = arena_array(b->arena, precision_kind, 2);
    precision[0] = i->attributes->operand_precision[1];
    precision[1] = i->attributes->operand_precision[0];
    dot->attributes->operand_precision = precision;
  }
  return builder_reshape(b, dot, s->rank, s->dims);
}

static instruction *as_dot(const builder *b, instruction *i) {
  const convolution_dims *labels = &i->attributes->dim_labels;
  const shape *input = i->operands[0]->shape, *kernel = i->operands[1]->shape;
  const int rank = input->rank;
  if (!is_pointwise(i) || kernel->rank != rank || i->attributes->dot_algorithm.size) return NULL;
  if (input->dims[labels->input_feature] <= SHORT_SUM) return NULL;
  if (rank > 2 && has_features_at(labels, rank, 1) && labels->input_batch == 0 && input->dims[0] == 1)
    return planar_dot(b, i);
  if (!has_features_at(labels, rank, rank - 1)) return NULL;
  int depth;
  instruction *matrix = kernel_matrix(b, i, &depth);
  return build_dot(b, i, i->shape, i->operands[0], rank - 1, matrix, depth);
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
