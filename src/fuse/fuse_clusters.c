// Joining clusters, in steps. Each goes over the instructions once, operands before users.
//
//  in place   what reads its operands at its own place goes into one loop with them. First, since nothing is computed
//             twice and the result of every other step is to be an end of such chains.
//  rows       reductions over rows with what they reduce and what is made of the results. Before producers, which would
//             take the operands of one reduction away from the next.
//  producers  what only one cluster reads, elsewhere than in place, is computed where it is read.
//  copies     what few clusters read and is cheap is computed by each of them.
//  siblings   what reads the same arrays and has as many elements shares a loop.
//  small      what takes little time shares a kernel with others of its kind.
#include "fuse/fuse_clusters.h"

#include "fuse/fuse_small.h"
#include "fuse/fusion_cost.h"
#include "fuse/merge.h"

// --- in place and rows

typedef bool (*merge_rule)(cluster_graph *g, int from, int to);

// Merges the node's cluster with those that its reads come from.
static void merge_reads_of(cluster_graph *g, arena *scratch, int node, merge_rule rule, unsigned adds) {
  cluster_reads reads = {0};
  cluster_reads_of(g, node, &g->reads);
  for (int k = 0; k < g->reads.size; k++) vec_push(scratch, &reads, g->reads.data[k]);
  for (int k = 0; k < reads.size; k++) {
    int from = cluster_of(g, reads.data[k].node), to = cluster_of(g, node);
    if (from < 0 || from == to || (adds != CLUSTER_ROW_PASSES && !reads.data[k].in_place)) continue;
    if (rule(g, from, to)) g->clusters.data[merge_clusters(g, from, to)].traits |= adds;
  }
}

static void merge_all(cluster_graph *g, merge_rule rule, unsigned adds) {
  arena *scratch = arena_create();
  for (int n = 0; n < g->node_count; n++) {
    if (g->nodes[n].role == CLUSTER_MEMBER) merge_reads_of(g, scratch, n, rule, adds);
    arena_reset(scratch);
  }
  arena_destroy(scratch);
}

// --- producers and copies

// Beyond so many they are not looked at.
enum { MAX_CONSUMERS = 16, MAX_SIBLINGS = 1 << 16 };

typedef struct consumers {
  arena *arena;
  int limit;
  cluster_numbers clusters;
  bool is_full;
  bool has_fixed;  // the result, or an operation of the sequence
} consumers;

static void add_consumer(consumers *c, int number) {
  for (int k = c->clusters.size - 1; k >= 0 && k >= c->clusters.size - MAX_CONSUMERS; k--)
    if (c->clusters.data[k] == number) return;
  if (c->clusters.size == c->limit) c->is_full = true;
  else vec_push(c->arena, &c->clusters, number);
}

// Who reads the nodes, those of cluster `own` apart.
static consumers consumers_of(arena *a, cluster_graph *g, const cluster_numbers *nodes, int own, int limit) {
  consumers found = {.arena = a, .limit = limit};
  cluster_readers_begin(g);
  for (int m = 0; m < nodes->size; m++) vec_push(g->arena, &g->stack, nodes->data[m]);
  while (g->stack.size > 0 && !found.is_full) {
    g->readers.size = 0;
    found.has_fixed |= cluster_readers_of(g, vec_pop(&g->stack), &g->readers);
    for (int k = 0; k < g->readers.size && !found.is_full; k++)
      if (g->readers.data[k] != own) add_consumer(&found, g->readers.data[k]);
  }
  return found;
}

static void make_duplicated(cluster_graph *g, int number, const consumers *by) {
  cluster *c = &g->clusters.data[number];
  for (int m = 0; m < c->members.size; m++) {
    cluster_node *n = &g->nodes[c->members.data[m]];
    n->role = CLUSTER_DUPLICATED;
    n->cluster = -1;
  }
  c->members.size = 0;
  for (int k = 0; k < by->clusters.size; k++) g->clusters.data[by->clusters.data[k]].time = -1;
}

static bool is_worth_duplicating(cluster_graph *g, int number, const consumers *by) {
  const cluster *c = &g->clusters.data[number];
  if (c->traits || c->members.size > FUSION_DUPLICATED_INSTRUCTIONS) return false;
  double before = merge_time_of(g, number) + g->target->launch_ns, after = 0;
  for (int k = 0; k < by->clusters.size; k++) {
    if (!merge_as_copy(g, number, by->clusters.data[k])) return false;
    before += merge_time_of(g, by->clusters.data[k]);
    after += cluster_cost_of(g, number, by->clusters.data[k]).time;
  }
  return after <= before;
}

static void place_producer(cluster_graph *g, arena *scratch, int own) {
  consumers by = consumers_of(scratch, g, &g->clusters.data[own].members, own, MAX_CONSUMERS);
  if (by.has_fixed || by.is_full || by.clusters.size == 0) return;
  int first = by.clusters.data[0];
  if (by.clusters.size > 1) {
    if (is_worth_duplicating(g, own, &by)) make_duplicated(g, own, &by);
  } else if (merge_producer(g, own, first)) {
    const unsigned passes = g->clusters.data[first].traits & CLUSTER_ROW_PASSES;
    int number = merge_clusters(g, own, first);
    cluster *made = &g->clusters.data[number];
    made->traits = (made->traits & ~(unsigned)CLUSTER_ROW_PASSES) | passes;
  }
}

// From the first to the last: what a producer took in itself counts when it is looked at.
static void place_producers(cluster_graph *g) {
  arena *scratch = arena_create();
  for (int n = 0; n < g->node_count; n++) {
    int own = cluster_of(g, n);
    if (own >= 0 && g->clusters.data[own].last == n) place_producer(g, scratch, own);
    arena_reset(scratch);
  }
  arena_destroy(scratch);
}

// --- siblings

// Clusters that read the node, each with the next one.
static void merge_readers_of(cluster_graph *g, arena *scratch, int node) {
  const cluster_numbers only = {.data = &node, .size = 1};
  consumers by = consumers_of(scratch, g, &only, cluster_of(g, node), MAX_SIBLINGS);
  for (int k = 1; k < by.clusters.size; k++) {
    int l = by.clusters.data[k - 1], r = by.clusters.data[k];
    if (l != r && merge_siblings(g, l, r)) by.clusters.data[k] = merge_clusters(g, l, r);
  }
}

static void merge_siblings_all(cluster_graph *g) {
  arena *scratch = arena_create();
  for (int n = 0; n < g->node_count; n++) {
    const cluster_node *node = &g->nodes[n];
    bool is_array = shape_is_array(node->instruction->shape) && node->instruction->shape->rank > 0;
    if (is_array && (node->role == CLUSTER_FIXED || node->role == CLUSTER_MEMBER)) merge_readers_of(g, scratch, n);
    arena_reset(scratch);
  }
  arena_destroy(scratch);
}

void fuse_clusters(cluster_graph *g, bool any_size) {
  merge_all(g, merge_in_place, 0);
  merge_all(g, merge_rows, CLUSTER_ROW_PASSES);
  place_producers(g);
  merge_all(g, merge_rows, CLUSTER_ROW_PASSES);
  merge_siblings_all(g);
  fuse_small_clusters(g, any_size);
}
