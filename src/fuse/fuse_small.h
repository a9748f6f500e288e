// Merges small kernels, so that they are started together.
#ifndef HEDDLE_FUSE_FUSE_SMALL_H_
#define HEDDLE_FUSE_FUSE_SMALL_H_

#include "fuse/cluster.h"

// Merges clusters that take little time and do not need each other, whatever their sizes, so that starting them costs
// less: an optimizer's update of hundreds of parameters becomes a few kernels. Equal sizes only, unless `any_size`.
void fuse_small_clusters(cluster_graph *g, bool any_size);

#endif
