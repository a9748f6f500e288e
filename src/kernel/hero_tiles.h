// The tiles hero takes kernels through linalg: tiles of whole-array operations that become vector code.
#ifndef HEDDLE_KERNEL_HERO_TILES_H_
#define HEDDLE_KERNEL_HERO_TILES_H_

#include "kernel/kernel.h"

// Whether src/tile has a form for the operation; of its attributes and types it says more when it makes code.
bool hero_tiles_has_form(const instruction *i);

// Whether the window reads elements beside the array or between its elements, and how large a dimension with these is.
bool hero_tiles_pads(const window *w);
int64_t hero_tiles_padded_size(int64_t size, const window_dim *w);

// How many operations src/tile goes back through for an element that it computes where it is read.
enum { HERO_TILES_PULLED_MAX = 64 };

// False if no kernel of the computation is made of tiles; else planning it tells.
bool hero_tiles_may_take(const computation *c, const target_description *target);

// Whether there is a form for all of the kernel, with the memory that a workgroup has; counts its operations in the
// plan's details. *work: what all elements come to, as work_estimate_operations counts.
bool hero_tiles_fits(kernel_plan *k, const instruction_list *body, const target_description *target, double *work);

// See hero_rule. Takes, where target->codegen asks for tiles, what consists of operations that have a form; where it
// leaves the choice, what tiled_product_is_sooner says.
bool hero_tiles_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
