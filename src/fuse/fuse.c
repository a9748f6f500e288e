// Fusion, step by step: what only groups is unfused, every computation that runs as a sequence is cut into
// clusters, and each cluster becomes a fusion.
#include "fuse/fuse.h"

#include "fuse/cluster.h"
#include "fuse/few_gathered.h"
#include "fuse/fuse_attention.h"
#include "fuse/fuse_clusters.h"
#include "fuse/fuse_library.h"
#include "fuse/fuse_prepare.h"
#include "fuse/fuse_while.h"
#include "fuse/fusion_cost.h"
#include "fuse/library.h"
#include "fuse/log_softmax.h"
#include "fuse/merge.h"
#include "fuse/pack_constants.h"
#include "fuse/reduction_order.h"
#include "fuse/reduction_splitter.h"
#include "fuse/scatter_winners.h"
#include "fuse/softmax_sink.h"
#include "fuse/tile_loops.h"
#include "fuse/tile_products.h"
#include "fuse/trip_count.h"
#include "hlo/dot_form.h"
#include "hlo/program_order.h"
#include "kernel/kernel.h"
#include "kernel/sizes.h"
#include "kernel/untiled.h"
#include "opt/passes.h"

// --- before

static bool has_fusions(const module *m) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++)
      if (all->data[k]->opcode == HLO_FUSION) return true;
  }
  return false;
}

static bool has_elemental_form(const instruction *i) { return hlo_ops[i->opcode].index_rule != INDEX_RULE_NONE; }

// --- roles

// A library takes longer to be called than a loop to multiply.
static bool is_tiny_product(const target_description *target, const instruction *i) {
  dot_form form;
  return i->opcode == HLO_DOT && dot_form_of(i, NULL, NULL, &form) &&
         (double)form.batch * (double)form.m * (double)form.n * (double)form.k <= target->fusion.max_loop_product;
}

// A library would need copies of the slices that it reads, and there is no room for them.
static bool is_kernel_product(const instruction *i) {
  return (i->opcode == HLO_CONVOLUTION || i->opcode == HLO_DOT) && tile_loops_has(i);
}

static bool is_operation_of_sequence(const target_description *target, const instruction *i) {
  switch (i->opcode) {
    case HLO_PARAMETER:
    case HLO_CONSTANT:
    case HLO_TUPLE:
    case HLO_AFTER_ALL:
    case HLO_CALL:
    case HLO_FUSION:  // one that is kept: others are unfused before
    case HLO_WHILE:
    case HLO_CONDITIONAL: return true;
    default: return library_of(target, i) != LIBRARY_NONE && !is_tiny_product(target, i) && !is_kernel_product(i);
  }
}

static bool is_scalar_constant(const instruction *i) {
  return i->opcode == HLO_CONSTANT && i->shape->rank == 0 && shape_is_array(i->shape);
}

// Rows that a loop over tiles keeps are copied, so that what they are part of need not live on.
static bool is_kept_slice(const instruction *i) { return i->opcode == HLO_SLICE && tile_loops_has(i); }

static bool is_library_product(const cluster_graph *g, const instruction *i) {
  return i->opcode == HLO_DOT && library_of(g->target, i) == LIBRARY_GEMM && !is_tiny_product(g->target, i) &&
         !tile_products_may_take(g, (int)i->mark);
}

// Whether a library reads the operation's part of an array where it lies.
static bool reads_part(const cluster_graph *g, const instruction *user, const instruction *part) {
  if (user->opcode != HLO_CONVOLUTION) return is_library_product(g, user);
  return user->operands[0] != part && library_of(g->target, user) == LIBRARY_CONVOLUTION && !is_kernel_product(user) &&
         !tile_products_may_take(g, (int)user->mark);
}

// A part of an array that products, and convolutions as their kernel, alone read, which they do where it lies.
static bool is_part_for_libraries(const cluster_graph *g, const instruction *i) {
  array_view view;
  if (i->opcode != HLO_DYNAMIC_SLICE || i->users.size == 0 || i == g->computation->root) return false;
  for (int u = 0; u < i->users.size; u++)
    if (!reads_part(g, i->users.data[u], i)) return false;
  return library_shows(g->target, i, &view) && view.start.value;
}

// What every kernel rather computes for itself than reads from memory: what is made of indices and scalars, chunks of
// other arrays, and a few cheap operations on one array that is there anyway.
static bool is_duplicated(const cluster_graph *g, const instruction *i) {
  if (is_scalar_constant(i)) return true;
  if (!shape_is_array(i->shape) || cluster_node_of(g, i)->is_ordered || cluster_node_of(g, i)->is_target) return false;
  if (is_kept_slice(i)) return false;
  switch (i->opcode) {
    case HLO_IOTA:
    case HLO_BROADCAST:
    case HLO_SLICE: return true;
    case HLO_DYNAMIC_SLICE: return is_part_for_libraries(g, i);
    default: break;
  }
  if (!hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || i->operand_count == 0 || i->opcode == HLO_COPY) return false;
  int arrays = 0;
  double operations = fusion_cost_operations(i);
  for (int k = 0; k < i->operand_count; k++) {
    const cluster_node *n = &g->nodes[cluster_node_of(g, i->operands[k])->source];
    if (n->role == CLUSTER_MEMBER) return false;
    if (n->role == CLUSTER_FIXED && n->instruction->shape->rank > 0) arrays++;
    operations += n->weight;
    arrays += n->arrays;
  }
  return operations <= FUSION_DUPLICATED_OPERATIONS && arrays <= 1;
}

static void make_duplicated(cluster_graph *g, cluster_node *node) {
  const instruction *i = node->instruction;
  node->role = CLUSTER_DUPLICATED;
  node->weight = fusion_cost_operations(i);
  for (int k = 0; k < i->operand_count; k++) {
    const cluster_node *n = &g->nodes[cluster_node_of(g, i->operands[k])->source];
    node->weight += n->weight;
    node->arrays += n->role == CLUSTER_DUPLICATED ? n->arrays : n->instruction->shape->rank > 0;
  }
}

static heddle_status refuse(const cluster_graph *g, const instruction *i) {
  if (library_kind_of(i) != LIBRARY_NONE && !g->target->has_libraries)
    return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                     "%s " STR_FMT " is the host's to do (%s), and for %s nothing runs on the host",
                     hlo_op_text(i->opcode), STR_ARG(i->name), library_kind_name(library_kind_of(i)), g->target->name);
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s " STR_FMT " has neither a kernel nor a library",
                   hlo_op_text(i->opcode), STR_ARG(i->name));
}

static void add_cluster(cluster_graph *g, int n) {
  const instruction *i = g->nodes[n].instruction;
  int number = cluster_add(g, n);
  cluster *made = &g->clusters.data[number];
  made->traits = merge_traits(i) | (g->nodes[n].is_ordered || is_kept_slice(i) ? CLUSTER_IS_ALONE : 0);
  if (tile_products_may_take(g, n)) made->traits |= CLUSTER_IS_TILED;
  made->operations = fusion_cost_operations(i);
}

// What is duplicated in kernels but has to be in memory as well, for a library or as a result.
static void store_duplicated(cluster_graph *g, const instruction *by) {
  int n = g->nodes[by->mark].source;
  const cluster_node *node = &g->nodes[n];
  if (node->role == CLUSTER_DUPLICATED && node->cluster < 0 && node->instruction->opcode != HLO_CONSTANT)
    add_cluster(g, n);
}

static void find_stored(cluster_graph *g) {
  store_duplicated(g, g->computation->root);
  for (int n = 0; n < g->node_count; n++) {
    const instruction *i = g->nodes[n].instruction;
    for (int k = 0; g->nodes[n].role == CLUSTER_FIXED && k < i->operand_count; k++) store_duplicated(g, i->operands[k]);
  }
}

static heddle_status choose_role(cluster_graph *g, int n) {
  cluster_node *node = &g->nodes[n];
  const instruction *i = node->instruction;
  if (node->role == CLUSTER_BITCAST) return status_ok();
  if (is_duplicated(g, i)) {
    make_duplicated(g, node);
    return status_ok();
  }
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) {
    int of = cluster_of(g, (int)i->operands[0]->mark);
    if (of >= 0) cluster_add_member(g, of, n);
    return status_ok();
  }
  if (is_operation_of_sequence(g->target, i) && !tile_products_may_take(g, n)) return status_ok();
  if (!has_elemental_form(i)) return refuse(g, i);
  add_cluster(g, n);
  return status_ok();
}

// Both ends of control edges, and what is written in place.
static void find_special(cluster_graph *g) {
  for (int n = 0; n < g->node_count; n++) {
    const instruction *i = g->nodes[n].instruction;
    for (int k = 0; k < cluster_target_count(i); k++)
      g->nodes[cluster_node_of(g, i->operands[k])->source].is_target = true;
    const instruction_list *before = &g->nodes[n].instruction->control_predecessors;
    g->nodes[n].is_ordered |= before->size > 0;
    for (int k = 0; k < before->size; k++) cluster_node_of(g, before->data[k])->is_ordered = true;
  }
}

static heddle_status choose_roles(arena *scratch, computation *c, const target_description *target,
                                  const ptr_map *refused, cluster_graph *graph) {
  TRY(cluster_graph_create(scratch, c, target, graph));
  graph->refused = refused;
  find_special(graph);
  for (int n = 0; n < graph->node_count; n++) TRY(choose_role(graph, n));
  return status_ok();
}

static heddle_status find_clusters(arena *scratch, computation *c, const target_description *target,
                                   const ptr_map *refused, bool is_careful, cluster_graph *graph) {
  TRY(choose_roles(scratch, c, target, refused, graph));
  if (fuse_library_operands(graph)) TRY(choose_roles(scratch, c, target, refused, graph));
  graph->is_careful = is_careful;
  graph->saves_memory = tile_loops_stand_in(c->module);
  graph->writes_products = graph->saves_memory && !tile_loops_are_apart(c->module);
  fuse_library_epilogues(graph);
  find_stored(graph);
  fuse_clusters(graph, kernel_hero_exists(target->kind, HERO_LOOPS));
  return status_ok();
}

static heddle_status find_ordered(arena *scratch, computation *c, const target_description *target,
                                  const ptr_map *refused, cluster_graph *graph) {
  TRY(find_clusters(scratch, c, target, refused, false, graph));
  return cluster_graph_is_ordered(graph) ? status_ok() : find_clusters(scratch, c, target, refused, true, graph);
}

// What a product of tiles is worth depends on what becomes one kernel with it, which is known at the end: then all is
// done again without those that were not worth it, fewer each time.
static heddle_status fuse_sequence(computation *c, const target_description *target, const str_map *untiled,
                                   text *reasons) {
  fuse_prepare(c);
  if (untiled) untiled_mark_names(c, untiled);
  arena *scratch = arena_create();
  ptr_map refused = {0};
  cluster_graph graph;
  heddle_status s = find_ordered(scratch, c, target, &refused, &graph);
  while (status_is_ok(s) && tile_products_refuse(scratch, &graph, &refused))
    s = find_ordered(scratch, c, target, &refused, &graph);
  if (status_is_ok(s)) s = cluster_build(&graph, reasons);
  arena_destroy(scratch);
  return s;
}

// --- modules

// Reducers are tried out only where kernels take a reduction's elements in another order than the loop does.
static heddle_status arrange_reductions(arena *scratch, module *m, const target_description *target,
                                        program_list *sequences) {
  bool any = false;
  for (int k = 0; k < sequences->size && kernel_hero_exists(target->kind, HERO_REDUCTION); k++)
    any |= reduction_order_run(sequences->data[k], target);
  if (any) {
    *sequences = (program_list){0};
    program_list_find(scratch, m, sequences);
  }
  for (int k = 0; k < sequences->size; k++) any |= reduction_splitter_run(sequences->data[k], target);
  return any ? pass_apply(&opt_dead_code, m) : status_ok();
}

// Without what nobody uses, in order.
static heddle_status find_again(arena *scratch, module *m, program_list *sequences) {
  TRY(pass_apply(&opt_dead_code, m));
  *sequences = (program_list){0};
  program_list_find(scratch, m, sequences);
  return opt_sort(scratch, m);
}

// Before reductions are arranged: those of a softmax are to be found as they are.
static heddle_status gather_attention(arena *scratch, module *m, const target_description *target,
                                      program_list *sequences, text *reasons) {
  bool any = false;
  if (!kernel_hero_exists(target->kind, HERO_TILES)) return status_ok();
  if (target->has_grid && target->codegen != CODEGEN_TILES) return status_ok();
  for (int k = 0; k < sequences->size; k++) any |= log_softmax_run(sequences->data[k], target);
  for (int k = 0; k < sequences->size; k++) any |= softmax_sink_run(sequences->data[k], target);
  if (any) TRY(find_again(scratch, m, sequences));
  any = false;
  for (int k = 0; k < sequences->size; k++) any |= fuse_attention_run(sequences->data[k], target, reasons);
  return any ? find_again(scratch, m, sequences) : status_ok();
}

static heddle_status compute_few(arena *scratch, module *m, program_list *sequences) {
  bool any = false;
  for (int k = 0; k < sequences->size; k++) any |= few_gathered_run(sequences->data[k]);
  return any ? find_again(scratch, m, sequences) : status_ok();
}

// New instructions stand at the end, behind what uses them.
static heddle_status arrange_scatters(arena *scratch, module *m, const target_description *target,
                                      program_list *sequences) {
  bool any = false;
  for (int k = 0; k < sequences->size; k++) any |= scatter_winners_run(sequences->data[k], target);
  if (!any) return status_ok();
  *sequences = (program_list){0};
  program_list_find(scratch, m, sequences);
  return opt_sort(scratch, m);
}

// Who reads a constant is known once what became a part of kernels is gone.
static heddle_status pack_constants(arena *scratch, module *m, const target_description *target,
                                    program_list *sequences, packed_constants *packed, text *reasons) {
  TRY(find_again(scratch, m, sequences));
  for (int k = 0; k < sequences->size; k++) TRY(pack_constants_run(sequences->data[k], target, packed, reasons));
  return status_ok();
}

static heddle_status fuse_module(arena *scratch, module *m, const target_description *target, const str_map *untiled,
                                 packed_constants *packed, text *reasons) {
  if (has_fusions(m)) TRY(pass_apply(&opt_call_inliner, m));
  TRY(fuse_while_run(scratch, m, target));
  TRY(pass_apply(&opt_dot_sums, m));
  TRY(pass_apply(&opt_dead_code, m));
  program_list sequences = {0};
  program_list_find(scratch, m, &sequences);
  TRY(compute_few(scratch, m, &sequences));
  TRY(gather_attention(scratch, m, target, &sequences, reasons));
  TRY(arrange_reductions(scratch, m, target, &sequences));
  TRY(arrange_scatters(scratch, m, target, &sequences));
  for (int k = 0; k < sequences.size; k++) TRY(fuse_sequence(sequences.data[k], target, untiled, reasons));
  TRY(pack_constants(scratch, m, target, &sequences, packed, reasons));
  TRY(pass_apply(&opt_dead_code, m));
  return opt_sort(scratch, m);
}

heddle_status fuse_run_packing(module *m, const target_description *target, const str_map *untiled,
                               packed_constants *packed, text *reasons) {
  TRY(kernel_check_sizes(m));
  arena *scratch = arena_create();
  trip_count_note(m);
  heddle_status s = fuse_module(scratch, m, target, untiled, packed, reasons);
  arena_destroy(scratch);
  return s;
}

heddle_status fuse_run(module *m, const target_description *target, const str_map *untiled, text *reasons) {
  packed_constants packed = {.arena = m->arena};
  return fuse_run_packing(m, target, untiled, &packed, reasons);
}
