// Call inliner: `call` and `fusion` -> the body of the called computation, in the caller.
//
// Kernels are planned over one computation, so whatever is only grouping has to go first. Only computations that stay
// (the entry, bodies of loops, reducers ...) are written to: each call in them is walked down to the bottom of its
// nested calls, on a stack of our own, and every instruction met on the way is copied once into where it ends up.
// Flattening each callee first instead would copy the innermost body of a chain of calls once per level.
#include "opt/call_inliner.h"

#include "opt/passes.h"
#include "opt/rewrite.h"

typedef struct inliner {
  module *module;
  const instruction *keep;
  arena *scratch;
  int64_t added;            // instructions copied and calls entered so far, over the whole module
  ptr_map orders;           // callee -> its instruction_list, operands before users
  instruction_list tuples;  // results of inlined calls, of the computation at hand
  str_map names;            // of the computation at hand
  ptr_map gone;             // of the computation at hand: instruction -> what to wait for instead (instruction_list)
} inliner;

// A call on the way down: a callee whose instructions up to `next` have their copies.
typedef struct call_frame {
  const instruction *call;
  const instruction_list *order;
  int next;
  ptr_map copies;            // callee's instruction -> what stands for it in the computation written to
  instruction_list before;   // what the call, and those around it, wait for
  instruction_list ordered;  // copies that others may have to wait for
  ptr_map after;             // nested call that is done -> what to wait for instead (instruction_list)
} call_frame;

typedef VEC(call_frame) call_stack;
typedef VEC(computation *) computation_list;

static bool is_inlined(const inliner *x, const instruction *i) {
  if (i == x->keep) return false;
  return i->opcode == HLO_CALL || (i->opcode == HLO_FUSION && !i->attributes->is_kept);
}

// Control edges order what acts on the world. Everything else may run whenever its operands are there.
static bool may_act(const instruction *i) {
  return hlo_op_has(i->opcode, TRAIT_CONTROL) || hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT) ||
         hlo_op_has(i->opcode, TRAIT_ASYNC) || i->attributes->custom_call_has_side_effect;
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

// What stands for a control predecessor within the call, or for those of a call that is gone.
static void add_waits(arena *a, const call_frame *frame, const instruction *before, instruction_list *out) {
  const instruction_list *instead = ptr_map_get(&frame->after, before);
  instruction *copy = instead ? NULL : ptr_map_get(&frame->copies, before);
  if (copy) vec_push(a, out, copy);
  for (int k = 0; instead && k < instead->size; k++) vec_push(a, out, instead->data[k]);
}

static instruction *copy_instruction(inliner *x, computation *into, const instruction *from, const call_frame *frame) {
  instruction **operands = arena_array(x->scratch, instruction *, from->operand_count);
  for (int i = 0; i < from->operand_count; i++) operands[i] = ptr_map_get(&frame->copies, from->operands[i]);
  instruction *to =
      computation_add(into, from->opcode, fresh_name(x, from->name), from->shape, from->operand_count, operands);
  to->attributes = attributes_copy(x->module->arena, from->attributes);
  to->literal = from->literal;
  to->where = from->where;
  if (from->called_count > 0) instruction_set_called(to, from->called_count, from->called);
  for (int i = 0; i < from->control_predecessors.size; i++)
    add_waits(x->module->arena, frame, from->control_predecessors.data[i], &to->control_predecessors);
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

// `around` is the call that this one is in; null if it is in the computation that is written to.
static heddle_status enter(inliner *x, call_stack *stack, const instruction *call, const call_frame *around) {
  const computation *callee = call->called[0];
  call_frame frame = {.call = call};
  for (int i = 0; around && i < around->before.size; i++) vec_push(x->scratch, &frame.before, around->before.data[i]);
  for (int i = 0; i < call->control_predecessors.size; i++) {
    if (around) add_waits(x->scratch, around, call->control_predecessors.data[i], &frame.before);
    else vec_push(x->scratch, &frame.before, call->control_predecessors.data[i]);
  }
  x->added += frame.before.size;
  TRY(order_of(x, callee, &frame.order));
  x->added++;  // calls of next to nothing cost as well, and there may be exponentially many
  if (x->added + frame.order->size > CALL_INLINER_MAX_INSTRUCTIONS) {
    return status_at(HEDDLE_UNIMPLEMENTED, call->where,
                     "inlining %s %s would make the program larger than %d instructions", hlo_op_text(call->opcode),
                     arena_printf(x->scratch, STR_FMT, STR_ARG(call->name)), CALL_INLINER_MAX_INSTRUCTIONS);
  }
  for (int i = 0; i < callee->parameters.size; i++) {
    instruction *operand = around ? ptr_map_get(&around->copies, call->operands[i]) : call->operands[i];
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
    instruction *copy = copy_instruction(x, into, i, frame);
    ptr_map_put(x->scratch, &frame->copies, i, copy);
    if (!may_act(copy)) continue;
    vec_push(x->scratch, &frame->ordered, copy);
    for (int k = 0; k < frame->before.size; k++)
      vec_push(x->module->arena, &copy->control_predecessors, frame->before.data[k]);
  }
  return NULL;
}

// Who waits for a call that is gone waits for what of it acts, and for what it waited for.
static const instruction_list *waits_of(inliner *x, const call_frame *frame) {
  instruction_list *result = arena_new(x->scratch, instruction_list);
  for (int k = 0; k < frame->ordered.size; k++) vec_push(x->scratch, result, frame->ordered.data[k]);
  for (int k = 0; k < frame->before.size; k++) vec_push(x->scratch, result, frame->before.data[k]);
  return result;
}

// Hands what a nested call has come to over to the call around it.
static void leave(inliner *x, const call_frame *done, call_frame *around, instruction *root) {
  ptr_map_put(x->scratch, &around->copies, done->call, root);
  ptr_map_put(x->scratch, &around->after, done->call, (void *)waits_of(x, done));
  for (int k = 0; k < done->ordered.size; k++) vec_push(x->scratch, &around->ordered, done->ordered.data[k]);
  x->added += done->ordered.size;
}

static heddle_status inline_one(inliner *x, computation *caller, instruction *call) {
  call_stack stack = {0};
  instruction *root = NULL;
  TRY(enter(x, &stack, call, NULL));
  while (stack.size > 0) {
    call_frame *frame = &vec_last(&stack);
    const instruction *nested = copy_to_next_call(x, caller, frame);
    if (nested) {
      const call_frame around = *frame;  // the stack may move
      TRY(enter(x, &stack, nested, &around));
      continue;
    }
    const computation *callee = frame->call->called[0];
    const call_frame done = *frame;
    root = ptr_map_get(&frame->copies, callee->root);
    if (callee->root->opcode == HLO_TUPLE) vec_push(x->scratch, &x->tuples, root);
    stack.size--;
    if (stack.size > 0) leave(x, &done, &vec_last(&stack), root);
    else ptr_map_put(x->scratch, &x->gone, call, (void *)waits_of(x, &done));
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
    if (may_act(element)) vec_push(x->module->arena, &user->control_predecessors, element);
    ptr_map_put(x->scratch, &x->gone, user, &user->control_predecessors);
    computation_detach(user->parent, user);
  }
  if (tuple->users.size > 0 || is_root(tuple)) return;
  ptr_map_put(x->scratch, &x->gone, tuple, &tuple->control_predecessors);
  computation_detach(tuple->parent, tuple);
}

static heddle_status inline_computation(inliner *x, computation *c) {
  instruction_list calls = {0};
  for (int i = 0; i < c->instructions.size; i++) {
    if (is_inlined(x, c->instructions.data[i])) vec_push(x->scratch, &calls, c->instructions.data[i]);
  }
  if (calls.size == 0) return status_ok();
  x->names = (str_map){0};
  x->tuples = (instruction_list){0};
  x->gone = (ptr_map){0};
  for (int i = 0; i < c->instructions.size; i++) {
    str_map_put(x->scratch, &x->names, c->instructions.data[i]->name, x);
  }
  for (int i = 0; i < calls.size; i++) TRY(inline_one(x, c, calls.data[i]));
  // Last first: an element of a tuple may be an earlier one.
  for (int i = x->tuples.size - 1; i >= 0; i--) forward_tuple(x, x->tuples.data[i]);
  computation_drop_detached(c);
  rewrite_pass_on_waits(x->scratch, c, &x->gone);
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

static heddle_status inline_all(arena *scratch, module *m, const instruction *keep, bool *changed) {
  inliner x = {.module = m, .keep = keep, .scratch = scratch};
  computation **order = 0;
  int count = 0;
  TRY(module_call_order(scratch, m, &order, &count));
  const ptr_map staying = find_staying(&x);
  for (int i = 0; i < count; i++) {
    if (!ptr_map_has(&staying, order[i])) continue;
    TRY(status_context(inline_computation(&x, order[i]), "while inlining the calls of computation " STR_FMT,
                       STR_ARG(order[i]->name)));
  }
  *changed |= x.added > 0;
  return status_ok();
}

heddle_status call_inliner_run(arena *scratch, module *m, const instruction *keep) {
  bool changed = false;
  return inline_all(scratch, m, keep, &changed);
}

static heddle_status run(pass_context *context, void *unit) {
  return inline_all(context->scratch, unit, NULL, &context->changed);
}

const pass opt_call_inliner = {
    .name = "call-inliner",
    .summary = "calls and fusions become the bodies they call",
    .order_reason = "behind all passes that make calls; what follows sees one computation",
    .use = PASS_NEEDED,
    .run = run,
};
