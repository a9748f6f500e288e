// Dot sums: a dot that sums everything (no dim is only in one operand) is no matrix product. It becomes a reduction of
// a product, which fuses with what is around it.
//
// The products are summed in another order than by the dot, so that the last bit may differ: this is not of the
// pipeline, which keeps bits, but of code generation, which chooses the order.
#include "opt/dot_sums.h"

#include "hlo/builder.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

// Whether each element of the operand meets one element of the other.
static bool has_no_free_elements(const dot_operand *s) {
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

static line_dims line_dims_of(const dot_operand *l, const dot_operand *r) {
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
static instruction *line_up(const builder *b, const dot_operand *s, const line_dims *x, const int64_t *dims, dtype t) {
  int64_t order[SHAPE_MAX_RANK];
  int count = x->rank;
  for (int k = 0; k < x->rank; k++) order[k] = dims[k];
  for (int d = 0; d < s->operand->shape->rank; d++)
    if (!int_list_has(s->batch, d) && !int_list_has(s->contracting, d)) order[count++] = d;
  instruction *turned = builder_transpose(b, builder_convert(b, s->operand, t), order);
  return count == x->rank ? turned : builder_reshape(b, turned, x->rank, x->sizes);
}

static instruction *sum_of_products(const builder *b, instruction *i, const dot_operand *l, const dot_operand *r) {
  const dtype to = i->shape->dtype, t = dtype_accumulator(to);
  const line_dims dims = line_dims_of(l, r);
  instruction *x = line_up(b, l, &dims, dims.left, t);
  instruction *y = line_up(b, r, &dims, dims.right, t);
  instruction *xy = builder_binary(b, HLO_MULTIPLY, x, y);
  instruction *zero = builder_scalar_int(b, t, 0);
  computation *sum = builder_binary_computation(b, HLO_ADD, t);
  instruction *result = builder_reduce(b, xy, zero, dims.summed_count, dims.summed, sum);
  int64_t order[SHAPE_MAX_RANK];
  for (int k = 0; k < dims.batch_count; k++) order[dims.batch[k]] = k;
  result = builder_transpose(b, result, order);
  if (result->shape->rank < i->shape->rank) result = builder_reshape(b, result, i->shape->rank, i->shape->dims);
  return builder_convert(b, result, to);
}

bool dot_keeps_numbers(const instruction *i) {
  const dtype t = i->shape->dtype;
  for (int k = 0; k < 2; k++) {
    const dtype from = i->operands[k]->shape->dtype;
    if (from == t) continue;
    if (dtypes[from].class != dtypes[t].class || dtypes[from].bits >= dtypes[t].bits) return false;
    if (dtypes[t].is_narrow_float) return false;  // not each holds all of the narrower ones
  }
  return dtype_is_integer(t) || (dtype_is_float(t) && t != DTYPE_F8E8M0FNU);  // which has no zero
}

dot_operand dot_operand_of(const instruction *dot, int k) {
  const hlo_attributes *x = dot->attributes;
  return k == 0 ? (dot_operand){dot->operands[0], x->lhs_batch_dims, x->lhs_contracting_dims}
                : (dot_operand){dot->operands[1], x->rhs_batch_dims, x->rhs_contracting_dims};
}

static bool sums_everything(const instruction *i) {
  if (i->opcode != HLO_DOT || i->operand_count != 2 || i->attributes->dot_algorithm.size || !dot_keeps_numbers(i))
    return false;
  const dot_operand l = dot_operand_of(i, 0), r = dot_operand_of(i, 1);
  return shape_is_static(i->shape) && shape_element_count(i->shape) > 0 && l.contracting.size > 0 &&
         shape_element_count(l.operand->shape) > shape_element_count(i->shape) && has_no_free_elements(&l) &&
         has_no_free_elements(&r);
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  const dot_operand l = dot_operand_of(i, 0), r = dot_operand_of(i, 1);
  return sum_of_products(&b, i, &l, &r);
}

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each(context, unit, sums_everything, expand);
}

const pass opt_dot_sums = {
    .name = "dot-sums",
    .summary = "dots that sum everything become reductions",
    .order_reason = "not of the pipeline, which keeps bits: the order of the sum is another; fusion asks for it",
    .use = PASS_ON_REQUEST,
    .run = run,
};
