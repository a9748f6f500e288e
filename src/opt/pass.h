// Declares passes from HLO to HLO and the pipeline that they form. The driver is base/pass.h's.
#ifndef HEDDLE_OPT_PASS_H_
#define HEDDLE_OPT_PASS_H_

#include "base/pass.h"
#include "hlo/module.h"

// A unit of these passes is a module; they say what they change.
extern const pass_unit_kind opt_modules;

// Every pass there is, in the order in which the pipeline runs them, some more than once; ends with null.
extern const pass *const opt_passes[];
const pass *opt_pass_find(str name);  // null if there is none

// Puts callees in front of callers and operands in front of users.
heddle_status opt_sort(arena *scratch, module *m);

// Runs the passes, which end with null, in order. After each, instructions stand behind their operands again.
// `control` may be null.
heddle_status opt_run(module *m, const pass *const *passes, pass_control *control);

// The pipeline: all of opt_passes, in order, but for those on request.
heddle_status opt_run_pipeline(module *m, pass_control *control);

#endif
