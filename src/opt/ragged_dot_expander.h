// ragged-dot becomes a loop of dots.
#ifndef HEDDLE_OPT_RAGGED_DOT_EXPANDER_H_
#define HEDDLE_OPT_RAGGED_DOT_EXPANDER_H_

#include "hlo/module.h"

// All ragged dots of static shape. One dot a group, whatever the sizes of the groups are.
heddle_status ragged_dot_expander_run(module *m);

#endif
