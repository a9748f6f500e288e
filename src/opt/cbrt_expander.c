// Cbrt expander: cbrt(x) -> sign(x) y, with y = exp(log|x| / 3) corrected by y - (y - |x| / y^2) / 3.
//
// The exponential alone loses as many digits as the logarithm is large; the step of Newton squares that error. Zero and
// infinity, where the step would divide by nothing, are passed through. Complex roots are left alone.
#include "opt/passes.h"

#include <math.h>

#include "hlo/builder.h"
#include "opt/rewrite.h"

static instruction *root_of(const builder *b, instruction *x) {
  instruction *third = builder_like(b, x, 1.0 / 3);
  instruction *log = builder_unary(b, HLO_LOG, x);
  instruction *y = builder_unary(b, HLO_EXPONENTIAL, builder_binary(b, HLO_MULTIPLY, log, third));
  instruction *quotient = builder_binary(b, HLO_DIVIDE, x, builder_binary(b, HLO_MULTIPLY, y, y));
  instruction *error = builder_binary(b, HLO_SUBTRACT, y, quotient);
  return builder_binary(b, HLO_SUBTRACT, y, builder_binary(b, HLO_MULTIPLY, error, third));
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  instruction *x = rewrite_widen(&b, i->operands[0]);
  instruction *size = builder_unary(&b, HLO_ABS, x);
  instruction *is_zero = builder_compare(&b, x, builder_like(&b, x, 0), COMPARE_EQ);
  instruction *is_infinite = builder_compare(&b, size, builder_like(&b, x, HUGE_VAL), COMPARE_EQ);
  instruction *is_itself = builder_binary(&b, HLO_OR, is_zero, is_infinite);
  instruction *root = builder_binary(&b, HLO_MULTIPLY, builder_unary(&b, HLO_SIGN, x), root_of(&b, size));
  return builder_convert(&b, builder_select(&b, is_itself, x, root), i->shape->dtype);
}

static bool matches(const instruction *i) { return i->opcode == HLO_CBRT && dtype_is_float(i->shape->dtype); }

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, matches, expand); }

const pass opt_cbrt_expander = {
    .name = "cbrt-expander",
    .summary = "cbrt becomes exponential and logarithm",
    .order_reason = "for code generators without the operation; before the algebra",
    .use = PASS_ON_REQUEST,
    .run = run,
};
