// Batch-norm expander: the three operations in terms of reductions over all dims but the feature's.
//
// With n elements a feature, m and v its mean and variance, s the scale, d the gradient of the output (Ioffe and
// Szegedy, 2015):
//   y = (x - m) / sqrt(v + epsilon) * s + offset
//   dx = s / sqrt(v + epsilon) / n * (n d - sum(d) - (x - m) sum(d (x - m)) / (v + epsilon))
//   ds = sum(d (x - m)) / sqrt(v + epsilon),  doffset = sum(d)
// Halves are computed in f32 and rounded at the end. The variance is that of the differences from the mean: the mean of
// the squares minus the square of the mean loses all digits where the mean is large.
#include "opt/passes.h"

#include "hlo/builder.h"
#include "opt/rewrite.h"

typedef struct expansion {
  builder b;
  const instruction *norm;
  const shape *computed;  // the operand's shape in the accumulation type
  int64_t feature;        // its dim
  int64_t reduced[SHAPE_MAX_RANK];
  int reduced_count;
  int64_t count;  // elements a feature
  computation *sum;
} expansion;

static void start(expansion *x, const instruction *norm) {
  const shape *s = norm->operands[0]->shape;
  dtype t = dtype_accumulator(s->dtype);
  *x = (expansion){.b = builder_for(norm), .norm = norm, .feature = norm->attributes->feature_index, .count = 1};
  x->computed = shape_array(x->b.arena, t, s->rank, s->dims);
  for (int k = 0; k < s->rank; k++) {
    if (k == x->feature) continue;
    x->reduced[x->reduced_count++] = k;
    x->count *= s->dims[k];
  }
  x->sum = builder_binary_computation(&x->b, HLO_ADD, t);
}

static instruction *operand(const expansion *x, int k) {
  return builder_convert(&x->b, x->norm->operands[k], x->computed->dtype);
}

// One value a feature, over all elements.
static instruction *spread(const expansion *x, instruction *feature) {
  return builder_broadcast(&x->b, feature, x->computed, 1, &x->feature);
}

static instruction *sum(const expansion *x, instruction *of) {
  return builder_reduce(&x->b, of, builder_scalar(&x->b, x->computed->dtype, 0), x->reduced_count, x->reduced, x->sum);
}

static instruction *add(const expansion *x, instruction *l, instruction *r) {
  return builder_binary(&x->b, HLO_ADD, l, r);
}

static instruction *subtract(const expansion *x, instruction *l, instruction *r) {
  return builder_binary(&x->b, HLO_SUBTRACT, l, r);
}

static instruction *multiply(const expansion *x, instruction *l, instruction *r) {
  return builder_binary(&x->b, HLO_MULTIPLY, l, r);
}

static instruction *divide_by_count(const expansion *x, instruction *of) {
  return builder_binary(&x->b, HLO_DIVIDE, of, builder_like(&x->b, of, (double)x->count));
}

static instruction *with_epsilon(const expansion *x, instruction *variance) {
  // The attribute is an f32 whatever the types.
  return add(x, variance, builder_like(&x->b, variance, x->norm->attributes->epsilon));
}

static instruction *narrow(const expansion *x, instruction *value) {
  return builder_convert(&x->b, value, x->norm->operands[0]->shape->dtype);
}

static instruction *normalized(const expansion *x, instruction *mean, instruction *variance) {
  instruction *centered = subtract(x, operand(x, 0), spread(x, mean));
  instruction *inverse = builder_unary(&x->b, HLO_RSQRT, with_epsilon(x, variance));
  instruction *scaled = multiply(x, multiply(x, centered, spread(x, inverse)), spread(x, operand(x, 1)));
  return narrow(x, add(x, scaled, spread(x, operand(x, 2))));
}

static instruction *expand_training(const expansion *x) {
  instruction *mean = divide_by_count(x, sum(x, operand(x, 0)));
  instruction *centered = subtract(x, operand(x, 0), spread(x, mean));
  instruction *variance = divide_by_count(x, sum(x, multiply(x, centered, centered)));
  instruction *output = normalized(x, mean, variance);
  instruction *narrow_mean = narrow(x, mean);
  return builder_tuple(&x->b, 3, (instruction *[]){output, narrow_mean, narrow(x, variance)});
}

static instruction *expand_inference(const expansion *x) {
  instruction *mean = operand(x, 3);
  return normalized(x, mean, operand(x, 4));
}

static instruction *expand_grad(const expansion *x) {
  instruction *centered = subtract(x, operand(x, 0), spread(x, operand(x, 2)));
  instruction *variance = with_epsilon(x, operand(x, 3)), *gradient = operand(x, 4);
  instruction *inverse = builder_unary(&x->b, HLO_RSQRT, variance);
  instruction *offset = sum(x, gradient), *product = sum(x, multiply(x, gradient, centered));
  instruction *slope = builder_binary(&x->b, HLO_DIVIDE, product, variance);
  instruction *whole = multiply(x, gradient, builder_like(&x->b, gradient, (double)x->count));
  instruction *rest = subtract(x, subtract(x, whole, spread(x, offset)), multiply(x, centered, spread(x, slope)));
  instruction *factor = divide_by_count(x, multiply(x, operand(x, 1), inverse));
  instruction *input = narrow(x, multiply(x, spread(x, factor), rest));
  instruction *scale = narrow(x, multiply(x, product, inverse));
  return builder_tuple(&x->b, 3, (instruction *[]){input, scale, narrow(x, offset)});
}

static instruction *expand(instruction *norm) {
  expansion x;
  start(&x, norm);
  switch (norm->opcode) {
    case HLO_BATCH_NORM_TRAINING: return expand_training(&x);
    case HLO_BATCH_NORM_INFERENCE: return expand_inference(&x);
    default: return expand_grad(&x);
  }
}

static bool is_batch_norm(const instruction *i) {
  return i->opcode == HLO_BATCH_NORM_TRAINING || i->opcode == HLO_BATCH_NORM_INFERENCE ||
         i->opcode == HLO_BATCH_NORM_GRAD;
}

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each(context, unit, is_batch_norm, expand);
}

const pass opt_batch_norm_expander = {
    .name = "batch-norm-expander",
    .summary = "batch norms become reductions and arithmetic",
    .order_reason = "before the algebra, which simplifies what it leaves",
    .use = PASS_NEEDED,
    .run = run,
};
