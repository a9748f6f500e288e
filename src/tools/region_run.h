// Runs a dispatch region from its text, whatever stage of the road through tiles that shows.
#ifndef HEDDLE_TOOLS_REGION_RUN_H_
#define HEDDLE_TOOLS_REGION_RUN_H_

#include "tools/execute.h"

// The module has one region behind an interface. Bindings that are read are the arguments' arrays, in order of set and
// binding, those that are written the result's arrays, which are as `result` says; where sizes show that the order is
// another, they say which is which, or that nothing does. The passes that have not run yet do;
// then the region runs on this machine or on a Vulkan device, as the runtime runs kernels.
// HEDDLE_INVALID for text that MLIR does not read, and for bindings that do not fit; what the passes refuse.
heddle_status region_run(arena *a, str source, platform on, const argument_list *arguments, const shape *result,
                         literal **out);

#endif
