// The call that a thread works for is kept in a thread-local variable instead of being handed down: it is asked for at
// the bottom of passes, loops and waits, all of which would otherwise carry an argument for nothing else.
#include "base/call.h"

_Thread_local const call_context *call_now CALL_NEAR;

const call_context *call_enter(const call_context *c) {
  const call_context *before = call_now;
  call_now = c;
  return before;
}

heddle_status call_cancelled(void) { return status_error(HEDDLE_CANCELLED, "cancelled by the caller"); }
