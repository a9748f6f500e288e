// The flag --streams: how many thunks a device runs side by side.
#ifndef HEDDLE_TOOLS_STREAMS_FLAG_H_
#define HEDDLE_TOOLS_STREAMS_FLAG_H_

#include "base/status.h"

#define STREAMS_FLAG(value)             \
  {"streams", FLAG_SIZE, &(value), "N", \
   "streams or queues that independent thunks run on side by side, 1: none do (as many as the device has)"}

// HEDDLE_INVALID for more than any program may have.
heddle_status streams_flag_check(int streams);

#endif
