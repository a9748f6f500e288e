// What is made of tiles without being forced: products of matrices with what is done to them.
#ifndef HEDDLE_KERNEL_TILED_PRODUCT_H_
#define HEDDLE_KERNEL_TILED_PRODUCT_H_

#include "base/target.h"
#include "hlo/module.h"

// Whether what the body computes (operands first; parameters may be among it or not) is what tiles are good at: one
// product of matrices that lie in memory, more than a loop does in passing, and work element by element on its result.
bool tiled_product_suits(arena *scratch, const instruction_list *body, const target_description *target);

// The same of a product whose rows are reduced, and what is made of the results with the rows again: a tile holds some
// rows whole.
bool tiled_product_has_rows(arena *scratch, const instruction_list *body, const target_description *target);

// Whether the former is true, and tiles are estimated to take less time for the product than an emitter's loop.
bool tiled_product_is_sooner(arena *scratch, const instruction_list *body, const target_description *target);

#endif
