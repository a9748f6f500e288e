// Reshapes and transposes move towards results, past elementwise operations.
#ifndef HEDDLE_OPT_RESHAPE_MOVER_H_
#define HEDDLE_OPT_RESHAPE_MOVER_H_

#include "hlo/module.h"

heddle_status reshape_mover_run(module *m);

#endif
