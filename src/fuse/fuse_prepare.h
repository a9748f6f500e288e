// Prepares a computation for fusion, before it looks for clusters.
#ifndef HEDDLE_FUSE_FUSE_PREPARE_H_
#define HEDDLE_FUSE_FUSE_PREPARE_H_

#include "hlo/module.h"

// Row-major reshapes become bitcasts; operations of several results are read through get-tuple-elements alone; what is
// written in place is an array of its own, copied where it was a view. New instructions stand at the end.
void fuse_prepare(computation *c);

#endif
