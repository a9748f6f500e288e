// Dynamic slices of what is computed for them alone become computations of slices, so that a tile of such a slice needs
// no more of what it is made of than that.
#ifndef HEDDLE_SUPERTILE_PUSHED_SLICES_H_
#define HEDDLE_SUPERTILE_PUSHED_SLICES_H_

#include "hlo/module.h"

// Moves them through operations element by element and broadcasts, to the bit. What they were taken of is dead then.
heddle_status pushed_slices_run(module *m);

#endif
