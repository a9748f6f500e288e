// Dynamic index splitter: start indices of dynamic slices and updates that come as one vector become scalars.
#ifndef HEDDLE_OPT_DYNAMIC_INDEX_SPLITTER_H_
#define HEDDLE_OPT_DYNAMIC_INDEX_SPLITTER_H_

#include "hlo/module.h"

// Whether it is such a slice or update.
bool dynamic_index_is_vector(const instruction *i);

#endif
