// Finds which elements each launch of a kernel stores: for each hero the maps from launch ids and loops to elements.
#ifndef HEDDLE_TOOLS_KERNEL_PLACES_H_
#define HEDDLE_TOOLS_KERNEL_PLACES_H_

#include "index/indexing_map.h"
#include "kernel/kernel.h"

// `map` gives indices of `of`, one of possibly several maps that share its elements.
typedef struct kernel_place {
  const instruction *of;
  int output;  // of the kernel, that takes the values; -1: kept within a tile, for whoever reads them
  const indexing_map *map;
} kernel_place;

typedef struct kernel_places {
  bool are_windows;  // `of` are updates, which go to places that only the run knows
  VEC(kernel_place) list;
} kernel_places;

// From the plan's own figures, by hero and target. HEDDLE_UNIMPLEMENTED where the run decides which tile takes what.
heddle_status kernel_places_find(arena *a, const kernel_plan *kernel, const target_description *target,
                                 kernel_places *out);

#endif
