// Which two clusters may become one. Each rule says yes only where the result is a kernel that some emitter makes well;
// whether it pays is asked where figures can say no.
#ifndef HEDDLE_FUSE_MERGE_H_
#define HEDDLE_FUSE_MERGE_H_

#include "fuse/cluster.h"

// What one instruction brings into its cluster.
unsigned merge_traits(const instruction *i);

// All that the two give each other is read in place, and they have as many elements: one loop computes both.
bool merge_in_place(cluster_graph *g, int from, int to);
// One kernel that passes over rows computes both.
bool merge_rows(cluster_graph *g, int from, int to);
// Only `to` reads what `from` computes, wherever it likes, and computing it there costs less than memory would.
bool merge_producer(cluster_graph *g, int from, int to);
// `to` may compute what `from` does for itself.
bool merge_as_copy(cluster_graph *g, int from, int to);
// Neither needs the other, but they read the same.
bool merge_siblings(cluster_graph *g, int l, int r);

// Nanoseconds that the cluster's kernel takes.
double merge_time_of(cluster_graph *g, int c);

// Whether the last value is a part of an array, mostly a copy for a library that reads it later.
bool merge_is_slice(const cluster_graph *g, int c);

int64_t merge_elements_of(const cluster_graph *g, int c);  // of its last value

// Makes them one; returns its number.
int merge_clusters(cluster_graph *g, int l, int r);

#endif
