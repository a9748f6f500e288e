// How far a result may lie from a reference's if nobody says: XLA's bounds, made wider where types or sums ask for it.
#ifndef HEDDLE_TOOLS_DEFAULT_BOUNDS_H_
#define HEDDLE_TOOLS_DEFAULT_BOUNDS_H_

#include "hlo/module.h"

typedef struct default_bounds {
  double relative, absolute;
} default_bounds;

// `f32` is what the tool allows for f32 (1e-3 in XLA's run_hlo_module). The coarsest type in which the module rounds
// allows eight units in the last place near 1 if that is more, and a sum of n terms the square root of n units:
// rounding errors of a sum add up like a random walk. A module that rounds in f64 only gets a thousandth of `f32`.
default_bounds default_bounds_for(const module *m, double f32);

#endif
