// Planning without passes, fusion or memory.
//
// The loop emitter walks one index space and stores one element of every output at each point, so outputs are grouped
// by their element count: equal counts are bitcasts of each other's index space. Each group is a kernel; what two
// kernels both need is computed in both. Only reductions on a grid may be one kernel whatever their sizes.
#include "kernel/written_kernels.h"
#include "kernel/sizes.h"

#include "kernel/in_place.h"
#include "kernel/same_bytes.h"
#include "kernel/work_estimate.h"
#include "opt/call_inliner.h"
#include "opt/passes.h"

typedef struct planner {
  arena *arena;  // the plan's
  arena *scratch;
  target_description target;
  const computation *computation;  // of the kernels
  const int *parameter_numbers;    // entry parameter behind each parameter of `computation`
  int alias_count;                 // results that update a parameter, in its memory
  kernel_alias *aliases;
} planner;

static heddle_status plan_kernel(planner *p, const char *name, int count, const kernel_leaf *leaves,
                                 kernel_plan **out) {
  const kernel_request wanted = {.computation = p->computation,
                                 .name = name,
                                 .target = &p->target,
                                 .leaf_count = count,
                                 .leaves = leaves,
                                 .parameter_numbers = p->parameter_numbers,
                                 .alias_count = p->alias_count,
                                 .aliases = p->aliases};
  return kernel_plan_leaves(p->arena, &wanted, out);
}

// Leaves of the same element count share a kernel, in order of first appearance.
static heddle_status plan_groups(planner *p, const kernel_leaves *leaves, written_kernels *plan) {
  VEC(const kernel_plan *) kernels = {0};
  bool *taken = arena_array(p->scratch, bool, leaves->size);
  kernel_leaf *group = arena_array(p->scratch, kernel_leaf, leaves->size);
  for (int first = 0; first < leaves->size; first++) {
    int64_t elements = shape_element_count(leaves->data[first].shape);
    if (taken[first] || elements == 0) continue;
    int count = 0;
    for (int i = first; i < leaves->size; i++) {
      if (shape_element_count(leaves->data[i].shape) != elements) continue;
      taken[i] = true;
      group[count++] = leaves->data[i];
    }
    const char *name = kernels.size == 0 ? "main" : arena_printf(p->arena, "main_%d", kernels.size);
    kernel_plan *kernel = 0;
    TRY(plan_kernel(p, name, count, group, &kernel));
    vec_push(p->arena, &kernels, kernel);
  }
  plan->kernel_count = kernels.size;
  plan->kernels = kernels.data;
  return status_ok();
}

// A fusion that is all the program does: its computation is the kernel's, so that names and structure stay
// recognisable.
static bool is_single_fusion(const computation *entry) {
  const instruction *root = entry->root;
  if (root->opcode != HLO_FUSION) return false;
  for (int i = 0; i < root->operand_count; i++) {
    if (root->operands[i]->opcode != HLO_PARAMETER) return false;
  }
  return true;
}

static void choose_computation(planner *p, const computation *entry, bool single_fusion) {
  int count = single_fusion ? entry->root->operand_count : entry->parameters.size;
  int *numbers = arena_array(p->scratch, int, count);
  for (int i = 0; i < count; i++) {
    numbers[i] = single_fusion ? (int)entry->root->operands[i]->attributes->index : i;
  }
  p->computation = single_fusion ? entry->root->called[0] : entry;
  p->parameter_numbers = numbers;
}

static heddle_status refuse_side_effects(planner *p, const computation *c) {
  for (int i = 0; i < c->instructions.size; i++) {
    const instruction *x = c->instructions.data[i];
    if (hlo_op_has(x->opcode, TRAIT_SIDE_EFFECT)) {
      return status_at(HEDDLE_UNIMPLEMENTED, x->where, "%s %s cannot be part of a kernel yet", hlo_op_text(x->opcode),
                       arena_printf(p->scratch, STR_FMT, STR_ARG(x->name)));
    }
  }
  return status_ok();
}

static heddle_status check_results(const kernel_leaves *leaves) {
  for (int i = 0; i < leaves->size; i++) {
    // A result of size zero has no kernel, but must be something that a kernel could make.
    const instruction *root = leaves->data[i].root;
    if (shape_is_array(leaves->data[i].shape)) continue;
    return status_at(HEDDLE_UNIMPLEMENTED, root->where, "result %d is no array: kernels work on arrays only", i);
  }
  return status_ok();
}

// Memory of a parameter that is there twice is nobody's alone.
static bool is_given_twice(const planner *p, int number) {
  int count = 0;
  for (int k = 0; k < p->computation->parameters.size; k++) count += p->parameter_numbers[k] == number;
  return count > 1;
}

// Scatters and updates have kernels for the memory of what they update, where there are such heroes.
static heddle_status find_aliases(planner *p, const kernel_leaves *leaves) {
  int count, element;
  TRY(in_place_aliases(p->scratch, p->computation, &count, &p->aliases));
  for (int k = 0; k < count; k++) {
    kernel_alias alias = p->aliases[k];
    const kernel_leaf *leaf = &leaves->data[alias.result];
    const bool scatters = same_bytes_writer(leaf->root, leaf->element, &element)->opcode == HLO_SCATTER;
    if (!kernel_hero_exists(p->target.kind, scatters ? HERO_SCATTER : HERO_UPDATE_SLICE)) continue;
    alias.parameter = p->parameter_numbers[alias.parameter];
    if (!is_given_twice(p, alias.parameter)) p->aliases[p->alias_count++] = alias;
  }
  return status_ok();
}

// Reductions of any sizes may be one kernel, each with blocks of its own. Null if they are not: what cannot be in one
// kernel may be in several.
static const kernel_plan *plan_reductions(planner *p, const kernel_leaves *leaves) {
  if (!kernel_hero_exists(p->target.kind, HERO_REDUCTIONS) || leaves->size < 2) return NULL;
  kernel_plan *kernel = NULL;
  int64_t elements = 0;
  for (int i = 0; i < leaves->size; i++) elements += shape_element_count(leaves->data[i].shape);
  if (elements == 0) return NULL;
  const heddle_status s = plan_kernel(p, "main", leaves->size, leaves->data, &kernel);
  const bool is_planned = status_is_ok(s);
  heddle_status_free(s);
  return is_planned && kernel->hero == HERO_REDUCTIONS ? kernel : NULL;
}

static heddle_status plan_kernels(planner *p, const kernel_leaves *leaves, written_kernels *plan) {
  const kernel_plan *whole = plan_reductions(p, leaves);
  if (!whole) return plan_groups(p, leaves, plan);
  const kernel_plan **kernels = arena_array(p->arena, const kernel_plan *, 1);
  kernels[0] = whole;
  plan->kernel_count = 1;
  plan->kernels = kernels;
  return status_ok();
}

static heddle_status plan_module(planner *p, const module *m, written_kernels *plan) {
  computation *entry = m->entry;
  bool single_fusion = is_single_fusion(entry);
  TRY(call_inliner_run(p->scratch, (module *)m, single_fusion ? entry->root : 0));
  TRY(pass_apply(&opt_scatter_simplifier, (module *)m));
  choose_computation(p, entry, single_fusion);
  TRY(refuse_side_effects(p, entry));
  TRY(refuse_side_effects(p, p->computation));
  kernel_leaves leaves = {0};
  TRY(kernel_leaves_of(p->arena, p->computation->root, &leaves));
  TRY(check_results(&leaves));
  TRY(find_aliases(p, &leaves));
  const shape **results = arena_array(p->arena, const shape *, leaves.size);
  for (int i = 0; i < leaves.size; i++) results[i] = leaves.data[i].shape;
  const shape **parameters = arena_array(p->arena, const shape *, entry->parameters.size);
  for (int i = 0; i < entry->parameters.size; i++) parameters[i] = entry->parameters.data[i]->shape;
  plan->module = m;
  plan->target = p->target;
  plan->parameter_count = entry->parameters.size;
  plan->parameters = parameters;
  plan->result_count = leaves.size;
  plan->results = results;
  plan->result_is_tuple = shape_is_tuple(entry->root->shape);
  return plan_kernels(p, &leaves, plan);
}

heddle_status written_kernels_plan(arena *a, const module *m, target_description target, written_kernels **out) {
  TRY(kernel_check_sizes(m));
  planner p = {.arena = a, .scratch = arena_create(), .target = target};
  *out = arena_new(a, written_kernels);
  module *clone = module_clone(a, m);
  heddle_status status = plan_module(&p, clone, *out);
  arena_destroy(p.scratch);
  return status;
}
