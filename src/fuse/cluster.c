// Makes the graph of clusters: roles, members, and what a cluster computes and reads.
#include "fuse/cluster.h"

heddle_status cluster_graph_create(arena *a, computation *c, const target_description *target, cluster_graph *out) {
  *out = (cluster_graph){.arena = a, .computation = c, .target = target};
  instruction_list order = {0};
  TRY(computation_post_order(a, c, &order));
  out->node_count = order.size;
  out->nodes = arena_array(a, cluster_node, order.size);
  for (int n = 0; n < order.size; n++) {
    instruction *i = order.data[n];
    i->mark = (uint64_t)n;
    out->nodes[n] = (cluster_node){.instruction = i, .cluster = -1, .source = n};
    if (i->opcode != HLO_BITCAST) continue;
    out->nodes[n].role = CLUSTER_BITCAST;
    out->nodes[n].source = cluster_node_of(out, i->operands[0])->source;
  }
  return status_ok();
}

int cluster_target_count(const instruction *i) {
  if (i->opcode == HLO_SCATTER) return i->operand_count / 2;
  return i->opcode == HLO_DYNAMIC_UPDATE_SLICE;
}

int cluster_add(cluster_graph *g, int node) {
  vec_push(g->arena, &g->clusters, ((cluster){.first = node, .last = node, .time = -1}));
  cluster_add_member(g, g->clusters.size - 1, node);
  return g->clusters.size - 1;
}

void cluster_add_member(cluster_graph *g, int number, int node) {
  cluster *c = &g->clusters.data[number];
  vec_push(g->arena, &c->members, node);
  if (node < c->first) c->first = node;
  if (node > c->last) c->last = node;
  if (g->nodes[node].role != CLUSTER_DUPLICATED) g->nodes[node].role = CLUSTER_MEMBER;
  g->nodes[node].cluster = number;
}

// The smaller moves, so that a chain of merges costs n log n.
int cluster_merge(cluster_graph *g, int l, int r) {
  if (g->clusters.data[l].members.size < g->clusters.data[r].members.size) return cluster_merge(g, r, l);
  cluster *from = &g->clusters.data[r];
  for (int m = 0; m < from->members.size; m++) cluster_add_member(g, l, from->members.data[m]);
  from->members.size = 0;
  return l;
}

// Whether cluster l or r (which may be equal) computes what the node is, rather than reading it. A bitcast of what is
// read is made outside, where it costs nothing; one of what is computed has to be inside.
static bool cluster_computes(const cluster_graph *g, int l, int r, int node) {
  const cluster_node *n = &g->nodes[g->nodes[node].source];
  return n->role == CLUSTER_DUPLICATED || (n->role == CLUSTER_MEMBER && (n->cluster == l || n->cluster == r));
}

typedef struct body_walk {
  arena *arena;
  const cluster_graph *graph;
  int l, r;
  ptr_map seen;
  cluster_numbers stack;
  cluster_body *out;
} body_walk;

// Pushes what of the node's operands has not been seen; false if there was nothing.
static bool push_operands(body_walk *w, const instruction *i) {
  bool pushed = false;
  for (int k = i->operand_count - 1; k >= 0; k--) {
    const instruction *x = i->operands[k];
    if (ptr_map_has(&w->seen, x)) continue;
    if (cluster_computes(w->graph, w->l, w->r, (int)x->mark)) {
      vec_push(w->arena, &w->stack, (int)x->mark);
      pushed = true;
    }
  }
  return pushed;
}

static void note_inputs(body_walk *w, const instruction *i) {
  for (int k = 0; k < i->operand_count; k++) {
    const instruction *x = i->operands[k];
    if (ptr_map_has(&w->seen, x)) continue;
    ptr_map_put(w->arena, &w->seen, x, w);
    vec_push(w->arena, &w->out->inputs, (int)x->mark);
  }
}

static void walk_from(body_walk *w, int node) {
  vec_push(w->arena, &w->stack, node);
  while (w->stack.size > 0) {
    const instruction *i = w->graph->nodes[vec_last(&w->stack)].instruction;
    if (ptr_map_has(&w->seen, i)) {
      vec_drop(&w->stack);
      continue;
    }
    if (push_operands(w, i)) continue;
    vec_drop(&w->stack);
    note_inputs(w, i);
    ptr_map_put(w->arena, &w->seen, i, w);
    vec_push(w->arena, &w->out->nodes, (int)i->mark);
  }
}

void cluster_body_of(arena *a, const cluster_graph *g, int l, int r, cluster_body *out) {
  *out = (cluster_body){0};
  body_walk w = {.arena = a, .graph = g, .l = l, .r = r, .out = out};
  const cluster_numbers *left = &g->clusters.data[l].members, *right = &g->clusters.data[r].members;
  for (int m = 0; m < left->size; m++) walk_from(&w, left->data[m]);
  for (int m = 0; l != r && m < right->size; m++) walk_from(&w, right->data[m]);
}
