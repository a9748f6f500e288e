// The loop emitter makes the entry function of a kernel that computes every element on its own.
#ifndef HEDDLE_EMIT_LOOP_H_
#define HEDDLE_EMIT_LOOP_H_

#include "emit/elemental.h"

// See hero_entry. Calls the partition's first function at every point and inserts what it returns: one xla_gpu.loop if
// it is flat.
heddle_status emit_loop_entry(kernel_emitter *k, const target_description *target);

// The map from launch ids and the loop's variable to the first output's indices. gpu: (th_x, bl_x)[vector_index], and
// bl_y if the grid has two dimensions; cpu: (tile)[i].
const indexing_map *emit_loop_map(arena *a, const target_description *target, const launch_plan *launch,
                                  const shape *output);

// Indices of the element that lies at `linear` in the memory of an array of that shape and layout.
void emit_loop_indices(arena *a, const shape *s, const affine_expr *linear, const affine_expr **indices);

#endif
