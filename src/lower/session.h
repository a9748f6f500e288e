// A context in which one kernel after the other is lowered, with the managers of MLIR's own passes made in it.
//
// Both are dear: a context registers every dialect, and a manager of canonicalize collects the patterns of all of them
// before it looks at a single operation, for a small kernel more work than all else. A pool of sessions, one for the
// process, keeps them from kernel to kernel and from program to program.
#ifndef HEDDLE_LOWER_SESSION_H_
#define HEDDLE_LOWER_SESSION_H_

#include "dialect/vector_steps.h"

typedef struct lower_session lower_session;

// --- sessions of one's own
// A session in a context that the caller owns and that outlives it.
lower_session *lower_session_create(MlirContext context);
void lower_session_destroy(lower_session *s);

// --- the pool, for any number of threads
// A session in a context of ir_context_create, which is the taker's alone until it is given back.
lower_session *lower_session_take(void);
// Nothing made in the context may be used any more; `is_sound` says that nothing failed in it.
void lower_session_give(lower_session *s, bool is_sound);
// In place of giving it back, where something ended within MLIR: its context and pass managers, which can be in any
// state, are lost; the session's own memory is freed.
void lower_session_abandon(lower_session *s);

MlirContext lower_session_context(const lower_session *s);

// MLIR's canonicalize. Only the patterns of dialects that occur are tried, as trying is paid for by the pattern, not by
// the operation: what they make of one another (arith above all) is among them.
void lower_session_canonicalize(lower_session *s, MlirOperation op);

// The conversion to LLVM's dialect for `index` of that width, kept like all else.
const struct to_llvm *lower_session_to_llvm(lower_session *s, int index_bits);

// A step of MLIR's lowering of vectors (dialect/vector_steps.h), whose patterns are kept. False if it does not end.
bool lower_session_vectors(lower_session *s, vector_step step, MlirOperation op);

// Runs MLIR's own passes (a pipeline's text) on an operation. True on success; an unknown pass or a failure is reported
// through the context's diagnostics.
bool lower_session_run(lower_session *s, const char *pipeline, MlirOperation op);

#endif
