// A product's time follows from its dims alone: how many rows, columns, terms of a sum and members of a batch there
// are, whatever the order in which the arrays have them. How many threads there are makes no difference, so that the
// same program is planned alike for any number of them.
#include "kernel/product_cost.h"

#include <math.h>

#include "hlo/dot_form.h"

typedef struct product_dims {
  double batch, rows, columns, depth;
  bool is_turned;  // the right side's elements along the depth lie side by side
} product_dims;

static double product_of(const shape *s, const int_list *dims) {
  double product = 1;
  for (int k = 0; k < dims->size; k++) product *= (double)s->dims[dims->data[k]];
  return product;
}

static int minor_dim(const shape *s) {
  for (int d = s->rank - 1; d >= 0; d--)
    if (s->dims[d] != 1) return d;
  return -1;
}

enum {
  LEAST_FEATURES = 8,  // of an image: borders of fewer are made element by element
  LEAST_WIDTH = 14,    // of a planar image, whose rows vectors lie along
};

// Whether a window of one element stands once on every element of images whose features come first: the kernel by each.
static bool is_planar_point(const instruction *i) {
  const convolution_dims *labels = &i->attributes->dim_labels;
  const window *w = &i->attributes->window;
  bool all = labels->input_batch == 0 && labels->output_batch == 0 && labels->input_feature == 1 &&
             labels->output_feature == 1 && w->rank > 0 && w->rank == i->shape->rank - 2;
  for (int k = 0; all && k < w->rank; k++) {
    const window_dim *d = &w->dims[k];
    all = labels->input_spatial[k] == k + 2 && labels->output_spatial[k] == k + 2 && d->size == 1 && d->stride == 1 &&
          d->padding_low == 0 && d->padding_high == 0 && d->base_dilation == 1;
  }
  return all && i->shape->dims[i->shape->rank - 1] >= LEAST_WIDTH;
}

bool product_cost_is_product(const instruction *i) {
  const hlo_attributes *x = i->attributes;
  if (i->opcode == HLO_DOT) return true;
  if (i->opcode != HLO_CONVOLUTION || i->operand_count != 2 || x->feature_group_count > 1 || x->batch_group_count > 1)
    return false;
  const int rank = i->shape->rank;
  if (is_planar_point(i)) return i->operands[0]->shape->dims[1] >= LEAST_FEATURES;
  bool all = x->dim_labels.input_feature == rank - 1 && x->dim_labels.output_feature == rank - 1 &&
             i->operands[0]->shape->rank == rank && i->operands[0]->shape->dims[rank - 1] >= LEAST_FEATURES;
  for (int k = 0; k < x->window.rank; k++) all &= x->window.dims[k].base_dilation == 1 && !x->window.dims[k].reversal;
  return all;
}

static product_dims dims_of_convolution(const instruction *i) {
  const shape *result = i->shape, *kernel = i->operands[1]->shape;
  if (is_planar_point(i)) {
    const double features = (double)i->operands[0]->shape->dims[1], images = (double)result->dims[0];
    const double rows = (double)result->dims[1];
    if (images * rows == 0) return (product_dims){0};
    return (product_dims){images, rows, (double)shape_element_count(result) / (images * rows), features, false};
  }
  const int64_t output = i->attributes->dim_labels.kernel_output_feature;
  product_dims d = {.batch = 1, .columns = (double)result->dims[result->rank - 1]};
  if (d.columns == 0) return d;
  d.rows = (double)shape_element_count(result) / d.columns;
  d.depth = (double)shape_element_count(kernel) / d.columns;
  d.is_turned = minor_dim(kernel) >= 0 && minor_dim(kernel) != output;
  return d;
}

static product_dims dims_of(const instruction *dot) {
  if (dot->opcode == HLO_CONVOLUTION) return dims_of_convolution(dot);
  const hlo_attributes *x = dot->attributes;
  const shape *lhs = dot->operands[0]->shape, *rhs = dot->operands[1]->shape;
  product_dims d = {.batch = product_of(lhs, &x->lhs_batch_dims), .depth = product_of(lhs, &x->lhs_contracting_dims)};
  const double both = d.batch * d.depth;
  d.rows = both > 0 ? (double)shape_element_count(lhs) / both : 0;
  d.columns = both > 0 ? (double)shape_element_count(rhs) / both : 0;
  const int minor = minor_dim(rhs);
  d.is_turned = minor >= 0 && int_list_has(x->rhs_contracting_dims, minor);
  return d;
}

double product_cost_multiplications(const instruction *product) {
  const product_dims d = dims_of(product);
  return d.batch * d.rows * d.columns * d.depth;
}

static bool type_of(const instruction *dot, target_product_type *out) {
  const dtype left = dot->operands[0]->shape->dtype, right = dot->operands[1]->shape->dtype;
  const dtype_info *type = &dtypes[left];
  const bool is_float = type->class == CLASS_FLOAT;
  if (left == DTYPE_F32) *out = TARGET_F32_PRODUCTS;
  else if (left == DTYPE_F64) *out = TARGET_F64_PRODUCTS;
  else if (is_float) *out = TARGET_NARROW_PRODUCTS;
  // Sums of bytes in as few bits are not what instructions are made for.
  else if (type->bits == 8 && dtypes[dot->shape->dtype].bits < 32) *out = TARGET_SHORT_PRODUCTS;
  else
    *out = type->bits == 8 ? TARGET_BYTE_PRODUCTS : type->bits == 16 ? TARGET_SHORT_PRODUCTS : TARGET_INTEGER_PRODUCTS;
  const bool is_integer = dtype_is_integer(left) && left != DTYPE_PRED;
  return left == right && (is_float ? type->bits >= 16 : is_integer && type->bits >= 8);
}

static bool is_ragged(const target_product_costs *costs, int64_t columns) {
  return columns < costs->ragged_columns && (columns & (columns - 1)) != 0;
}

static double time_of(const target_product_costs *costs, const target_product_rate *r, const product_dims *d,
                      int64_t right_bytes) {
  if (r->per_ns <= 0) return HUGE_VAL;
  const double rate =
      (double)right_bytes / (d->batch > 1 ? d->batch : 1) > costs->near_bytes ? r->far_per_ns : r->per_ns;
  const double by_rows = 1 + r->short_rows / d->rows;
  double times = (by_rows < r->most_by_rows ? by_rows : r->most_by_rows) * (1 + r->short_columns / d->columns) *
                 (1 + r->short_depth / d->depth);
  if (is_ragged(costs, (int64_t)d->columns)) times *= r->ragged;
  if (d->is_turned) times *= r->turned;
  return r->start_ns + d->batch * (r->member_ns + d->rows * d->columns * d->depth * times / rate);
}

// Whether a library multiplies it as matrices where the processor does.
static bool is_of_matrices(const instruction *dot, const product_dims *d) {
  return dot->opcode == HLO_DOT && dot->operands[0]->shape->dtype == DTYPE_S8 &&
         dot->operands[1]->shape->dtype == DTYPE_S8 && dtype_is_integer(dot->shape->dtype) &&
         dtypes[dot->shape->dtype].bits == 32 && d->rows >= TARGET_LEAST_MATRIX && d->columns >= TARGET_LEAST_MATRIX &&
         d->depth >= TARGET_LEAST_MATRIX && d->rows * d->columns * d->depth >= TARGET_LEAST_MATRIX_WORK;
}

double product_cost_time(const target_description *t, const instruction *dot, product_way way) {
  const target_product_costs *costs = &t->products;
  const product_dims d = dims_of(dot);
  const double all = d.batch * d.rows * d.columns * d.depth;
  target_product_type type;
  dot_form form;
  if (way == PRODUCT_BY_EMITTER) return 2 * all / t->scalar_operations_per_ns;
  if (!type_of(dot, &type) || all == 0) return HUGE_VAL;
  if (way == PRODUCT_BY_LIBRARY && !t->has_libraries) return HUGE_VAL;
  if (way == PRODUCT_BY_LIBRARY && dot->opcode == HLO_DOT && !dot_form_of(dot, NULL, NULL, &form)) return HUGE_VAL;
  const bool is_window = dot->opcode == HLO_CONVOLUTION;
  const target_product_rate *rates = way == PRODUCT_BY_TILES ? costs->tiles
                                     : is_window             ? costs->convolutions
                                                             : costs->library;
  const bool is_planar = is_window && is_planar_point(dot);
  const target_product_rate *rate = &rates[type];
  if (way == PRODUCT_BY_LIBRARY && costs->matrices.per_ns > 0 && is_of_matrices(dot, &d)) rate = &costs->matrices;
  const double time = time_of(costs, rate, &d, shape_byte_size(dot->operands[!is_planar]->shape));
  if (way == PRODUCT_BY_LIBRARY) return is_planar ? time * costs->planar : time;
  return is_planar ? time * costs->planar_tiles : is_window ? time * costs->tile_borders : time;
}
