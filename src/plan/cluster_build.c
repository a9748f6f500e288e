// Clusters become fusions.
//
// First all bodies are copied, from instructions that still stand as they were decided on; only then are the members
// replaced, so that every fusion's operands follow.
#include "plan/cluster.h"
#include "plan/kernel.h"
#include "plan/library.h"

typedef struct made_fusion {
  cluster_body body;
  cluster_numbers outputs;  // nodes
  bool root_is_tuple_op;    // the outputs are the elements of one instruction, which is the root
  computation *computation;
  instruction *fusion;
} made_fusion;

typedef struct cluster_builder {
  cluster_graph *graph;
  arena *scratch;
  made_fusion *made;  // by cluster
} cluster_builder;

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
  b->made = arena_array(b->scratch, made_fusion, g->clusters.size);
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

static instruction *copy_into(computation *to, const instruction *from, instruction **operands) {
  arena *a = to->module->arena;
  instruction *i = computation_add(to, from->opcode, from->name, from->shape, from->operand_count, operands);
  i->attributes = attributes_copy(a, from->attributes);
  i->literal = from->literal;
  i->where = from->where;
  if (from->called_count > 0) instruction_set_called(i, from->called_count, from->called);
  return i;
}

// The instruction of several results whose elements are all that the fusion yields; null if there is none. A scatter
// can only be yielded whole.
static const instruction *tuple_op_of(const cluster_graph *g, const made_fusion *f) {
  const instruction *op = NULL;
  for (int k = 0; k < f->outputs.size; k++) {
    const instruction *i = g->nodes[f->outputs.data[k]].instruction;
    if (i->opcode != HLO_GET_TUPLE_ELEMENT || (op && op != i->operands[0])) return NULL;
    op = i->operands[0];
  }
  bool is_whole = op && (op->opcode == HLO_SCATTER || op->shape->tuple_size == f->outputs.size);
  return is_whole ? op : NULL;
}

static instruction *make_root(cluster_builder *b, made_fusion *f, const ptr_map *copies) {
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

static void make_body(cluster_builder *b, made_fusion *f) {
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
    ptr_map_put(b->scratch, &copies, from, copy_into(f->computation, from, operands));
  }
  computation_set_root(f->computation, make_root(b, f, &copies));
}

static void make_fusion(cluster_builder *b, made_fusion *f, const cluster *from) {
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

static instruction *element_of(const made_fusion *f, const shape *s, int index) {
  if (!shape_is_tuple(f->fusion->shape)) return f->fusion;
  instruction *element =
      computation_add(f->fusion->parent, HLO_GET_TUPLE_ELEMENT, (str){0}, s, 1, (instruction *[]){f->fusion});
  element->attributes->index = index;
  attributes_mark(element->attributes, HLO_ATTRIBUTE_INDEX);
  element->where = f->fusion->where;
  return element;
}

static void replace_outputs(cluster_builder *b, const made_fusion *f) {
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

// --- reasons

static void tell_amount(text *out, double bytes) {
  if (bytes < 1e4) text_printf(out, "%.0f B", bytes);
  else if (bytes < 1e7) text_printf(out, "%.1f kB", bytes / 1e3);
  else text_printf(out, "%.1f MB", bytes / 1e6);
}

// Slices are read where they lie: what is gained is that nobody copies them.
static void tell_array(cluster_builder *b, text *out, const shape *array, const shape *operand) {
  if (shape_element_count(array) > shape_element_count(operand))
    text_printf(out, " read in place in %s", shape_text(b->scratch, array));
}

static void tell_library(cluster_builder *b, text *out, const instruction *i) {
  library_call call;
  heddle_status s = library_describe(b->scratch, i, &call);
  text_printf(out, "library %s", library_kind_name(library_kind_of(i)));
  for (int k = 0; status_is_ok(s) && k < call.operand_count; k++) {
    text_printf(out, "%s%s", k ? " x " : " ", shape_text(b->scratch, call.operands[k]));
    if (i->opcode == HLO_FUSION) tell_array(b, out, i->operands[call.operand_leaves[k]]->shape, call.operands[k]);
  }
  if (!status_is_ok(s)) text_printf(out, ": %s", status_brief(s));
  heddle_status_free(s);
}

static const char *fused_epilogue(const made_fusion *f) {
  switch (f->computation->root->opcode) {
    case HLO_DOT: return "";
    case HLO_TRANSPOSE: return ", transposed";
    case HLO_MAXIMUM: return ", with bias and relu";
    default: return ", with bias";
  }
}

// The arrays that the outputs are written into, so that the heroes that need that show.
static int find_aliases(cluster_builder *b, const made_fusion *f, kernel_alias **out) {
  kernel_leaves leaves = {0};
  heddle_status s = kernel_leaves_of(b->scratch, f->computation->root, &leaves);
  heddle_status_free(s);
  kernel_alias *aliases = arena_array(b->scratch, kernel_alias, leaves.size);
  int count = 0;
  for (int n = 0; n < leaves.size; n++) {
    const instruction *root = leaves.data[n].root;
    if (root->opcode != HLO_SCATTER && root->opcode != HLO_DYNAMIC_UPDATE_SLICE) continue;
    const instruction *into = root->operands[leaves.data[n].element];
    if (into->opcode == HLO_PARAMETER)
      aliases[count++] = (kernel_alias){leaves.data[n].number, (int)into->attributes->index};
  }
  *out = aliases;
  return count;
}

static void tell_kernel(cluster_builder *b, text *out, int number) {
  const made_fusion *f = &b->made[number];
  if (f->fusion->attributes->kind == FUSION_CUSTOM) {
    tell_library(b, out, f->fusion);
    text_puts(out, fused_epilogue(f));
    return;
  }
  cluster_cost cost = cluster_cost_of(b->graph, number, number);
  kernel_plan *kernel = NULL;
  kernel_alias *aliases;
  int count = find_aliases(b, f, &aliases);
  heddle_status s = kernel_plan_create(b->scratch, f->computation, "main", b->graph->target, count, aliases, &kernel);
  bool is_known = status_is_ok(s);
  text_printf(out, "kernel %s " STR_FMT " of %d instructions: %s; ", is_known ? hero_name(kernel->hero) : "(none)",
              STR_ARG(f->fusion->name), f->body.nodes.size, is_known ? kernel->reason : status_brief(s));
  text_printf(out, "%.3g operations, ", cost.operations);
  tell_amount(out, cost.bytes);
  text_puts(out, " read and written");
  heddle_status_free(s);
}

static void tell_member(cluster_builder *b, text *out, int n) {
  const cluster_node *node = &b->graph->nodes[n];
  const made_fusion *f = &b->made[node->cluster];
  if (!f->fusion) {
    text_puts(out, "gone: nobody needs it");
  } else if (vec_last(&f->outputs) == n) {
    tell_kernel(b, out, node->cluster);
  } else {
    const instruction *root = b->graph->nodes[vec_last(&f->outputs)].instruction;
    text_printf(out, "in kernel " STR_FMT " of " STR_FMT "%s", STR_ARG(f->fusion->name), STR_ARG(root->name),
                node->is_needed ? ", stored as well: others read it" : "");
    if (node->is_needed || !shape_is_array(node->instruction->shape)) return;
    text_puts(out, "; saves ");
    tell_amount(out, 2 * (double)shape_byte_size(node->instruction->shape));
  }
}

static void tell(cluster_builder *b, text *out, int n) {
  const cluster_node *node = &b->graph->nodes[n];
  const instruction *i = node->instruction;
  bool is_said =
      node->role == CLUSTER_FIXED && library_kind_of(i) == LIBRARY_NONE && !hlo_op_has(i->opcode, TRAIT_CONTROL);
  if (is_said || i->opcode == HLO_CONSTANT) return;
  text_printf(out, STR_FMT ": ", STR_ARG(i->name));
  if (node->role == CLUSTER_BITCAST) text_puts(out, "bitcast: the same bytes");
  else if (node->cluster >= 0) tell_member(b, out, n);
  else if (node->role == CLUSTER_COPIED)
    text_puts(out, "in each kernel that reads it: cheaper to compute than to read");
  else if (hlo_op_has(i->opcode, TRAIT_CONTROL)) text_printf(out, "control: %s", hlo_op_text(i->opcode));
  else tell_library(b, out, i);
  text_putc(out, '\n');
}

heddle_status cluster_build(cluster_graph *g, text *reasons) {
  cluster_builder b = {.graph = g, .scratch = arena_create()};
  find_bodies(&b);
  find_outputs(&b);
  for (int c = 0; c < g->clusters.size; c++) {
    made_fusion *f = &b.made[c];
    if (f->outputs.size == 0) continue;
    make_body(&b, f);
    make_fusion(&b, f, &g->clusters.data[c]);
  }
  for (int n = 0; reasons && n < g->node_count; n++) tell(&b, reasons, n);
  for (int c = 0; c < g->clusters.size; c++)
    if (b.made[c].fusion) replace_outputs(&b, &b.made[c]);
  redirect_waits(&b);
  arena_destroy(b.scratch);
  return status_ok();
}
