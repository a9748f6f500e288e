// scan becomes a while loop.
#ifndef HEDDLE_OPT_SCAN_EXPANDER_H_
#define HEDDLE_OPT_SCAN_EXPANDER_H_

#include "hlo/module.h"

// Scans whose operands, computation and results fit together; the others are left for whoever runs them to refuse. The
// loop calls the computation: the call inliner follows.
heddle_status scan_expander_run(module *m);

#endif
