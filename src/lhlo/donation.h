// Decides which results may take over which parameters' memory.
#ifndef HEDDLE_LHLO_DONATION_H_
#define HEDDLE_LHLO_DONATION_H_

#include "hlo/module.h"

// From the module's attributes input_output_alias and buffer_donor. By result leaf: the parameter leaf, or -1. Pairs
// that do not fit (of different sizes, of tuples) are left out when they are no more than allowed, and HEDDLE_INVALID
// when they are demanded; so is text that cannot be read.
heddle_status donation_find(arena *a, const module *m, int **out);

#endif
