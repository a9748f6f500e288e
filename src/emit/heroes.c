// The one table of emitters.
#include "emit/heroes.h"

#include "emit/concatenate.h"
#include "emit/grid_concatenate.h"
#include "emit/grid_loops.h"
#include "emit/grid_reduction.h"
#include "emit/grid_reductions.h"
#include "emit/grid_scatter.h"
#include "emit/grid_transpose.h"
#include "emit/grid_update_slice.h"
#include "emit/loop.h"
#include "emit/loops.h"
#include "emit/reduction.h"
#include "emit/scatter.h"
#include "emit/transpose.h"
#include "emit/update_slice.h"
#include "emit/while.h"

// Where kernels take a range of tiles.
#define TILES(entry) [TARGET_CPU] = (entry), [TARGET_NULL] = (entry)
// Where they are a grid of threads.
#define GRIDS(entry) [TARGET_NVPTX] = (entry), [TARGET_VULKAN] = (entry)

const hero_entry emit_heroes[HERO_COUNT][TARGET_KIND_COUNT] = {
    [HERO_CONCATENATE] = {TILES(emit_concatenate_entry), GRIDS(emit_grid_concatenate_entry)},
    [HERO_LOOP] = {TILES(emit_loop_entry), GRIDS(emit_loop_entry)},
    [HERO_LOOPS] = {TILES(emit_loops_entry), GRIDS(emit_grid_loops_entry)},
    [HERO_REDUCTION] = {TILES(emit_reduction_entry), GRIDS(emit_grid_reduction_entry)},
    [HERO_REDUCTIONS] = {GRIDS(emit_grid_reductions_entry)},
    [HERO_SCATTER] = {TILES(emit_scatter_entry), GRIDS(emit_grid_scatter_entry)},
    [HERO_TRANSPOSE] = {TILES(emit_transpose_entry), GRIDS(emit_grid_transpose_entry)},
    [HERO_UPDATE_SLICE] = {TILES(emit_update_slice_entry), GRIDS(emit_grid_update_slice_entry)},
    [HERO_WHILE] = {TILES(emit_while_entry)},
};
