// Constant folding by the interpreter.
#ifndef HEDDLE_OPT_CONSTANT_FOLDING_H_
#define HEDDLE_OPT_CONSTANT_FOLDING_H_

#include "hlo/module.h"

heddle_status constant_folding_run(module *m);

#endif
