// What lies within the whole array at a place that the data say lies within the tile at that place less the tile's own.
// Places are clamped as the whole operation clamps them, before that.
#include "supertile/tile_slices.h"

#include "opt/rewrite.h"
#include "supertile/region_slices.h"

// --- places

instruction *tile_slices_clamp(const builder *b, instruction *x, int64_t most) {
  const dtype t = x->shape->dtype;
  const int bits = dtypes[t].bits - dtype_is_signed(t);
  instruction *low = builder_scalar_int(b, t, 0);
  // The dim may be larger than what the type can say: then nothing is above it.
  if (bits < 31 && most >> bits > 0) return builder_convert(b, builder_binary(b, HLO_MAXIMUM, x, low), DTYPE_S32);
  instruction *operands[3] = {low, x, builder_scalar_int(b, t, most)};
  return builder_convert(b, builder_add(b, HLO_CLAMP, x->shape, 3, operands), DTYPE_S32);
}

static instruction *spread(const builder *b, instruction *scalar, const shape *like) {
  return builder_broadcast(b, scalar, like, 0, NULL);
}

static const shape *with_type(const builder *b, const shape *s, dtype t) {
  return shape_array(b->arena, t, s->rank, s->dims);
}

// first, first + 1, … along dim `d` of an array of s's dims.
static instruction *count_from(const builder *b, instruction *first, const shape *s, int d) {
  const shape *counts = with_type(b, s, DTYPE_S32);
  instruction *steps = builder_iota(b, DTYPE_S32, counts->rank, counts->dims, d);
  return builder_binary(b, HLO_ADD, steps, spread(b, first, counts));
}

static int_list count_up(arena *a, int64_t first, int count) {
  int64_t *all = arena_array(a, int64_t, count);
  for (int k = 0; k < count; k++) all[k] = first + k;
  return (int_list){all, count};
}

static int_list one_number(arena *a, int64_t value) { return count_up(a, value, 1); }

// The `count` slices of x at `first` and behind it along dim `d`; what would lie outside is the slice at the border.
static instruction *slices_from(const builder *b, instruction *x, int d, instruction *first, int64_t count) {
  arena *a = b->arena;
  const shape *from = x->shape;
  int64_t dims[SHAPE_MAX_RANK + 1], kept[SHAPE_MAX_RANK], permutation[SHAPE_MAX_RANK];
  int64_t *sizes = arena_array(a, int64_t, from->rank);
  dims[0] = kept[0] = count;
  int at = 1;
  for (int k = 0; k < from->rank; k++) {
    dims[k + 1] = sizes[k] = k == d ? 1 : from->dims[k];
    if (k != d) kept[at++] = from->dims[k];
    permutation[k] = k < d ? k + 1 : k == d ? 0 : k;
  }
  instruction *places = count_from(b, first, shape_array(a, DTYPE_S32, 2, (const int64_t[]){count, 1}), 0);
  instruction *slices =
      builder_add(b, HLO_GATHER, shape_array(a, from->dtype, from->rank + 1, dims), 2, (instruction *[]){x, places});
  hlo_attributes *to = slices->attributes;
  to->offset_dims = count_up(a, 1, from->rank);
  to->start_index_map = one_number(a, d);
  to->slice_sizes = (int_list){sizes, from->rank};
  to->index_vector_dim = 1;
  static const hlo_attribute_id written[] = {HLO_ATTRIBUTE_OFFSET_DIMS, HLO_ATTRIBUTE_COLLAPSED_SLICE_DIMS,
                                             HLO_ATTRIBUTE_START_INDEX_MAP, HLO_ATTRIBUTE_INDEX_VECTOR_DIM,
                                             HLO_ATTRIBUTE_SLICE_SIZES};
  for (size_t k = 0; k < sizeof written / sizeof *written; k++) attributes_mark(to, written[k]);
  return builder_transpose(b, builder_reshape(b, slices, from->rank, kept), permutation);
}

// --- operations

static instruction *dynamic_slice(const tile_place *p, const instruction *i, const region *r,
                                  instruction *const *operands) {
  const builder *b = &p->to;
  instruction *all[SHAPE_MAX_RANK + 1] = {operands[0]};
  int64_t *sizes = arena_array(b->arena, int64_t, r->rank);
  for (int d = 0; d < r->rank; d++) {
    sizes[d] = r->dims[d].size;
    const int64_t most = i->operands[0]->shape->dims[d] - i->shape->dims[d];
    if (most == 0) all[d + 1] = builder_scalar_int(b, DTYPE_S32, 0);
    else
      all[d + 1] =
          builder_binary(b, HLO_ADD, tile_slices_clamp(b, operands[d + 1], most), tile_place_index(p, &r->dims[d]));
  }
  instruction *tile = builder_add(b, HLO_DYNAMIC_SLICE, tile_shape(b->arena, i->shape, r), r->rank + 1, all);
  tile->attributes->dynamic_slice_sizes = (int_list){sizes, r->rank};
  attributes_mark(tile->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return tile;
}

// Where the tile has only a part of the update's slices along a dim, those of the tile that the update covers are
// chosen.
static instruction *dynamic_update_slice(const tile_place *p, const instruction *i, const region *r,
                                         instruction *const *operands) {
  const builder *b = &p->to;
  instruction *all[SHAPE_MAX_RANK + 2] = {operands[0], operands[1]}, *is_covered = NULL;
  const shape *tile = tile_shape(b->arena, i->shape, r);
  for (int d = 0; d < r->rank; d++) {
    const int64_t size = i->operands[1]->shape->dims[d], most = i->shape->dims[d] - size;
    all[d + 2] = most == 0 ? builder_scalar_int(b, DTYPE_S32, 0) : tile_slices_clamp(b, operands[d + 2], most);
    if (!region_slices_dim_is_picked(i, r, d)) continue;
    instruction *first = builder_binary(b, HLO_SUBTRACT, tile_place_index(p, &r->dims[d]), all[d + 2]);
    all[1] = slices_from(b, operands[1], d, first, r->dims[d].size);
    all[d + 2] = builder_scalar_int(b, DTYPE_S32, 0);
    instruction *place = count_from(b, first, tile, d);
    is_covered = builder_binary(b, HLO_AND, builder_compare(b, place, builder_like_int(b, place, 0), COMPARE_GE),
                                builder_compare(b, place, builder_like_int(b, place, size), COMPARE_LT));
  }
  instruction *updated = all[1];
  if (!shape_same_dims(updated->shape, tile))
    updated = builder_add(b, HLO_DYNAMIC_UPDATE_SLICE, tile, r->rank + 2, all);
  return is_covered ? builder_select(b, is_covered, updated, operands[0]) : updated;
}

// Of each operand the slices that would lie in the tile, and of these those that do.
static instruction *concatenate(const tile_place *p, const instruction *i, const region *r,
                                instruction *const *operands) {
  const builder *b = &p->to;
  const int d = (int)i->attributes->dimensions.data[0];
  const shape *tile = tile_shape(b->arena, i->shape, r);
  instruction *begin = tile_place_index(p, &r->dims[d]), *place = count_from(b, begin, tile, d), *all = NULL;
  int64_t first = 0;
  for (int k = 0; k < i->operand_count; first += operands[k++]->shape->dims[d]) {
    if (operands[k]->shape->dims[d] == 0) continue;
    instruction *here = builder_binary(b, HLO_SUBTRACT, begin, builder_scalar_int(b, DTYPE_S32, first));
    instruction *slices = slices_from(b, operands[k], d, here, r->dims[d].size);
    instruction *is_behind = builder_compare(b, place, builder_like_int(b, place, first), COMPARE_GE);
    all = all ? builder_select(b, is_behind, slices, all) : slices;
  }
  return all;
}

// The tile's own place is subtracted from the windows' places.
static instruction *shifted(const tile_place *p, const instruction *i, const region *r, instruction *places) {
  const builder *b = &p->to;
  const hlo_attributes *x = i->attributes;
  if (dtypes[places->shape->dtype].bits < 32) places = builder_convert(b, places, DTYPE_S32);
  const dtype t = places->shape->dtype;
  for (int k = 0; k < x->scatter_dims_to_operand_dims.size; k++) {
    const int d = (int)x->scatter_dims_to_operand_dims.data[k];
    if (!region_slices_dim_is_picked(i, r, d)) continue;
    instruction *by = spread(b, builder_convert(b, tile_place_index(p, &r->dims[d]), t), places->shape);
    if (x->scatter_dims_to_operand_dims.size > 1) {
      const shape *counts = with_type(b, places->shape, DTYPE_S32);
      instruction *entry = builder_iota(b, DTYPE_S32, counts->rank, counts->dims, x->index_vector_dim);
      instruction *is_this = builder_compare(b, entry, builder_like_int(b, entry, k), COMPARE_EQ);
      by = builder_select(b, is_this, by, builder_like_int(b, by, 0));
    }
    places = builder_binary(b, HLO_SUBTRACT, places, by);
  }
  return places;
}

static instruction *scatter(const tile_place *p, const instruction *i, const region *r, instruction *const *operands) {
  const builder *b = &p->to;
  const int count = i->operand_count / 2;
  instruction **all = arena_array(b->arena, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) all[k] = operands[k];
  all[count] = shifted(p, i, r, operands[count]);
  instruction *tile = rewrite_with(b, i, tile_shape_of_values(b->arena, i, r), all);
  tile->attributes->indices_are_sorted &= all[count] == operands[count];  // places far outside may wrap
  return tile;
}

bool tile_slices_has(const instruction *i) {
  switch (i->opcode) {
    case HLO_DYNAMIC_SLICE:
    case HLO_DYNAMIC_UPDATE_SLICE:
    case HLO_SCATTER:
    case HLO_CONCATENATE: return true;
    default: return false;
  }
}

instruction *tile_slices_make(const tile_place *p, const instruction *i, const region *r,
                              instruction *const *operands) {
  switch (i->opcode) {
    case HLO_DYNAMIC_SLICE: return dynamic_slice(p, i, r, operands);
    case HLO_DYNAMIC_UPDATE_SLICE: return dynamic_update_slice(p, i, r, operands);
    case HLO_SCATTER: return scatter(p, i, r, operands);
    default: {
      const int64_t d = i->attributes->dimensions.data[0];
      return region_slices_dim_is_picked(i, r, (int)d) ? concatenate(p, i, r, operands)
                                                       : builder_concatenate(&p->to, i->operand_count, operands, d);
    }
  }
}
