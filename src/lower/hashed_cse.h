#ifndef HEDDLE_LOWER_HASHED_CSE_H_
#define HEDDLE_LOWER_HASHED_CSE_H_

#include "base/arena.h"
#include "lower/session.h"

// MLIR's cse on `op`, in time linear in its loops; false, with diagnostics, if it failed. Scratch memory from the
// arena.
bool hashed_cse_run(arena *scratch, lower_session *session, MlirOperation op);

#endif
