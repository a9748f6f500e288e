// Replaces calls and fusions by the bodies of their computations.
#ifndef HEDDLE_OPT_CALL_INLINER_H_
#define HEDDLE_OPT_CALL_INLINER_H_

#include "hlo/module.h"

// In place, in the entry and in every computation that something other than an inlined call still calls. `keep` (may be
// null) is a call-like instruction that stays, and so do fusions that are to be kept. A get-tuple-element of an inlined
// tuple is forwarded to the element. Computations that nobody calls any more stay in the module, as they were.
// HEDDLE_UNIMPLEMENTED when the result would pass CALL_INLINER_MAX_INSTRUCTIONS, HEDDLE_INVALID for recursion.
heddle_status call_inliner_run(arena *scratch, module *m, const instruction *keep);

// A program of nested calls can describe exponentially much work; this is where we stop writing it out.
enum { CALL_INLINER_MAX_INSTRUCTIONS = 1 << 18 };

#endif
