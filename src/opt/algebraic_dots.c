// Algebraic rule of dots that are no matrix products: where nothing is summed they are a product of broadcasts, which
// fuses with what is around it.
//
// Numbers stay as they are in a dot: products are wider than the result if that is narrow, and the sum starts from
// zero, so that -0 becomes 0.
#include "opt/algebraic_rules.h"
#include "opt/dot_sums.h"

// Of an operand without elements 0: its dims may be of any size.
static int64_t depth_of(const dot_operand *s) {
  int64_t depth = shape_element_count(s->operand->shape) > 0;
  for (int k = 0; k < s->contracting.size && depth > 0; k++) depth *= s->operand->shape->dims[s->contracting.data[k]];
  return depth;
}

// The operand as [batch dims, free dims]; the contracting dims have size 1.
static instruction *arrange(const builder *b, const dot_operand *s, dtype t) {
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
static instruction *product(const builder *b, instruction *i, const dot_operand *l, const dot_operand *r) {
  const dtype to = i->shape->dtype, t = dtype_accumulator(to);
  int64_t positions[SHAPE_MAX_RANK];
  instruction *x = arrange(b, l, t);
  instruction *y = arrange(b, r, t);
  const int batch = l->batch.size, x_free = x->shape->rank - batch;
  for (int k = 0; k < x->shape->rank; k++) positions[k] = k;
  x = builder_broadcast(b, x, i->shape, x->shape->rank, positions);
  for (int k = batch; k < y->shape->rank; k++) positions[k] = k + x_free;
  y = builder_broadcast(b, y, i->shape, y->shape->rank, positions);
  instruction *xy = builder_binary(b, HLO_MULTIPLY, x, y);
  return builder_convert(b, builder_binary(b, HLO_ADD, xy, builder_like_int(b, xy, 0)), to);
}

instruction *algebraic_dot(const builder *b, instruction *i) {
  if (i->operand_count != 2 || i->attributes->dot_algorithm.size || !dot_keeps_numbers(i) ||
      shape_element_count(i->shape) == 0)
    return NULL;
  const dot_operand l = dot_operand_of(i, 0), r = dot_operand_of(i, 1);
  if (depth_of(&l) == 0) return builder_like_int(b, i, 0);
  return depth_of(&l) == 1 ? product(b, i, &l, &r) : NULL;
}
