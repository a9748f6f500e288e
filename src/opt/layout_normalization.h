// Layout normalization: arrays inside a module have the default layout, other layouts are transposes.
#ifndef HEDDLE_OPT_LAYOUT_NORMALIZATION_H_
#define HEDDLE_OPT_LAYOUT_NORMALIZATION_H_

#include "hlo/module.h"

// HEDDLE_UNIMPLEMENTED for a bitcast from or to a tiled layout.
heddle_status layout_normalization_run(module *m);

#endif
