// The custom call heddle.open_size: a size that is only known when the program runs, as a number.
#ifndef HEDDLE_LIB_OPEN_SIZE_H_
#define HEDDLE_LIB_OPEN_SIZE_H_

#include "lib/call.h"

// No operands; the result, an s32 scalar, becomes the attribute `value`. HEDDLE_INVALID for other arrays, and for a
// value beyond s32.
heddle_status open_size_execute(const lib_call *call);

#endif
