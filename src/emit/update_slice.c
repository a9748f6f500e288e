// In-place dynamic-update-slice: starts once per tile, then the window's elements into the array at an offset.
//
// An update may read the array where it will be written: each element is read before it is stored, by the same lane.
#include "emit/update_slice.h"

#include "emit/blocks.h"
#include "index/hlo_indexing.h"

// (window's index, starts) -> where that is in the array. As one map, so that neighbours stay neighbours to later
// passes.
static const indexing_map *element_map(arena *a, const instruction *slice) {
  const shape *update = slice->operands[1]->shape;
  int rank = update->rank;
  indexing_map *m = indexing_map_create(a, 2 * rank, 0, 0, rank, 0);
  for (int d = 0; d < rank; d++) {
    m->dims[d].bounds = (interval){0, update->dims[d] - 1};
    m->dims[rank + d].bounds = (interval){0, slice->shape->dims[d] - update->dims[d]};
    m->results[d] = affine_add(a, affine_dim(a, d), affine_dim(a, rank + d));
  }
  return indexing_map_simplify(a, m);
}

heddle_status emit_update_window(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                 const void *argument) {
  const update_starts *u = argument;
  const MlirValue *updates = emit_part(e->kernel, b, 0, e->inputs, point, NULL);
  MlirValue *dims = arena_array(b->arena, MlirValue, 2 * point->count);
  for (int n = 0; n < e->kernel->plan->output_count; n++) {
    for (int d = 0; d < point->count; d++) {
      dims[d] = point->values[d];
      dims[point->count + d] = u->starts[n][d];
    }
    const shape *stored = e->kernel->plan->outputs[n].shape, *updated = u->slices[n]->shape;
    ir_values at = ir_apply_indexing(b, element_map(b->arena, u->slices[n]), dims, NULL);
    if (!shape_same_dims(stored, updated))
      at = ir_apply_indexing(b, hlo_indexing_reshape(b->arena, updated, stored), at.data, NULL);
    outputs[n] = emit_insert(b, updates[n], outputs[n], at.size, at.data);
  }
  return status_ok();
}

static MlirValue *clamped_starts(kernel_entry *e, int n, const instruction *slice) {
  const index_vector nowhere = {0};
  const MlirValue *raw = emit_part(e->kernel, &e->b, 1 + n, e->inputs, &nowhere, NULL);
  MlirValue *starts = arena_array(e->kernel->arena, MlirValue, slice->shape->rank);
  for (int d = 0; d < slice->shape->rank; d++) {
    interval room = {0, slice->shape->dims[d] - slice->operands[1]->shape->dims[d]};
    if (emit_is_limited(slice, 2 + d)) room.upper = INT64_MAX;
    starts[d] = emit_clamped_index(&e->b, raw[d], slice->operands[2 + d]->shape->dtype, room);
  }
  return starts;
}

update_starts emit_update_starts(kernel_entry *e, const instruction *const *slices) {
  const int count = e->kernel->plan->output_count;
  update_starts u = {.slices = slices, .starts = arena_array(e->kernel->arena, MlirValue *, count)};
  for (int n = 0; n < count; n++) u.starts[n] = clamped_starts(e, n, slices[n]);
  return u;
}

typedef struct update_block {
  const kernel_block *window;
  update_starts starts;
} update_block;

static heddle_status store_block(kernel_entry *e, int block, MlirValue tile, const void *argument) {
  (void)block;
  const update_block *u = argument;
  return emit_block(e, u->window, tile, emit_update_window, &u->starts);
}

heddle_status emit_update_slice_entry(kernel_emitter *k, const target_description *target) {
  const hero_update_slice *plan = &k->plan->details.update_slice;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  const update_block update = {&plan->block, emit_update_starts(&entry, plan->slices)};
  TRY(emit_blocks(&entry, 1, &plan->block, store_block, &update));
  emit_entry_end(&entry);
  return status_ok();
}
