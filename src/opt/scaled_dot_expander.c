// Scaled-dot expander. Each scale stands for a block: along each dim, as many elements as go into it.
//
// Elements and scales of halves and narrower have products that f32 holds exactly; others are multiplied in f64.
#include "opt/passes.h"

#include "opt/rewrite.h"

static bool fits(const shape *operand, const shape *scales) {
  if (!dtype_is_float(operand->dtype) || !dtype_is_float(scales->dtype)) return false;
  if (!shape_is_static(operand) || !shape_is_static(scales)) return false;
  if (scales->rank != operand->rank && scales->rank != 0) return false;
  if (2 * operand->rank > SHAPE_MAX_RANK) return false;
  for (int d = 0; d < scales->rank; d++)
    if (scales->dims[d] <= 0 || operand->dims[d] % scales->dims[d] != 0) return false;
  return true;
}

// The scales with the operand's dims: [2,3] for [2,12] -> [2,3,4] -> [2,12].
static instruction *spread(const builder *b, instruction *scales, const shape *operand) {
  if (scales->shape->rank == 0) return operand->rank == 0 ? scales : builder_broadcast(b, scales, operand, 0, NULL);
  int64_t split[SHAPE_MAX_RANK], positions[SHAPE_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < operand->rank; d++) {
    const int64_t blocks = scales->shape->dims[d], size = operand->dims[d] / blocks;
    positions[d] = rank;
    split[rank++] = blocks;
    if (size > 1) split[rank++] = size;
  }
  if (rank == operand->rank) return scales;
  const shape *s = shape_array(b->arena, scales->shape->dtype, rank, split);
  return builder_reshape(b, builder_broadcast(b, scales, s, operand->rank, positions), operand->rank, operand->dims);
}

static instruction *scaled(const builder *b, instruction *operand, instruction *scales, dtype accumulator) {
  instruction *factors = spread(b, builder_convert(b, scales, accumulator), operand->shape);
  instruction *values = builder_convert(b, operand, accumulator);
  return builder_binary(b, HLO_MULTIPLY, values, factors);
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  dtype accumulator = DTYPE_F32;
  for (int k = 0; k < 4; k++)
    if (!dtypes[i->operands[k]->shape->dtype].is_narrow_float) accumulator = DTYPE_F64;
  instruction *operands[2];
  for (int k = 0; k < 2; k++) operands[k] = scaled(&b, i->operands[k], i->operands[k + 2], accumulator);
  const shape *s = shape_array(b.arena, accumulator, i->shape->rank, i->shape->dims);
  instruction *dot = builder_add(&b, HLO_DOT, s, 2, operands);
  dot->attributes = attributes_copy(b.arena, i->attributes);
  return builder_convert(&b, dot, i->shape->dtype);
}

static bool can_expand(const instruction *i) {
  return i->opcode == HLO_SCALED_DOT && dtype_is_float(i->shape->dtype) && shape_is_static(i->shape) &&
         fits(i->operands[0]->shape, i->operands[2]->shape) && fits(i->operands[1]->shape, i->operands[3]->shape);
}

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, can_expand, expand); }

const pass opt_scaled_dot_expander = {
    .name = "scaled-dot-expander",
    .summary = "scaled dots become dots of operands times scales",
    .order_reason = "behind the GPU call expander, which makes some, and before the passes on dots",
    .use = PASS_NEEDED,
    .run = run,
};
