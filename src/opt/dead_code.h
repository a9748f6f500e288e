// Removes what no result depends on.
#ifndef HEDDLE_OPT_DEAD_CODE_H_
#define HEDDLE_OPT_DEAD_CODE_H_

#include "hlo/module.h"

// In place: instructions that the root does not need, entry parameters and side effects apart, then computations that
// nobody calls. Parameters of called computations stay, since callers pass them.
heddle_status dead_code_run(module *m);

#endif
