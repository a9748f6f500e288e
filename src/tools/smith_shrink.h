// Makes a failing module small while it goes on failing.
#ifndef HEDDLE_TOOLS_SMITH_SHRINK_H_
#define HEDDLE_TOOLS_SMITH_SHRINK_H_

#include "hlo/module.h"

// Whether the module, which has been verified, still shows the failure.
typedef bool (*smith_fails)(void *context, const module *m);

// The smallest module found for which `fails` holds; `m` itself, copied, if none. Tries at most `tries` modules: other
// roots, values that become parameters or one of their operands, parameters left out.
module *smith_shrink(arena *a, const module *m, smith_fails fails, void *context, int tries);

#endif
