// --verify-diagnostics: what a test's comments say about the diagnostics of its own lines.
//
//   // expected-error@+1 {{part of the message}}
//
// Severities: error, warning, remark, note. Places: none (this line), @+N, @-N, @N, @above, @below, @unknown. `-re`
// behind the severity: {{…}} inside the braces is a regular expression.
#ifndef HEDDLE_TOOLS_EXPECTED_DIAGNOSTICS_H_
#define HEDDLE_TOOLS_EXPECTED_DIAGNOSTICS_H_

#include <mlir-c/Diagnostics.h>

#include "base/status.h"
#include "base/str.h"

typedef struct expected_diagnostics expected_diagnostics;

// Listens to the context; nothing is printed any more. HEDDLE_INVALID for a malformed comment. `*out` lives in `a`,
// which must outlive the context.
heddle_status expected_diagnostics_start(arena *a, MlirContext context, str source, expected_diagnostics **out);

// HEDDLE_INVALID with a line for each that was expected and did not come, or came and was not expected.
heddle_status expected_diagnostics_finish(expected_diagnostics *e);

#endif
