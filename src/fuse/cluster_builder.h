// What the files that make fusions of clusters share: cluster_build.c and cluster_reasons.c only.
#ifndef HEDDLE_FUSE_CLUSTER_BUILDER_H_
#define HEDDLE_FUSE_CLUSTER_BUILDER_H_

#include "fuse/cluster.h"

typedef struct cluster_fusion {
  cluster_body body;
  cluster_numbers outputs;  // nodes
  bool root_is_tuple_op;    // the outputs are the elements of one instruction, which is the root
  computation *computation;
  instruction *fusion;
} cluster_fusion;

typedef struct cluster_builder {
  cluster_graph *graph;
  arena *scratch;
  cluster_fusion *made;  // by cluster
} cluster_builder;

// The lines that cluster_build promises. Fusions are made, but nothing is replaced by them yet.
void cluster_tell(cluster_builder *b, text *out);

#endif
