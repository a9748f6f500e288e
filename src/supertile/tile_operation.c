// A tile is the operation itself over tiles of its operands. What an operation says of places in the whole array is
// said anew for the tile: slices begin where the operand's tile does, windows and padding hang out where the tile's do.
#include "supertile/tile_operation.h"

#include "supertile/tile_slices.h"

instruction *tile_place_index(const tile_place *p, const region_dim *d) {
  if (d->step == 0 || !p->turn) return builder_scalar_int(&p->to, DTYPE_S32, d->base);
  instruction *x = p->turn;
  if (d->step != 1) x = builder_binary(&p->to, HLO_MULTIPLY, x, builder_scalar_int(&p->to, DTYPE_S32, d->step));
  if (d->base != 0) x = builder_binary(&p->to, HLO_ADD, x, builder_scalar_int(&p->to, DTYPE_S32, d->base));
  return x;
}

const shape *tile_shape(arena *a, const shape *s, const region *r) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < r->rank; d++) dims[d] = r->dims[d].size;
  return shape_array(a, s->dtype, r->rank, dims);
}

const shape *tile_shape_of_values(arena *a, const instruction *i, const region *r) {
  if (!shape_is_tuple(i->shape)) return tile_shape(a, i->shape, r);
  const shape **elements = arena_array(a, const shape *, i->shape->tuple_size);
  for (int k = 0; k < i->shape->tuple_size; k++) elements[k] = tile_shape(a, i->shape->elements[k], r);
  return shape_tuple(a, i->shape->tuple_size, elements);
}

static hlo_attributes *own_attributes(const tile_place *p, instruction *tile, const instruction *i) {
  tile->attributes = attributes_copy(p->to.arena, i->attributes);
  return tile->attributes;
}

static void set_slice(const tile_place *p, instruction *tile, const instruction *i, const region *r) {
  slice_dim *dims = arena_array(p->to.arena, slice_dim, r->rank);
  for (int d = 0; d < r->rank; d++) {
    const int64_t stride = i->attributes->slice.dims[d].stride;
    dims[d] = (slice_dim){0, (r->dims[d].size - 1) * stride + 1, stride};
  }
  tile->attributes->slice = (slice_config){r->rank, dims};
}

static void set_padding(const tile_place *p, instruction *tile, const instruction *i, const region *r) {
  padding_dim *dims = arena_array(p->to.arena, padding_dim, r->rank);
  for (int d = 0; d < r->rank; d++) {
    region_window w;
    const padding_dim from = i->attributes->padding.dims[d];
    region_of_padding(&r->dims[d], from, i->operands[0]->shape->dims[d], p->turns, &w);
    dims[d] = (padding_dim){w.low, w.high, from.interior};
  }
  tile->attributes->padding = (padding_config){r->rank, dims};
}

// Window dim `d` is dim out[d] of the result and in[d] of the operand.
static void set_window(const tile_place *p, instruction *tile, const instruction *i, const region *r,
                       const int64_t *out, const int64_t *in) {
  const window *from = &i->attributes->window;
  window_dim *dims = arena_array(p->to.arena, window_dim, from->rank);
  for (int d = 0; d < from->rank; d++) {
    region_window w;
    region_of_window(&r->dims[out ? out[d] : d], &from->dims[d], i->operands[0]->shape->dims[in ? in[d] : d], p->turns,
                     &w);
    dims[d] = from->dims[d];
    dims[d].padding_low = w.low;
    dims[d].padding_high = w.high;
  }
  tile->attributes->window = (window){from->rank, dims};
}

// As many groups as the tile's features make up.
static void set_groups(instruction *tile, const instruction *i, const region *r) {
  const int64_t d = i->attributes->dim_labels.output_feature, groups = i->attributes->feature_group_count;
  if (groups > 1) tile->attributes->feature_group_count = r->dims[d].size / (i->shape->dims[d] / groups);
}

// Windows are as large as the tile.
static void set_gather(const tile_place *p, instruction *tile, const instruction *i, const region *r) {
  const hlo_attributes *x = i->attributes;
  int64_t *sizes = arena_array(p->to.arena, int64_t, x->slice_sizes.size);
  int offset = 0;
  for (int d = 0; d < x->slice_sizes.size; d++) {
    sizes[d] = x->slice_sizes.data[d];
    if (!int_list_has(x->collapsed_slice_dims, d)) sizes[d] = r->dims[x->offset_dims.data[offset++]].size;
  }
  tile->attributes->slice_sizes = (int_list){sizes, x->slice_sizes.size};
}

// Counts from where the tile begins.
static instruction *iota_tile(const tile_place *p, const instruction *i, const region *r) {
  const int64_t along = i->attributes->iota_dimension;
  const shape *s = tile_shape(p->to.arena, i->shape, r);
  const region_dim *d = &r->dims[along];
  if (d->step == 0 && d->base == 0) return builder_iota(&p->to, s->dtype, s->rank, s->dims, along);
  instruction *count = builder_iota(&p->to, DTYPE_S32, s->rank, s->dims, along);
  instruction *first = builder_broadcast(&p->to, tile_place_index(p, d), count->shape, 0, NULL);
  return builder_convert(&p->to, builder_binary(&p->to, HLO_ADD, count, first), s->dtype);
}

instruction *tile_operation_make(const tile_place *p, const instruction *i, const region *r,
                                 instruction *const *operands) {
  if (i->opcode == HLO_IOTA) return iota_tile(p, i, r);
  if (tile_slices_has(i)) return tile_slices_make(p, i, r, operands);
  const hlo_opcode opcode = i->opcode == HLO_BITCAST ? HLO_RESHAPE : i->opcode;
  instruction *tile = builder_add(&p->to, opcode, tile_shape_of_values(p->to.arena, i, r), i->operand_count, operands);
  if (i->opcode != HLO_BITCAST) own_attributes(p, tile, i);
  tile->where = i->where;
  if (i->called_count > 0) instruction_set_called(tile, i->called_count, i->called);
  const convolution_dims *c = &i->attributes->dim_labels;
  switch (i->opcode) {
    case HLO_SLICE: set_slice(p, tile, i, r); break;
    case HLO_PAD: set_padding(p, tile, i, r); break;
    case HLO_REDUCE_WINDOW: set_window(p, tile, i, r, NULL, NULL); break;
    case HLO_CONVOLUTION:
      set_window(p, tile, i, r, c->output_spatial, c->input_spatial);
      set_groups(tile, i, r);
      break;
    case HLO_GATHER: set_gather(p, tile, i, r); break;
    default: break;
  }
  return tile;
}
