// Along dims that are taken whole a tile of the result is one of the operand. Along others the operand is whole:
// wherever a tile begins, the operation's own place is added to the turn's.
#include "supertile/region_slices.h"

static bool is_cut(const region *out, const shape *s, int d) { return !region_dim_is_whole(&out->dims[d], s->dims[d]); }

// --- gather

// The operand's dim that dim number `offset` of the windows is.
static int64_t window_dim_of(const hlo_attributes *x, int offset) {
  int64_t d = 0;
  for (;; d++)
    if (!int_list_has(x->collapsed_slice_dims, d) && offset-- == 0) return d;
}

static region_answer gathered(const instruction *i, const region *out, int operand, region *in) {
  const hlo_attributes *x = i->attributes;
  if (x->operand_batching_dims.size > 0) return REGION_UNKNOWN;
  int batch = 0, offset = 0;
  for (int d = 0; d < out->rank; d++) {
    if (int_list_has(x->offset_dims, d)) {
      const int64_t from = window_dim_of(x, offset++);
      if (!is_cut(out, i->shape, d)) continue;
      if (int_list_has(x->start_index_map, from)) return REGION_UNKNOWN;
      if (operand == 0) in->dims[from] = out->dims[d];
      continue;
    }
    if (batch == x->index_vector_dim) batch++;
    if (operand == 1) in->dims[batch] = out->dims[d];
    batch++;
  }
  return REGION_FOUND;
}

// --- scatter

int region_slices_update_dim(const instruction *scatter, int64_t d) {
  const hlo_attributes *x = scatter->attributes;
  if (int_list_has(x->inserted_window_dims, d)) return -1;
  int window = 0;
  for (int64_t k = 0; k < d; k++) window += !int_list_has(x->inserted_window_dims, k);
  return (int)x->update_window_dims.data[window];
}

// Windows of one element along the dim: those that lie outside of the tile are left out, as all that lie outside of the
// array are.
static bool is_scattered_along(const instruction *i, int d) {
  const int updates = i->operand_count / 2 + 1, window = region_slices_update_dim(i, d);
  return int_list_has(i->attributes->scatter_dims_to_operand_dims, d) &&
         (window < 0 || i->operands[updates]->shape->dims[window] == 1);
}

// Windows that are as long as the array along the dim.
static bool has_whole_windows(const instruction *i, int d) {
  const int updates = i->operand_count / 2 + 1, window = region_slices_update_dim(i, d);
  return !int_list_has(i->attributes->scatter_dims_to_operand_dims, d) && window >= 0 &&
         i->operands[updates]->shape->dims[window] == i->operands[0]->shape->dims[d];
}

static region_answer scattered(const instruction *i, const region *out, int operand, region *in) {
  const int count = i->operand_count / 2;
  const shape *array = i->operands[0]->shape;
  if (i->attributes->input_batching_dims.size > 0) return REGION_UNKNOWN;
  for (int d = 0; d < out->rank; d++) {
    if (operand < count) in->dims[d] = out->dims[d];
    if (!is_cut(out, array, d) || is_scattered_along(i, d)) continue;
    if (!has_whole_windows(i, d)) return REGION_UNKNOWN;
    if (operand > count) in->dims[region_slices_update_dim(i, d)] = out->dims[d];
  }
  return REGION_FOUND;
}

// --- dynamic slices and updates

static region_answer sliced(const instruction *i, const region *out, region *in) {
  const shape *from = i->operands[0]->shape;
  for (int d = 0; d < out->rank; d++)
    if (i->shape->dims[d] == from->dims[d]) in->dims[d] = out->dims[d];
  return REGION_FOUND;
}

static region_answer updated(const instruction *i, const region *out, int operand, region *in) {
  const shape *update = i->operands[1]->shape;
  int picked = 0;
  for (int d = 0; d < out->rank; d++) {
    const bool is_part = update->dims[d] != i->shape->dims[d];
    picked += is_part && is_cut(out, i->shape, d);
    if (operand == 0 || !is_part) in->dims[d] = out->dims[d];
  }
  return picked <= 1 ? REGION_FOUND : REGION_UNKNOWN;
}

// --- concatenate

static region_answer concatenated(const instruction *i, const region *out, region *in) {
  for (int d = 0; d < out->rank; d++)
    if (d != i->attributes->dimensions.data[0]) in->dims[d] = out->dims[d];
  return REGION_FOUND;
}

// --- all

bool region_slices_dim_is_picked(const instruction *i, const region *out, int d) {
  const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
  if (!is_cut(out, s, d)) return false;
  switch (i->opcode) {
    case HLO_SCATTER: return is_scattered_along(i, d);
    case HLO_DYNAMIC_SLICE: return s->dims[d] != i->operands[0]->shape->dims[d];
    case HLO_DYNAMIC_UPDATE_SLICE: return s->dims[d] != i->operands[1]->shape->dims[d];
    case HLO_CONCATENATE: return i->attributes->dimensions.data[0] == d;
    default: return false;
  }
}

region_answer region_slices_find(const instruction *i, const region *out, int operand, region *in) {
  switch (i->opcode) {
    case HLO_GATHER: return gathered(i, out, operand, in);
    case HLO_SCATTER: return scattered(i, out, operand, in);
    case HLO_DYNAMIC_SLICE: return sliced(i, out, in);
    case HLO_DYNAMIC_UPDATE_SLICE: return updated(i, out, operand, in);
    default: return concatenated(i, out, in);
  }
}
