// Convolutions in the forms that libraries have.
#ifndef HEDDLE_OPT_CONVOLUTION_CANONICALIZER_H_
#define HEDDLE_OPT_CONVOLUTION_CANONICALIZER_H_

#include "hlo/module.h"

heddle_status convolution_canonicalizer_run(module *m);

#endif
