// Splits reductions of many elements to few results into two steps, so that there is work to divide among threads.
#ifndef HEDDLE_FUSE_REDUCTION_SPLITTER_H_
#define HEDDLE_FUSE_REDUCTION_SPLITTER_H_

#include "base/target.h"
#include "kernel/reducer.h"

// Splits every reduce of the computation that has few results and many elements for each: chunks of fixed number are
// reduced first, their results then. Where the innermost dims are kept but short, several elements lie side by side in
// the first step, so that there is something for vectors. Which reductions are split, and how, depends on shapes alone:
// results do not depend on threads. Order must not matter to the reducer; others are left alone. True if anything was
// split.
bool reduction_splitter_run(computation *c, const target_description *target);

// Whether the reduce would be split if its reducer were of that form.
bool reduction_splitter_splits(const target_description *target, const instruction *reduce, reducer_form form);

#endif
