// The flags --streams and --device: which device of a platform runs a program, and on how many streams.
#ifndef HEDDLE_TOOLS_DEVICE_FLAGS_H_
#define HEDDLE_TOOLS_DEVICE_FLAGS_H_

#include "base/status.h"

#define STREAMS_FLAG(value)             \
  {"streams", FLAG_SIZE, &(value), "N", \
   "streams or queues that independent thunks run on side by side, 1: none do (as many as the device has)"}
#define DEVICE_FLAG(value)                       \
  {"device", FLAG_TEXT, &(value), "NUMBER|NAME", \
   "the platform's device that runs the program, as heddle info --devices lists them (the platform chooses)"}

// Of --streams: HEDDLE_INVALID for more than any program may have.
heddle_status device_flags_check(int streams);

#endif
