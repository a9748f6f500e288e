// Logistic expander: logistic(x) -> 1 / (1 + exp(-x)).
//
// For large negative x the exponential overflows to infinity and the quotient is the right zero. Halves are computed in
// f32, where nothing overflows early.
#include "opt/passes.h"

#include "hlo/builder.h"
#include "opt/rewrite.h"

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  instruction *x = rewrite_widen(&b, i->operands[0]);
  instruction *grown = builder_unary(&b, HLO_EXPONENTIAL, builder_unary(&b, HLO_NEGATE, x));
  instruction *below = builder_binary(&b, HLO_ADD, builder_like(&b, x, 1), grown);
  instruction *result = builder_binary(&b, HLO_DIVIDE, builder_like(&b, x, 1), below);
  return builder_convert(&b, result, i->shape->dtype);
}

static bool matches(const instruction *i) { return i->opcode == HLO_LOGISTIC; }

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, matches, expand); }

const pass opt_logistic_expander = {
    .name = "logistic-expander",
    .summary = "logistic becomes 1 / (1 + exp(-x))",
    .order_reason = "for code generators without the operation; before the algebra",
    .use = PASS_ON_REQUEST,
    .run = run,
};
