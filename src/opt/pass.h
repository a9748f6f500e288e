// Passes from HLO to HLO by name, and the pipeline they form.
#ifndef HEDDLE_OPT_PASS_H_
#define HEDDLE_OPT_PASS_H_

#include "hlo/module.h"

typedef enum opt_pass_use {
  OPT_NEEDED,     // code generation takes only what it leaves
  OPT_IMPROVES,   // code generation takes more: the code is better for it
  OPT_FOLDS,      // the same, by evaluating operations while compiling
  OPT_ON_REQUEST  // not in the pipeline: for code generators that lack the operation or sum in another order
} opt_pass_use;

typedef struct opt_pass {
  const char *name;  // as hlo-opt --passes spells it: "call-inliner"
  const char *summary;
  heddle_status (*run)(module *m);  // in place
  opt_pass_use use;
} opt_pass;

// Every pass there is, in the order in which the pipeline runs them; ends with a row whose name is null.
extern const opt_pass opt_passes[];
const opt_pass *opt_pass_find(str name);  // null if there is none

// Told about the module after each pass; for prints.
typedef void (*opt_observer)(void *argument, const opt_pass *pass, const module *m);

// Puts callees in front of callers and operands in front of users.
heddle_status opt_sort(module *m);

// Runs the passes in order. After each, instructions stand behind their operands again and the module is verified
// (in optimized builds after the last one only); errors name the pass.
heddle_status opt_run(module *m, const opt_pass *const *passes, int count, opt_observer observer, void *argument);

// The pipeline: all of opt_passes, in order, but for those on request.
heddle_status opt_run_pipeline(module *m, opt_observer observer, void *argument);

#endif
