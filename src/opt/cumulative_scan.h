// Cumulative reduce-windows without quadratic work.
#ifndef HEDDLE_OPT_CUMULATIVE_SCAN_H_
#define HEDDLE_OPT_CUMULATIVE_SCAN_H_

#include "hlo/module.h"

// Reduce-windows of one operand whose windows end (or begin) at each element and reach over the whole dim, in one or
// more dims longer than 32. Sums, products, maxima and the like take O(n) steps, other computations O(n log n).
heddle_status cumulative_scan_run(module *m);

#endif
