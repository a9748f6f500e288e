// Decides which clusters may be merged, and whether it pays: the rules that fuse_clusters.c asks before it merges two.
#include "fuse/merge.h"

#include "fuse/fusion_cost.h"
#include "fuse/tile_products.h"
#include "kernel/hero_reduction.h"
#include "kernel/transpose_sides.h"

static int minor_dim(const shape *s) {
  for (int d = s->rank - 1; d >= 0; d--)
    if (s->dims[d] != 1) return d;
  return -1;
}

static bool moves_minor_dim(const instruction *i) {
  int minor = minor_dim(i->shape);
  return minor >= 0 && i->attributes->dimensions.data[minor] != minor_dim(i->operands[0]->shape);
}

unsigned merge_traits(const instruction *i) {
  switch (i->opcode) {
    case HLO_REDUCE: return CLUSTER_REDUCES;
    case HLO_TRANSPOSE: return moves_minor_dim(i) ? CLUSTER_TRANSPOSES : 0;
    case HLO_SCATTER: return CLUSTER_SCATTERS;
    case HLO_DYNAMIC_UPDATE_SLICE: return CLUSTER_UPDATES;
    case HLO_CONCATENATE: return CLUSTER_CONCATENATES;
    case HLO_REDUCE_WINDOW:
    case HLO_CONVOLUTION:
    case HLO_DOT: return CLUSTER_IS_SLOW;
    default: return 0;
  }
}

// --- figures

static unsigned both_traits(const cluster_graph *g, int l, int r) {
  return g->clusters.data[l].traits | g->clusters.data[r].traits;
}

static unsigned common_traits(const cluster_graph *g, int l, int r) {
  return g->clusters.data[l].traits & g->clusters.data[r].traits;
}

static bool are_apart(const cluster_graph *g, int l, int r) {
  const cluster *x = &g->clusters.data[l], *y = &g->clusters.data[r];
  return x->members.size + y->members.size > FUSION_MAX_INSTRUCTIONS ||
         (both_traits(g, l, r) & (CLUSTER_IS_ALONE | CLUSTER_IS_LIBRARY)) ||
         ((both_traits(g, l, r) & CLUSTER_IS_TILED) && !tile_products_fit(g, l, r));
}

static const instruction *last_member(const cluster_graph *g, int c) {
  return g->nodes[g->clusters.data[c].last].instruction;
}

int64_t merge_elements_of(const cluster_graph *g, int c) {
  return shape_element_count(fusion_cost_array_of(last_member(g, c)->shape));
}

bool merge_is_slice(const cluster_graph *g, int c) {
  const hlo_opcode opcode = last_member(g, c)->opcode;
  return opcode == HLO_SLICE || opcode == HLO_DYNAMIC_SLICE;
}

double merge_time_of(cluster_graph *g, int c) {
  cluster *x = &g->clusters.data[c];
  if (x->time < 0) x->time = cluster_cost_of(g, c, c).time;
  return x->time;
}

// --- reductions

static bool fits_rows(cluster_graph *g, int l, int r) {
  if (!kernel_hero_exists(g->target->kind, HERO_REDUCTION)) return false;
  arena *scratch = arena_create();
  cluster_body body;
  cluster_body_of(scratch, g, l, r, &body);
  instruction_list members = {0}, outputs = {0};
  for (int n = 0; n < body.nodes.size; n++) {
    const cluster_node *node = &g->nodes[body.nodes.data[n]];
    vec_push(scratch, &members, node->instruction);
    bool is_own = node->role == CLUSTER_MEMBER && !shape_is_tuple(node->instruction->shape);
    if (is_own && cluster_is_read_outside(g, l, r, body.nodes.data[n])) vec_push(scratch, &outputs, node->instruction);
  }
  bool fits = outputs.size > 0 && hero_reduction_fits(members.size, members.data, outputs.size, outputs.data);
  arena_destroy(scratch);
  return fits;
}

// A reduction that no pass computes is a loop like others.
static bool keeps_reductions(cluster_graph *g, int l, int r) {
  if (!(both_traits(g, l, r) & CLUSTER_REDUCES)) return true;
  return fits_rows(g, l, r) || (!fits_rows(g, l, l) && !fits_rows(g, r, r));
}

// --- in place

// Whether a member of `to` reads one of `from` elsewhere than at its own place.
static bool reads_elsewhere(cluster_graph *g, int from, int to) {
  const cluster *c = &g->clusters.data[to];
  for (int m = 0; m < c->members.size; m++) {
    cluster_reads_of(g, c->members.data[m], &g->reads);
    for (int k = 0; k < g->reads.size; k++)
      if (!g->reads.data[k].in_place && cluster_of(g, g->reads.data[k].node) == from) return true;
  }
  return false;
}

static bool is_slow_together(const cluster_graph *g, int l, int r) {
  const cluster *x = &g->clusters.data[l], *y = &g->clusters.data[r];
  if (!((x->traits | y->traits) & CLUSTER_IS_SLOW) || merge_elements_of(g, l) <= g->target->fusion.small_elements)
    return false;
  if ((x->traits | y->traits) & CLUSTER_IS_TILED) return false;
  return (x->traits & y->traits & CLUSTER_IS_SLOW) ||
         ((x->traits & CLUSTER_IS_SLOW) ? y : x)->operations > g->target->fusion.operations_beside_slow;
}

static bool moves_alike(const instruction *l, const instruction *r) {
  const int_list *x = &l->attributes->dimensions, *y = &r->attributes->dimensions;
  if (!shape_same_dims(l->shape, r->shape) || x->size != y->size) return false;
  for (int d = 0; d < x->size; d++)
    if (x->data[d] != y->data[d]) return false;
  return true;
}

// Two transposes share a kernel if their tiles are the same.
static bool differ_in_transposes(const cluster_graph *g, int l, int r) {
  if (!(common_traits(g, l, r) & CLUSTER_TRANSPOSES)) return false;
  const instruction *found[2] = {0};
  const int clusters[] = {l, r};
  for (int c = 0; c < 2; c++) {
    const cluster_numbers *members = &g->clusters.data[clusters[c]].members;
    for (int m = 0; m < members->size && !found[c]; m++) {
      const instruction *i = g->nodes[members->data[m]].instruction;
      if (merge_traits(i) & CLUSTER_TRANSPOSES) found[c] = i;
    }
  }
  if (!found[0] || !found[1]) return false;
  return !moves_alike(found[0], found[1]) && !transpose_sides_alike(g->target, found[0], found[1]);
}

// Heroes that no other hero goes with.
static bool are_rivals(const cluster_graph *g, int l, int r) {
  const unsigned lone = CLUSTER_REDUCES | CLUSTER_TRANSPOSES | CLUSTER_CONCATENATES | CLUSTER_IS_SLOW;
  unsigned traits = both_traits(g, l, r) & lone;
  if (merge_elements_of(g, l) <= g->target->fusion.small_elements && !(traits & CLUSTER_REDUCES)) return false;
  bool is_one = (traits & (traits - 1)) == 0;
  return !is_one || (common_traits(g, l, r) & CLUSTER_CONCATENATES) || differ_in_transposes(g, l, r);
}

bool merge_in_place(cluster_graph *g, int from, int to) {
  if (are_apart(g, from, to) || (both_traits(g, from, to) & (CLUSTER_SCATTERS | CLUSTER_UPDATES))) return false;
  if (are_rivals(g, from, to) || is_slow_together(g, from, to)) return false;
  if (reads_elsewhere(g, from, to)) return false;
  return keeps_reductions(g, from, to) && !cluster_has_detour(g, from, to);
}

// --- rows

static const instruction *reduction_of(const cluster_graph *g, int c) {
  const cluster_numbers *members = &g->clusters.data[c].members;
  for (int m = 0; m < members->size; m++)
    if (g->nodes[members->data[m]].instruction->opcode == HLO_REDUCE) return g->nodes[members->data[m]].instruction;
  return NULL;
}

// Threads share a kernel of several passes by rows (or by groups of columns) only. Where there are too few of these for
// the threads there are, large arrays are better off with a kernel for each pass.
static bool leaves_threads_idle(const cluster_graph *g, int from, int to) {
  const instruction *reduce = reduction_of(g, from);
  if (!reduce || merge_elements_of(g, to) <= g->target->fusion.lonely_elements) return false;
  int64_t rows = shape_element_count(fusion_cost_array_of(reduce->shape));
  const shape *s = reduce->operands[0]->shape;
  bool is_column = s->rank > 0 && !int_list_has(reduce->attributes->dimensions, minor_dim(s));
  return (is_column ? rows / g->target->fusion.columns_per_thread : rows) < g->target->cores;
}

bool merge_rows(cluster_graph *g, int from, int to) {
  const unsigned foreign = CLUSTER_TRANSPOSES | CLUSTER_SCATTERS | CLUSTER_UPDATES | CLUSTER_CONCATENATES;
  unsigned traits = both_traits(g, from, to);
  if (are_apart(g, from, to) || !(traits & CLUSTER_REDUCES) || (traits & foreign)) return false;
  if (leaves_threads_idle(g, from, to)) return false;
  const bool fits = traits & CLUSTER_IS_SLOW ? tile_products_fit_rows(g, from, to) : fits_rows(g, from, to);
  return fits && !cluster_has_detour(g, from, to);
}

// --- producers

// The array that is written in place must be there before.
static bool writes_into(cluster_graph *g, int from, int to) {
  const cluster *c = &g->clusters.data[to];
  for (int m = 0; m < c->members.size; m++) {
    const instruction *i = g->nodes[c->members.data[m]].instruction;
    for (int k = 0; k < cluster_target_count(i); k++) {
      int source = g->nodes[i->operands[k]->mark].source;
      if (cluster_of(g, source) == from || g->nodes[source].role == CLUSTER_DUPLICATED) return true;
    }
  }
  return false;
}

static const instruction *update_of(const cluster_graph *g, int c) {
  const cluster_numbers *members = &g->clusters.data[c].members;
  for (int m = 0; m < members->size; m++)
    if (merge_traits(g->nodes[members->data[m]].instruction) & (CLUSTER_SCATTERS | CLUSTER_UPDATES))
      return g->nodes[members->data[m]].instruction;
  return NULL;
}

// The window that the update writes, read before: each element is read before it is written.
static bool reads_window(const instruction *i, const instruction *update) {
  if (i->opcode != HLO_DYNAMIC_SLICE || update->opcode != HLO_DYNAMIC_UPDATE_SLICE) return false;
  if (!shape_same_dims(i->shape, update->operands[1]->shape)) return false;
  for (int k = 1; k < i->operand_count; k++)
    if (i->operands[k] != update->operands[k + 1]) return false;
  return true;
}

static bool is_target(const cluster_graph *g, const instruction *update, const instruction *x) {
  const int source = g->nodes[x->mark].source;
  for (int k = 0; k < cluster_target_count(update); k++)
    if (g->nodes[update->operands[k]->mark].source == source) return true;
  return false;
}

// What is written in place may not be read by the same kernel, but for what is about to be written.
static bool reads_target(const cluster_graph *g, const cluster_body *body, const instruction *update) {
  bool is_read = false, is_plain = true;
  for (int n = 0; n < body->nodes.size; n++) {
    const instruction *i = g->nodes[body->nodes.data[n]].instruction;
    is_plain &= i == update || hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || reads_window(i, update) ||
                i->opcode == HLO_BROADCAST || i->opcode == HLO_CONSTANT || i->opcode == HLO_BITCAST;
    for (int k = 0; i != update && k < i->operand_count; k++) {
      if (!is_target(g, update, i->operands[k])) continue;
      is_read = true;
      if (k > 0 || !reads_window(i, update)) return true;
    }
  }
  return is_read && !is_plain;
}

static bool spoils_update(cluster_graph *g, int from, int to) {
  const instruction *update = update_of(g, to);
  if (!update) return false;
  arena *scratch = arena_create();
  cluster_body body;
  cluster_body_of(scratch, g, from, to, &body);
  bool spoils = reads_target(g, &body, update);
  arena_destroy(scratch);
  return spoils;
}

static bool gives_only(cluster_graph *g, int from, int to) {
  const cluster *c = &g->clusters.data[from];
  for (int m = 0; m < c->members.size; m++)
    if (cluster_is_read_outside(g, from, to, c->members.data[m])) return false;
  return true;
}

// A small product that a loop over tiles computes and writes into its place, and that nobody else reads.
static bool is_tile_for_window(cluster_graph *g, int from, int to) {
  const unsigned traits = g->clusters.data[from].traits;
  const instruction *update = update_of(g, to);
  if (!g->writes_products || traits != CLUSTER_IS_SLOW || !update || update->opcode != HLO_DYNAMIC_UPDATE_SLICE)
    return false;
  return merge_elements_of(g, from) <= g->target->fusion.small_elements;
}

static bool may_be_absorbed(cluster_graph *g, int from, int to) {
  const unsigned never = CLUSTER_SCATTERS | CLUSTER_UPDATES | CLUSTER_IS_SLOW | CLUSTER_CONCATENATES;
  const cluster *x = &g->clusters.data[from], *y = &g->clusters.data[to];
  const unsigned heroes = CLUSTER_REDUCES | CLUSTER_TRANSPOSES | CLUSTER_CONCATENATES;
  if (are_apart(g, from, to) || ((x->traits | y->traits) & CLUSTER_IS_TILED)) return false;
  bool is_small = merge_elements_of(g, to) <= g->target->fusion.small_elements &&
                  !(y->traits & (CLUSTER_SCATTERS | CLUSTER_UPDATES));
  if (is_small && !((x->traits | y->traits) & CLUSTER_REDUCES))
    return !(x->traits & (CLUSTER_SCATTERS | CLUSTER_UPDATES));
  if (is_tile_for_window(g, from, to)) return true;
  return !(x->traits & never) && !((x->traits & heroes) && (y->traits & (heroes | CLUSTER_UPDATES | CLUSTER_SCATTERS)));
}

// A reduction within a loop is computed one element after another.
static bool reduces_too_much(const cluster_graph *g, int from, const cluster_cost *cost) {
  return (g->clusters.data[from].traits & CLUSTER_REDUCES) && cost->operations > g->target->fusion.small_operations;
}

bool merge_as_copy(cluster_graph *g, int from, int to) {
  if (!may_be_absorbed(g, from, to) || writes_into(g, from, to) || spoils_update(g, from, to)) return false;
  return !(g->clusters.data[to].traits & CLUSTER_REDUCES) || keeps_reductions(g, from, to);
}

bool merge_producer(cluster_graph *g, int from, int to) {
  if (!merge_as_copy(g, from, to) || !gives_only(g, from, to)) return false;
  cluster_cost cost = cluster_cost_of(g, from, to);
  if (cost.instructions > 2 * FUSION_MAX_INSTRUCTIONS || reduces_too_much(g, from, &cost)) return false;
  if (cost.repeats >
      (cost.operations > g->target->fusion.small_operations ? FUSION_MAX_REPEATS : FUSION_MAX_SMALL_REPEATS))
    return false;
  if (cost.time > merge_time_of(g, from) + merge_time_of(g, to) + g->target->launch_ns) return false;
  return !cluster_has_detour(g, from, to);
}

// --- siblings

// The same dims of arrays of the same dims, one result per result: one pass over the elements computes both.
static bool reduce_alike(const cluster_graph *g, int l, int r) {
  const instruction *x = reduction_of(g, l), *y = reduction_of(g, r);
  if (!x || !y || merge_elements_of(g, l) != merge_elements_of(g, r)) return false;
  const int_list *of_x = &x->attributes->dimensions, *of_y = &y->attributes->dimensions;
  if (!shape_same_dims(x->operands[0]->shape, y->operands[0]->shape) || of_x->size != of_y->size) return false;
  for (int d = 0; d < of_x->size; d++)
    if (of_x->data[d] != of_y->data[d]) return false;
  return merge_elements_of(g, l) == shape_element_count(fusion_cost_array_of(x->shape));
}

// On a grid a row's elements are in registers as they are combined: what else is computed of them costs no other
// reading of the array. Columns would keep fewer threads busy for it.
static bool is_beside_rows(cluster_graph *g, int l, int r) {
  const unsigned foreign = CLUSTER_TRANSPOSES | CLUSTER_CONCATENATES | CLUSTER_IS_SLOW;
  const bool is_left = g->clusters.data[l].traits & CLUSTER_REDUCES;
  const int rows = is_left ? l : r, beside = is_left ? r : l;
  const instruction *reduce = reduction_of(g, rows);
  if (!g->target->has_grid || !reduce || (both_traits(g, l, r) & foreign)) return false;
  const shape *s = reduce->operands[0]->shape;
  if (!int_list_has(reduce->attributes->dimensions, minor_dim(s))) return false;
  return merge_elements_of(g, beside) == shape_element_count(s) && !leaves_threads_idle(g, rows, beside);
}

static int count_stored(cluster_graph *g, int l, int r, int of) {
  const cluster *c = &g->clusters.data[of];
  int count = 0;
  for (int m = 0; m < c->members.size; m++) count += cluster_is_read_outside(g, l, r, c->members.data[m]);
  return count;
}

// One loop that walks a great many arrays at a time keeps pages and lines of all of them, which no cache has room for.
static bool stores_too_many(cluster_graph *g, int l, int r) {
  if (merge_elements_of(g, l) <= g->target->fusion.small_elements) return false;
  return count_stored(g, l, r, l) + count_stored(g, l, r, r) > g->target->fusion.max_stored;
}

bool merge_siblings(cluster_graph *g, int l, int r) {
  if (are_apart(g, l, r) || (both_traits(g, l, r) & (CLUSTER_SCATTERS | CLUSTER_UPDATES | CLUSTER_IS_TILED)))
    return false;
  if (g->saves_memory && (merge_is_slice(g, l) || merge_is_slice(g, r))) return false;
  if (reads_elsewhere(g, l, r) || reads_elsewhere(g, r, l)) return false;
  if (both_traits(g, l, r) & CLUSTER_REDUCES) {
    bool is_one_pass = !((both_traits(g, l, r))&CLUSTER_ROW_PASSES) && reduce_alike(g, l, r);
    if (!(common_traits(g, l, r) & CLUSTER_REDUCES) && !is_beside_rows(g, l, r)) return false;
    if (!is_one_pass && !fits_rows(g, l, r)) return false;
  } else if (merge_elements_of(g, l) != merge_elements_of(g, r) || are_rivals(g, l, r) || is_slow_together(g, l, r)) {
    return false;
  }
  if (stores_too_many(g, l, r)) return false;
  return !cluster_has_detour(g, l, r) && !cluster_has_detour(g, r, l);
}

int merge_clusters(cluster_graph *g, int l, int r) {
  const unsigned traits = both_traits(g, l, r);
  const double operations = g->clusters.data[l].operations + g->clusters.data[r].operations;
  int made = cluster_merge(g, l, r);
  cluster *c = &g->clusters.data[made];
  c->traits = traits;
  c->operations = operations;
  c->time = -1;
  return made;
}
