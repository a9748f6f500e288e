// Loops over the subgroups of a workgroup: whose variables say where a subgroup's tile of the workgroup's begins.
//
//   scf.forall (%i) = (0) to (32) step (16) { … } {mapping = [#gpu.warp<linear_dim_0>]}
//
// The numbers of subgroups run along the loop's last dim first.
#ifndef HEDDLE_TILE_SUBGROUP_LOOPS_H_
#define HEDDLE_TILE_SUBGROUP_LOOPS_H_

#include "lower/pass.h"
#include "tile/workgroups.h"

// The attribute of a function that has such loops: how many workitems a subgroup has.
#define SUBGROUP_LOOPS_SIZE "iree.subgroup_size"

// What such a loop of that many dims says of them. There are ten at most.
MlirAttribute subgroup_loops_mapping(MlirContext context, int rank);
// The innermost such loop around the operation; null: none is.
MlirOperation subgroup_loops_around(MlirOperation op);
// The tiles of such a loop. HEDDLE_UNIMPLEMENTED, with its place, where their number is not known, or where they are
// numbered otherwise.
heddle_status subgroup_loops_grid(MlirOperation loop, workgroups_grid *out);

// How many workitems the function says that a subgroup has; `otherwise` if it says nothing, or nothing that is one.
int64_t subgroup_loops_size(MlirOperation function, int64_t otherwise);

#endif
