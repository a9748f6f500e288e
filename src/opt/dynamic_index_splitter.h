// Dynamic index splitter: start indices of dynamic slices and updates that come as one vector become scalars.
#ifndef HEDDLE_OPT_DYNAMIC_INDEX_SPLITTER_H_
#define HEDDLE_OPT_DYNAMIC_INDEX_SPLITTER_H_

#include "hlo/module.h"

bool dynamic_index_is_vector(const instruction *i);

heddle_status dynamic_index_splitter_run(module *m);

#endif
