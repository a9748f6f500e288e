// Products with a level of cache between the tile of a workgroup and that of registers.
#ifndef HEDDLE_TILE_PACK_H_
#define HEDDLE_TILE_PACK_H_

#include "lower/pass.h"
#include "tile/product_form.h"

// Whether packing is worth it though there are fewer rows than a register tile has: where terms are neighbours among
// the columns' factors and not among the rows', and where an instruction adds up several terms.
bool pack_takes_few_rows(const lower_context *c, const product_form *p);

// Replaces a product on tensors, which computes a workgroup's tile, by loops over blocks of terms, rows and columns
// with packed operands; what is in them has register tiles and is marked for vectors. `share` of the products in the
// region share the memory of a tile.
heddle_status pack_product(lower_context *c, product_form *p, int share);

#endif
