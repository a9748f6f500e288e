// A call context stands for the call of the public interface that a thread works for; through it another thread can
// cancel that call.
//
// Every thread that works for a call says so (call_enter); the pool does it for its threads. Whoever may work for long
// asks now and then whether it goes on.
#ifndef HEDDLE_BASE_CALL_H_
#define HEDDLE_BASE_CALL_H_

#include <stdatomic.h>

#include "base/status.h"

typedef struct call_context {
  const atomic_bool *is_cancelled;  // null: nobody can end it
} call_context;

// Where a thread's variables lie is known when the library is loaded, not asked for in each call of a shared library:
// of the little room that the system leaves for such variables they take a few bytes.
#define CALL_NEAR __attribute__((tls_model("initial-exec")))

extern _Thread_local const call_context *call_now CALL_NEAR;  // of this thread; null outside of all calls

// From now on this thread works for `c` (null: for none); returns what it worked for until now, to be entered again.
const call_context *call_enter(const call_context *c);

static inline bool call_can_end(void) { return call_now && call_now->is_cancelled; }

// Costs two loads.
static inline bool call_is_over(void) {
  return call_can_end() && atomic_load_explicit(call_now->is_cancelled, memory_order_relaxed);
}

// HEDDLE_CANCELLED once the call has been cancelled.
heddle_status call_cancelled(void);
static inline heddle_status call_check(void) { return call_is_over() ? call_cancelled() : status_ok(); }

#endif
