// Biases and rectifiers for libraries, and transposes of what they write.
//
// Biases only in f32: there, adding after the sum is rounded and adding before are what the library may choose between
// anyway.
#include "plan/fuse_library.h"

#include "hlo/dot_form.h"
#include "plan/library.h"

// --- patterns

static const instruction *only_user(const cluster_graph *g, const instruction *i) {
  return i->users.size == 1 && i != g->computation->root ? i->users.data[0] : NULL;
}

static bool is_zero(const instruction *i) {
  if (i->opcode == HLO_BROADCAST) i = i->operands[0];
  return i->opcode == HLO_CONSTANT && i->shape->rank == 0 && !i->literal->is_elided &&
         literal_get_double(i->literal, 0) == 0;
}

static bool is_rectifier(const instruction *i, const instruction *of) {
  if (i->opcode != HLO_MAXIMUM) return false;
  return is_zero(i->operands[i->operands[0] == of ? 1 : 0]);
}

static bool has_columns(const instruction *dot, const instruction *bias) {
  dot_form form;
  const int last = dot->shape->rank - 1;
  return last >= 0 && dot_form_of(dot, NULL, &form) && form.n == dot->shape->dims[last] &&
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

// Kernels read it anyway: they add the bias for nothing. A window would add it again for each element it takes.
static bool is_read_by_kernels(cluster_graph *g, const instruction *i) {
  g->stack.size = 0;
  vec_push(g->arena, &g->stack, (int)i->mark);
  while (g->stack.size > 0) {
    const instruction *x = g->nodes[vec_pop(&g->stack)].instruction;
    for (int k = 0; k < x->users.size; k++) {
      const cluster_node *user = cluster_node_of(g, x->users.data[k]);
      if (user->role == CLUSTER_BITCAST) vec_push(g->arena, &g->stack, (int)x->users.data[k]->mark);
      else if (user->role == CLUSTER_MEMBER && x->users.data[k]->opcode != HLO_REDUCE_WINDOW) return true;
    }
  }
  return false;
}

static bool is_in_memory(const cluster_graph *g, const instruction *i) {
  return g->nodes[g->nodes[i->mark].source].role != CLUSTER_COPIED;
}

static void make_cluster(cluster_graph *g, const instruction *op, const instruction *sum, const instruction *last) {
  int made = cluster_add(g, (int)op->mark);
  made = cluster_merge(g, made, cluster_of(g, (int)sum->mark));
  if (last != sum) made = cluster_merge(g, made, cluster_of(g, (int)last->mark));
  g->clusters.data[made].traits = CLUSTER_IS_LIBRARY;
  g->clusters.data[made].kind = FUSION_CUSTOM;
}

static bool is_free(const cluster_graph *g, const instruction *i) {
  return cluster_of(g, (int)i->mark) >= 0 && !g->nodes[i->mark].is_ordered;
}

static void fuse_epilogue(cluster_graph *g, const instruction *op) {
  library_kind kind = library_kind_of(op);
  if (kind != LIBRARY_GEMM && kind != LIBRARY_CONVOLUTION) return;
  if (op->shape->dtype != DTYPE_F32 || op->operands[0]->shape->dtype != DTYPE_F32) return;
  const instruction *sum = only_user(g, op), *bias = bias_of(op, sum);
  if (!bias || !is_free(g, sum) || g->nodes[op->mark].is_ordered) return;
  const instruction *next = only_user(g, sum);
  const instruction *last = next && is_rectifier(next, sum) && is_free(g, next) ? next : sum;
  // The library tells its arrays apart by their place.
  const instruction *x = op->operands[0], *y = op->operands[1], *z = bias->operands[0];
  if (x == y || x == z || y == z || !is_in_memory(g, x) || !is_in_memory(g, y) || !is_in_memory(g, z)) return;
  if (!is_read_by_kernels(g, last)) make_cluster(g, op, sum, last);
}

// A matrix product writes its rows as far apart as is wanted.
static void fuse_transpose(cluster_graph *g, const instruction *op) {
  const instruction *turned = only_user(g, op);
  dot_form form;
  if (op->opcode != HLO_DOT || library_kind_of(op) != LIBRARY_GEMM || g->nodes[op->mark].is_ordered) return;
  if (!turned || turned->opcode != HLO_TRANSPOSE || !is_free(g, turned) || !dot_form_of(op, turned, &form)) return;
  const instruction *x = op->operands[0], *y = op->operands[1];
  if (x == y || !is_in_memory(g, x) || !is_in_memory(g, y) || is_read_by_kernels(g, turned)) return;
  make_cluster(g, op, turned, turned);
}

void fuse_library_epilogues(cluster_graph *g) {
  for (int n = 0; n < g->node_count; n++) {
    if (g->nodes[n].role == CLUSTER_FIXED) fuse_epilogue(g, g->nodes[n].instruction);
    if (g->nodes[n].role == CLUSTER_FIXED) fuse_transpose(g, g->nodes[n].instruction);
  }
}
