// scaled-dot becomes a dot of operands times their scales.
#ifndef HEDDLE_OPT_SCALED_DOT_EXPANDER_H_
#define HEDDLE_OPT_SCALED_DOT_EXPANDER_H_

#include "hlo/module.h"

// Scaled dots whose scales divide the operands in blocks.
heddle_status scaled_dot_expander_run(module *m);

#endif
