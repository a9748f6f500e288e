// Gather simplifier: every gather takes a list of index vectors and gives a list of windows.
#ifndef HEDDLE_OPT_GATHER_SIMPLIFIER_H_
#define HEDDLE_OPT_GATHER_SIMPLIFIER_H_

#include "hlo/module.h"

// Canonical: indices [n, k], index_vector_dim=1, start_index_map={0,...,k-1}, offset_dims={1,...,r}, no collapsed and
// no batching dims. Transposes and reshapes around it do the rest.
heddle_status gather_simplifier_run(module *m);

#endif
