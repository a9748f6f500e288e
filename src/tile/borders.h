// Sums of products some of whose terms are none: those of windows with what lies beside the image, or in its gaps.
//
// Zeros lie there, so that register tiles need not ask, and the product of a zero with a weight is zero again, unless
// the weight is infinite or NaN: then the sum is NaN. A sum that is NaN is the only one that may be wrong, and what is
// NaN stays NaN whatever is added. So the sums of a tile are looked through when they are there, which costs next to
// nothing, and where any is NaN they are all made again, term by term, by loops that ask. What that is by right stays
// so.
#ifndef HEDDLE_TILE_BORDERS_H_
#define HEDDLE_TILE_BORDERS_H_

#include "tile/nest.h"
#include "tile/product_form.h"

// *sums: of all of the product's columns and rows, behind what made them with zeros; nothing is done where every term
// counts. `lanes` of a vector are looked at and made at a time.
heddle_status borders_mend(const product_form *p, ir_builder *b, int64_t lanes, MlirValue *sums);

#endif
