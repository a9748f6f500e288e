// Why instructions are where they are: a line for each that takes work or might have, in the order of the computation.
//
// A kernel is planned here only to name its hero; what cannot be planned is said as well, and reported when it is
// planned for good.
#include "fuse/cluster_builder.h"

#include <math.h>

#include "fuse/library.h"
#include "fuse/tile_products.h"
#include "kernel/in_place.h"
#include "kernel/product_cost.h"

static void tell_amount(text *out, double bytes) {
  if (bytes < 1e4) text_printf(out, "%.0f B", bytes);
  else if (bytes < 1e7) text_printf(out, "%.1f kB", bytes / 1e3);
  else text_printf(out, "%.1f MB", bytes / 1e6);
}

// The estimated times of ways, on one core: HUGE_VAL is no way.
static void tell_times(text *out, int count, const char *const *names, const double *times) {
  bool any = false;
  for (int k = 0; k < count; k++) {
    if (times[k] >= HUGE_VAL) continue;
    text_printf(out, "%s%s %.3g us", any ? ", " : "; ", names[k], times[k] / 1e3);
    any = true;
  }
}

static void tell_ways(text *out, const tile_products_times *t) {
  tell_times(out, 3, (const char *const[]){"library", "tiles", "emitter"},
             (const double[]){t->library, t->tiles, t->emitter});
}

static void tell_product(cluster_builder *b, text *out, const instruction *i) {
  const target_description *t = b->graph->target;
  if (!product_cost_is_product(i)) return;
  tell_ways(out, &(tile_products_times){product_cost_time(t, i, PRODUCT_BY_LIBRARY),
                                        product_cost_time(t, i, PRODUCT_BY_TILES),
                                        product_cost_time(t, i, PRODUCT_BY_EMITTER)});
}

// Of what stands for itself, or of all in a fusion.
static void tell_products(cluster_builder *b, text *out, const instruction *i) {
  if (i->opcode != HLO_FUSION) {
    tell_product(b, out, i);
    return;
  }
  const instruction_list *body = &i->called[0]->instructions;
  for (int n = 0; n < body->size; n++) tell_product(b, out, body->data[n]);
}

// Slices are read where they lie: what is gained is that nobody copies them.
static void tell_array(cluster_builder *b, text *out, const shape *array, const shape *operand) {
  if (shape_element_count(array) > shape_element_count(operand))
    text_printf(out, " read in place in %s", shape_text(b->scratch, array));
}

static void tell_library(cluster_builder *b, text *out, const instruction *i) {
  enum { MOST_TOLD = 8 };
  library_call call;
  heddle_status s = library_describe(b->scratch, i, &call);
  text_printf(out, "library %s", library_kind_name(library_kind_of(i)));
  for (int k = 0; status_is_ok(s) && k < call.operand_count && k < MOST_TOLD; k++) {
    text_printf(out, "%s%s", k ? " x " : " ", shape_text(b->scratch, call.operands[k]));
    if (i->opcode == HLO_FUSION) tell_array(b, out, i->operands[call.operand_leaves[k]]->shape, call.operands[k]);
  }
  if (status_is_ok(s) && call.operand_count > MOST_TOLD)
    text_printf(out, " and %d more", call.operand_count - MOST_TOLD);
  if (!status_is_ok(s)) text_printf(out, ": %s", status_brief(s));
  heddle_status_free(s);
}

static const char *fused_epilogue(const computation *c) {
  switch (c->root->opcode) {
    case HLO_DOT:
    case HLO_CONVOLUTION:
    case HLO_CONCATENATE: return "";
    case HLO_TRANSPOSE: return ", transposed";
    case HLO_MAXIMUM: return ", with bias and relu";
    default: return ", with bias";
  }
}

static void tell_kernel_times(cluster_builder *b, text *out, int number, double emitter) {
  const cluster_body *body = &b->made[number].body;
  bool has_product = false;
  for (int n = 0; n < body->nodes.size; n++)
    has_product |= product_cost_is_product(b->graph->nodes[body->nodes.data[n]].instruction);
  const tile_products_times times =
      has_product ? tile_products_times_of(b->graph, number)
                  : (tile_products_times){HUGE_VAL, HUGE_VAL, emitter + b->graph->target->products.kernel_ns};
  if (!b->graph->target->has_grid) tell_ways(out, &times);
}

static void tell_kernel(cluster_builder *b, text *out, int number) {
  const cluster_fusion *f = &b->made[number];
  if (f->fusion->attributes->kind == FUSION_CUSTOM) {
    tell_library(b, out, f->fusion);
    text_puts(out, fused_epilogue(f->computation));
    tell_products(b, out, f->fusion);
    return;
  }
  cluster_cost cost = cluster_cost_of(b->graph, number, number);
  kernel_plan *kernel = NULL;
  heddle_status s = in_place_kernel(b->scratch, f->computation, "main", b->graph->target, &kernel);
  bool is_known = status_is_ok(s);
  text_printf(out, "kernel %s " STR_FMT " of %d instructions: %s; ",
              is_known ? kernel_hero_name(kernel->hero) : "(none)", STR_ARG(f->fusion->name), f->body.nodes.size,
              is_known ? kernel->reason : status_brief(s));
  text_printf(out, "%.3g operations, ", cost.operations);
  tell_amount(out, cost.bytes);
  text_puts(out, " read and written");
  tell_kernel_times(b, out, number, cost.time);
  heddle_status_free(s);
}

static void tell_member(cluster_builder *b, text *out, int n) {
  const cluster_node *node = &b->graph->nodes[n];
  const cluster_fusion *f = &b->made[node->cluster];
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

// Fusions that stood before clusters were found: those that the module keeps, and loops.
static void tell_kept(cluster_builder *b, text *out, const instruction *fusion) {
  kernel_plan *kernel = NULL;
  if (fusion->attributes->is_kept) text_puts(out, "kept as it is: ");
  if (library_kind_of(fusion) != LIBRARY_NONE) {
    tell_library(b, out, fusion);
    text_puts(out, fused_epilogue(fusion->called[0]));
    tell_products(b, out, fusion);
    return;
  }
  heddle_status s = in_place_kernel(b->scratch, fusion->called[0], "main", b->graph->target, &kernel);
  if (status_is_ok(s)) text_printf(out, "kernel %s: %s", kernel_hero_name(kernel->hero), kernel->reason);
  else text_puts(out, status_brief(s));
  heddle_status_free(s);
  tell_products(b, out, fusion);
}

static void tell(cluster_builder *b, text *out, int n) {
  const cluster_node *node = &b->graph->nodes[n];
  const instruction *i = node->instruction;
  bool is_said = node->role == CLUSTER_FIXED && library_kind_of(i) == LIBRARY_NONE &&
                 !hlo_op_has(i->opcode, TRAIT_CONTROL) && i->opcode != HLO_FUSION;
  if (is_said || i->opcode == HLO_CONSTANT) return;
  text_printf(out, STR_FMT ": ", STR_ARG(i->name));
  if (i->opcode == HLO_FUSION) tell_kept(b, out, i);
  else if (node->role == CLUSTER_BITCAST) text_puts(out, "bitcast: the same bytes");
  else if (node->cluster >= 0) tell_member(b, out, n);
  else if (node->role == CLUSTER_DUPLICATED)
    text_puts(out, "in each kernel that reads it: cheaper to compute than to read");
  else if (hlo_op_has(i->opcode, TRAIT_CONTROL)) text_printf(out, "control: %s", hlo_op_text(i->opcode));
  else {
    tell_library(b, out, i);
    tell_products(b, out, i);
  }
  text_putc(out, '\n');
}

void cluster_tell(cluster_builder *b, text *out) {
  for (int n = 0; n < b->graph->node_count; n++) tell(b, out, n);
}
