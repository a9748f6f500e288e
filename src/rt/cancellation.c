// The public calls by which other threads end calls early (include/heddle/runtime.h).
#include "rt/cancellation.h"

#include <stdlib.h>

#include "base/status.h"

struct heddle_cancellation {
  atomic_bool is_cancelled;
};

heddle_status heddle_cancellation_create(heddle_cancellation **out) {
  if (!out) return status_error(HEDDLE_INVALID, "found null for the place of the cancellation");
  *out = calloc(1, sizeof **out);
  return *out ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a cancellation");
}

void heddle_cancellation_free(heddle_cancellation *cancellation) { free(cancellation); }

void heddle_cancel(heddle_cancellation *cancellation) {
  if (cancellation) atomic_store(&cancellation->is_cancelled, true);
}

bool heddle_is_cancelled(const heddle_cancellation *cancellation) {
  return cancellation && atomic_load(&cancellation->is_cancelled);
}

void heddle_cancellation_renew(heddle_cancellation *cancellation) {
  if (cancellation) atomic_store(&cancellation->is_cancelled, false);
}

const atomic_bool *cancellation_flag(const heddle_cancellation *c) { return c ? &c->is_cancelled : NULL; }
