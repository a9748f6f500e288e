// Merges clusters, in the order that this file says.
#ifndef HEDDLE_FUSE_FUSE_CLUSTERS_H_
#define HEDDLE_FUSE_FUSE_CLUSTERS_H_

#include "fuse/cluster.h"

// Merges what one kernel computes better than two. Every member starts in a cluster of its own. `any_size`: a kernel
// may store arrays of different sizes.
void fuse_clusters(cluster_graph *g, bool any_size);

#endif
