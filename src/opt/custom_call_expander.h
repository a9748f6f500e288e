// Custom calls that are HLO under another name.
#ifndef HEDDLE_OPT_CUSTOM_CALL_EXPANDER_H_
#define HEDDLE_OPT_CUSTOM_CALL_EXPANDER_H_

#include "hlo/module.h"

// Marks of placement and sharding become their operands, buffers without contents zeros, mhlo.* the operation of that
// name, approximate top-k a sort of which the beginning is taken. Calls that do not fit their target stay.
heddle_status custom_call_expander_run(module *m);

#endif
