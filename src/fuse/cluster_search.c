// Answers questions about clusters' surroundings: who reads what, and whether two clusters can be one without a cycle.
#include "fuse/cluster.h"
#include "fuse/fusion_cost.h"

// A search that looks at more than this gives up: fusion has to be near-linear, and what is far apart rarely is worth
// merging.
enum { MAX_VISITED_CLUSTERS = 300, MAX_VISITED_NODES = 6000, MAX_READ_STEPS = 2000 };

// --- reads

static void push_step(cluster_graph *g, int reader, bool in_place) {
  const instruction *i = g->nodes[reader].instruction;
  for (int k = i->operand_count - 1; k >= 0; k--) {
    bool keeps = in_place && fusion_cost_reads_in_place(i, k);
    vec_push(g->arena, &g->read_stack, (cluster_read){(int)i->operands[k]->mark, keeps, reader, k});
  }
}

void cluster_reads_of(cluster_graph *g, int node, cluster_reads *out) {
  g->read_stack.size = 0;
  out->size = 0;
  push_step(g, node, true);
  for (int steps = 0; g->read_stack.size > 0 && steps < MAX_READ_STEPS; steps++) {
    cluster_read r = vec_pop(&g->read_stack);
    const cluster_node *n = &g->nodes[r.node];
    if (n->role == CLUSTER_DUPLICATED) {
      push_step(g, r.node, r.in_place);
    } else if (n->role == CLUSTER_BITCAST) {
      r.in_place = r.in_place && fusion_cost_reads_in_place(n->instruction, 0);
      r.node = (int)n->instruction->operands[0]->mark;
      vec_push(g->arena, &g->read_stack, r);
    } else {
      vec_push(g->arena, out, r);
    }
  }
}

// --- detours

typedef struct search {
  cluster_graph *graph;
  int from, to, stamp;
  int clusters, nodes;  // visited
} search;

static void push_operands(search *s, const instruction *i) {
  for (int k = 0; k < i->operand_count; k++) vec_push(s->graph->arena, &s->graph->stack, (int)i->operands[k]->mark);
  for (int k = 0; k < i->control_predecessors.size; k++)
    vec_push(s->graph->arena, &s->graph->stack, (int)i->control_predecessors.data[k]->mark);
}

static void push_cluster(search *s, int number) {
  cluster *c = &s->graph->clusters.data[number];
  if (c->visit == s->stamp) return;
  c->visit = s->stamp;
  s->clusters++;
  // What ends before `from` begins is hardly ever on the way.
  if (!s->graph->is_careful && c->last < s->graph->clusters.data[s->from].first) return;
  for (int m = 0; m < c->members.size; m++) push_operands(s, s->graph->nodes[c->members.data[m]].instruction);
  s->nodes += c->members.size;
}

// True if that is `from`.
static bool reach(search *s, int number) {
  if (number >= 0 && number != s->from && number != s->to) push_cluster(s, number);
  return number == s->from;
}

// Fixed operations read from memory even what kernels would copy.
static bool reach_operands(search *s, const instruction *i) {
  bool found = false;
  for (int k = 0; k < i->operand_count; k++) found |= reach(s, cluster_storing(s->graph, (int)i->operands[k]->mark));
  push_operands(s, i);
  return found;
}

static bool step(search *s, int node) {
  cluster_node *n = &s->graph->nodes[node];
  if (n->visit == s->stamp) return false;
  n->visit = s->stamp;
  s->nodes++;
  if (n->role == CLUSTER_MEMBER) return reach(s, n->cluster);
  if (n->role != CLUSTER_FIXED) push_operands(s, n->instruction);
  else if (s->graph->is_careful || node > s->graph->clusters.data[s->from].first)
    return reach_operands(s, n->instruction);
  return false;
}

// What the members of `to` read, but for what `from` gives them directly.
static void begin(search *s) {
  cluster_graph *g = s->graph;
  const cluster *c = &g->clusters.data[s->to];
  g->stack.size = 0;
  for (int m = 0; m < c->members.size; m++) {
    const instruction *i = g->nodes[c->members.data[m]].instruction;
    cluster_reads_of(g, c->members.data[m], &g->reads);
    for (int k = 0; k < g->reads.size; k++)
      if (cluster_of(g, g->reads.data[k].node) != s->from) vec_push(g->arena, &g->stack, g->reads.data[k].node);
    for (int k = 0; k < i->control_predecessors.size; k++)
      vec_push(g->arena, &g->stack, (int)i->control_predecessors.data[k]->mark);
  }
}

bool cluster_has_detour(cluster_graph *g, int from, int to) {
  search s = {.graph = g, .from = from, .to = to, .stamp = ++g->visit};
  begin(&s);
  while (g->stack.size > 0) {
    if (step(&s, vec_pop(&g->stack))) return true;
    if (s.clusters > MAX_VISITED_CLUSTERS || s.nodes > MAX_VISITED_NODES) return true;
  }
  return false;
}

// --- readers

// What is duplicated but in memory as well serves fixed readers from there.
static bool is_served(const cluster_graph *g, int node) {
  const cluster_node *n = &g->nodes[g->nodes[node].source];
  return n->role == CLUSTER_DUPLICATED && n->cluster >= 0;
}

void cluster_readers_begin(cluster_graph *g) {
  g->visit++;
  g->stack.size = 0;
}

bool cluster_readers_of(cluster_graph *g, int node, cluster_numbers *clusters) {
  const instruction *i = g->nodes[node].instruction;
  const bool served = is_served(g, node);
  bool has_fixed = !served && i == g->computation->root;
  for (int k = 0; k < i->users.size; k++) {
    cluster_node *user = cluster_node_of(g, i->users.data[k]);
    if (user->role == CLUSTER_FIXED) has_fixed |= !served;
    if (user->role == CLUSTER_FIXED || user->visit == g->visit) continue;
    user->visit = g->visit;
    if (user->cluster >= 0) vec_push(g->arena, clusters, user->cluster);
    if (user->role != CLUSTER_MEMBER) vec_push(g->arena, &g->stack, (int)i->users.data[k]->mark);
  }
  return has_fixed;
}

bool cluster_is_read_outside(cluster_graph *g, int l, int r, int node) {
  cluster_readers_begin(g);
  vec_push(g->arena, &g->stack, node);
  while (g->stack.size > 0) {
    g->readers.size = 0;
    if (cluster_readers_of(g, vec_pop(&g->stack), &g->readers)) return true;
    for (int k = 0; k < g->readers.size; k++)
      if (g->readers.data[k] != l && g->readers.data[k] != r) return true;
  }
  return false;
}
