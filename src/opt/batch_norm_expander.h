// Batch-norm expander: batch-norm-training, -inference and -grad -> reductions and arithmetic.
#ifndef HEDDLE_OPT_BATCH_NORM_EXPANDER_H_
#define HEDDLE_OPT_BATCH_NORM_EXPANDER_H_

#include "hlo/module.h"

heddle_status batch_norm_expander_run(module *m);

#endif
