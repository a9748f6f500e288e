// The computations that run as programs: the entry and what its control flow calls, but not the bodies of kernels.
#ifndef HEDDLE_LHLO_PROGRAM_ORDER_H_
#define HEDDLE_LHLO_PROGRAM_ORDER_H_

#include "hlo/module.h"

typedef VEC(computation *) program_list;

// Callees before callers, each once; the entry is the last.
heddle_status program_order(arena *a, const module *m, program_list *out);

#endif
