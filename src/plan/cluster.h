// A computation that runs as a sequence, cut into clusters: what becomes one fusion. The graph lives while this is
// being decided (fuse*.c) and until the fusions are made (cluster_build.c).
//
// Every instruction stays an operation of the sequence (fixed), is a bitcast, is a member of one cluster, or is so
// cheap that every cluster that needs it computes it for itself (copied).
#ifndef HEDDLE_PLAN_CLUSTER_H_
#define HEDDLE_PLAN_CLUSTER_H_

#include "hlo/module.h"

typedef enum cluster_role { CLUSTER_FIXED, CLUSTER_BITCAST, CLUSTER_MEMBER, CLUSTER_COPIED } cluster_role;

typedef struct cluster_node {
  instruction *instruction;
  cluster_role role;
  int cluster;     // members: theirs; copied ones: that of a copy for those outside of all clusters; else -1
  int source;      // bitcasts: the node whose bytes they show; else the node itself
  bool is_needed;  // by somebody outside of its cluster
} cluster_node;

typedef VEC(int) cluster_numbers;

typedef struct cluster {
  cluster_numbers members;  // node numbers; empty: merged into another
  fusion_kind kind;
  const char *reason;
} cluster;

// Nodes are numbered by their position, operands before users; instruction.mark is that number.
typedef struct cluster_graph {
  arena *arena;  // dies before the module
  computation *computation;
  int node_count;
  cluster_node *nodes;
  VEC(cluster) clusters;
} cluster_graph;

// All fixed, but for bitcasts.
heddle_status cluster_graph_create(arena *a, computation *c, cluster_graph *out);

static inline cluster_node *cluster_node_of(const cluster_graph *g, const instruction *i) { return &g->nodes[i->mark]; }

// A new cluster of one node, which becomes a member.
int cluster_add(cluster_graph *g, int node, const char *reason);

// Whether cluster `number` computes what the node is, rather than reading it.
bool cluster_computes(const cluster_graph *g, int number, int node);

// What a cluster computes, operands first, and what it reads.
typedef struct cluster_body {
  cluster_numbers nodes;
  cluster_numbers inputs;  // in order of first use
} cluster_body;

void cluster_body_of(arena *a, const cluster_graph *g, int number, cluster_body *out);

// Makes a fusion of each cluster and replaces the members by it; what nobody needs any more stays, dead. Marks are
// lost. `reasons`, if not null, receives a line for each fusion.
heddle_status cluster_build(cluster_graph *g, text *reasons);

#endif
