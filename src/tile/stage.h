// Where a region that comes as text stands on the road through tiles.
#ifndef HEDDLE_TILE_STAGE_H_
#define HEDDLE_TILE_STAGE_H_

#include "emit/ir_builder.h"
#include "tile/passes.h"

// It is on buffers, or its operations compute tiles, or it is at the beginning.
typedef struct tile_stage {
  bool has_buffers, has_tiles;
} tile_stage;

tile_stage tile_stage_of(arena *a, MlirOperation module);

// What is left of tile_pipeline for the target.
const pass *const *tile_pipeline_from(tile_stage at, const target_description *target);

#endif
