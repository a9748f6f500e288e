// Biases and relus for libraries, transposes of what they write, and slices of what they read: dots, convolutions of
// their kernels, and wide concatenates.
//
// Biases only in f32: there, adding after the sum is rounded and adding before are what the library may choose between
// anyway.
#include "fuse/fuse_library.h"

#include "fuse/concatenate_operand.h"
#include "fuse/library.h"
#include "hlo/dot_form.h"

// --- patterns

static const instruction *only_user(const cluster_graph *g, const instruction *i) {
  return i->users.size == 1 && i != g->computation->root ? i->users.data[0] : NULL;
}

static bool has_columns(const instruction *dot, const instruction *bias) {
  dot_form form;
  const int last = dot->shape->rank - 1;
  return last >= 0 && dot_form_of(dot, NULL, NULL, &form) && form.n == dot->shape->dims[last] &&
         bias->attributes->dimensions.data[0] == last;
}

// One value per column of a product, or per feature of a convolution.
static bool is_bias(const instruction *op, const instruction *i) {
  if (i->opcode != HLO_BROADCAST || i->operands[0]->shape->rank != 1) return false;
  if (op->opcode == HLO_DOT) return has_columns(op, i);
  return i->attributes->dimensions.data[0] == op->attributes->dim_labels.output_feature;
}

static const instruction *bias_of(const instruction *op, const instruction *sum) {
  if (!sum || sum->opcode != HLO_ADD || sum->operands[0] == sum->operands[1]) return NULL;
  const instruction *other = sum->operands[sum->operands[0] == op ? 1 : 0];
  return is_bias(op, other) ? other : NULL;
}

// --- what stands around

static bool is_kernels(const cluster_graph *g, const cluster_node *n) {
  return n->role == CLUSTER_MEMBER && !(g->clusters.data[n->cluster].traits & CLUSTER_IS_LIBRARY);
}

// Kernels read it anyway: they add the bias for nothing. A window would add it again for each element it takes.
static bool is_read_by_kernels(cluster_graph *g, const instruction *i) {
  g->stack.size = 0;
  vec_push(g->arena, &g->stack, (int)i->mark);
  while (g->stack.size > 0) {
    const instruction *x = g->nodes[vec_pop(&g->stack)].instruction;
    for (int k = 0; k < x->users.size; k++) {
      const cluster_node *user = cluster_node_of(g, x->users.data[k]);
      if (user->role == CLUSTER_BITCAST) vec_push(g->arena, &g->stack, (int)x->users.data[k]->mark);
      else if (is_kernels(g, user) && x->users.data[k]->opcode != HLO_REDUCE_WINDOW) return true;
    }
  }
  return false;
}

static bool is_in_memory(const cluster_graph *g, const instruction *i) {
  return g->nodes[g->nodes[i->mark].source].role != CLUSTER_DUPLICATED;
}

static bool is_free(const cluster_graph *g, const instruction *i) {
  return cluster_of(g, (int)i->mark) >= 0 && !g->nodes[i->mark].is_ordered;
}

// --- slices

// An operand that lies as slices of an array show it.
static bool is_shown(const cluster_graph *g, const instruction *operand, array_view *out) {
  if (is_in_memory(g, operand) || !library_shows(g->target, operand, out)) return false;
  return is_in_memory(g, out->array) && (!out->start.value || is_in_memory(g, out->start.value));
}

// Whether a dot reads slices of arrays where they are: of both operands if it can, else of one. The other one is an
// array of its own.
static bool reads_slices(const cluster_graph *g, const instruction *dot, array_view views[static 2]) {
  static const int choices[] = {3, 1, 2};  // bits: left, right
  array_view shown[2];
  dot_form form;
  int found = 0;
  for (int k = 0; k < 2; k++) found |= is_shown(g, dot->operands[k], &shown[k]) << k;
  for (int c = 0; found && c < 3; c++) {
    if ((choices[c] & found) != choices[c]) continue;
    for (int k = 0; k < 2; k++) {
      if (choices[c] >> k & 1) views[k] = shown[k];
      else array_view_whole(dot->operands[k], &views[k]);
    }
    if (dot_form_of(dot, NULL, views, &form)) return true;
  }
  return false;
}

static bool is_product(const cluster_graph *g, const instruction *i) {
  return i->opcode == HLO_DOT && g->nodes[i->mark].role == CLUSTER_FIXED && !g->nodes[i->mark].is_ordered &&
         library_of(g->target, i) == LIBRARY_GEMM;
}

static bool is_convolution(const cluster_graph *g, const instruction *i) {
  return i->opcode == HLO_CONVOLUTION && g->nodes[i->mark].role == CLUSTER_FIXED && !g->nodes[i->mark].is_ordered &&
         library_of(g->target, i) == LIBRARY_CONVOLUTION;
}

// Whether the convolution's kernel is a slice that is read where it lies.
static bool shows_kernel(const cluster_graph *g, const instruction *i, array_view *out) {
  return dtypes[i->operands[1]->shape->dtype].bits >= 8 && is_shown(g, i->operands[1], out);
}

// Where an operation finds its operands; false if one of them would have to be computed first.
static bool find_operands(const cluster_graph *g, const instruction *op, array_view views[static 2]) {
  if (op->opcode == HLO_DOT && reads_slices(g, op, views))
    return is_in_memory(g, views[0].array) && is_in_memory(g, views[1].array);
  for (int k = 0; k < 2; k++) array_view_whole(op->operands[k], &views[k]);
  const bool has_kernel = op->opcode == HLO_CONVOLUTION && shows_kernel(g, op, &views[1]);
  return is_in_memory(g, op->operands[0]) && (has_kernel || is_in_memory(g, op->operands[1]));
}

static instruction *copy_operand(cluster_graph *g, instruction *i, int k) {
  instruction *copy = computation_add(g->computation, HLO_COPY, (str){0}, i->operands[k]->shape, 1, &i->operands[k]);
  copy->where = i->where;
  instruction_set_operand(i, k, copy);
  return copy;
}

static bool copy_factors(cluster_graph *g, instruction *dot) {
  array_view views[2];
  bool changes = false;
  if (!is_product(g, dot) || !reads_slices(g, dot, views)) return false;
  for (int k = 0; k < 2; k++) {
    if (is_in_memory(g, views[k].array)) continue;
    copy_operand(g, dot, k);
    changes = true;
  }
  return changes;
}

// What a kernel that is read where it lies is convolved with is an array of its own.
static bool copy_image(cluster_graph *g, instruction *i) {
  array_view kernel;
  if (!is_convolution(g, i) || is_in_memory(g, i->operands[0]) || !shows_kernel(g, i, &kernel)) return false;
  copy_operand(g, i, 0);
  return true;
}

static bool is_copied_by_library(const cluster_graph *g, const instruction *i) {
  return concatenate_operand_for_library(i) && g->nodes[i->mark].role == CLUSTER_FIXED && !g->nodes[i->mark].is_ordered;
}

// Whether the operand of a wide concatenate is a slice that is read where it lies.
static bool is_shown_operand(const cluster_graph *g, const instruction *concatenate, int k) {
  concatenate_operand p;
  return !is_in_memory(g, concatenate->operands[k]) && concatenate_operand_shown(concatenate, k, &p) &&
         is_in_memory(g, p.array);
}

static bool shows_operands(const cluster_graph *g, const instruction *concatenate) {
  for (int k = 0; k < concatenate->operand_count; k++)
    if (is_shown_operand(g, concatenate, k)) return true;
  return false;
}

// What is neither in memory nor shown is copied once, however often it is an operand. From the last one on: users are
// taken out from behind.
static bool copy_operands(cluster_graph *g, arena *scratch, instruction *concatenate) {
  ptr_map copies = {0};
  bool changes = false;
  if (!is_copied_by_library(g, concatenate) || !shows_operands(g, concatenate)) return false;
  for (int k = concatenate->operand_count; k-- > 0;) {
    instruction *x = concatenate->operands[k], *known = ptr_map_get(&copies, x);
    if (known) instruction_set_operand(concatenate, k, known);
    if (known || is_in_memory(g, x) || is_shown_operand(g, concatenate, k)) continue;
    ptr_map_put(scratch, &copies, x, copy_operand(g, concatenate, k));
    changes = true;
  }
  return changes;
}

bool fuse_library_operands(cluster_graph *g) {
  arena *scratch = arena_create();
  bool changes = false;
  for (int n = 0; n < g->node_count; n++) {
    instruction *i = g->nodes[n].instruction;
    if (copy_factors(g, i) || copy_image(g, i)) changes = true;
    if (copy_operands(g, scratch, i)) changes = true;
  }
  arena_destroy(scratch);
  return changes;
}

// --- clusters

static void make_cluster(cluster_graph *g, const instruction *op, const instruction *sum, const instruction *last) {
  int made = cluster_add(g, (int)op->mark);
  if (sum != op) made = cluster_merge(g, made, cluster_of(g, (int)sum->mark));
  if (last != sum) made = cluster_merge(g, made, cluster_of(g, (int)last->mark));
  g->clusters.data[made].traits = CLUSTER_IS_LIBRARY;
  g->clusters.data[made].kind = FUSION_CUSTOM;
}

const instruction *fuse_library_sum(const cluster_graph *g, const instruction *op, const instruction **last) {
  library_kind kind = library_of(g->target, op);
  array_view views[2];
  if (kind != LIBRARY_GEMM && kind != LIBRARY_CONVOLUTION) return NULL;
  if (op->shape->dtype != DTYPE_F32 || op->operands[0]->shape->dtype != DTYPE_F32) return NULL;
  const instruction *sum = only_user(g, op), *bias = bias_of(op, sum);
  if (!bias || !is_free(g, sum) || g->nodes[op->mark].is_ordered) return NULL;
  const instruction *next = only_user(g, sum);
  *last = next && library_is_relu(next, sum) && is_free(g, next) ? next : sum;
  return find_operands(g, op, views) && is_in_memory(g, bias->operands[0]) ? sum : NULL;
}

static void fuse_epilogue(cluster_graph *g, const instruction *op) {
  const instruction *last, *sum = fuse_library_sum(g, op, &last);
  if (sum && !is_read_by_kernels(g, last)) make_cluster(g, op, sum, last);
}

// A matrix product writes its rows as far apart as is wanted.
static void fuse_transpose(cluster_graph *g, const instruction *op) {
  const instruction *turned = only_user(g, op);
  array_view views[2];
  dot_form form;
  if (!is_product(g, op) || !turned || turned->opcode != HLO_TRANSPOSE || !is_free(g, turned)) return;
  if (!find_operands(g, op, views) || !dot_form_of(op, turned, views, &form)) return;
  if (!is_read_by_kernels(g, turned)) make_cluster(g, op, turned, turned);
}

static void fuse_slices(cluster_graph *g, const instruction *op) {
  array_view views[2];
  const bool is_shown = is_product(g, op)       ? reads_slices(g, op, views)
                        : is_convolution(g, op) ? shows_kernel(g, op, &views[1]) && is_in_memory(g, op->operands[0])
                                                : is_copied_by_library(g, op) && shows_operands(g, op);
  if (is_shown) make_cluster(g, op, op, op);
}

void fuse_library_epilogues(cluster_graph *g) {
  for (int n = 0; n < g->node_count; n++) {
    if (g->nodes[n].role == CLUSTER_FIXED) fuse_epilogue(g, g->nodes[n].instruction);
    fuse_transpose(g, g->nodes[n].instruction);
    fuse_slices(g, g->nodes[n].instruction);
  }
}
