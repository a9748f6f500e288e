// The stage is told by what passes leave: placeholders of buffers, and markers.
#include "tile/stage.h"

#include "tile/markers.h"
#include "tile/workgroups.h"

tile_stage tile_stage_of(arena *a, MlirOperation module) {
  const ir_operations all = ir_collect(a, module, NULL);
  tile_stage stage = {false, false};
  for (int k = 0; k < all.size; k++) {
    stage.has_buffers |= ir_is(all.data[k], WORKGROUPS_PLACEHOLDER);
    stage.has_tiles |= markers_of(all.data[k]) >= MARKER_WORKGROUP;
  }
  return stage;
}

const pass *const *tile_pipeline_from(tile_stage at, const target_description *target) {
  const pass *const *passes = tile_pipeline(target);
  const pass *first = at.has_buffers ? &tile_verify_memory : at.has_tiles ? &tile_to_buffers : *passes;
  while (*passes != first) passes++;
  return passes;
}
