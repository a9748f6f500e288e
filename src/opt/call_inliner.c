// Call inliner: `call` and `fusion` -> the body of the called computation, in the caller.
//
// Kernels are planned over one computation, so whatever is only grouping has to go first. Callees come before callers,
// hence each body that is copied is already free of calls and one copy per call site is enough: the work is linear in
// the size of the result. Recursing into call sites instead would copy bodies level by level.
#include "opt/call_inliner.h"

typedef struct inliner {
  module *module;
  const instruction *keep;
  arena *scratch;
  int64_t added;            // instructions copied so far, over the whole module
  instruction_list tuples;  // results of inlined calls, of the computation at hand
  str_map names;            // of the computation at hand
} inliner;

static bool is_inlined(const inliner *x, const instruction *i) {
  return i != x->keep && (i->opcode == HLO_CALL || i->opcode == HLO_FUSION);
}

// `add.3`, or a fresh variant of it if the caller has that name already.
static str fresh_name(inliner *x, str name) {
  str candidate = name;
  for (int n = 1; str_map_has(&x->names, candidate); n++) {
    // The id makes the second try succeed as a rule, so that a name taken a thousand times costs no thousand tries.
    candidate = str_from(arena_printf(x->module->arena, STR_FMT ".i%d", STR_ARG(name), x->module->next_id + n - 1));
  }
  str_map_put(x->scratch, &x->names, candidate, x);
  return candidate;
}

static instruction *copy_instruction(inliner *x, computation *into, const instruction *from, const ptr_map *copies) {
  instruction **operands = arena_array(x->scratch, instruction *, from->operand_count);
  for (int i = 0; i < from->operand_count; i++) operands[i] = ptr_map_get(copies, from->operands[i]);
  instruction *to =
      computation_add(into, from->opcode, fresh_name(x, from->name), from->shape, from->operand_count, operands);
  to->attributes = attributes_copy(x->module->arena, from->attributes);
  to->literal = from->literal;
  to->where = from->where;
  if (from->called_count > 0) instruction_set_called(to, from->called_count, from->called);
  for (int i = 0; i < from->control_predecessors.size; i++) {
    instruction *before = ptr_map_get(copies, from->control_predecessors.data[i]);
    vec_push(x->module->arena, &to->control_predecessors, before);
  }
  x->added++;
  return to;
}

static heddle_status inline_one(inliner *x, computation *caller, instruction *call) {
  const computation *callee = call->called[0];
  instruction_list order = {0};
  TRY(computation_post_order(x->scratch, callee, &order));
  if (x->added + order.size > CALL_INLINER_MAX_INSTRUCTIONS) {
    return status_at(HEDDLE_UNIMPLEMENTED, call->where,
                     "inlining %s %s would make the program larger than %d instructions", hlo_op_text(call->opcode),
                     arena_printf(x->scratch, STR_FMT, STR_ARG(call->name)), CALL_INLINER_MAX_INSTRUCTIONS);
  }
  ptr_map copies = {0};
  for (int i = 0; i < callee->parameters.size; i++) {
    ptr_map_put(x->scratch, &copies, callee->parameters.data[i], call->operands[i]);
  }
  for (int i = 0; i < order.size; i++) {
    if (order.data[i]->opcode == HLO_PARAMETER) continue;
    ptr_map_put(x->scratch, &copies, order.data[i], copy_instruction(x, caller, order.data[i], &copies));
  }
  instruction *root = ptr_map_get(&copies, callee->root);
  if (callee->root->opcode == HLO_TUPLE) vec_push(x->scratch, &x->tuples, root);
  instruction_replace_uses(call, root);
  computation_remove(caller, call);
  return status_ok();
}

static bool is_root(const instruction *i) { return i->parent->root == i; }

// Tuples that only existed to pass several results through a call: their elements are used directly.
static void forward_tuple(inliner *x, instruction *tuple) {
  instruction_list users = {0};
  for (int i = 0; i < tuple->users.size; i++) vec_push(x->scratch, &users, tuple->users.data[i]);
  for (int i = 0; i < users.size; i++) {
    instruction *user = users.data[i];
    if (user->opcode != HLO_GET_TUPLE_ELEMENT) continue;
    instruction *element = tuple->operands[user->attributes->index];
    instruction_replace_uses(user, element);
    computation_remove(user->parent, user);
  }
  if (tuple->users.size == 0 && !is_root(tuple)) computation_remove(tuple->parent, tuple);
}

static heddle_status inline_computation(inliner *x, computation *c) {
  instruction_list calls = {0};
  for (int i = 0; i < c->instructions.size; i++) {
    if (is_inlined(x, c->instructions.data[i])) vec_push(x->scratch, &calls, c->instructions.data[i]);
  }
  if (calls.size == 0) return status_ok();
  x->names = (str_map){0};
  x->tuples = (instruction_list){0};
  for (int i = 0; i < c->instructions.size; i++) {
    str_map_put(x->scratch, &x->names, c->instructions.data[i]->name, x);
  }
  for (int i = 0; i < calls.size; i++) TRY(inline_one(x, c, calls.data[i]));
  for (int i = 0; i < x->tuples.size; i++) forward_tuple(x, x->tuples.data[i]);
  return status_ok();
}

heddle_status call_inliner_run(module *m, const instruction *keep) {
  inliner x = {.module = m, .keep = keep, .scratch = arena_create()};
  computation **order = 0;
  int count = 0;
  heddle_status status = module_call_order(x.scratch, m, &order, &count);
  for (int i = 0; i < count && status_is_ok(status); i++) {
    status = status_context(inline_computation(&x, order[i]), "while inlining the calls of computation " STR_FMT,
                            STR_ARG(order[i]->name));
  }
  arena_destroy(x.scratch);
  return status;
}
