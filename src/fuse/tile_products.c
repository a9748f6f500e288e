// A library multiplies large matrices better than tiles do, but it writes its result to memory, where another kernel
// reads it, and it takes long to be called for a small one. So what tiles are worth depends on what becomes one kernel
// with the product: clusters are formed as if it were worth it wherever that may be, and where it turns out not to be,
// formed again without.
#include "fuse/tile_products.h"

#include <math.h>

#include "fuse/fuse_library.h"
#include "fuse/fusion_cost.h"
#include "kernel/hero_tiles.h"
#include "kernel/kernel.h"
#include "kernel/product_cost.h"
#include "kernel/tiled_product.h"

// --- what was tried

// Addresses are values of the map of products.
static char is_alone, is_never;

// --- at best

// On a grid a slice of what is there is a place in its memory; on CPUs products of slices are better a library's.
static bool is_there(const cluster_graph *g, const instruction *i) {
  const cluster_node *node = &g->nodes[cluster_node_of(g, i)->source];
  while (g->target->has_grid && node->role == CLUSTER_DUPLICATED && node->instruction->opcode == HLO_SLICE)
    node = &g->nodes[cluster_node_of(g, node->instruction->operands[0])->source];
  return node->role != CLUSTER_DUPLICATED;
}

// The library writes a transposed result at no cost.
static bool is_only_transposed(const cluster_graph *g, const instruction *dot) {
  return !g->target->has_grid && dot->users.size == 1 && dot->users.data[0]->opcode == HLO_TRANSPOSE;
}

bool tile_products_may_take(const cluster_graph *g, int node) {
  const instruction *dot = g->nodes[node].instruction;
  const target_description *t = g->target;
  if (!product_cost_is_product(dot) || t->codegen != CODEGEN_CHOSEN || !kernel_hero_exists(t->kind, HERO_TILES))
    return false;
  if (g->nodes[node].is_ordered || ptr_map_get(g->refused, dot) == &is_never || is_only_transposed(g, dot))
    return false;
  if (!hero_tiles_has_form(dot) || product_cost_multiplications(dot) <= t->fusion.max_loop_product) return false;
  if (!is_there(g, dot->operands[0]) || !is_there(g, dot->operands[1])) return false;
  const double library = product_cost_time(t, dot, PRODUCT_BY_LIBRARY);
  const double saved = t->products.kernel_ns + fusion_cost_memory_time(t, dot->shape);
  return product_cost_time(t, dot, PRODUCT_BY_TILES) * t->products.least_gain < library + saved;
}

// --- what fits

static void body_of(arena *a, const cluster_graph *g, int l, int r, cluster_body *body, instruction_list *list) {
  cluster_body_of(a, g, l, r, body);
  for (int n = 0; n < body->nodes.size; n++) vec_push(a, list, g->nodes[body->nodes.data[n]].instruction);
}

bool tile_products_fit(const cluster_graph *g, int l, int r) {
  arena *scratch = arena_create();
  cluster_body body;
  instruction_list list = {0};
  body_of(scratch, g, l, r, &body, &list);
  bool fits = tiled_product_suits(scratch, &list, g->target);
  for (int n = 0; n < list.size; n++) fits &= !ptr_map_has(g->refused, list.data[n]);
  arena_destroy(scratch);
  return fits;
}

bool tile_products_fit_rows(const cluster_graph *g, int l, int r) {
  if (g->target->codegen != CODEGEN_TILES) return false;
  arena *scratch = arena_create();
  cluster_body body;
  instruction_list list = {0};
  body_of(scratch, g, l, r, &body, &list);
  const bool fits = tiled_product_has_rows(scratch, &list, g->target);
  arena_destroy(scratch);
  return fits;
}

// --- times

typedef struct group {
  arena *scratch;
  cluster_graph *graph;
  int cluster;
  cluster_body body;
  const instruction *product, *output;  // output: null if there are several
} group;

static group group_of(arena *a, cluster_graph *g, int cluster) {
  group made = {.scratch = a, .graph = g, .cluster = cluster};
  int outputs = 0;
  cluster_body_of(a, g, cluster, cluster, &made.body);
  for (int n = 0; n < made.body.nodes.size; n++) {
    const int node = made.body.nodes.data[n];
    const instruction *i = g->nodes[node].instruction;
    if (product_cost_is_product(i)) made.product = i;
    if (g->nodes[node].role != CLUSTER_MEMBER || !cluster_is_read_outside(g, cluster, cluster, node)) continue;
    made.output = i;
    outputs++;
  }
  if (outputs != 1) made.output = NULL;
  return made;
}

// A kernel that reads the result would do what is done to the product on the way, unless it is one of tiles.
static bool is_read_by_kernel(const group *x) {
  cluster_graph *g = x->graph;
  bool any = false;
  cluster_readers_begin(g);
  vec_push(g->arena, &g->stack, (int)x->output->mark);
  while (g->stack.size > 0) {
    g->readers.size = 0;
    (void)cluster_readers_of(g, vec_pop(&g->stack), &g->readers);
    for (int k = 0; k < g->readers.size; k++)
      any |= !(g->clusters.data[g->readers.data[k]].traits & (CLUSTER_IS_LIBRARY | CLUSTER_IS_TILED));
  }
  return any;
}

static double count_of(const instruction *i) { return (double)shape_element_count(fusion_cost_array_of(i->shape)); }

// Of everything but the product, each element once; reductions take `by_reductions` times what emitters need.
static double computing_time(const group *x, double by_reductions) {
  const cluster_graph *g = x->graph;
  double time = 0;
  for (int n = 0; n < x->body.nodes.size; n++) {
    const instruction *i = g->nodes[x->body.nodes.data[n]].instruction;
    if (i == x->product) continue;
    const double count = count_of(i);
    time += fusion_cost_compute_time(g->target, count * fusion_cost_operations(i), count) *
            (i->opcode == HLO_REDUCE ? by_reductions : 1);
  }
  return time;
}

// What a kernel of everything but the product moves, the product's result left aside.
static double moving_time(const group *x) {
  const cluster_graph *g = x->graph;
  double time = fusion_cost_memory_time(g->target, fusion_cost_array_of(x->output->shape)) / 2;
  for (int n = 0; n < x->body.inputs.size; n++) {
    const instruction *i = g->nodes[x->body.inputs.data[n]].instruction;
    if (i != x->product->operands[0] && i != x->product->operands[1] && shape_is_array(i->shape))
      time += fusion_cost_memory_time(g->target, i->shape) / 2;
  }
  return time;
}

static double larger(double x, double y) { return x > y ? x : y; }

// Of a library's call, and of a kernel for what it leaves.
static double library_time(const group *x, double computing, double moving) {
  const target_description *t = x->graph->target;
  const double call = product_cost_time(t, x->product, PRODUCT_BY_LIBRARY);
  const instruction *last = NULL;
  if (x->output == x->product) return call;
  if (fuse_library_sum(x->graph, x->product, &last) && last == x->output) return call;
  if (is_read_by_kernel(x)) return call + computing;
  return call + t->products.kernel_ns + larger(computing, moving + fusion_cost_memory_time(t, x->product->shape));
}

static tile_products_times times_of(const group *x) {
  const target_description *t = x->graph->target;
  const double computing = computing_time(x, 1), in_tiles = computing_time(x, t->products.tile_reductions);
  const double moving = x->output == x->product ? 0 : moving_time(x);
  return (tile_products_times){
      .library = library_time(x, computing, moving),
      .tiles = product_cost_time(t, x->product, PRODUCT_BY_TILES) + larger(in_tiles, moving),
      .emitter =
          t->products.kernel_ns + product_cost_time(t, x->product, PRODUCT_BY_EMITTER) + larger(computing, moving),
  };
}

tile_products_times tile_products_times_of(cluster_graph *g, int cluster) {
  tile_products_times times = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
  arena *scratch = arena_create();
  const group x = group_of(scratch, g, cluster);
  if (x.product && x.output) times = times_of(&x);
  arena_destroy(scratch);
  return times;
}

bool tile_products_refuse(arena *a, cluster_graph *g, ptr_map *refused) {
  bool any = false;
  for (int c = 0; c < g->clusters.size; c++) {
    if (g->clusters.data[c].members.size == 0 || !(g->clusters.data[c].traits & CLUSTER_IS_TILED)) continue;
    const group x = group_of(a, g, c);
    if (x.output) {
      const tile_products_times times = times_of(&x);
      const double others = times.library < times.emitter ? times.library : times.emitter;
      if (times.tiles * g->target->products.least_gain <= others) continue;
    }
    // Of several results at first the product's alone is tried.
    const bool was_alone = ptr_map_has(refused, x.product);
    ptr_map_put(a, refused, x.product, x.output || was_alone ? &is_never : &is_alone);
    any = true;
  }
  return any;
}
