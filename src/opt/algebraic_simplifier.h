// Algebraic simplification: identities that hold exactly for every value.
#ifndef HEDDLE_OPT_ALGEBRAIC_SIMPLIFIER_H_
#define HEDDLE_OPT_ALGEBRAIC_SIMPLIFIER_H_

#include "hlo/module.h"

heddle_status algebraic_simplifier_run(module *m);

#endif
