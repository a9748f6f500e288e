// The k largest or smallest elements of each line along the last dim, in order, with their indices.
//
// Floats follow the total order, in which NaN stands above infinity, its negation below all, and -0 below 0; of equal
// elements the first comes first.
#ifndef HEDDLE_LIB_TOP_K_H_
#define HEDDLE_LIB_TOP_K_H_

#include "lib/call.h"

// See prog/library.h, program_top_k. HEDDLE_INVALID when shapes do not fit together; the other two take calls that have
// passed.
heddle_status top_k_check(const lib_call *call);
int64_t top_k_scratch(const lib_call *call);
void top_k_execute(const lib_call *call);

#endif
