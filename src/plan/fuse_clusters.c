// Joining clusters, in steps. Each goes over the instructions once, operands before users.
//
//  in place   what reads its operands at its own place goes into one loop with them. First, since nothing is computed
//             twice and the result of every other step is to be an end of such chains.
//  rows       reductions over rows with what they reduce and what is made of the results. Before producers, which would
//             take the operands of one reduction away from the next.
//  producers  what only one cluster reads, elsewhere than in place, is computed where it is read.
//  copies     what few clusters read and is cheap is computed by each of them.
//  siblings   what reads the same arrays and has as many elements shares a loop.
#include "plan/fuse_clusters.h"

#include "plan/fusion_cost.h"
#include "plan/join.h"

// --- in place and rows

typedef bool (*join_rule)(cluster_graph *g, int from, int to);

// Joins the node's cluster with those that its reads come from.
static void join_reads_of(cluster_graph *g, arena *scratch, int node, join_rule rule, bool needs_in_place) {
  cluster_reads reads = {0};
  cluster_reads_of(g, node, &g->reads);
  for (int k = 0; k < g->reads.size; k++) vec_push(scratch, &reads, g->reads.data[k]);
  for (int k = 0; k < reads.size; k++) {
    int from = cluster_of(g, reads.data[k].node), to = cluster_of(g, node);
    if (from < 0 || from == to || (needs_in_place && !reads.data[k].in_place)) continue;
    if (rule(g, from, to)) join(g, from, to);
  }
}

static void join_all(cluster_graph *g, join_rule rule, bool needs_in_place) {
  arena *scratch = arena_create();
  for (int n = 0; n < g->node_count; n++) {
    if (g->nodes[n].role == CLUSTER_MEMBER) join_reads_of(g, scratch, n, rule, needs_in_place);
    arena_reset(scratch);
  }
  arena_destroy(scratch);
}

// --- producers and copies

enum { MAX_CONSUMERS = 16 };

typedef struct consumers {
  int count;
  int clusters[MAX_CONSUMERS];
  bool others;  // fixed ones, or too many
} consumers;

static void add_consumer(consumers *c, int number) {
  for (int k = 0; k < c->count; k++)
    if (c->clusters[k] == number) return;
  if (c->count == MAX_CONSUMERS) c->others = true;
  else c->clusters[c->count++] = number;
}

static void add_users(cluster_graph *g, int node, int own, int stamp, consumers *out) {
  const instruction *i = g->nodes[node].instruction;
  if (i == g->computation->root) out->others = true;
  for (int k = 0; k < i->users.size && !out->others; k++) {
    cluster_node *user = cluster_node_of(g, i->users.data[k]);
    if (user->visit == stamp) continue;
    user->visit = stamp;
    if (user->role == CLUSTER_FIXED || (user->role == CLUSTER_COPIED && user->cluster >= 0)) out->others = true;
    else if (user->role == CLUSTER_MEMBER && user->cluster != own) add_consumer(out, user->cluster);
    else if (user->role != CLUSTER_MEMBER) vec_push(g->arena, &g->stack, (int)i->users.data[k]->mark);
  }
}

static consumers consumers_of(cluster_graph *g, int number) {
  consumers found = {0};
  const int stamp = ++g->visit;
  const cluster_numbers *members = &g->clusters.data[number].members;
  g->stack.size = 0;
  for (int m = 0; m < members->size; m++) vec_push(g->arena, &g->stack, members->data[m]);
  while (g->stack.size > 0 && !found.others) add_users(g, vec_pop(&g->stack), number, stamp, &found);
  return found;
}

static void make_copied(cluster_graph *g, int number, const consumers *by) {
  cluster *c = &g->clusters.data[number];
  for (int m = 0; m < c->members.size; m++) {
    cluster_node *n = &g->nodes[c->members.data[m]];
    n->role = CLUSTER_COPIED;
    n->cluster = -1;
  }
  c->members.size = 0;
  for (int k = 0; k < by->count; k++) g->clusters.data[by->clusters[k]].time = -1;
}

static bool is_worth_copying(cluster_graph *g, int number, const consumers *by) {
  const cluster *c = &g->clusters.data[number];
  if (by->others || by->count < 2 || c->traits || c->members.size > FUSION_COPIED_INSTRUCTIONS) return false;
  double before = join_time_of(g, number) + FUSION_LAUNCH, after = 0;
  for (int k = 0; k < by->count; k++) {
    if (!join_as_copy(g, number, by->clusters[k])) return false;
    before += join_time_of(g, by->clusters[k]);
    after += cluster_cost_of(g, number, by->clusters[k]).time;
  }
  return after <= before;
}

// From the first to the last: what a producer took in itself counts when it is looked at.
static void place_producers(cluster_graph *g) {
  for (int n = 0; n < g->node_count; n++) {
    int own = cluster_of(g, n);
    if (own < 0 || g->clusters.data[own].last != n) continue;
    consumers by = consumers_of(g, own);
    if (!by.others && by.count == 1 && join_producer(g, own, by.clusters[0])) join(g, own, by.clusters[0]);
    else if (is_worth_copying(g, own, &by)) make_copied(g, own, &by);
  }
}

// --- siblings

// Clusters that read the node, each with the next one.
static void join_readers_of(cluster_graph *g, int node) {
  const instruction_list *users = &g->nodes[node].instruction->users;
  int before = -1;
  for (int k = 0; k < users->size; k++) {
    const cluster_node *user = cluster_node_of(g, users->data[k]);
    int next = user->cluster;
    if (next < 0 || next == before) continue;
    if (before >= 0 && join_siblings(g, before, next)) next = join(g, before, next);
    before = next;
  }
}

void fuse_clusters(cluster_graph *g) {
  join_all(g, join_in_place, true);
  join_all(g, join_rows, false);
  place_producers(g);
  join_all(g, join_rows, false);
  for (int n = 0; n < g->node_count; n++) join_readers_of(g, n);
}
