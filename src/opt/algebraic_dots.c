// Algebraic rule of dots that are no matrix products, but fuse with what is around them: where nothing is summed they
// are a product of broadcasts, where all is summed (no dim is only in one operand) a reduction of a product.
//
// Numbers stay as they are in a dot: products are wider than the result if that is narrow, and the sum starts from
// zero, so that -0 becomes 0.
#include "opt/algebraic_rules.h"

typedef struct dot_side {
  instruction *operand;
  int_list batch, contracting;
} dot_side;

// Of an operand without elements 0: its dims may be of any size.
static int64_t depth_of(const dot_side *s) {
  int64_t depth = shape_element_count(s->operand->shape) > 0;
  for (int k = 0; k < s->contracting.size && depth > 0; k++) depth *= s->operand->shape->dims[s->contracting.data[k]];
  return depth;
}

// The operand as [batch dims, free dims]; the contracting dims have size 1.
static instruction *arrange(const builder *b, const dot_side *s, dtype t) {
  int64_t order[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  const shape *from = s->operand->shape;
  int rank = 0;
  for (int k = 0; k < s->batch.size; k++) order[rank++] = s->batch.data[k];
  for (int d = 0; d < from->rank; d++)
    if (!int_list_has(s->batch, d) && !int_list_has(s->contracting, d)) order[rank++] = d;
  for (int k = 0; k < rank; k++) dims[k] = from->dims[order[k]];
  for (int k = 0; k < s->contracting.size; k++) order[rank + k] = s->contracting.data[k];
  return builder_reshape(b, builder_transpose(b, builder_convert(b, s->operand, t), order), rank, dims);
}

// [batch, free of lhs, free of rhs], each side spread over the other's free dims.
static instruction *product(const builder *b, instruction *i, const dot_side *l, const dot_side *r) {
  const dtype to = i->shape->dtype, t = dtypes[to].is_narrow_float ? DTYPE_F32 : to;
  int64_t places[SHAPE_MAX_RANK];
  instruction *x = arrange(b, l, t);
  instruction *y = arrange(b, r, t);
  const int batch = l->batch.size, x_free = x->shape->rank - batch;
  for (int k = 0; k < x->shape->rank; k++) places[k] = k;
  x = builder_broadcast(b, x, i->shape, x->shape->rank, places);
  for (int k = batch; k < y->shape->rank; k++) places[k] = k + x_free;
  y = builder_broadcast(b, y, i->shape, y->shape->rank, places);
  instruction *xy = builder_binary(b, HLO_MULTIPLY, x, y);
  return builder_convert(b, builder_binary(b, HLO_ADD, xy, builder_like_int(b, xy, 0)), to);
}

// Whether the result's type holds the operands' numbers.
static bool keeps_numbers(const instruction *i) {
  const dtype t = i->shape->dtype;
  for (int k = 0; k < 2; k++) {
    const dtype from = i->operands[k]->shape->dtype;
    if (from == t) continue;
    if (dtypes[from].class != dtypes[t].class || dtypes[from].bits >= dtypes[t].bits) return false;
    if (dtypes[t].is_narrow_float) return false;  // not each holds all of the narrower ones
  }
  return dtype_is_integer(t) || (dtype_is_float(t) && t != DTYPE_F8E8M0FNU);  // which has no zero
}

// Whether each element of the operand meets one element of the other.
static bool has_no_free_elements(const dot_side *s) {
  for (int d = 0; d < s->operand->shape->rank; d++)
    if (!int_list_has(s->batch, d) && !int_list_has(s->contracting, d) && s->operand->shape->dims[d] != 1) return false;
  return true;
}

static int place_in(int_list list, int64_t d) {
  int k = 0;
  while (k < list.size && list.data[k] != d) k++;
  return k;
}

// The dims that are summed or of the batch, as they lie in the left operand.
typedef struct line_dims {
  int64_t left[SHAPE_MAX_RANK], right[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK], summed[SHAPE_MAX_RANK];
  int64_t batch[SHAPE_MAX_RANK];  // number of the batch dim that stands there, in what is left after the sum
  int rank, summed_count, batch_count;
} line_dims;

static line_dims line_dims_of(const dot_side *l, const dot_side *r) {
  line_dims x = {0};
  for (int d = 0; d < l->operand->shape->rank; d++) {
    const int at = place_in(l->batch, d), summed = place_in(l->contracting, d);
    if (at == l->batch.size && summed == l->contracting.size) continue;
    const bool is_batch = at < l->batch.size;
    if (is_batch) x.batch[x.batch_count++] = at;
    else x.summed[x.summed_count++] = x.rank;
    x.left[x.rank] = d;
    x.right[x.rank] = is_batch ? r->batch.data[at] : r->contracting.data[summed];
    x.sizes[x.rank++] = l->operand->shape->dims[d];
  }
  return x;
}

// The operand with its dims in that order and without the others, which are of size 1.
static instruction *line_up(const builder *b, const dot_side *s, const line_dims *x, const int64_t *dims, dtype t) {
  int64_t order[SHAPE_MAX_RANK];
  int count = x->rank;
  for (int k = 0; k < x->rank; k++) order[k] = dims[k];
  for (int d = 0; d < s->operand->shape->rank; d++)
    if (!int_list_has(s->batch, d) && !int_list_has(s->contracting, d)) order[count++] = d;
  return builder_reshape(b, builder_transpose(b, builder_convert(b, s->operand, t), order), x->rank, x->sizes);
}

static instruction *sum_of_products(const builder *b, instruction *i, const dot_side *l, const dot_side *r) {
  const dtype to = i->shape->dtype, t = dtypes[to].is_narrow_float ? DTYPE_F32 : to;
  const line_dims dims = line_dims_of(l, r);
  instruction *x = line_up(b, l, &dims, dims.left, t);
  instruction *y = line_up(b, r, &dims, dims.right, t);
  instruction *xy = builder_binary(b, HLO_MULTIPLY, x, y);
  instruction *zero = builder_scalar_int(b, t, 0);
  computation *sum = builder_binary_computation(b, HLO_ADD, t);
  instruction *result = builder_reduce(b, xy, zero, dims.summed_count, dims.summed, sum);
  int64_t order[SHAPE_MAX_RANK];
  for (int k = 0; k < dims.batch_count; k++) order[dims.batch[k]] = k;
  result = builder_reshape(b, builder_transpose(b, result, order), i->shape->rank, i->shape->dims);
  return builder_convert(b, result, to);
}

instruction *algebraic_dot(const builder *b, instruction *i) {
  const hlo_attributes *x = i->attributes;
  if (i->operand_count != 2 || x->dot_algorithm.size || !keeps_numbers(i) || shape_element_count(i->shape) == 0)
    return NULL;
  const dot_side l = {i->operands[0], x->lhs_batch_dims, x->lhs_contracting_dims};
  const dot_side r = {i->operands[1], x->rhs_batch_dims, x->rhs_contracting_dims};
  if (depth_of(&l) == 0) return builder_like_int(b, i, 0);
  if (depth_of(&l) == 1) return product(b, i, &l, &r);
  return has_no_free_elements(&l) && has_no_free_elements(&r) ? sum_of_products(b, i, &l, &r) : NULL;
}
