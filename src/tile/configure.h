// Choosing a configuration for one operation.
#ifndef HEDDLE_TILE_CONFIGURE_H_
#define HEDDLE_TILE_CONFIGURE_H_

#include "lower/pass.h"
#include "tile/product_form.h"

// Makes a root of a structured operation that no other root's tiles took along.
heddle_status configure_left(lower_context *c, MlirOperation op);

// What an operation in a register tile does at once, by loop, 0 for all of it; returns how many loops there are.
// `sizes` has room for TILING_MAX_LOOPS.
int configure_step(const lower_context *c, MlirOperation op, int64_t *sizes);

// Whether a product is worth the copies of its operands. The sums of one that is no root lie in a tile's memory.
bool configure_packs(const lower_context *c, const product_form *p, bool is_root);

#endif
