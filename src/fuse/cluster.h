// A computation that runs as a sequence, cut into clusters: what becomes one fusion. The graph lives while this is
// being decided (fuse*.c) and until the fusions are made (cluster_build.c).
//
// Every instruction stays an operation of the sequence (fixed), is a bitcast, is a member of one cluster, or is so
// cheap that every cluster that needs it computes it for itself (duplicated).
#ifndef HEDDLE_FUSE_CLUSTER_H_
#define HEDDLE_FUSE_CLUSTER_H_

#include "kernel/launch.h"

typedef enum cluster_role { CLUSTER_FIXED, CLUSTER_BITCAST, CLUSTER_MEMBER, CLUSTER_DUPLICATED } cluster_role;

// What is special about the instructions of a cluster; decides which emitter makes it and what may merge.
typedef enum cluster_trait {
  CLUSTER_REDUCES = 1 << 0,
  CLUSTER_TRANSPOSES = 1 << 1,  // moves the minor dim
  CLUSTER_SCATTERS = 1 << 2,    // in place of its operands
  CLUSTER_UPDATES = 1 << 3,     // dynamic-update-slice, in place
  CLUSTER_CONCATENATES = 1 << 4,
  CLUSTER_IS_SLOW = 1 << 5,     // many reads for one element; keeps the rest from being fast
  CLUSTER_IS_ALONE = 1 << 6,    // ordered by control edges: nothing merges
  CLUSTER_IS_LIBRARY = 1 << 7,  // a library operation with what follows it
  CLUSTER_ROW_PASSES = 1 << 8,  // one kernel passes over rows: nothing in it is computed twice
  CLUSTER_IS_TILED = 1 << 9,    // a product that is a library's without it, with what is done to it
} cluster_trait;

typedef struct cluster_node {
  instruction *instruction;
  cluster_role role;
  int cluster;      // members: theirs; duplicated ones: that of a copy for those outside of all clusters; else -1
  int source;       // bitcasts: the node whose bytes they show; else the node itself
  bool is_needed;   // by somebody outside of its cluster
  int visit;        // stamp of the last search that came here
  int slot;         // position in the body that is being looked at
  bool is_ordered;  // by control edges
  bool is_target;   // of a scatter or dynamic-update-slice, which write over it
  double weight;    // duplicated: operations of one element, operands included
  int arrays;       // duplicated: arrays that one element is made of
} cluster_node;

typedef VEC(int) cluster_numbers;

typedef struct cluster {
  cluster_numbers members;  // node numbers; empty: merged into another
  int first, last;          // the lowest and the highest of them
  unsigned traits;
  fusion_kind kind;
  double operations;  // scalar ones of one element, should every member be evaluated once for it
  double time;        // nanoseconds of one run, as estimated last; negative: not known
  int visit;
} cluster;

// A node that a member reads, with bitcasts and duplicated nodes between them looked through.
typedef struct cluster_read {
  int node;       // a member or fixed
  bool in_place;  // every step on the way reads at its own linear index
  int reader;     // the node of the way that reads it
  int operand;    // which operand of the reader it is, bitcasts looked through
} cluster_read;

typedef VEC(cluster_read) cluster_reads;

// Nodes are numbered by their position, operands before users; instruction.mark is that number.
typedef struct cluster_graph {
  arena *arena;  // dies before the module
  computation *computation;
  const target_description *target;
  int node_count;
  cluster_node *nodes;
  VEC(cluster) clusters;
  bool saves_memory;         // copies of parts of arrays are made one by one, right before they are read
  bool writes_products;      // of loops over tiles, small ones, to their places (tile_loops.h)
  bool is_careful;           // searches leave nothing out: see cluster_graph_is_ordered
  const ptr_map *refused;    // products that tiles make alone, or never (tile_products.h)
  int visit;                 // the last stamp given
  cluster_numbers stack;     // of searches
  cluster_numbers readers;   // of searches
  cluster_reads read_stack;  // of cluster_reads_of
  cluster_reads reads;       // of searches
} cluster_graph;

// All fixed, but for bitcasts.
heddle_status cluster_graph_create(arena *a, computation *c, const target_description *target, cluster_graph *out);

// How many of its operands, the first ones, the instruction writes over.
int cluster_target_count(const instruction *i);

static inline cluster_node *cluster_node_of(const cluster_graph *g, const instruction *i) { return &g->nodes[i->mark]; }

// The cluster of a member; -1 for other nodes.
static inline int cluster_of(const cluster_graph *g, int node) {
  return g->nodes[node].role == CLUSTER_MEMBER ? g->nodes[node].cluster : -1;
}

// The cluster from which the sequence gets the node's bytes; -1 if a fixed instruction makes them.
static inline int cluster_storing(const cluster_graph *g, int node) { return g->nodes[g->nodes[node].source].cluster; }

// A new cluster of one node, which becomes a member unless it is duplicated.
int cluster_add(cluster_graph *g, int node);
// One more member, behind those there are.
void cluster_add_member(cluster_graph *g, int number, int node);
// The two become one, whose number is returned. Traits and operations are the caller's.
int cluster_merge(cluster_graph *g, int l, int r);

// The reads of a node, one for each way's last step.
void cluster_reads_of(cluster_graph *g, int node, cluster_reads *out);

// Whether a value of cluster `from` reaches cluster `to` through an operation outside of both, so that merging them
// would make a cycle. Also true when the search was given up because it would take too long.
bool cluster_has_detour(cluster_graph *g, int from, int to);

// Whether the graph of clusters has no cycle. The search for detours leaves out nodes that, by their positions in
// program order, cannot lie between two clusters. Merged clusters spread over many positions, and in rare graphs the
// search then leaves out too much and a cycle is made; the caller then forms all clusters again with `is_careful`,
// which leaves out nothing.
bool cluster_graph_is_ordered(cluster_graph *g);

// Whether somebody but the clusters l and r reads the member's value.
bool cluster_is_read_outside(cluster_graph *g, int l, int r, int node);

// Who reads what, step by step: after `begin`, push nodes on the graph's stack, then call `of` for what is popped until
// the stack is empty. It adds the clusters that read the node (some of them twice), pushes bitcasts and duplicated
// readers, and says whether the sequence itself reads it.
void cluster_readers_begin(cluster_graph *g);
bool cluster_readers_of(cluster_graph *g, int node, cluster_numbers *clusters);

// What a cluster computes, operands first, and what it reads.
typedef struct cluster_body {
  cluster_numbers nodes;
  cluster_numbers inputs;  // in order of first use
} cluster_body;

// The body of l and r as one.
void cluster_body_of(arena *a, const cluster_graph *g, int l, int r, cluster_body *out);

// What a kernel of l and r as one would do, values computed again where kernels would do so included.
typedef struct cluster_cost {
  double operations;  // scalar ones
  double bytes;       // read and written
  double time;        // nanoseconds on one core
  double repeats;     // how often an expensive operation computes one element, at most
  int instructions, values;
} cluster_cost;

// By the emitter that makes r alone: what l brings follows it.
cluster_cost cluster_cost_of(cluster_graph *g, int l, int r);

// Makes a fusion of each cluster and replaces the members by it; what nobody needs any more stays, dead. Marks are
// lost. `reasons`, if not null, receives a line for each instruction that takes work or might have.
heddle_status cluster_build(cluster_graph *g, text *reasons);

#endif
