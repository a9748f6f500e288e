// batch-norm-training, -inference and -grad. Sums are kept in double and only results are rounded, so that the variance
// is that of the elements and not of their squares' rounding.
#include <math.h>

#include "eval/compute.h"
#include "eval/interpreter.h"

// The operand seen as [outer, features, inner].
typedef struct normalization {
  dtype type;
  int64_t outer, features, inner;
  double epsilon;
} normalization;

static normalization normalization_of(const instruction *i) {
  const shape *s = i->operands[0]->shape;
  const int64_t feature = i->attributes->feature_index;
  normalization n = {.type = s->dtype, .outer = 1, .features = s->dims[feature], .inner = 1};
  n.epsilon = i->attributes->epsilon;
  for (int d = 0; d < s->rank; d++) {
    if (d < feature) n.outer *= s->dims[d];
    if (d > feature) n.inner *= s->dims[d];
  }
  return n;
}

static double element(const value *v, int64_t index) {
  double x;
  compute_load(v->shape->dtype, v->data, index, 1, &x);
  return x;
}

static void set_element(value *v, int64_t index, double x) { compute_store(v->shape->dtype, v->data, index, 1, &x); }

// Sums over one feature's elements: of x - center, of its square, and of y, and of y · (x - center).
typedef struct sums {
  double x, squares, y, products;
} sums;

static sums sum_feature(const normalization *n, int64_t feature, const value *x, double center, const value *y) {
  sums s = {0};
  for (int64_t o = 0; o < n->outer; o++) {
    for (int64_t k = 0; k < n->inner; k++) {
      const int64_t at = (o * n->features + feature) * n->inner + k;
      const double dx = element(x, at) - center;
      s.x += dx;
      s.squares += dx * dx;
      if (!y) continue;
      const double dy = element(y, at);
      s.y += dy;
      s.products += dy * dx;
    }
  }
  return s;
}

static void normalize_feature(const normalization *n, int64_t feature, const value *x, double mean, double scale,
                              double offset, value *to) {
  for (int64_t o = 0; o < n->outer; o++)
    for (int64_t k = 0; k < n->inner; k++) {
      const int64_t at = (o * n->features + feature) * n->inner + k;
      set_element(to, at, (element(x, at) - mean) * scale + offset);
    }
}

heddle_status eval_batch_norm_inference(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const normalization n = normalization_of(i);
  TRY(value_create(&in->pool, i->shape, i->where, out));
  for (int64_t f = 0; f < n.features; f++) {
    const double scale = element(operands[1], f) / sqrt(element(operands[4], f) + n.epsilon);
    normalize_feature(&n, f, operands[0], element(operands[3], f), scale, element(operands[2], f), *out);
  }
  return status_ok();
}

static void train_feature(const normalization *n, int64_t f, value *const *operands, value **results) {
  const double count = (double)(n->outer * n->inner);
  const double mean = sum_feature(n, f, operands[0], 0, NULL).x / count;
  const double variance = sum_feature(n, f, operands[0], mean, NULL).squares / count;
  const double scale = element(operands[1], f) / sqrt(variance + n->epsilon);
  normalize_feature(n, f, operands[0], mean, scale, element(operands[2], f), results[0]);
  set_element(results[1], f, mean);
  set_element(results[2], f, variance);
}

// Operands: x, scale, mean, variance, gradient of the result. Results: gradients of x, of scale and of offset.
static void gradient_feature(const normalization *n, int64_t f, value *const *operands, value **results) {
  const double count = (double)(n->outer * n->inner);
  const double mean = element(operands[2], f), spread = element(operands[3], f) + n->epsilon;
  const double inverse = 1 / sqrt(spread);
  const sums s = sum_feature(n, f, operands[0], mean, operands[4]);
  for (int64_t o = 0; o < n->outer; o++)
    for (int64_t k = 0; k < n->inner; k++) {
      const int64_t at = (o * n->features + f) * n->inner + k;
      const double dx = element(operands[0], at) - mean, dy = element(operands[4], at);
      const double gradient = dy - s.y / count - dx * s.products / spread / count;
      set_element(results[0], at, element(operands[1], f) * inverse * gradient);
    }
  set_element(results[1], f, s.products * inverse);
  set_element(results[2], f, s.y);
}

typedef void (*feature_fn)(const normalization *n, int64_t f, value *const *operands, value **results);

static heddle_status each_feature(interpreter *in, const instruction *i, value *const *operands, feature_fn run,
                                  value **out) {
  const normalization n = normalization_of(i);
  value *results[3] = {0};
  heddle_status status = status_ok();
  for (int k = 0; k < 3 && status_is_ok(status); k++)
    status = value_create(&in->pool, i->shape->elements[k], i->where, &results[k]);
  if (status_is_ok(status)) {
    for (int64_t f = 0; f < n.features; f++) run(&n, f, operands, results);
    status = value_create_tuple(&in->pool, i->shape, results, i->where, out);
  }
  for (int k = 0; k < 3; k++) value_release(results[k]);
  return status;
}

heddle_status eval_batch_norm_training(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return each_feature(in, i, operands, train_feature, out);
}

heddle_status eval_batch_norm_grad(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return each_feature(in, i, operands, gradient_feature, out);
}
