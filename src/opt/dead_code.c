// Dead code: instructions without users, and computations without callers.
//
// Inlining leaves both behind: a body whose calls are gone, and elements of an inlined tuple that nobody takes.
// Instructions go from the last to the first, so that one walk over a computation's post order removes whole dead
// chains. What waited for one of them waits for what that one waited for.
#include "hlo/open_size.h"
#include "opt/effects.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

static bool must_stay(const instruction *i) {
  return i->opcode == HLO_PARAMETER || i == i->parent->root || i->users.size > 0 ||
         (hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT) && !open_size_is(i)) || i->attributes->custom_call_has_side_effect;
}

// A called computation may have effects that its caller's opcode does not show.
static bool calls_effects(const ptr_map *with_side_effects, const instruction *i) {
  return hlo_op_has(i->opcode, TRAIT_ASYNC) ||
         (hlo_op_has(i->opcode, TRAIT_CONTROL) && effects_has(with_side_effects, true, i));
}

static heddle_status clean(pass_context *context, const ptr_map *with_side_effects, computation *c) {
  arena *scratch = context->scratch;
  instruction_list order = {0};
  ptr_map gone = {0};
  TRY(computation_post_order(scratch, c, &order));
  for (int i = order.size; i-- > 0;) {
    instruction *x = order.data[i];
    if (must_stay(x) || calls_effects(with_side_effects, x)) continue;
    ptr_map_put(scratch, &gone, x, &x->control_predecessors);
    computation_detach(c, x);
    context->changed = true;
  }
  computation_drop_detached(c);
  rewrite_pass_on_waits(scratch, c, &gone);
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  ptr_map with_side_effects = {0};
  TRY(effects_find(context->scratch, m, true, &with_side_effects));
  for (int i = 0; i < m->computations.size; i++) TRY(clean(context, &with_side_effects, m->computations.data[i]));
  const int count = m->computations.size;
  TRY(module_remove_uncalled(context->scratch, m, NULL));
  context->changed |= m->computations.size < count;
  return status_ok();
}

const pass opt_dead_code = {
    .name = "dead-code",
    .summary = "what no result depends on goes, and so do computations nobody calls",
    .order_reason = "when every other pass may have left some",
    .use = PASS_NEEDED,
    .run = run,
};
