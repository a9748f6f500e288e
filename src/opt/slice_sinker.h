// Elementwise operations on overlapping slices are done once on the whole arrays.
#ifndef HEDDLE_OPT_SLICE_SINKER_H_
#define HEDDLE_OPT_SLICE_SINKER_H_

#include "hlo/module.h"

heddle_status slice_sinker_run(module *m);

#endif
