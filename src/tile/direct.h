// Products whose operands are read where they lie.
#ifndef HEDDLE_TILE_DIRECT_H_
#define HEDDLE_TILE_DIRECT_H_

#include "lower/pass.h"
#include "tile/product_form.h"

// Whether the product is one that is read once only, by rows of memory: few rows, or factors of which no two columns
// have one in common.
bool direct_takes(const lower_context *c, const product_form *p);

// Replaces it, as pack_product does.
heddle_status direct_product(lower_context *c, product_form *p);

#endif
