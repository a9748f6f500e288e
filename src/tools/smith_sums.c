// Generates random operations that combine many elements: reductions, windows, products, sorts.
#include <math.h>

#include "hlo/text.h"
#include "tools/smith_pool.h"

static int random_dims(smith *s, int rank, int64_t *dims) {
  int count = 0;
  for (int k = 0; k < rank; k++)
    if (smith_chance(s, 50)) dims[count++] = k;
  if (count == 0) dims[count++] = smith_below(s, rank);
  return count;
}

instruction *smith_reduce(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_ARRAY, 1);
  int64_t dims[SMITH_MAX_RANK];
  if (!x) return NULL;
  int count = random_dims(s, x->shape->rank, dims);
  instruction *init;
  computation *body = smith_reducer(s, x->shape->dtype, &init);
  return builder_reduce(&s->b, x, init, count, dims, body);
}

// The largest element and where it stands: two arrays reduced as one.
static computation *larger_of_pairs(smith *s, dtype t) {
  computation *c = module_add_computation(s->b.computation->module, STR("larger"));
  const builder b = builder_in(c);
  const shape *value = shape_scalar(s->arena, t), *index = shape_scalar(s->arena, DTYPE_S32);
  instruction *v = computation_add_parameter(c, 0, STR("v"), value);
  instruction *i = computation_add_parameter(c, 1, STR("i"), index);
  instruction *w = computation_add_parameter(c, 2, STR("w"), value);
  instruction *j = computation_add_parameter(c, 3, STR("j"), index);
  instruction *more = builder_compare(&b, v, w, COMPARE_GT), *same = builder_compare(&b, v, w, COMPARE_EQ);
  instruction *first = builder_compare(&b, i, j, COMPARE_LT);
  instruction *is_left = builder_binary(&b, HLO_OR, more, builder_binary(&b, HLO_AND, same, first));
  instruction *best = builder_select(&b, is_left, v, w);
  computation_set_root(c, builder_tuple(&b, 2, (instruction *[]){best, builder_select(&b, is_left, i, j)}));
  return c;
}

// Of integers: where NaN stands, the order of the comparisons would decide.
instruction *smith_reduce_pair(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_INTEGER, 1);
  if (!x) return NULL;
  dtype t = x->shape->dtype;
  int64_t d = smith_below(s, x->shape->rank);
  instruction *positions = builder_iota(&s->b, DTYPE_S32, x->shape->rank, x->shape->dims, d);
  instruction *low = smith_scalar(s, t), *nowhere = builder_scalar_int(&s->b, DTYPE_S32, -1);
  computation *body = larger_of_pairs(s, t);
  instruction *i = builder_add(&s->b, HLO_REDUCE, x->shape, 4, (instruction *[]){x, positions, low, nowhere});
  int64_t *dims = arena_array(s->arena, int64_t, 1);
  dims[0] = d;
  i->attributes->dimensions = (int_list){dims, 1};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIMENSIONS);
  instruction_set_called(i, 1, &body);
  return builder_element(&s->b, builder_infer(&s->b, i), (int)smith_below(s, 2));
}

static window random_window(smith *s, const shape *of) {
  window w = {of->rank, arena_array(s->arena, window_dim, of->rank)};
  for (int k = 0; k < of->rank; k++) {
    int64_t size = smith_between(s, 1, 3), stride = smith_between(s, 1, 2);
    w.dims[k] = (window_dim){size, stride, 0, 0, 1, 1, false};
    if (smith_chance(s, 40)) w.dims[k].padding_low = smith_between(s, 0, size - 1);
    if (smith_chance(s, 40)) w.dims[k].padding_high = smith_between(s, 0, size - 1);
    if (smith_chance(s, 15)) w.dims[k].window_dilation = 2;
    if (smith_chance(s, 15)) w.dims[k].base_dilation = 2;
  }
  return w;
}

// A result that fits, or null; the instruction without users is swept by the caller of the module.
static instruction *if_fits(smith *s, instruction *i) {
  if (smith_fits(s, i->shape->rank, i->shape->dims)) return i;
  computation_remove(s->b.computation, i);
  return NULL;
}

instruction *smith_reduce_window(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_REAL | CLASS_PRED, 1);
  if (!x || shape_element_count(x->shape) == 0) return NULL;
  instruction *init;
  computation *body = smith_reducer(s, x->shape->dtype, &init);
  instruction *i = builder_add(&s->b, HLO_REDUCE_WINDOW, x->shape, 2, (instruction *[]){x, init});
  i->attributes->window = random_window(s, x->shape);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_WINDOW);
  instruction_set_called(i, 1, &body);
  return if_fits(s, builder_infer(&s->b, i));
}

// Both sides get the shared dims at random places; the left one's batch and contracting dims decide the right one's.
instruction *smith_dot(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_NUMBER, 1);
  if (!x) return NULL;
  int64_t order[SMITH_MAX_RANK], dims[SMITH_MAX_RANK], position[SMITH_MAX_RANK], *lists[4];
  int rank = x->shape->rank;
  for (int k = 0; k < rank; k++) order[k] = k;
  smith_shuffle(s, rank, order);
  int batch = (int)smith_below(s, rank), shared = batch + (int)smith_between(s, 0, rank - batch);
  int right_rank = shared + (shared < s->options.rank && smith_chance(s, 60));
  for (int k = 0; k < right_rank; k++) position[k] = k;
  smith_shuffle(s, right_rank, position);
  for (int k = 0; k < 4; k++) lists[k] = arena_array(s->arena, int64_t, rank);
  for (int k = 0; k < right_rank; k++)
    dims[position[k]] = k < shared ? x->shape->dims[order[k]] : smith_between(s, 1, 4);
  for (int k = 0; k < shared; k++) {
    bool is_batch = k < batch;
    lists[is_batch ? 0 : 2][is_batch ? k : k - batch] = order[k];
    lists[is_batch ? 1 : 3][is_batch ? k : k - batch] = position[k];
  }
  instruction *y = smith_fresh(s, x->shape->dtype, right_rank, dims);
  instruction *i = builder_add(&s->b, HLO_DOT, x->shape, 2, (instruction *[]){x, y});
  i->attributes->lhs_batch_dims = (int_list){lists[0], batch};
  i->attributes->rhs_batch_dims = (int_list){lists[1], batch};
  i->attributes->lhs_contracting_dims = (int_list){lists[2], shared - batch};
  i->attributes->rhs_contracting_dims = (int_list){lists[3], shared - batch};
  return if_fits(s, builder_infer(&s->b, i));
}

// Two spatial dims at most, labels in the usual order.
instruction *smith_convolution(smith *s) {
  dtype t = smith_dtype(s, CLASS_FLOAT | CLASS_SIGNED);
  if (t == DTYPE_INVALID || s->options.rank < 3) return NULL;
  int spatial = (int)smith_between(s, 1, s->options.rank >= 4 ? 2 : 1), rank = spatial + 2;
  int64_t groups = smith_between(s, 1, 2), features = smith_between(s, 1, 2);
  int64_t images = smith_between(s, 1, 2), outputs = groups * smith_between(s, 1, 2);
  int64_t input[4] = {images, groups * features}, kernel[4] = {outputs, features};
  convolution_dims *d = arena_new(s->arena, convolution_dims);
  *d = (convolution_dims){.spatial_rank = spatial,
                          .input_batch = 0,
                          .input_feature = 1,
                          .kernel_output_feature = 0,
                          .kernel_input_feature = 1,
                          .output_batch = 0,
                          .output_feature = 1,
                          .input_rank = rank,
                          .kernel_rank = rank,
                          .output_rank = rank};
  d->input_spatial = arena_array(s->arena, int64_t, spatial);
  window w = {spatial, arena_array(s->arena, window_dim, spatial)};
  for (int k = 0; k < spatial; k++) {
    d->input_spatial[k] = k + 2;
    input[k + 2] = smith_between(s, 2, 4);
    kernel[k + 2] = smith_between(s, 1, 2);
    window_dim *to = &w.dims[k];
    *to = (window_dim){.size = kernel[k + 2], .window_dilation = 1};
    to->stride = smith_between(s, 1, 2);
    to->padding_low = smith_below(s, 2);
    to->padding_high = smith_below(s, 2);
    to->base_dilation = smith_chance(s, 20) ? 2 : 1;
    to->reversal = smith_chance(s, 20);
  }
  d->kernel_spatial = d->output_spatial = d->input_spatial;
  instruction *x = smith_fresh(s, t, rank, input), *y = smith_fresh(s, t, rank, kernel);
  instruction *i = builder_add(&s->b, HLO_CONVOLUTION, x->shape, 2, (instruction *[]){x, y});
  i->attributes->window = w;
  i->attributes->dim_labels = *d;
  i->attributes->feature_group_count = groups;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_WINDOW);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIM_LABELS);
  return if_fits(s, builder_infer(&s->b, i));
}

static bool has_nan(dtype t) {
  return dtype_is_float(t) && !(dtypes[t].is_narrow_float && float_formats[dtypes[t].narrow].specials == FLOAT_FINITE);
}

// HLO leaves open which sign the NaN of an operation has, and a total order tells them apart: all become the same one,
// in front of a sort or in its comparator, where front ends do it.
static instruction *with_one_nan(const builder *b, instruction *x) {
  instruction *is_nan = builder_compare(b, x, x, COMPARE_NE);
  return builder_select(b, is_nan, builder_like(b, x, NAN), x);
}

instruction *smith_sort(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_REAL, 1);
  if (!x) return NULL;
  dtype t = x->shape->dtype, other = smith_dtype(s, CLASS_ARRAY);
  bool is_pair = smith_chance(s, 50), has_pred = (s->options.dtypes >> DTYPE_PRED) & 1;
  bool is_in_comparator = has_nan(t) && (!has_pred || smith_chance(s, 50));
  if (has_nan(t) && !is_in_comparator) x = with_one_nan(&s->b, x);
  computation *c = module_add_computation(s->b.computation->module, STR("order"));
  const builder b = builder_in(c);
  instruction *l = computation_add_parameter(c, 0, STR("l"), shape_scalar(s->arena, t));
  instruction *r = computation_add_parameter(c, 1, STR("r"), shape_scalar(s->arena, t));
  for (int k = 0; is_pair && k < 2; k++)
    computation_add_parameter(c, 2 + k, str_from(k ? "q" : "p"), shape_scalar(s->arena, other));
  if (is_in_comparator) {
    l = with_one_nan(&b, l);
    r = with_one_nan(&b, r);
  }
  // Total orders only: with NaN among the values, others leave the result open.
  instruction *before = builder_compare(&b, l, r, smith_chance(s, 50) ? COMPARE_LT : COMPARE_GT);
  if (dtype_is_float(t)) {
    before->attributes->compare_type = COMPARISON_TOTAL_ORDER;
    attributes_mark(before->attributes, HLO_ATTRIBUTE_TYPE);
  }
  computation_set_root(c, before);
  instruction *operands[2] = {x, is_pair ? smith_like(s, other, x) : NULL};
  const shape *shapes[2] = {x->shape, is_pair ? operands[1]->shape : NULL};
  instruction *i =
      builder_add(&s->b, HLO_SORT, is_pair ? shape_tuple(s->arena, 2, shapes) : x->shape, 1 + is_pair, operands);
  int64_t *dims = arena_array(s->arena, int64_t, 1);
  dims[0] = smith_below(s, x->shape->rank);
  i->attributes->dimensions = (int_list){dims, 1};
  i->attributes->is_stable = true;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIMENSIONS);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_IS_STABLE);
  instruction_set_called(i, 1, &c);
  return is_pair ? builder_element(&s->b, i, (int)smith_below(s, 2)) : i;
}

instruction *smith_batch_norm(smith *s) {
  instruction *x = smith_any_ranked(s, CLASS_FLOAT, 1);
  if (!x || shape_element_count(x->shape) == 0) return NULL;
  dtype t = x->shape->dtype;
  int64_t feature = smith_below(s, x->shape->rank), size = x->shape->dims[feature];
  instruction *operands[5] = {x};
  int kind = (int)smith_below(s, 3), count = kind == 0 ? 3 : 5;
  for (int k = 1; k < count; k++) operands[k] = kind == 2 && k == 4 ? smith_like(s, t, x) : smith_fresh(s, t, 1, &size);
  static const hlo_opcode ops[] = {HLO_BATCH_NORM_TRAINING, HLO_BATCH_NORM_INFERENCE, HLO_BATCH_NORM_GRAD};
  const shape *row = shape_array(s->arena, t, 1, &size);
  const shape *results[3] = {x->shape, row, row};
  const shape *of = kind == 1 ? x->shape : shape_tuple(s->arena, 3, results);
  instruction *i = builder_add(&s->b, ops[kind], of, count, operands);
  i->attributes->epsilon = 0.125;
  i->attributes->feature_index = feature;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_EPSILON);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_FEATURE_INDEX);
  return kind == 1 ? i : builder_element(&s->b, i, (int)smith_below(s, 3));
}
