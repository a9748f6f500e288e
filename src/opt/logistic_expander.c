// Logistic expander: logistic(x) -> 1 / (1 + exp(-x)).
//
// For large negative x the exponential overflows to infinity and the quotient is the right zero. Halves are computed in
// f32, where nothing overflows early.
#include "opt/logistic_expander.h"

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

heddle_status logistic_expander_run(module *m) { return rewrite_each(m, matches, expand); }
