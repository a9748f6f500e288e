// Custom calls that XLA's GPU compiler makes of ordinary operations.
#ifndef HEDDLE_OPT_GPU_CALL_EXPANDER_H_
#define HEDDLE_OPT_GPU_CALL_EXPANDER_H_

#include "hlo/module.h"

// Calls of cuBLAS, cuDNN, cuSOLVER and CUB become the operations that they were, with the epilogues that were fused
// into them: the operands and the configuration say all of it. Calls that do not say enough stay.
heddle_status gpu_call_expander_run(module *m);
// Whether the module holds such a call.
bool gpu_call_expander_applies(const module *m);

#endif
