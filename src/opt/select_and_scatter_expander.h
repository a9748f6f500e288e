// Replaces select-and-scatter by the winner of each window and where it adds.
#ifndef HEDDLE_OPT_SELECT_AND_SCATTER_EXPANDER_H_
#define HEDDLE_OPT_SELECT_AND_SCATTER_EXPANDER_H_

#include "hlo/module.h"

// Select-and-scatters of static shape, any window. Bodies are called: the call and map inliners follow. An element that
// several windows choose takes their values in the order of the windows.
heddle_status select_and_scatter_expander_run(module *m);

#endif
