// Dynamic-shape refinement: sizes that are known make dynamic dims static.
#ifndef HEDDLE_OPT_DYNAMIC_SHAPES_H_
#define HEDDLE_OPT_DYNAMIC_SHAPES_H_

#include "hlo/module.h"

// Folds get-dimension-size of static dims, set-dimension-size and dynamic-reshape by sizes that depend on constants
// only, and carries the new shapes to all users within the computation (run the call inliner first). Dims whose size
// only the arguments decide stay dynamic.
heddle_status dynamic_shapes_run(module *m);

#endif
