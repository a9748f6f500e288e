// Common subexpressions: what is computed twice is computed once.
#ifndef HEDDLE_OPT_CSE_H_
#define HEDDLE_OPT_CSE_H_

#include "hlo/module.h"

heddle_status cse_run(module *m);

#endif
