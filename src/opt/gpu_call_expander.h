// Custom calls that XLA's GPU compiler makes of ordinary operations.
#ifndef HEDDLE_OPT_GPU_CALL_EXPANDER_H_
#define HEDDLE_OPT_GPU_CALL_EXPANDER_H_

#include "hlo/module.h"

// Whether the module holds such a call.
bool gpu_call_expander_applies(const module *m);

#endif
