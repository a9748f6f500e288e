// The one table of emitters.
#include "emit/heroes.h"

#include "emit/concatenate.h"
#include "emit/loop.h"
#include "emit/loops.h"
#include "emit/reduction.h"
#include "emit/scatter.h"
#include "emit/transpose.h"
#include "emit/update_slice.h"

const hero_entry emit_heroes[HERO_COUNT] = {
    [HERO_CONCATENATE] = emit_concatenate_entry,
    [HERO_LOOP] = emit_loop_entry,
    [HERO_LOOPS] = emit_loops_entry,
    [HERO_REDUCTION] = emit_reduction_entry,
    [HERO_SCATTER] = emit_scatter_entry,
    [HERO_TRANSPOSE] = emit_transpose_entry,
    [HERO_UPDATE_SLICE] = emit_update_slice_entry,
};
