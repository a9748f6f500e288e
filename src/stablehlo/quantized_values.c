// From storage to real numbers and back, with one scale, one for each place along an axis, or one for each block.
//
// Each step is one HLO operation in the expressed type, in the order in which the StableHLO specification has them, so
// that results agree to the bit with those of others who do the same.
#include "stablehlo/build.h"
#include "stablehlo/quantized.h"

static bool is_single(const ir_quantization *q) { return q->axis < 0 && !q->block_count; }

static heddle_status check_parameters(lowering *l, const ir_quantization *q) {
  if (is_single(q) && q->count != 1) return lowering_invalid(l->op, "found %d scales, wanted one", q->count);
  for (int k = 0; k < q->count; k++)
    if (q->zero_points[k] < q->storage_min || q->zero_points[k] > q->storage_max)
      return lowering_invalid(l->op, "zero point %lld is no value of the storage type", (long long)q->zero_points[k]);
  return status_ok();
}

static bool all_zero(const ir_quantization *q) {
  for (int k = 0; k < q->count; k++)
    if (q->zero_points[k]) return false;
  return true;
}

// A parameter list that does not fit the shape is an error in the program: the type says both.
static heddle_status check_axis(lowering *l, const shape *s, const ir_quantization *q) {
  if (q->axis < s->rank && s->dims[q->axis] == q->count) return status_ok();
  return lowering_invalid(l->op, "found %d scales along dim %d of %s", q->count, q->axis, shape_text(l->arena, s));
}

static heddle_status spread_axis(lowering *l, const shape *s, const ir_quantization *q, literal *values,
                                 instruction **out) {
  TRY(check_axis(l, s, q));
  *out = build_broadcast(l, build_constant(l, values), s, 1, (int64_t[]){q->axis});
  return status_ok();
}

static int64_t block_size(const shape *s, const ir_quantization *q, int dim) {
  for (int k = 0; k < q->block_count; k++)
    if (q->block_axes[k] == dim) return q->block_sizes[k];
  return s->dims[dim];
}

// Every dim becomes two, blocks and places in a block; the values are repeated along the latter.
static heddle_status spread_blocks(lowering *l, const shape *s, const ir_quantization *q, literal *values,
                                   instruction **out) {
  int64_t blocks[SHAPE_MAX_RANK], split[2 * SHAPE_MAX_RANK], kept[SHAPE_MAX_RANK], product = 1;
  if (s->rank > SHAPE_MAX_RANK / 2) return lowering_refuse(l->op, "an array in blocks has too many dims");
  for (int k = 0; k < s->rank; k++) {
    int64_t size = block_size(s, q, k);
    if (size <= 0 || s->dims[k] % size)
      return lowering_invalid(l->op, "dim %d of %s has no whole number of blocks", k, shape_text(l->arena, s));
    blocks[k] = split[2 * k] = s->dims[k] / size;
    split[2 * k + 1] = size;
    kept[k] = 2 * k;
    product *= blocks[k];
  }
  if (product != q->count)
    return lowering_invalid(l->op, "found %d scales, wanted one for each of %lld blocks", q->count, (long long)product);
  dtype t = values->shape->dtype;
  instruction *list = build_reshape(l, build_constant(l, values), s->rank, blocks);
  instruction *repeated = build_broadcast(l, list, shape_array(l->arena, t, 2 * s->rank, split), s->rank, kept);
  *out = build_reshape(l, repeated, s->rank, s->dims);
  return status_ok();
}

static heddle_status spread(lowering *l, const shape *s, const ir_quantization *q, literal *values, instruction **out) {
  if (q->block_count) return spread_blocks(l, s, q, values, out);
  return spread_axis(l, s, q, values, out);
}

static instruction *single(lowering *l, const shape *s, instruction *value) {
  return s->rank ? build_broadcast(l, value, s, 0, NULL) : value;
}

static heddle_status new_list(lowering *l, const ir_quantization *q, dtype t, literal **out) {
  return literal_create(l->arena, shape_array(l->arena, t, 1, (int64_t[]){q->count}), out);
}

heddle_status quantized_zero_points(lowering *l, const shape *s, const ir_quantization *q, dtype t, instruction **out) {
  *out = NULL;
  TRY(check_parameters(l, q));
  if (all_zero(q)) return status_ok();
  if (is_single(q)) {
    *out = single(l, s, build_scalar(l, t, (double)q->zero_points[0]));
    return status_ok();
  }
  literal *values;
  TRY(new_list(l, q, t, &values));
  for (int k = 0; k < q->count; k++) literal_set_int(values, k, q->zero_points[k]);
  return spread(l, s, q, values, out);
}

heddle_status quantized_scales(lowering *l, const shape *s, const ir_quantization *q, dtype t, double factor,
                               instruction **out) {
  TRY(check_parameters(l, q));
  if (is_single(q)) {
    *out = single(l, s, build_scalar(l, t, q->scales[0] * factor));
    return status_ok();
  }
  literal *values;
  TRY(new_list(l, q, t, &values));
  for (int k = 0; k < q->count; k++) literal_set_double(values, k, q->scales[k] * factor);
  return spread(l, s, q, values, out);
}

static heddle_status check_type(lowering *l, const instruction *x, dtype t) {
  if (x->shape->dtype == t) return status_ok();
  return lowering_invalid(l->op, "found %s in place of a value of type %s", shape_text(l->arena, x->shape),
                          dtype_name(t));
}

// The difference to the zero point may not fit the storage type, but fits one twice as wide.
heddle_status quantized_to_real(lowering *l, instruction *x, const ir_quantization *q, instruction **out) {
  TRY(check_type(l, x, q->storage));
  dtype wide = dtypes[q->storage].bits < 32 ? DTYPE_S32 : DTYPE_S64;
  instruction *zero_points = NULL, *scales = NULL;
  TRY(quantized_zero_points(l, x->shape, q, wide, &zero_points));
  TRY(quantized_scales(l, x->shape, q, q->expressed, 1, &scales));
  if (zero_points) x = build_binary(l, HLO_SUBTRACT, build_convert(l, x, wide), zero_points);
  *out = build_binary(l, HLO_MULTIPLY, build_convert(l, x, q->expressed), scales);
  return status_ok();
}

heddle_status quantized_from_real(lowering *l, instruction *x, const ir_quantization *q, instruction **out) {
  dtype t = q->expressed;
  TRY(check_type(l, x, t));
  instruction *zero_points = NULL, *scales = NULL;
  TRY(quantized_zero_points(l, x->shape, q, t, &zero_points));
  TRY(quantized_scales(l, x->shape, q, t, 1, &scales));
  x = build_binary(l, HLO_DIVIDE, x, scales);
  if (zero_points) x = build_binary(l, HLO_ADD, x, zero_points);
  instruction *least = build_scalar(l, t, (double)q->storage_min), *most = build_scalar(l, t, (double)q->storage_max);
  x = build_add(l, HLO_CLAMP, x->shape, 3, (instruction *[]){least, x, most});
  *out = build_convert(l, build_unary(l, HLO_ROUND_NEAREST_EVEN, x), q->storage);
  return status_ok();
}
