// Gives the module generator values: drawn from those there are, or made anew.
#include "tools/smith_pool.h"

#include <math.h>

bool smith_fits(const smith *s, int rank, const int64_t *dims) {
  int64_t count = 1;
  for (int k = 0; k < rank; k++) count *= dims[k];
  return rank <= s->options.rank && count <= s->options.elements;
}

// Random dims within the options.
static const shape *random_shape(smith *s, dtype t, int min_rank) {
  int64_t dims[SMITH_MAX_RANK], left = s->options.elements;
  int rank = (int)smith_between(s, min_rank, s->options.rank);
  for (int k = 0; k < rank; k++) {
    dims[k] = smith_between(s, 1, left < 6 ? left : 6);
    left /= dims[k];
  }
  // Nothing at all is a size, too.
  if (rank > 0 && smith_chance(s, 2)) dims[smith_below(s, rank)] = 0;
  return shape_array(s->arena, t, rank, dims);
}

static instruction *add_parameter(smith *s, const shape *of) {
  int number = s->b.computation->parameters.size;
  return computation_add_parameter(s->b.computation, number, str_from(arena_printf(s->arena, "p%d", number)), of);
}

static double random_number(smith *s) {
  static const double special[] = {0, -0.0, 1, -1, 0.5, 2, 1e10, -1e-10};
  if (smith_chance(s, 15)) return special[smith_below(s, sizeof special / sizeof *special)];
  return (double)smith_between(s, -400, 400) / 64;
}

static void fill(smith *s, literal *l) {
  int64_t count = shape_element_count(l->shape);
  for (int64_t i = 0; i < count; i++) {
    dtype t = l->shape->dtype;
    if (dtype_is_complex(t)) {
      double re = random_number(s);
      literal_set_complex(l, i, literal_complex_of(re, random_number(s)));
    } else if (dtype_is_float(t)) {
      literal_set_double(l, i, random_number(s));
    } else {
      literal_set_int(l, i, t == DTYPE_PRED ? smith_below(s, 2) : smith_between(s, -9, 9));
    }
  }
}

instruction *smith_constant(smith *s, const builder *b, dtype t, int rank, const int64_t *dims) {
  literal *value;
  heddle_status status = literal_create(s->arena, shape_array(s->arena, t, rank, dims), &value);
  if (!status_is_ok(status)) {
    heddle_status_free(status);
    return NULL;
  }
  fill(s, value);
  return builder_constant(b, value);
}

instruction *smith_fresh(smith *s, dtype t, int rank, const int64_t *dims) {
  bool can_count = rank > 0 && (dtypes[t].class & CLASS_NUMBER);
  int64_t choice = smith_below(s, 10);
  if (choice < 3) return smith_constant(s, &s->b, t, rank, dims);
  if (choice < 4 && can_count) return builder_iota(&s->b, t, rank, dims, smith_below(s, rank));
  return add_parameter(s, shape_array(s->arena, t, rank, dims));
}

// What was made of whole arrays comes back to them: as a bound, an index, a condition.
instruction *smith_scalar(smith *s, dtype t) {
  for (int tries = 0; tries < 4 && s->pool.size > 0; tries++) {
    instruction *x = s->pool.data[smith_below(s, s->pool.size)];
    dtype of = x->shape->dtype;
    if (x->shape->rank > 0) continue;
    if (of == t) return x;
    if (t == DTYPE_PRED && (dtypes[of].class & CLASS_REAL))
      return builder_compare(&s->b, x, smith_fresh(s, of, 0, NULL), COMPARE_LT);
  }
  return smith_fresh(s, t, 0, NULL);
}

instruction *smith_any_ranked(smith *s, int classes, int rank) {
  // Later values are taken more often, so that programs grow deep.
  for (int tries = 0; tries < 12 && s->pool.size > 0 && !smith_chance(s, 12); tries++) {
    int64_t back = smith_below(s, smith_chance(s, 50) && s->pool.size > 6 ? 6 : s->pool.size);
    instruction *x = s->pool.data[s->pool.size - 1 - back];
    if ((dtypes[x->shape->dtype].class & classes) && x->shape->rank >= rank) return x;
  }
  dtype t = smith_dtype(s, classes);
  if (t == DTYPE_INVALID || rank > s->options.rank) return NULL;
  const shape *of = random_shape(s, t, rank);
  instruction *made = smith_fresh(s, t, of->rank, of->dims);
  vec_push(s->arena, &s->pool, made);
  return made;
}

instruction *smith_any(smith *s, int classes) { return smith_any_ranked(s, classes, 0); }

instruction *smith_like(smith *s, dtype t, const instruction *like) {
  for (int tries = 0; tries < 8 && s->pool.size > 0; tries++) {
    instruction *x = s->pool.data[smith_below(s, s->pool.size)];
    if (x->shape->dtype == t && shape_same_dims(x->shape, like->shape)) return x;
  }
  if (like->shape->rank > 0 && smith_chance(s, 25))
    return builder_broadcast(&s->b, smith_scalar(s, t), like->shape, 0, NULL);
  return smith_fresh(s, t, like->shape->rank, like->shape->dims);
}

static const hlo_opcode plain[] = {HLO_ADD, HLO_MULTIPLY, HLO_MAXIMUM, HLO_MINIMUM, HLO_SUBTRACT};
static const hlo_opcode logical[] = {HLO_AND, HLO_OR, HLO_XOR};
enum { PLAIN_COUNT = sizeof plain / sizeof *plain, LOGICAL_COUNT = sizeof logical / sizeof *logical };

static hlo_opcode scalar_opcode(smith *s, dtype t) {
  if (t == DTYPE_PRED) return logical[smith_below(s, LOGICAL_COUNT)];
  // Maximum and minimum of complex numbers have no one order.
  int64_t count = PLAIN_COUNT;
  hlo_opcode op = plain[smith_below(s, count)];
  if (dtype_is_complex(t) && (op == HLO_MAXIMUM || op == HLO_MINIMUM)) return HLO_ADD;
  return op;
}

computation *smith_scalar_computation(smith *s, dtype t, int count) {
  enum { MOST = 3 };  // operations
  computation *c = module_add_computation(s->b.computation->module, STR("body"));
  const builder b = builder_in(c);
  instruction *values[SMITH_MAX_RANK + 1 + MOST] = {0};
  int size = 0;
  for (int k = 0; k < count; k++)
    values[size++] =
        computation_add_parameter(c, k, str_from(arena_printf(s->arena, "a%d", k)), shape_scalar(s->arena, t));
  if (smith_chance(s, 50)) values[size++] = builder_scalar_int(&b, t, smith_below(s, 2));
  for (int64_t k = smith_between(s, 1, MOST); k > 0; k--) {
    instruction *x = values[smith_below(s, size)], *y = values[smith_below(s, size)];
    values[size++] = builder_binary(&b, scalar_opcode(s, t), x, y);
  }
  computation_set_root(c, values[size - 1]);
  return c;
}

// The value that changes nothing, since an initial value may go in more than once, or not at all. Narrow floats without
// infinities have no such value for extremes; there it is zero.
static instruction *identity_of(smith *s, hlo_opcode op, dtype t) {
  const dtype_info *type = &dtypes[t];
  bool is_up = op == HLO_MINIMUM, is_extreme = is_up || op == HLO_MAXIMUM;
  if (!is_extreme) return builder_scalar(&s->b, t, op == HLO_MULTIPLY || op == HLO_AND);
  if (type->class == CLASS_FLOAT) {
    bool is_endless = !type->is_narrow_float || float_formats[type->narrow].specials == FLOAT_IEEE;
    return builder_scalar(&s->b, t, is_endless ? (is_up ? HUGE_VAL : -HUGE_VAL) : 0);
  }
  if (type->class == CLASS_UNSIGNED) return builder_scalar_int(&s->b, t, is_up ? -1 : 0);
  int64_t most = INT64_MAX >> (64 - type->bits);
  return builder_scalar_int(&s->b, t, is_up ? most : -most - 1);
}

computation *smith_reducer(smith *s, dtype t, instruction **init) {
  static const hlo_opcode choices[] = {HLO_ADD, HLO_MAXIMUM, HLO_MINIMUM, HLO_MULTIPLY};
  hlo_opcode op = choices[smith_below(s, 4)];
  if (t == DTYPE_PRED) op = smith_chance(s, 50) ? HLO_AND : HLO_OR;
  else if (dtype_is_complex(t)) op = smith_chance(s, 50) ? HLO_ADD : HLO_MULTIPLY;
  if (init) *init = identity_of(s, op, t);
  return builder_binary_computation(&s->b, op, t);
}
