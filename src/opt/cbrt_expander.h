// Cbrt expander: cube roots by exponential and logarithm, one step of Newton behind them.
#ifndef HEDDLE_OPT_CBRT_EXPANDER_H_
#define HEDDLE_OPT_CBRT_EXPANDER_H_

#include "hlo/module.h"

heddle_status cbrt_expander_run(module *m);

#endif
