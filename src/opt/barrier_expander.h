// Operations that only mark or order values go.
#ifndef HEDDLE_OPT_BARRIER_EXPANDER_H_
#define HEDDLE_OPT_BARRIER_EXPANDER_H_

#include "hlo/module.h"

// opt-barrier and domain become their operand; so does add-dependency, whose users then wait for what made the token by
// control edges.
heddle_status barrier_expander_run(module *m);

#endif
