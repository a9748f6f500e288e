// Mixed types: XLA lets most operations take floats of several widths, and dots and convolutions floats and whole
// numbers; here converts make the types agree.
#ifndef HEDDLE_OPT_MIXED_TYPES_EXPANDER_H_
#define HEDDLE_OPT_MIXED_TYPES_EXPANDER_H_

#include "hlo/module.h"

// Whether any operation mixes types: without, the expander changes nothing.
bool mixed_types_expander_applies(const module *m);

#endif
