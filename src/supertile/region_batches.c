// Dims that make up a line or a matrix are taken whole; along all others operands have the result's dims.
#include "supertile/region_batches.h"

#include "hlo/call_attributes.h"

static bool is_call(const instruction *i, const char *target) {
  return i->opcode == HLO_CUSTOM_CALL && str_is(i->attributes->custom_call_target, target);
}

static bool is_top_k(const instruction *i) {
  return i->opcode == HLO_TOPK || is_call(i, "TopK") || is_call(i, "mhlo.topk");
}

static int64_t config_of(const instruction *i, const char *name) {
  int64_t value = 0;
  call_attribute_int(i->attributes->backend_config, name, &value);
  return value;
}

bool region_batches_has(const instruction *i) {
  switch (i->opcode) {
    case HLO_SORT:
    case HLO_FFT:
    case HLO_TOPK: return true;
    default:
      return is_top_k(i) || is_call(i, "heddle.cholesky") || is_call(i, "heddle.triangular_solve") ||
             is_call(i, "heddle.cumulative");
  }
}

// Whether each index of the dim is a line or a matrix of its own; of operand `operand`, -1: of the result.
static bool is_batch_dim(const instruction *i, int rank, int operand, int d) {
  if (i->opcode == HLO_SORT) return !int_list_has(i->attributes->dimensions, d);
  if (i->opcode == HLO_FFT) return d < rank - i->attributes->fft_length.size;
  if (is_top_k(i)) return d < rank - 1;
  if (is_call(i, "heddle.cumulative")) return d != config_of(i, "dimension");
  // Of a triangular system the columns of its right sides, or the rows, are systems of their own.
  const int sides = config_of(i, "left_side") ? rank - 1 : rank - 2;
  if (is_call(i, "heddle.triangular_solve") && operand != 0 && d == sides) return true;
  return d < rank - 2;
}

region_answer region_batches_find(const instruction *i, const region *out, int operand, region *in) {
  const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
  for (int d = 0; d < out->rank; d++) {
    if (!is_batch_dim(i, out->rank, -1, d)) {
      if (!region_dim_is_whole(&out->dims[d], s->dims[d])) return REGION_UNKNOWN;
    } else if (is_batch_dim(i, out->rank, operand, d)) {
      in->dims[d] = out->dims[d];
    }
  }
  return REGION_FOUND;
}
