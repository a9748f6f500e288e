// Shrinking by greedy trial: each step changes one instruction of the entry in a copy, removes what is dead, and keeps
// the copy if it is valid and fails.
#include "tools/smith_shrink.h"

#include "hlo/builder.h"
#include "hlo/text.h"
#include "opt/passes.h"

typedef struct shrinker {
  smith_fails fails;
  void *context;
  int tries_left;
} shrinker;

// Changes instruction number `position` of the entry; false if the change does not apply to it.
typedef bool (*step_fn)(computation *entry, int position);

static bool make_root(computation *entry, int position) {
  instruction *i = entry->instructions.data[position];
  if (i == entry->root || i->opcode == HLO_CONSTANT || i->shape->dtype == DTYPE_TOKEN) return false;
  computation_set_root(entry, i);
  return true;
}

static bool is_leaf(const instruction *i) { return i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT; }

static bool make_parameter(computation *entry, int position) {
  instruction *i = entry->instructions.data[position];
  if (is_leaf(i) || i == entry->root || !shape_is_array(i->shape) || !shape_is_static(i->shape)) return false;
  arena *a = entry->module->arena;
  int number = entry->parameters.size;
  str name = str_from(arena_printf(a, "q%d", entry->module->next_id));
  instruction_replace_uses(i, computation_add_parameter(entry, number, name, i->shape));
  return true;
}

static bool make_operand(computation *entry, int position) {
  instruction *i = entry->instructions.data[position];
  for (int k = 0; k < i->operand_count; k++) {
    if (!shape_compatible(i->operands[k]->shape, i->shape)) continue;
    instruction_replace_uses(i, i->operands[k]);
    return true;
  }
  return false;
}

static bool drop_parameter(computation *entry, int position) {
  instruction *i = entry->instructions.data[position];
  if (i->opcode != HLO_PARAMETER || i->users.size > 0 || i == entry->root) return false;
  computation_remove(entry, i);
  return true;
}

// A tuple as root loses one element.
static bool drop_result(computation *entry, int position) {
  instruction *root = entry->root, *kept[64];
  if (root->opcode != HLO_TUPLE || position >= root->operand_count || root->operand_count < 2 ||
      root->operand_count > 64)
    return false;
  int count = 0;
  for (int k = 0; k < root->operand_count; k++)
    if (k != position) kept[count++] = root->operands[k];
  const builder b = builder_for(root);
  computation_set_root(entry, builder_tuple(&b, count, kept));
  return true;
}

static const step_fn steps[] = {make_root, drop_result, make_operand, make_parameter, drop_parameter};

// Loops and calls without users stay for their effects in dead_code; here the failure is all that counts.
static heddle_status sweep_unused(module *m) {
  heddle_status s = computation_sort(m->arena, m->entry);
  const instruction_list *all = &m->entry->instructions;
  for (int k = all->size; status_is_ok(s) && k-- > 0;) {
    instruction *i = all->data[k];
    if (i->users.size == 0 && i != m->entry->root && i->opcode != HLO_PARAMETER) computation_remove(m->entry, i);
  }
  return status_is_ok(s) ? pass_apply(&opt_dead_code, m) : s;
}

// Smaller and still failing?
static bool is_better(shrinker *x, module *candidate, const module *than) {
  heddle_status s = sweep_unused(candidate);
  if (status_is_ok(s)) s = module_verify(candidate);
  bool is_valid = status_is_ok(s);
  heddle_status_free(s);
  const computation *left = candidate->entry, *right = than->entry;
  bool is_smaller =
      left->instructions.size < right->instructions.size ||
      (left->instructions.size == right->instructions.size && left->parameters.size > right->parameters.size &&
       candidate->computations.size <= than->computations.size);
  return is_valid && is_smaller && x->fails(x->context, candidate);
}

// One round of one kind of step; returns a better module or null.
static module *improve(shrinker *x, arena *a, const module *m, step_fn step) {
  for (int i = 0; i < m->entry->instructions.size && x->tries_left > 0; i++) {
    arena *scratch = arena_create();
    module *candidate = module_clone(scratch, m), *kept = NULL;
    if (step(candidate->entry, i)) {
      x->tries_left--;
      if (is_better(x, candidate, m)) kept = module_clone(a, candidate);
    }
    arena_destroy(scratch);
    if (kept) return kept;
  }
  return NULL;
}

module *smith_shrink(arena *a, const module *m, smith_fails fails, void *context, int tries) {
  shrinker x = {fails, context, tries};
  module *best = module_clone(a, m);
  // What the entry declares of its layouts fits only the parameters and the result that it has.
  best->entry_parameters_layout = best->entry_result_layout = NULL;
  if (!fails(context, best)) best = module_clone(a, m);
  for (size_t k = 0; k < sizeof steps / sizeof *steps;) {
    module *better = improve(&x, a, best, steps[k]);
    if (better) best = better;
    k = better ? 0 : k + 1;
  }
  // What was added stands at the end, behind its users.
  arena *scratch = arena_create();
  heddle_status_free(computation_sort(scratch, best->entry));
  arena_destroy(scratch);
  return best;
}
