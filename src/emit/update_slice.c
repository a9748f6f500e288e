// In-place dynamic-update-slice: starts once per tile, then the window's elements into the array at an offset.
//
// An update may read the array where it will be written: each element is read before it is stored, by the same lane.
#include "emit/update_slice.h"

#include "emit/blocks.h"
#include "index/hlo_indexing.h"

typedef struct update_starts {
  const hero_update_slice *plan;
  MlirValue **starts;  // by output and dim, clamped
} update_starts;

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

static heddle_status store_window(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                  const void *argument) {
  const update_starts *u = argument;
  const MlirValue *updates = emit_part(e->kernel, b, 0, e->inputs, point, NULL);
  MlirValue *dims = arena_array(b->arena, MlirValue, 2 * point->count);
  for (int n = 0; n < e->kernel->plan->output_count; n++) {
    for (int d = 0; d < point->count; d++) {
      dims[d] = point->values[d];
      dims[point->count + d] = u->starts[n][d];
    }
    const shape *stored = e->kernel->plan->outputs[n].shape, *updated = u->plan->slices[n]->shape;
    ir_values at = ir_apply_indexing(b, element_map(b->arena, u->plan->slices[n]), dims, NULL);
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
    starts[d] = emit_clamped_index(&e->b, raw[d], slice->operands[2 + d]->shape->dtype, room);
  }
  return starts;
}

static heddle_status store_block(kernel_entry *e, int block, MlirValue tile, const void *argument) {
  (void)block;
  const update_starts *u = argument;
  return emit_block(e, &u->plan->block, tile, store_window, u);
}

heddle_status emit_update_slice_entry(kernel_emitter *k, const target_description *target) {
  const hero_update_slice *plan = &k->plan->details.update_slice;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  update_starts starts = {.plan = plan, .starts = arena_array(k->arena, MlirValue *, k->plan->output_count)};
  for (int n = 0; n < k->plan->output_count; n++) starts.starts[n] = clamped_starts(&entry, n, plan->slices[n]);
  TRY(emit_blocks(&entry, 1, &plan->block, store_block, &starts));
  emit_entry_end(&entry);
  return status_ok();
}
