// Call inliner: `call` and `fusion` -> the body of the called computation, in the caller.
//
// Kernels are planned over one computation, so whatever is only grouping has to go first. Only computations that stay
// (the entry, bodies of loops, reducers ...) are written to: each call in them is walked down to the bottom of its
// nested calls, on a stack of our own, and every instruction met on the way is copied once into where it ends up.
// Flattening each callee first instead would copy the innermost body of a chain of calls once per level.
#include "opt/call_inliner.h"

typedef struct inliner {
  module *module;
  const instruction *keep;
  arena *scratch;
  int64_t added;            // instructions copied and calls entered so far, over the whole module
  ptr_map orders;           // callee -> its instruction_list, operands before users
  instruction_list tuples;  // results of inlined calls, of the computation at hand
  str_map names;            // of the computation at hand
} inliner;

// A call on the way down: a callee whose instructions up to `next` have their copies.
typedef struct call_frame {
  const instruction *call;
  const instruction_list *order;
  int next;
  ptr_map copies;  // callee's instruction -> what stands for it in the computation written to
} call_frame;

typedef VEC(call_frame) call_stack;
typedef VEC(computation *) computation_list;

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
    if (before) vec_push(x->module->arena, &to->control_predecessors, before);
  }
  x->added++;
  return to;
}

static heddle_status order_of(inliner *x, const computation *callee, const instruction_list **out) {
  instruction_list *order = ptr_map_get(&x->orders, callee);
  if (!order) {
    order = arena_new(x->scratch, instruction_list);
    TRY(computation_post_order(x->scratch, callee, order));
    ptr_map_put(x->scratch, &x->orders, callee, order);
  }
  *out = order;
  return status_ok();
}

// `around` has the copies of the call's operands; null if the call is in the computation that is written to.
static heddle_status enter(inliner *x, call_stack *stack, const instruction *call, const ptr_map *around) {
  const computation *callee = call->called[0];
  call_frame frame = {.call = call};
  TRY(order_of(x, callee, &frame.order));
  x->added++;  // calls of next to nothing cost as well, and there may be exponentially many
  if (x->added + frame.order->size > CALL_INLINER_MAX_INSTRUCTIONS) {
    return status_at(HEDDLE_UNIMPLEMENTED, call->where,
                     "inlining %s %s would make the program larger than %d instructions", hlo_op_text(call->opcode),
                     arena_printf(x->scratch, STR_FMT, STR_ARG(call->name)), CALL_INLINER_MAX_INSTRUCTIONS);
  }
  for (int i = 0; i < callee->parameters.size; i++) {
    instruction *operand = around ? ptr_map_get(around, call->operands[i]) : call->operands[i];
    ptr_map_put(x->scratch, &frame.copies, callee->parameters.data[i], operand);
  }
  vec_push(x->scratch, stack, frame);
  return status_ok();
}

// Copies up to the next call, or to the end: then null.
static const instruction *copy_to_next_call(inliner *x, computation *into, call_frame *frame) {
  while (frame->next < frame->order->size) {
    const instruction *i = frame->order->data[frame->next++];
    if (i->opcode == HLO_PARAMETER) continue;
    if (is_inlined(x, i)) return i;
    ptr_map_put(x->scratch, &frame->copies, i, copy_instruction(x, into, i, &frame->copies));
  }
  return NULL;
}

static heddle_status inline_one(inliner *x, computation *caller, instruction *call) {
  call_stack stack = {0};
  instruction *root = NULL;
  TRY(enter(x, &stack, call, NULL));
  while (stack.size > 0) {
    call_frame *frame = &vec_last(&stack);
    const instruction *nested = copy_to_next_call(x, caller, frame);
    if (nested) {
      const ptr_map around = frame->copies;  // the stack may move
      TRY(enter(x, &stack, nested, &around));
      continue;
    }
    const computation *callee = frame->call->called[0];
    const instruction *done = frame->call;
    root = ptr_map_get(&frame->copies, callee->root);
    if (callee->root->opcode == HLO_TUPLE) vec_push(x->scratch, &x->tuples, root);
    stack.size--;
    if (stack.size > 0) ptr_map_put(x->scratch, &vec_last(&stack).copies, done, root);
  }
  instruction_replace_uses(call, root);
  computation_detach(caller, call);
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
    computation_detach(user->parent, user);
  }
  if (tuple->users.size == 0 && !is_root(tuple)) computation_detach(tuple->parent, tuple);
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
  // Last first: an element of a tuple may be an earlier one.
  for (int i = x->tuples.size - 1; i >= 0; i--) forward_tuple(x, x->tuples.data[i]);
  computation_drop_detached(c);
  return status_ok();
}

static void reach(inliner *x, computation *c, ptr_map *reached, computation_list *work) {
  if (ptr_map_has(reached, c)) return;
  ptr_map_put(x->scratch, reached, c, c);
  vec_push(x->scratch, work, c);
}

// The computations that are still called once nothing is left to inline, and the entry.
static ptr_map find_staying(inliner *x) {
  ptr_map staying = {0}, reached = {0};
  computation_list work = {0};
  ptr_map_put(x->scratch, &staying, x->module->entry, x->module->entry);
  reach(x, x->module->entry, &reached, &work);
  while (work.size > 0) {
    const computation *c = work.data[--work.size];
    for (int i = 0; i < c->instructions.size; i++) {
      const instruction *user = c->instructions.data[i];
      for (int k = 0; k < user->called_count; k++) {
        if (!is_inlined(x, user)) ptr_map_put(x->scratch, &staying, user->called[k], user->called[k]);
        reach(x, user->called[k], &reached, &work);
      }
    }
  }
  return staying;
}

heddle_status call_inliner_run(module *m, const instruction *keep) {
  inliner x = {.module = m, .keep = keep, .scratch = arena_create()};
  computation **order = 0;
  int count = 0;
  heddle_status status = module_call_order(x.scratch, m, &order, &count);
  const ptr_map staying = status_is_ok(status) ? find_staying(&x) : (ptr_map){0};
  for (int i = 0; i < count && status_is_ok(status); i++) {
    if (!ptr_map_has(&staying, order[i])) continue;
    status = status_context(inline_computation(&x, order[i]), "while inlining the calls of computation " STR_FMT,
                            STR_ARG(order[i]->name));
  }
  arena_destroy(x.scratch);
  return status;
}
