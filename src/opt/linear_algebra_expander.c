// Linear-algebra expander: cholesky and triangular-solve become custom calls, so that behind this pass there is one way
// to library routines.
#include "opt/passes.h"

#include "opt/rewrite.h"

static const char *truth(bool x) { return x ? "true" : "false"; }

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  const hlo_attributes *x = i->attributes;
  instruction *call = builder_add(&b, HLO_CUSTOM_CALL, i->shape, i->operand_count, i->operands);
  hlo_attributes *to = call->attributes;
  if (i->opcode == HLO_CHOLESKY) {
    to->custom_call_target = STR("heddle.cholesky");
    to->backend_config = str_from(arena_printf(b.arena, "{lower = %s}", truth(x->lower)));
  } else {
    to->custom_call_target = STR("heddle.triangular_solve");
    to->backend_config =
        str_from(arena_printf(b.arena, "{left_side = %s, lower = %s, unit_diagonal = %s, transpose_a = %d : i64}",
                              truth(x->left_side), truth(x->lower), truth(x->unit_diagonal), (int)x->transpose_a));
  }
  attributes_mark(to, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET);
  attributes_mark(to, HLO_ATTRIBUTE_BACKEND_CONFIG);
  return call;
}

static bool is_routine(const instruction *i) { return i->opcode == HLO_CHOLESKY || i->opcode == HLO_TRIANGULAR_SOLVE; }

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, is_routine, expand); }

const pass opt_linear_algebra_expander = {
    .name = "linear-algebra-expander",
    .summary = "cholesky and triangular-solve become library calls",
    .order_reason = "behind the custom-call expander, which makes some of calls by other names",
    .use = PASS_NEEDED,
    .run = run,
};
