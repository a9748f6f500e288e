// stochastic-convert becomes arithmetic.
#ifndef HEDDLE_OPT_STOCHASTIC_CONVERT_EXPANDER_H_
#define HEDDLE_OPT_STOCHASTIC_CONVERT_EXPANDER_H_

#include "hlo/module.h"

// Of floats to floats and integers of at least 8 bits, with the interpreter's results bit for bit.
heddle_status stochastic_convert_expander_run(module *m);

#endif
