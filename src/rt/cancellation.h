// What stands behind the public handle of a cancellation.
#ifndef HEDDLE_RT_CANCELLATION_H_
#define HEDDLE_RT_CANCELLATION_H_

#include <stdatomic.h>

#include "heddle/runtime.h"

// For a call's context (base/call.h); null is allowed.
const atomic_bool *cancellation_flag(const heddle_cancellation *c);

#endif
