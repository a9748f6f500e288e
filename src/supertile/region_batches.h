// Regions of operations that libraries make of whole lines or matrices, one for each element of their other dims:
// sorts, the largest elements, Fourier transforms, factorizations, triangular systems, running sums.
#ifndef HEDDLE_SUPERTILE_REGION_BATCHES_H_
#define HEDDLE_SUPERTILE_REGION_BATCHES_H_

#include "supertile/region_box.h"

// Whether the operation is one of these; of custom calls those whose meaning is known.
bool region_batches_has(const instruction *i);

// As region_of_operand does. `in` comes as the whole operand, which has a rank.
region_answer region_batches_find(const instruction *i, const region *out, int operand, region *in);

#endif
