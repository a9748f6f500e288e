// What a region on buffers is dealt out by: the bindings that are its memory, and the loops over its workgroups.
#ifndef HEDDLE_TILE_WORKGROUPS_H_
#define HEDDLE_TILE_WORKGROUPS_H_

#include "base/map.h"
#include "emit/ir_builder.h"
#include "hlo/shape.h"
#include "lower/pass.h"

#define WORKGROUPS_PLACEHOLDER "iree.placeholder"
#define WORKGROUPS_FORALL "scf.forall"
#define WORKGROUPS_PARALLEL "scf.parallel"
#define WORKGROUPS_MAPPING "mapping"  // of a loop: by dim, what of a GPU goes along it

// A binding of the region's interface, and the pointer that stands for it once the region is a function of pointers.
typedef struct workgroups_binding {
  str name;
  int64_t set, number;
  MlirValue pointer;
} workgroups_binding;

typedef VEC(workgroups_binding) workgroups_bindings;

// The bindings beside the function, in their order, each with an argument of the function that is a pointer.
void workgroups_bind(lower_context *c, MlirOperation function, workgroups_bindings *out);
// The same with an index behind the pointers, which is returned.
MlirValue workgroups_bind_numbered(lower_context *c, MlirOperation function, workgroups_bindings *out);
// The binding that a placeholder names; HEDDLE_INVALID, with its place, if there is none.
heddle_status workgroups_binding_of(MlirOperation placeholder, const workgroups_bindings *all,
                                    const workgroups_binding **out);

// The workgroups of one loop: their positions along each dim, and how many there are.
typedef struct workgroups_grid {
  int rank;
  int64_t lower[SHAPE_MAX_RANK], step[SHAPE_MAX_RANK], trips[SHAPE_MAX_RANK];
  int64_t count;
} workgroups_grid;

// Of an scf.forall or scf.parallel; false if it is not known.
bool workgroups_grid_of(MlirOperation loop, workgroups_grid *out);
// Whether the loop's turns have the memory among themselves: of a memref.subview in its body, that each turn's is a
// tile of its own and the tiles are all of the memory. By dim of the memory, *dims are the loop's dim that goes along
// it, -1: each tile has all of it (SHAPE_MAX_RANK of them).
bool workgroups_covers(MlirOperation loop, MlirOperation view, int *dims);
// How many tiles, among which the workgroups are dealt on a CPU, the function says that it has; *out stays if it says
// nothing. HEDDLE_INVALID, with its place, for what is no such number.
#define WORKGROUPS_TILES "xla.tiles"
heddle_status workgroups_tiles(MlirOperation function, int64_t *out);
// How many workitems in x, y and z the function says that a workgroup has (`local_size` of its attribute
// WORKGROUPS_LOCAL_SIZE); false if it does not say so.
#define WORKGROUPS_LOCAL_SIZE "spv.entry_point_abi"
bool workgroups_local_size(MlirOperation function, int64_t out[3]);
// How many workitems these are together. HEDDLE_INVALID, with the function's place, for none, and for more than
// LAUNCH_MOST_THREADS (lower/launch.h).
heddle_status workgroups_count_threads(MlirOperation function, const int64_t local[3], int64_t *out);
// How many workitems a workgroup has: as the function's launch says, or its local size; `otherwise` if neither does.
// HEDDLE_INVALID as from launch_of and workgroups_count_threads.
heddle_status workgroups_threads(MlirOperation function, int64_t otherwise, int64_t *out);

// Moves a loop's turn of that number, in row-major order, in front of `anchor`, and erases the loop, which may be the
// anchor.
void workgroups_put_turn(arena *a, MlirOperation loop, const workgroups_grid *g, MlirOperation anchor,
                         MlirValue number);

bool workgroups_is_loop(MlirOperation op);
// Whether it is a loop that is over the subgroups of a workgroup (#gpu.warp in its mapping; tile/subgroup_loops.h).
bool workgroups_is_subgroups(MlirOperation op);
// Of the block, what loops over workgroups read, and whatever that reads: it was hoisted out of them, and stays in
// front of them. By operation.
ptr_map workgroups_hoisted(arena *a, MlirBlock block);

// Whether the function is loops over workgroups that can run side by side, and what computes nothing in memory; then
// *loops are they. *single: what else computes something, which is one workgroup more.
bool workgroups_are_independent(arena *a, MlirOperation function, ir_operations *loops, ir_operations *single);

// Puts the function right into the module, without the interface around and beside it.
void workgroups_lift(MlirOperation module, MlirOperation function);
void workgroups_forget_interfaces(arena *a, MlirOperation module);

#endif
