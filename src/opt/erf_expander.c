// Erf expander: erf(x) -> x P(x^2) / Q(x^2) for |x| below 3.65, from where on it rounds to 1.
//
// The coefficients are the minimax fit that code generation uses for f32 (lower/approx_exp.c; 6 units in the last
// place). f64 is left alone: its code has no rational form.
#include "opt/passes.h"

#include "hlo/builder.h"
#include "opt/rewrite.h"

static const double numerator[] = {0x1.20dd74p+0, 0x1.7174b2p-3,  0x1.a766d0p-5,
                                   0x1.bdbae8p-9, 0x1.2e6348p-12, 0x1.3343b4p-19};
static const double denominator[] = {0x1p+0,        0x1.f90b4cp-2,  0x1.c3689cp-4,
                                     0x1.d287bcp-7, 0x1.1f177cp-10, 0x1.55a504p-15};
static const double limit = 3.65;
enum { TERM_COUNT = 6 };

// Horner's rule, from the highest power on.
static instruction *polynomial(const builder *b, instruction *x, const double *coefficients) {
  instruction *sum = builder_like(b, x, coefficients[TERM_COUNT - 1]);
  for (int k = TERM_COUNT - 2; k >= 0; k--) {
    instruction *product = builder_binary(b, HLO_MULTIPLY, sum, x);
    sum = builder_binary(b, HLO_ADD, product, builder_like(b, x, coefficients[k]));
  }
  return sum;
}

static instruction *clamp(const builder *b, instruction *x, double bound) {
  instruction *low = builder_like(b, x, -bound), *high = builder_like(b, x, bound);
  return builder_add(b, HLO_CLAMP, x->shape, 3, (instruction *[]){low, x, high});
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  instruction *x = clamp(&b, rewrite_widen(&b, i->operands[0]), limit);
  instruction *square = builder_binary(&b, HLO_MULTIPLY, x, x);
  instruction *above = builder_binary(&b, HLO_MULTIPLY, x, polynomial(&b, square, numerator));
  instruction *quotient = builder_binary(&b, HLO_DIVIDE, above, polynomial(&b, square, denominator));
  return builder_convert(&b, clamp(&b, quotient, 1), i->shape->dtype);
}

static bool matches(const instruction *i) {
  return i->opcode == HLO_ERF && dtype_is_float(i->shape->dtype) && i->shape->dtype != DTYPE_F64;
}

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, matches, expand); }

const pass opt_erf_expander = {
    .name = "erf-expander",
    .summary = "erf up to f32 becomes a rational function",
    .order_reason = "for code generators without the operation; before the algebra",
    .use = PASS_ON_REQUEST,
    .run = run,
};
