// Forms: what XLA's verifier takes in more than one form comes in the one that all else here knows.
#ifndef HEDDLE_OPT_FORM_NORMALIZATION_H_
#define HEDDLE_OPT_FORM_NORMALIZATION_H_

#include "hlo/module.h"

// Whether any operation has another form: without, the pass changes nothing.
bool form_normalization_applies(const module *m);

#endif
