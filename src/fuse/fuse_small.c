// Clusters at one depth of the graph (the longest way to them) cannot need each other, and merging them keeps all
// depths: so no search is needed, and any number of them may become one.
#include "fuse/fuse_small.h"

#include <stdlib.h>

#include "fuse/fusion_cost.h"
#include "fuse/merge.h"

// A cluster, or a fixed node, whose unit is behind the clusters.
typedef struct unit {
  int depth;  // 0: not known yet
  bool is_open;
} unit;

typedef struct depth_walk {
  cluster_graph *graph;
  arena *arena;
  unit *units;
  cluster_numbers stack;
  cluster_numbers sources;
} depth_walk;

static int unit_of(const cluster_graph *g, int node) {
  int c = cluster_storing(g, node);
  return c >= 0 ? c : g->clusters.size + g->nodes[node].source;
}

static void add_source(depth_walk *w, const instruction *i) {
  vec_push(w->arena, &w->sources, unit_of(w->graph, (int)i->mark));
}

static void find_sources(depth_walk *w, int u) {
  cluster_graph *g = w->graph;
  w->sources.size = 0;
  if (u >= g->clusters.size) {
    const instruction *i = g->nodes[u - g->clusters.size].instruction;
    for (int k = 0; k < i->operand_count; k++) add_source(w, i->operands[k]);
    for (int k = 0; k < i->control_predecessors.size; k++) add_source(w, i->control_predecessors.data[k]);
    return;
  }
  const cluster_numbers *members = &g->clusters.data[u].members;
  for (int m = 0; m < members->size; m++) {
    const instruction_list *before = &g->nodes[members->data[m]].instruction->control_predecessors;
    cluster_reads_of(g, members->data[m], &g->reads);
    for (int k = 0; k < g->reads.size; k++) add_source(w, g->nodes[g->reads.data[k].node].instruction);
    for (int k = 0; k < before->size; k++) add_source(w, before->data[k]);
  }
}

// Pushes the sources whose depth is not known; else sets the unit's.
static void visit(depth_walk *w) {
  const int u = vec_last(&w->stack);
  find_sources(w, u);
  int depth = 0, pushed = 0;
  for (int k = 0; k < w->sources.size; k++) {
    int source = w->sources.data[k];
    const unit *s = &w->units[source];
    if (source == u) continue;
    if (s->depth > depth) depth = s->depth;
    if (s->depth > 0 || s->is_open) continue;
    vec_push(w->arena, &w->stack, source);
    pushed++;
  }
  w->units[u].is_open = true;
  if (pushed > 0) return;
  w->units[u] = (unit){.depth = depth + 1};
  vec_drop(&w->stack);
}

static void find_depths(depth_walk *w) {
  cluster_graph *g = w->graph;
  for (int n = 0; n < g->node_count; n++) {
    if (g->nodes[n].role != CLUSTER_FIXED && g->nodes[n].cluster < 0) continue;
    vec_push(w->arena, &w->stack, unit_of(g, n));
    while (w->stack.size > 0) {
      if (w->units[vec_last(&w->stack)].depth > 0) vec_drop(&w->stack);
      else visit(w);
    }
  }
}

typedef struct candidate {
  int cluster, depth, first;
  int64_t elements;
} candidate;

static int compare(const void *l, const void *r) {
  const candidate *x = l, *y = r;
  if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
  if (x->elements != y->elements) return x->elements < y->elements ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);
}

static bool is_small(cluster_graph *g, int c) {
  const cluster *x = &g->clusters.data[c];
  return x->members.size > 0 && !x->traits && merge_time_of(g, c) < g->target->fusion.small_kernel_ns;
}

void fuse_small_clusters(cluster_graph *g, bool any_size) {
  depth_walk w = {.graph = g, .arena = arena_create()};
  w.units = arena_array(w.arena, unit, g->clusters.size + g->node_count);
  find_depths(&w);
  VEC(candidate) all = {0};
  for (int c = 0; c < g->clusters.size; c++)
    if (is_small(g, c))
      vec_push(w.arena, &all, (candidate){c, w.units[c].depth, g->clusters.data[c].first, merge_elements_of(g, c)});
  if (all.size > 0) qsort(all.data, (size_t)all.size, sizeof *all.data, compare);
  for (int k = 1; k < all.size; k++) {
    candidate *x = &all.data[k - 1], *y = &all.data[k];
    int size = g->clusters.data[x->cluster].members.size + g->clusters.data[y->cluster].members.size;
    if (x->depth != y->depth || (x->elements != y->elements && !any_size) || size > FUSION_MAX_INSTRUCTIONS) continue;
    const bool is_slice = merge_is_slice(g, x->cluster) || merge_is_slice(g, y->cluster);
    if (g->saves_memory && is_slice && x->elements > 1 && y->elements > 1) continue;
    double time = merge_time_of(g, x->cluster) + merge_time_of(g, y->cluster);
    if (time > g->target->fusion.merged_kernels_ns) continue;
    y->cluster = merge_clusters(g, x->cluster, y->cluster);
    g->clusters.data[y->cluster].time = time;
  }
  arena_destroy(w.arena);
}
