// Logistic expander: logistic -> 1 / (1 + exp(-x)).
#ifndef HEDDLE_OPT_LOGISTIC_EXPANDER_H_
#define HEDDLE_OPT_LOGISTIC_EXPANDER_H_

#include "hlo/module.h"

heddle_status logistic_expander_run(module *m);

#endif
