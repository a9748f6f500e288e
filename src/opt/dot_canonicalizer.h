// Dots as the batched matrix products that libraries have.
#ifndef HEDDLE_OPT_DOT_CANONICALIZER_H_
#define HEDDLE_OPT_DOT_CANONICALIZER_H_

#include "hlo/module.h"

heddle_status dot_canonicalizer_run(module *m);

#endif
