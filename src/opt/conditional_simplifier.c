// Conditional simplifier: conditionals lose operands and results that nobody needs, or become selects.
//
// Branches are copied, not changed: others may call them. A conditional with effects stays where it is, since these are
// ordered by their places.
#include "opt/passes.h"

#include "hlo/body_copy.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

// What is done in all branches together where both are computed: a kernel costs more than so many elements.
enum { SELECTED_BRANCHES_MAX = 8, SELECTED_INSTRUCTIONS_MAX = 64, SELECTED_ELEMENTS_MAX = 1 << 14 };

// A program of conditionals in conditionals can stand for exponentially many branches. None is copied that would make
// the module larger than this, or than half as large again as it was.
enum { INSTRUCTIONS_MAX = 1 << 16 };

typedef struct simplifier {
  pass_context *context;
  arena *scratch;
  ptr_map with_side_effects;  // computations with effects
  int64_t size, most;         // instructions of the module, as far as they are known and may become
} simplifier;

static int64_t count_instructions(const module *m) {
  int64_t count = 0;
  for (int c = 0; c < m->computations.size; c++) count += m->computations.data[c]->instructions.size;
  return count;
}

// --- one branch

static heddle_status branch_result(arena *scratch, const instruction *op, int branch, instruction **out) {
  ptr_map copies = {0};
  const computation *body = op->called[branch];
  ptr_map_put(scratch, &copies, body->parameters.data[0], op->operands[branch + 1]);
  TRY(body_copy(scratch, body, op->parent, false, &copies));
  *out = ptr_map_get(&copies, body->root);
  return status_ok();
}

// -1: not known
static int known_branch(const instruction *op) {
  const instruction *index = op->operands[0];
  if (index->opcode == HLO_CONSTANT) {
    const int64_t branch = literal_get_int(index->literal, 0);
    if (index->shape->dtype == DTYPE_PRED) return branch ? 0 : 1;
    return branch < 0 || branch >= op->called_count ? op->called_count - 1 : (int)branch;
  }
  for (int k = 1; k < op->called_count; k++)
    if (op->called[k] != op->called[0] || op->operands[k + 1] != op->operands[1]) return -1;
  return 0;
}

// --- all branches

static bool is_cheap(const instruction *i) {
  if (i->called_count > 0 || i->control_predecessors.size > 0 || hlo_op_has(i->opcode, TRAIT_EXPENSIVE)) return false;
  switch (i->opcode) {
    case HLO_PARAMETER:
    case HLO_CONSTANT:
    case HLO_TUPLE:
    case HLO_GET_TUPLE_ELEMENT: return true;
    case HLO_IOTA: return shape_is_static(i->shape);
    default:
      return (hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || hlo_op_has(i->opcode, TRAIT_INDEX_ONLY)) &&
             shape_is_static(i->shape);
  }
}

// Adds what the computation does; false if it is not cheap.
static bool add_work(const computation *c, int64_t *instructions, int64_t *elements) {
  for (int k = 0; k < c->instructions.size; k++) {
    const instruction *i = c->instructions.data[k];
    if (!is_cheap(i)) return false;
    if (i->opcode == HLO_PARAMETER || !shape_is_array(i->shape)) continue;
    ++*instructions;
    if (__builtin_add_overflow(*elements, shape_element_count(i->shape), elements)) return false;
  }
  return true;
}

// Arrays, alone or in one tuple.
static bool has_plain_result(const shape *s) {
  for (int k = 0; k < s->tuple_size; k++)
    if (!shape_is_array(s->elements[k]) || !shape_is_static(s->elements[k])) return false;
  return shape_is_tuple(s) || (shape_is_array(s) && shape_is_static(s));
}

static bool can_select(const instruction *op) {
  int64_t instructions = 0, elements = 0;
  if (op->called_count > SELECTED_BRANCHES_MAX || !has_plain_result(op->shape)) return false;
  for (int k = 0; k < op->called_count; k++)
    if (!add_work(op->called[k], &instructions, &elements)) return false;
  const int leaves = shape_is_tuple(op->shape) ? op->shape->tuple_size : 1;
  for (int k = 0; k < leaves; k++) {
    const shape *s = shape_is_tuple(op->shape) ? op->shape->elements[k] : op->shape;
    if (__builtin_add_overflow(elements, shape_element_count(s), &elements)) return false;
  }
  return instructions <= SELECTED_INSTRUCTIONS_MAX && elements <= SELECTED_ELEMENTS_MAX;
}

static instruction *select_leaf(const builder *b, instruction *taken, instruction *on_true, instruction *on_false) {
  if (on_true == on_false) return on_true;
  instruction *all = on_true->shape->rank ? builder_broadcast(b, taken, on_true->shape, 0, NULL) : taken;
  return builder_select(b, all, on_true, on_false);
}

static instruction *select_result(const builder *b, instruction *taken, instruction *on_true, instruction *on_false) {
  if (!shape_is_tuple(on_true->shape)) return select_leaf(b, taken, on_true, on_false);
  const int count = on_true->shape->tuple_size;
  instruction **leaves = arena_array(b->arena, instruction *, count);
  for (int k = 0; k < count; k++) {
    instruction *left = builder_element(b, on_true, k), *right = builder_element(b, on_false, k);
    leaves[k] = select_leaf(b, taken, left, right);
  }
  return builder_tuple(b, count, leaves);
}

// The last branch, unless the index says one before it.
static heddle_status select_branches(arena *scratch, const instruction *op, instruction **out) {
  const builder b = builder_for(op);
  instruction *index = op->operands[0];
  TRY(branch_result(scratch, op, op->called_count - 1, out));
  for (int k = op->called_count - 2; k >= 0; k--) {
    instruction *taken = index, *result;
    TRY(branch_result(scratch, op, k, &result));
    if (index->shape->dtype != DTYPE_PRED) {
      instruction *number = builder_scalar_int(&b, index->shape->dtype, k);
      taken = builder_compare(&b, index, number, COMPARE_EQ);
    }
    *out = select_result(&b, taken, result, *out);
  }
  return status_ok();
}

// --- fewer operands and results

// Which elements of the conditional's result are used; false if all may be.
static bool find_used(const instruction *op, bool *used) {
  if (!shape_is_tuple(op->shape) || op == op->parent->root) return false;
  int count = 0;
  for (int k = 0; k < op->users.size; k++) {
    const instruction *user = op->users.data[k];
    if (user->opcode != HLO_GET_TUPLE_ELEMENT) return false;
    if (user->users.size == 0 && user != user->parent->root) continue;
    count += !used[user->attributes->index];
    used[user->attributes->index] = true;
  }
  return count > 0 && count < op->shape->tuple_size;
}

// Which elements of its operand a branch uses; false if all.
static bool find_taken(const computation *branch, bool *taken) {
  if (!body_copy_takes_elements(branch)) return false;
  const instruction *parameter = branch->parameters.data[0];
  int count = 0;
  for (int k = 0; k < parameter->users.size; k++) {
    const instruction *user = parameter->users.data[k];
    if (user->users.size == 0 && user != branch->root) continue;
    count += !taken[user->attributes->index];
    taken[user->attributes->index] = true;
  }
  return count < parameter->shape->tuple_size;
}

// Elements of a tuple as a new one: those of `kept`, or all if it is null.
static instruction *keep(const builder *b, instruction *whole, const bool *kept) {
  if (!kept) return whole;
  instruction **elements = arena_array(b->arena, instruction *, whole->shape->tuple_size);
  int count = 0;
  for (int k = 0; k < whole->shape->tuple_size; k++)
    if (kept[k]) elements[count++] = builder_element(b, whole, k);
  return builder_tuple(b, count, elements);
}

// The elements of `kept` in their places; the others are never looked at and stand for any one of the same shape.
static void spread(const builder *b, instruction *few, const bool *kept, int count, instruction **elements) {
  for (int k = 0, position = 0; k < count; k++) elements[k] = kept[k] ? builder_element(b, few, position++) : NULL;
}

static heddle_status narrow_branch(arena *scratch, const computation *from, const bool *taken, const bool *used,
                                   instruction **operand, computation **out) {
  const builder outer = builder_for(*operand);
  *operand = keep(&outer, *operand, taken);
  computation *c = module_add_computation(from->module, from->name);
  const builder b = builder_in(c);
  const instruction *old = from->parameters.data[0];
  instruction *parameter = computation_add_parameter(c, 0, old->name, (*operand)->shape);
  ptr_map copies = {0};
  if (taken) {
    instruction **elements = arena_array(scratch, instruction *, old->shape->tuple_size);
    spread(&b, parameter, taken, old->shape->tuple_size, elements);
    body_copy_put_elements(scratch, from, elements, &copies);
    for (int k = 0; k < old->users.size; k++)  // dead ones
      if (!ptr_map_has(&copies, old->users.data[k])) ptr_map_put(scratch, &copies, old->users.data[k], parameter);
  } else {
    ptr_map_put(scratch, &copies, old, parameter);
  }
  TRY(body_copy(scratch, from, c, true, &copies));
  computation_set_root(c, keep(&b, ptr_map_get(&copies, from->root), used));
  *out = c;
  return status_ok();
}

// Null in *out if there is nothing to drop. If some results are, users of the others have been given theirs.
static heddle_status drop_unused(arena *scratch, const instruction *op, instruction **out) {
  const int count = op->called_count, leaves = shape_is_tuple(op->shape) ? op->shape->tuple_size : 0;
  bool *used = arena_array(scratch, bool, leaves), **taken = arena_array(scratch, bool *, count);
  if (!find_used(op, used)) used = NULL;
  bool any = used != NULL;
  for (int k = 0; k < count; k++) {
    taken[k] = arena_array(scratch, bool, op->operands[k + 1]->shape->tuple_size);
    if (!find_taken(op->called[k], taken[k])) taken[k] = NULL;
    any |= taken[k] != NULL;
  }
  *out = NULL;
  if (!any) return status_ok();
  const builder b = builder_for(op);
  instruction **operands = arena_array(scratch, instruction *, count + 1);
  computation **called = arena_array(scratch, computation *, count);
  operands[0] = op->operands[0];
  for (int k = 0; k < count; k++) {
    operands[k + 1] = op->operands[k + 1];
    TRY(narrow_branch(scratch, op->called[k], taken[k], used, &operands[k + 1], &called[k]));
  }
  instruction *narrow = builder_add(&b, HLO_CONDITIONAL, called[0]->root->shape, count + 1, operands);
  narrow->attributes = attributes_copy(b.arena, op->attributes);
  instruction_set_called(narrow, count, called);
  *out = narrow;
  if (!used) return status_ok();
  for (int k = 0, position = 0; k < leaves; k++) {
    if (!used[k]) continue;
    instruction *element = builder_element(&b, narrow, position++);
    for (int j = 0; j < op->users.size; j++)
      if (op->users.data[j]->attributes->index == k) instruction_replace_uses(op->users.data[j], element);
  }
  return status_ok();
}

// What copies of the branches from `first` on add to the module.
static int64_t size_of(const instruction *op, int first, int count) {
  int64_t size = 0;
  for (int k = first; k < first + count; k++) size += op->called[k]->instructions.size;
  return size;
}

// What stands for the conditional; null if it stays.
static heddle_status simplify(simplifier *s, instruction *op, instruction **out) {
  const int branch = known_branch(op);
  const int64_t added = branch < 0 ? size_of(op, 0, op->called_count) : size_of(op, branch, 1);
  if (s->size + added > s->most) return status_ok();
  if (branch >= 0) TRY(branch_result(s->scratch, op, branch, out));
  else if (can_select(op)) TRY(select_branches(s->scratch, op, out));
  else TRY(drop_unused(s->scratch, op, out));
  if (*out) s->size += added;
  return status_ok();
}

// The conditional and what takes its result apart.
static void detach(instruction *op) {
  for (int k = op->users.size; k-- > 0;) {
    instruction *user = op->users.data[k];
    if (user->users.size > 0 || user == op->parent->root) return;
    computation_detach(op->parent, user);
  }
  if (op != op->parent->root) computation_detach(op->parent, op);
}

static heddle_status simplify_all(simplifier *s, computation *c) {
  arena *scratch = s->scratch;
  instruction_list found = {0};
  ptr_map waited_for = {0};
  rewrite_find_waited_for(scratch, c, &waited_for);
  for (int i = 0; i < c->instructions.size; i++) {
    instruction *op = c->instructions.data[i];
    if (op->opcode == HLO_CONDITIONAL && op->control_predecessors.size == 0 && !ptr_map_has(&waited_for, op) &&
        !effects_has(&s->with_side_effects, false, op))
      vec_push(scratch, &found, op);
  }
  for (int i = 0; i < found.size; i++) {
    instruction *by = NULL;
    TRY(simplify(s, found.data[i], &by));
    if (!by) continue;
    s->context->changed = true;
    if (shape_compatible(by->shape, found.data[i]->shape)) instruction_replace_uses(found.data[i], by);
    detach(found.data[i]);
  }
  computation_drop_detached(c);
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  simplifier all = {.context = context, .scratch = context->scratch, .size = count_instructions(m)};
  all.most = all.size + all.size / 2 > INSTRUCTIONS_MAX ? all.size + all.size / 2 : INSTRUCTIONS_MAX;
  TRY(effects_find(all.scratch, m, false, &all.with_side_effects));
  for (int c = 0, count = m->computations.size; c < count; c++) TRY(simplify_all(&all, m->computations.data[c]));
  return opt_tuple_simplifier.run(context, m);
}

const pass opt_conditional_simplifier = {
    .name = "conditional-simplifier",
    .summary = "conditionals lose operands and results, or become selects",
    .order_reason = "behind the tuple simplifier, as it needs operands taken apart",
    .use = PASS_IMPROVES,
    .run = run,
};
