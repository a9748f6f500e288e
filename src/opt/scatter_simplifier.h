// Scatter simplifier: every scatter takes a list of index vectors and a list of windows.
#ifndef HEDDLE_OPT_SCATTER_SIMPLIFIER_H_
#define HEDDLE_OPT_SCATTER_SIMPLIFIER_H_

#include "hlo/module.h"

// Canonical: indices [n, k], index_vector_dim=1, scatter_dims_to_operand_dims={0,...,k-1},
// update_window_dims={1,...,r}, no inserted and no batching dims. Transposes and reshapes around it do the rest.
heddle_status scatter_simplifier_run(module *m);

#endif
