// Makes a fusion of each loop whose turns can be one kernel.
#ifndef HEDDLE_FUSE_FUSE_WHILE_H_
#define HEDDLE_FUSE_FUSE_WHILE_H_

#include "base/target.h"
#include "hlo/module.h"

// Loops of all computations that run as sequences. What they leave behind is dead. Bodies that such fusions call are
// copies, which nothing else calls.
heddle_status fuse_while_run(arena *scratch, module *m, const target_description *target);

#endif
