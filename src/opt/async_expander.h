// Asynchronous pairs become the operations that they start.
#ifndef HEDDLE_OPT_ASYNC_EXPANDER_H_
#define HEDDLE_OPT_ASYNC_EXPANDER_H_

#include "hlo/module.h"

// async-start (a call of its computation), copy-start and the collectives' starts, with their updates and dones. send
// and recv stay: their halves meet another program. What a start's tuple holds beside the result is made of constants.
heddle_status async_expander_run(module *m);

#endif
