// Tuple simplifier: get-tuple-element(tuple(a, b), 0) -> a, and tuple(get-tuple-element(x, 0), ...) -> x.
//
// One walk over each computation in post order is enough: when an instruction is reached its operands are simplified.
#include "opt/passes.h"

#include "opt/rewrite.h"

// `x` of a tuple of x's elements, in order and complete; else null.
static instruction *taken_apart(const instruction *tuple) {
  if (tuple->operand_count == 0 || tuple->operands[0]->opcode != HLO_GET_TUPLE_ELEMENT) return NULL;
  instruction *of = tuple->operands[0]->operands[0];
  for (int k = 0; k < tuple->operand_count; k++) {
    const instruction *element = tuple->operands[k];
    if (element->opcode != HLO_GET_TUPLE_ELEMENT || element->attributes->index != k) return NULL;
    if (element->operands[0] != of) return NULL;
  }
  return of->shape->tuple_size == tuple->operand_count && shape_equal(of->shape, tuple->shape) ? of : NULL;
}

static instruction *simpler(const instruction *i) {
  if (i->opcode == HLO_TUPLE) return taken_apart(i);
  if (i->opcode != HLO_GET_TUPLE_ELEMENT || i->operands[0]->opcode != HLO_TUPLE) return NULL;
  instruction *element = i->operands[0]->operands[i->attributes->index];
  return shape_equal(element->shape, i->shape) ? element : NULL;
}

static heddle_status simplify(pass_context *context, computation *c) {
  arena *scratch = context->scratch;
  instruction_list order = {0};
  ptr_map waited_for = {0};
  TRY(computation_post_order(scratch, c, &order));
  rewrite_find_waited_for(scratch, c, &waited_for);
  // What is replaced has no users any more: dead code, which goes all at once.
  for (int i = 0; i < order.size; i++) {
    instruction *x = order.data[i], *by = simpler(x);
    if (by && x->control_predecessors.size == 0 && !ptr_map_has(&waited_for, x)) rewrite_uses(context, x, by);
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  for (int i = 0; i < m->computations.size; i++) TRY(simplify(context, m->computations.data[i]));
  return status_ok();
}

const pass opt_tuple_simplifier = {
    .name = "tuple-simplifier",
    .summary = "elements of tuples made here are used directly",
    .order_reason = "when no pass makes tuples any more; behind it the leaves of loops' states are plain to see",
    .use = PASS_NEEDED,
    .run = run,
};
