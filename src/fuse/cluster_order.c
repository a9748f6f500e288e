// Whether what the clusters make of a computation can run in some order: a walk over clusters and the nodes outside of
// them, against the flow of values.
#include "fuse/cluster.h"

enum { UNSEEN, ENTERED, DONE };

// Clusters come first, then all nodes.
typedef struct walk {
  cluster_graph *graph;
  unsigned char *state;
  VEC(int) stack;
  bool is_ordered;
} walk;

static int unit_of(const walk *w, int node) {
  int number = cluster_of(w->graph, node);
  return number >= 0 ? number : w->graph->clusters.size + node;
}

static void go_to(walk *w, int unit, int from) {
  if (unit == from) return;
  if (w->state[unit] == ENTERED) w->is_ordered = false;
  if (w->state[unit] == UNSEEN) vec_push(w->graph->arena, &w->stack, unit);
}

// Fixed operations read from memory even what kernels would copy.
static void go_to_operands(walk *w, const instruction *i, int from, bool is_fixed) {
  for (int k = 0; k < i->operand_count; k++) {
    int node = (int)i->operands[k]->mark;
    int storing = is_fixed ? cluster_storing(w->graph, node) : -1;
    go_to(w, storing >= 0 ? storing : unit_of(w, node), from);
  }
  for (int k = 0; k < i->control_predecessors.size; k++)
    go_to(w, unit_of(w, (int)i->control_predecessors.data[k]->mark), from);
}

static void enter(walk *w, int unit) {
  cluster_graph *g = w->graph;
  if (unit >= g->clusters.size) {
    const cluster_node *n = &g->nodes[unit - g->clusters.size];
    go_to_operands(w, n->instruction, unit, n->role == CLUSTER_FIXED);
    return;
  }
  const cluster *c = &g->clusters.data[unit];
  for (int m = 0; m < c->members.size; m++) go_to_operands(w, g->nodes[c->members.data[m]].instruction, unit, false);
}

bool cluster_graph_is_ordered(cluster_graph *g) {
  int units = g->clusters.size + g->node_count;
  walk w = {.graph = g, .state = arena_array(g->arena, unsigned char, units), .is_ordered = true};
  for (int start = 0; start < units && w.is_ordered; start++) {
    if (w.state[start] != UNSEEN) continue;
    vec_push(g->arena, &w.stack, start);
    while (w.stack.size > 0 && w.is_ordered) {
      int unit = vec_last(&w.stack);
      if (w.state[unit] != UNSEEN) {
        w.state[unit] = DONE;
        vec_drop(&w.stack);
        continue;
      }
      w.state[unit] = ENTERED;
      enter(&w, unit);
    }
  }
  return w.is_ordered;
}
