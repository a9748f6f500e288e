// Erf expander: the error function of f32 and narrower types as a rational function.
#ifndef HEDDLE_OPT_ERF_EXPANDER_H_
#define HEDDLE_OPT_ERF_EXPANDER_H_

#include "hlo/module.h"

heddle_status erf_expander_run(module *m);

#endif
