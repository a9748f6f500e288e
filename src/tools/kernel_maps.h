// Finds which elements each launch of a kernel stores: for each hero the maps from launch ids and loops to elements.
#ifndef HEDDLE_TOOLS_KERNEL_MAPS_H_
#define HEDDLE_TOOLS_KERNEL_MAPS_H_

#include "index/indexing_map.h"
#include "kernel/kernel.h"

// `map` gives indices of `of`, one of possibly several maps that share its elements.
typedef struct kernel_map {
  const instruction *of;
  int output;  // of the kernel, that takes the values; -1: kept within a tile, for whoever reads them
  const indexing_map *map;
} kernel_map;

typedef struct kernel_maps {
  bool are_windows;  // `of` are updates, which go to indices that only the run knows
  VEC(kernel_map) list;
} kernel_maps;

// From the plan's own figures, by hero and target. HEDDLE_UNIMPLEMENTED where the run decides which tile takes what.
heddle_status kernel_maps_find(arena *a, const kernel_plan *kernel, const target_description *target, kernel_maps *out);

#endif
