// Tiled shardings as HLO writes them, and the two custom calls with which a program changes between the whole of an
// array and this device's part of it: SPMDFullToShardShape and SPMDShardToFullShape (JAX's shard_map).
//
//   {replicated}  {manual}  {maximal device=0}
//   {devices=[2,1,2]<=[4] last_tile_dim_replicate}
//   {devices=[2,2]<=[2,2]T(1,0)}  {devices=[2,2]0,2,1,3}  {devices=[2,1,2]<=[4] last_tile_dims={manual}}
//
// A grid of devices lies over the array: the device at a place of the grid has the part of the array at that place.
// Grid dims behind the array's count devices that have the same part.
#ifndef HEDDLE_HLO_TILE_SHARDING_H_
#define HEDDLE_HLO_TILE_SHARDING_H_

#include "hlo/module.h"

typedef struct tile_sharding {
  int rank;          // of the grid; 0 if the array is not divided
  int64_t *dims;     // of the grid
  int count;         // devices in the grid: the product of dims
  int64_t *devices;  // by place in the grid, row-major; each of 0 … count - 1 once
} tile_sharding;

// Reads the text; lists live in `a`. HEDDLE_INVALID, at `where`, for what is malformed, for lists that name a device
// twice, and for more than DEVICE_GROUPS_MOST devices.
heddle_status tile_sharding_parse(arena *a, str text, source_location where, tile_sharding *out);

bool tile_sharding_is_move(const instruction *i);  // one of the two custom calls
// How many devices one of them divides its array among: 1 where it divides none or its sharding is malformed.
int tile_move_devices(const instruction *i);

// How one of the two calls divides its larger array among the partitions of one replica: how many parts there are along
// each of its dims, and by which grid. A dim of which both arrays have the whole counts one part, whatever the grid
// says: its axis is not a manual one. HEDDLE_INVALID, at the call, unless sharding, shapes and partitions fit.
typedef struct tile_move {
  bool gathers;  // SPMDShardToFullShape
  const shape *whole, *part;
  int64_t parts[SHAPE_MAX_RANK];
  tile_sharding sharding;
} tile_move;
heddle_status tile_move_of(arena *a, const instruction *i, int partitions, tile_move *out);

// Whether the part of partition `other` belongs to the whole that partition `device` has: their places in the grid
// differ along the divided dims only.
bool tile_move_joins(const tile_move *move, int device, int other);

// Where in the whole array the part of partition `device` begins. All zeros if nothing is divided.
void tile_move_start(const tile_move *move, int device, int64_t start[SHAPE_MAX_RANK]);

#endif
