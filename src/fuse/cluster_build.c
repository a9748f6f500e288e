// Clusters become fusions.
//
// First all bodies are copied, from instructions that still stand as they were decided on; only then are the members
// replaced, so that every fusion's operands follow.
#include "fuse/cluster_builder.h"

// --- who needs whom

static void need(cluster_graph *g, int node) {
  while (!g->nodes[node].is_needed) {
    cluster_node *n = &g->nodes[node];
    n->is_needed = true;
    if (n->role != CLUSTER_BITCAST) return;
    node = (int)n->instruction->operands[0]->mark;
  }
}

static void need_of_fixed(cluster_graph *g) {
  need(g, (int)g->computation->root->mark);
  for (int n = 0; n < g->node_count; n++) {
    const cluster_node *node = &g->nodes[n];
    if (node->role != CLUSTER_FIXED) continue;
    for (int k = 0; k < node->instruction->operand_count; k++) need(g, (int)node->instruction->operands[k]->mark);
  }
}

static void find_bodies(cluster_builder *b) {
  cluster_graph *g = b->graph;
  need_of_fixed(g);
  b->made = arena_array(b->scratch, cluster_fusion, g->clusters.size);
  for (int c = 0; c < g->clusters.size; c++) {
    cluster_body_of(b->scratch, g, c, c, &b->made[c].body);
    for (int i = 0; i < b->made[c].body.inputs.size; i++) need(g, b->made[c].body.inputs.data[i]);
  }
}

// In order of the nodes, not in that in which clusters grew.
static void find_outputs(cluster_builder *b) {
  const cluster_graph *g = b->graph;
  for (int n = 0; n < g->node_count; n++) {
    const cluster_node *node = &g->nodes[n];
    if (node->cluster >= 0 && node->is_needed) vec_push(b->scratch, &b->made[node->cluster].outputs, n);
  }
}

// --- bodies

// The instruction of several results whose elements are all that the fusion yields; null if there is none. A scatter
// can only be yielded whole.
static const instruction *tuple_op_of(const cluster_graph *g, const cluster_fusion *f) {
  const instruction *op = NULL;
  for (int k = 0; k < f->outputs.size; k++) {
    const instruction *i = g->nodes[f->outputs.data[k]].instruction;
    if (i->opcode != HLO_GET_TUPLE_ELEMENT || (op && op != i->operands[0])) return NULL;
    op = i->operands[0];
  }
  bool is_whole = op && (op->opcode == HLO_SCATTER || op->shape->tuple_size == f->outputs.size);
  return is_whole ? op : NULL;
}

static instruction *make_root(cluster_builder *b, cluster_fusion *f, const ptr_map *copies) {
  const cluster_graph *g = b->graph;
  const instruction *op = tuple_op_of(g, f);
  f->root_is_tuple_op = op != NULL;
  if (op) return ptr_map_get(copies, op);
  if (f->outputs.size == 1) return ptr_map_get(copies, g->nodes[f->outputs.data[0]].instruction);
  arena *a = f->computation->module->arena;
  instruction **elements = arena_array(b->scratch, instruction *, f->outputs.size);
  const shape **shapes = arena_array(b->scratch, const shape *, f->outputs.size);
  for (int k = 0; k < f->outputs.size; k++) {
    elements[k] = ptr_map_get(copies, g->nodes[f->outputs.data[k]].instruction);
    shapes[k] = elements[k]->shape;
  }
  return computation_add(f->computation, HLO_TUPLE, (str){0}, shape_tuple(a, f->outputs.size, shapes), f->outputs.size,
                         elements);
}

static void make_body(cluster_builder *b, cluster_fusion *f) {
  const cluster_graph *g = b->graph;
  module *m = g->computation->module;
  const instruction *last = g->nodes[vec_last(&f->outputs)].instruction;
  if (last->opcode == HLO_GET_TUPLE_ELEMENT) last = last->operands[0];
  f->computation = module_add_computation(m, str_from(arena_printf(b->scratch, "fused_" STR_FMT, STR_ARG(last->name))));
  ptr_map copies = {0};
  for (int k = 0; k < f->body.inputs.size; k++) {
    const instruction *x = g->nodes[f->body.inputs.data[k]].instruction;
    str name = str_from(arena_printf(b->scratch, "param_%d." STR_FMT, k, STR_ARG(x->name)));
    ptr_map_put(b->scratch, &copies, x, computation_add_parameter(f->computation, k, name, x->shape));
  }
  for (int k = 0; k < f->body.nodes.size; k++) {
    const instruction *from = g->nodes[f->body.nodes.data[k]].instruction;
    instruction **operands = arena_array(b->scratch, instruction *, from->operand_count);
    for (int o = 0; o < from->operand_count; o++) operands[o] = ptr_map_get(&copies, from->operands[o]);
    ptr_map_put(b->scratch, &copies, from, computation_add_copy(f->computation, from, operands));
  }
  computation_set_root(f->computation, make_root(b, f, &copies));
}

static void make_fusion(cluster_builder *b, cluster_fusion *f, const cluster *from) {
  const cluster_graph *g = b->graph;
  module *m = g->computation->module;
  const instruction *root = f->computation->root;
  const instruction *origin = g->nodes[vec_last(&f->outputs)].instruction;
  instruction **operands = arena_array(b->scratch, instruction *, f->body.inputs.size);
  for (int k = 0; k < f->body.inputs.size; k++) operands[k] = g->nodes[f->body.inputs.data[k]].instruction;
  hlo_opcode op = origin->opcode == HLO_GET_TUPLE_ELEMENT ? origin->operands[0]->opcode : origin->opcode;
  const char *name = arena_printf(b->scratch, "%s_fusion.%d", hlo_op_text(op), m->next_name);
  f->fusion = computation_add(g->computation, HLO_FUSION, str_from(name), root->shape, f->body.inputs.size, operands);
  f->fusion->where = origin->where;
  f->fusion->attributes->kind = from->kind;
  attributes_mark(f->fusion->attributes, HLO_ATTRIBUTE_KIND);
  instruction_set_called(f->fusion, 1, &f->computation);
}

// --- the members' users

static instruction *element_of(const cluster_fusion *f, const shape *s, int index) {
  if (!shape_is_tuple(f->fusion->shape)) return f->fusion;
  instruction *element =
      computation_add(f->fusion->parent, HLO_GET_TUPLE_ELEMENT, (str){0}, s, 1, (instruction *[]){f->fusion});
  element->attributes->index = index;
  attributes_mark(element->attributes, HLO_ATTRIBUTE_INDEX);
  element->where = f->fusion->where;
  return element;
}

static void replace_outputs(cluster_builder *b, const cluster_fusion *f) {
  for (int k = 0; k < f->outputs.size; k++) {
    instruction *i = b->graph->nodes[f->outputs.data[k]].instruction;
    instruction *by = element_of(f, i->shape, f->root_is_tuple_op ? (int)i->attributes->index : k);
    for (int c = 0; c < i->control_predecessors.size; c++)
      vec_push(i->parent->module->arena, &f->fusion->control_predecessors, i->control_predecessors.data[c]);
    i->control_predecessors.size = 0;
    instruction_replace_uses(i, by);
  }
}

// Those who waited for a member wait for its fusion.
static void redirect_waits(cluster_builder *b) {
  const cluster_graph *g = b->graph;
  const computation *c = g->computation;
  for (int k = 0; k < c->instructions.size; k++) {
    instruction_list *before = &c->instructions.data[k]->control_predecessors;
    for (int w = 0; w < before->size; w++) {
      const instruction *x = before->data[w];
      if ((int)x->mark >= g->node_count || g->nodes[x->mark].instruction != x) continue;
      int number = g->nodes[x->mark].cluster;
      if (number >= 0 && b->made[number].fusion) before->data[w] = b->made[number].fusion;
    }
  }
}

heddle_status cluster_build(cluster_graph *g, text *reasons) {
  cluster_builder b = {.graph = g, .scratch = arena_create()};
  find_bodies(&b);
  find_outputs(&b);
  for (int c = 0; c < g->clusters.size; c++) {
    cluster_fusion *f = &b.made[c];
    if (f->outputs.size == 0) continue;
    make_body(&b, f);
    make_fusion(&b, f, &g->clusters.data[c]);
  }
  if (reasons) cluster_tell(&b, reasons);
  for (int c = 0; c < g->clusters.size; c++)
    if (b.made[c].fusion) replace_outputs(&b, &b.made[c]);
  redirect_waits(&b);
  arena_destroy(b.scratch);
  return status_ok();
}
