// Numbers in blocks along the last dim, each with a scale: quantize, dequantize and products of such arrays.
//
// Products become scaled-dot, whose scales divide the operands evenly: scales that are there for filling up are cut
// off, and a last block that is not full is filled with zeros.
#include <math.h>

#include "base/float.h"
#include "opt/gpu_calls.h"
#include "opt/rewrite.h"

static bool is_block_scaled(const shape *values, const shape *scales) {
  if (!shape_is_array(values) || !shape_is_array(scales) || !shape_is_static(values) || !shape_is_static(scales))
    return false;
  return dtype_is_float(values->dtype) && dtype_is_float(scales->dtype) && values->rank == scales->rank &&
         values->rank > 0 && values->rank < SHAPE_MAX_RANK;
}

// As many elements as a scale counts for; 0 where the dims do not say.
static int64_t block_of(const shape *values, const shape *scales) {
  const int last = values->rank - 1;
  for (int d = 0; d < last; d++)
    if (values->dims[d] != scales->dims[d]) return 0;
  const int64_t size = values->dims[last], blocks = scales->dims[last];
  return size > 0 && blocks > 0 && size % blocks == 0 ? size / blocks : 0;
}

// Each scale for all of its block: [.., n] -> [.., n, block] -> [.., n * block].
static instruction *spread(const builder *b, instruction *scales, const shape *values, int64_t block) {
  const int rank = values->rank;
  int64_t dims[SHAPE_MAX_RANK], positions[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    dims[d] = scales->shape->dims[d];
    positions[d] = d;
  }
  dims[rank] = block;
  const shape *s = shape_array(b->arena, scales->shape->dtype, rank + 1, dims);
  return builder_reshape(b, builder_broadcast(b, scales, s, rank, positions), rank, values->dims);
}

instruction *gpu_block_expand_dequantize(const builder *b, instruction *i) {
  if (i->operand_count != 2 || !is_block_scaled(i->operands[0]->shape, i->operands[1]->shape)) return NULL;
  const shape *values = i->operands[0]->shape;
  const int64_t block = block_of(values, i->operands[1]->shape);
  if (block == 0 || !shape_is_array(i->shape) || !shape_same_dims(i->shape, values) || !dtype_is_float(i->shape->dtype))
    return NULL;
  instruction *scales = spread(b, builder_convert(b, i->operands[1], i->shape->dtype), values, block);
  return builder_binary(b, HLO_MULTIPLY, builder_convert(b, i->operands[0], i->shape->dtype), scales);
}

// The greatest power of two that the type holds.
static double highest_power(dtype t) {
  double highest = 0;
  if (!dtypes[t].is_narrow_float || dtypes[t].bits > 8) return 0;
  for (uint32_t bits = 0; bits < (uint32_t)1 << dtypes[t].bits; bits++) {
    const double value = float_decode(dtypes[t].narrow, bits);
    if (isfinite(value) && value > highest) highest = value;
  }
  return highest > 0 ? ldexp(1, ilogb(highest)) : 0;
}

// A block's scale brings its greatest element near the type's limit.
instruction *gpu_block_expand_quantize(const builder *b, instruction *i) {
  const shape *values = gpu_result_shape(i, 0), *scales = gpu_result_shape(i, 1);
  if (i->operand_count != 1 || !values || !scales || !is_block_scaled(values, scales)) return NULL;
  instruction *x = i->operands[0];
  const int64_t block = block_of(values, scales);
  const double power = highest_power(values->dtype);
  if (block == 0 || power == 0 || !shape_is_array(x->shape) || !shape_same_dims(x->shape, values) ||
      !dtype_is_float(x->shape->dtype))
    return NULL;
  int64_t dims[SHAPE_MAX_RANK], last = values->rank;
  for (int d = 0; d < values->rank; d++) dims[d] = scales->dims[d];
  dims[values->rank] = block;
  instruction *blocks = builder_reshape(b, builder_unary(b, HLO_ABS, x), values->rank + 1, dims);
  instruction *most = builder_reduce(b, blocks, builder_scalar(b, x->shape->dtype, 0), 1, &last,
                                     builder_binary_computation(b, HLO_MAXIMUM, x->shape->dtype));
  instruction *scale =
      builder_convert(b, builder_binary(b, HLO_DIVIDE, most, builder_like(b, most, power)), scales->dtype);
  instruction *spread_scale = spread(b, builder_convert(b, scale, x->shape->dtype), values, block);
  instruction *parts[] = {builder_convert(b, builder_binary(b, HLO_DIVIDE, x, spread_scale), values->dtype), scale};
  return gpu_result(b, i, 2, parts);
}

// --- products

// The operand filled up to whole blocks, and as many scales as there are blocks and rows. False where they do not fit.
static bool fit_blocks(const builder *b, int64_t block, instruction **values, instruction **scales) {
  const shape *v = (*values)->shape, *s = (*scales)->shape;
  if (!is_block_scaled(v, s)) return false;
  const int last = v->rank - 1;
  if (block == 0) block = s->dims[last] > 0 && v->dims[last] % s->dims[last] == 0 ? v->dims[last] / s->dims[last] : 0;
  if (block <= 0) return false;
  slice_dim kept[SHAPE_MAX_RANK];
  padding_dim more[SHAPE_MAX_RANK] = {0};
  const int64_t blocks = (v->dims[last] + block - 1) / block;
  bool is_cut = false;
  for (int d = 0; d < v->rank; d++) {
    const int64_t wanted = d == last ? blocks : v->dims[d];
    if (s->dims[d] < wanted) return false;
    kept[d] = (slice_dim){0, wanted, 1};
    is_cut |= s->dims[d] > wanted;
  }
  more[last].high = blocks * block - v->dims[last];
  if (is_cut) *scales = builder_slice(b, *scales, kept);
  if (more[last].high) *values = builder_pad(b, *values, builder_scalar(b, v->dtype, 0), more);
  return true;
}

static void set_dims(const builder *b, hlo_attributes *x, int_list *to, hlo_attribute_id id, int64_t dim) {
  int64_t *dims = arena_array(b->arena, int64_t, 1);
  dims[0] = dim;
  *to = (int_list){dims, 1};
  attributes_mark(x, id);
}

// (lhs, rhs, lhs's scales, rhs's scales or none), both contracted along their last dims, the first of three a batch.
instruction *gpu_block_expand_dot(const builder *b, instruction *i) {
  if (i->operand_count < 3 || i->operand_count > 4 || !shape_is_array(i->shape) || !dtype_is_float(i->shape->dtype))
    return NULL;
  double block = 0;
  gpu_config_number(b, gpu_config_of(i, "block_scaled_dot_backend_config"), "block_size", &block);
  instruction *one = builder_scalar(b, DTYPE_F32, 1);
  instruction *all[4] = {i->operands[0], i->operands[1], i->operands[2], i->operand_count > 3 ? i->operands[3] : one};
  const int rank = all[0]->shape->rank;
  if (!(block >= 0 && block <= INT32_MAX) || rank < 2 || rank > 3) return NULL;
  for (int k = 0; k < i->operand_count - 2; k++)
    if (!fit_blocks(b, (int64_t)block, &all[k], &all[k + 2])) return NULL;
  const shape *l = all[0]->shape, *r = all[1]->shape;
  if (r->rank != rank || l->dims[rank - 1] != r->dims[rank - 1]) return NULL;
  instruction *dot = builder_add(b, HLO_SCALED_DOT, i->shape, 4, all);
  hlo_attributes *x = dot->attributes;
  set_dims(b, x, &x->lhs_contracting_dims, HLO_ATTRIBUTE_LHS_CONTRACTING_DIMS, rank - 1);
  set_dims(b, x, &x->rhs_contracting_dims, HLO_ATTRIBUTE_RHS_CONTRACTING_DIMS, rank - 1);
  if (rank == 2) return dot;
  set_dims(b, x, &x->lhs_batch_dims, HLO_ATTRIBUTE_LHS_BATCH_DIMS, 0);
  set_dims(b, x, &x->rhs_batch_dims, HLO_ATTRIBUTE_RHS_BATCH_DIMS, 0);
  return dot;
}
