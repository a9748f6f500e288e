// One computation makes all results at once, on rows of a few elements:
//
//   in order   reduce(x[rows, 8])
//   chunks     reduce(reduce(x[rows, 2, 4], 2), 1), whose inner results reduced alone must stay what they are
//   lanes      reduce(reduce(x[rows, 4, 2], 1), 1)
//   swapped    the same, the last lane first
//
// Rows come in kinds, from ordinary numbers to infinities and NaN. Operands that are one constant everywhere (a count
// of one for each element) are sampled as that constant, since reducers may rely on it.
#include "kernel/reducer_trial.h"

#include <math.h>

#include "eval/evaluate.h"
#include "hlo/builder.h"
#include "kernel/reducer.h"
#include "opt/uniform.h"

enum {
  ELEMENTS = 8,
  CHUNKS = 2,
  ROWS_OF_KIND = 48,
  MOST_VALUES = 8,
  MOST_STEPS = 100000,  // of the interpreter, for reducers that are more than elementwise operations
  MOST_BYTES = 64 << 20,
  UNKNOWN_INITS = 4,         // tried where the initial value is not known
  MOST_ILL_CONDITIONED = 3,  // rows of numbers of both signs that may cancel each other
};

typedef enum row_kind { ROWS_POSITIVE, ROWS_SIGNED, ROWS_OF_FEW_VALUES, ROWS_WITH_NAN, ROW_KINDS } row_kind;

enum { ROWS = ROW_KINDS * ROWS_OF_KIND };

typedef struct trier {
  arena *arena;
  const instruction *reduce;
  const reducer_variant *variant;
  int count;  // values of the reduce
  computation *computation;
  literal **arguments;  // operands, then initial values
  uint64_t random;
} trier;

// --- samples

static uint32_t draw(trier *t) {
  t->random = t->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(t->random >> 33);
}

static double draw_float(trier *t, row_kind kind) {
  static const double few[] = {0, 1, 2, -1, -0.0, INFINITY, -INFINITY, NAN};
  double number = 0.25 + (double)(draw(t) % 4096) / 1024;
  switch (kind) {
    case ROWS_POSITIVE: return number;
    case ROWS_SIGNED: return draw(t) % 2 ? number : -number;
    case ROWS_OF_FEW_VALUES: return few[draw(t) % 7];
    default: return few[draw(t) % 8];
  }
}

static int64_t draw_int(trier *t, dtype type, row_kind kind) {
  const bool is_signed = dtypes[type].class == CLASS_SIGNED;
  const int bits = dtypes[type].bits;
  const int64_t all_ones = bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - is_signed)) - 1;
  const int64_t small = draw(t) % 10;
  switch (kind) {
    case ROWS_POSITIVE: return small & all_ones;
    case ROWS_SIGNED:
      return is_signed ? (small & all_ones) - (small & all_ones) / 2 * 2 * (draw(t) % 2) : small & all_ones;
    default:
      return draw(t) % 8 == 0 ? all_ones : is_signed && draw(t) % 8 == 0 ? -all_ones - 1 : draw(t) % 3 & all_ones;
  }
}

static void draw_element(trier *t, literal *l, int64_t at, row_kind kind) {
  const dtype type = l->shape->dtype;
  if (type == DTYPE_PRED) literal_set_int(l, at, draw(t) % 2);
  else if (dtype_is_complex(type))
    literal_set_complex(l, at, literal_complex_of(draw_float(t, kind), draw_float(t, kind)));
  else if (dtype_is_float(type)) literal_set_double(l, at, draw_float(t, kind));
  else literal_set_int(l, at, draw_int(t, type, kind));
}

static void copy_element(literal *to, int64_t at, const literal *from) {
  if (dtype_is_complex(to->shape->dtype)) literal_set_complex(to, at, literal_get_complex(from, 0));
  else if (dtype_is_float(to->shape->dtype)) literal_set_double(to, at, literal_get_double(from, 0));
  else literal_set_int(to, at, literal_get_int(from, 0));
}

// Elements of the last kinds are initial values now and then.
static void fill_operand(trier *t, int value) {
  literal *to = t->arguments[value];
  const literal *everywhere = uniform_value(t->reduce->operands[value]), *init = t->arguments[t->count + value];
  for (int64_t n = 0; n < ROWS * ELEMENTS; n++) {
    const row_kind kind = (row_kind)(n / ELEMENTS / ROWS_OF_KIND);
    if (everywhere) copy_element(to, n, everywhere);
    else if (kind >= ROWS_OF_FEW_VALUES && draw(t) % 8 == 0) copy_element(to, n, init);
    else draw_element(t, to, n, kind);
  }
}

static heddle_status make_arguments(trier *t, int round) {
  const int64_t dims[] = {ROWS, ELEMENTS};
  for (int v = 0; v < t->count; v++) {
    const instruction *init = t->reduce->operands[t->count + v];
    const dtype type = init->shape->dtype;
    TRY(literal_create(t->arena, shape_array(t->arena, type, 2, dims), &t->arguments[v]));
    TRY(literal_create(t->arena, shape_scalar(t->arena, type), &t->arguments[t->count + v]));
    if (reducer_knows(init)) copy_element(t->arguments[t->count + v], 0, init->literal);
    else draw_element(t, t->arguments[t->count + v], 0, round % 2 ? ROWS_SIGNED : ROWS_OF_FEW_VALUES);
  }
  for (int v = 0; v < t->count; v++) fill_operand(t, v);
  return status_ok();
}

// --- the computation

typedef struct values {
  instruction *of[MOST_VALUES + 1];
} values;

static values reduced(const builder *b, values x, const values *inits, int count, computation *by, int64_t dimension) {
  instruction *operands[2 * (MOST_VALUES + 1)];
  for (int v = 0; v < count; v++) {
    operands[v] = x.of[v];
    operands[count + v] = inits->of[v];
  }
  instruction *r = builder_reduce_values(b, count, operands, 1, &dimension, by);
  for (int v = 0; v < count; v++) x.of[v] = builder_value(b, r, v);
  return x;
}

static values reshaped(const builder *b, values x, int count, int rank, const int64_t *dims) {
  for (int v = 0; v < count; v++) x.of[v] = builder_reshape(b, x.of[v], rank, dims);
  return x;
}

// Results by way (in order, chunks, chunks once more, lanes, lanes the last one first) and value.
enum { WAYS = 5, IN_ORDER = 0, IN_CHUNKS, IN_CHUNKS_TWICE, IN_LANES, LANES_SWAPPED };

static values swapped(const builder *b, values x, int count) {
  for (int v = 0; v < count; v++) {
    x.of[v] = builder_add(b, HLO_REVERSE, x.of[v]->shape, 1, &x.of[v]);
    builder_set_dimensions(b, x.of[v], 1, (int64_t[]){1});
  }
  return x;
}

static void build(trier *t) {
  module *m = module_create(t->arena, STR("trial"));
  computation *c = t->computation = module_add_computation(m, STR("trial"));
  const builder b = builder_in(c);
  values x = {0}, inits = {0}, ways[WAYS];
  for (int n = 0; n < 2 * t->count; n++)
    *(n < t->count ? &x.of[n] : &inits.of[n - t->count]) =
        computation_add_parameter(c, n, str_from(arena_printf(t->arena, "p%d", n)), t->arguments[n]->shape);
  ways[IN_ORDER] = reduced(&b, x, &inits, t->count, t->reduce->called[0], 1);
  const int count = t->count + t->variant->is_started;
  computation *by = t->variant->by;
  if (t->variant->is_started) {
    const int64_t dims[] = {ROWS, ELEMENTS};
    const shape *all = shape_array(t->arena, DTYPE_PRED, 2, dims);
    x.of[t->count] = builder_broadcast(&b, builder_scalar_int(&b, DTYPE_PRED, 1), all, 0, NULL);
    inits.of[t->count] = builder_scalar_int(&b, DTYPE_PRED, 0);
  }
  const values chunks = reshaped(&b, x, count, 3, (int64_t[]){ROWS, CHUNKS, ELEMENTS / CHUNKS});
  ways[IN_CHUNKS] = reduced(&b, reduced(&b, chunks, &inits, count, by, 2), &inits, count, by, 1);
  const int64_t one[] = {ROWS, 1};
  const values once = reshaped(&b, ways[IN_CHUNKS], count, 2, one);
  ways[IN_CHUNKS_TWICE] = reduced(&b, once, &inits, count, by, 1);
  const values lanes = reshaped(&b, x, count, 3, (int64_t[]){ROWS, ELEMENTS / CHUNKS, CHUNKS});
  const values by_lane = reduced(&b, lanes, &inits, count, by, 1);
  ways[IN_LANES] = reduced(&b, by_lane, &inits, count, by, 1);
  ways[LANES_SWAPPED] = reduced(&b, swapped(&b, by_lane, count), &inits, count, by, 1);
  for (int way = IN_CHUNKS; way < WAYS && t->variant->is_started; way++)
    ways[way] = reduced(&b, reshaped(&b, ways[way], t->count, 2, one), &inits, t->count, t->reduce->called[0], 1);
  instruction *all[WAYS * MOST_VALUES];
  for (int n = 0; n < WAYS * t->count; n++) all[n] = ways[n / t->count].of[n % t->count];
  computation_set_root(c, builder_tuple(&b, WAYS * t->count, all));
  m->entry = c;
}

// --- comparing

static double tolerance_of(dtype t) {
  if (dtypes[t].is_narrow_float) return 0;
  return dtypes[t].bits >= 64 && t != DTYPE_C64 ? 1e-6 : 2e-3;
}

static bool same_float(double x, double y, double tolerance) {
  if (x == y || (isnan(x) && isnan(y))) return true;
  return isfinite(x) && isfinite(y) && fabs(x - y) <= tolerance * (1 + fabs(x) + fabs(y));
}

static bool same_element(const literal *l, const literal *r, int64_t at) {
  const dtype t = l->shape->dtype;
  if (!dtype_is_inexact(t)) return literal_get_int(l, at) == literal_get_int(r, at);
  const double complex x = literal_get_complex(l, at), y = literal_get_complex(r, at);
  return same_float(__real__ x, __real__ y, tolerance_of(t)) && same_float(__imag__ x, __imag__ y, tolerance_of(t));
}

static bool is_nan(const literal *l, int64_t at) {
  const dtype t = l->shape->dtype;
  if (!dtype_is_inexact(t)) return false;
  const double complex x = literal_get_complex(l, at);
  return isnan(__real__ x) || isnan(__imag__ x);
}

static bool is_given_nan(const trier *t, int64_t row) {
  for (int v = 0; v < t->count; v++)
    for (int n = 0; n < ELEMENTS; n++)
      if (is_nan(t->arguments[v], row * ELEMENTS + n)) return true;
  return false;
}

typedef struct way_result {
  bool differs, unless_made, unless_given;
} way_result;

static way_result compare_way(const trier *t, const literal *all, int way) {
  way_result r = {0};
  int nan_rows = 0, ill_conditioned = 0;
  for (int64_t row = 0; row < ROWS; row++) {
    bool is_same = true, has_nan = false;
    for (int v = 0; v < t->count; v++) {
      const literal *wanted = all->elements[v], *found = all->elements[way * t->count + v];
      is_same &= same_element(wanted, found, row);
      has_nan |= is_nan(found, row);
    }
    const row_kind kind = (row_kind)(row / ROWS_OF_KIND);
    nan_rows += kind == ROWS_POSITIVE && has_nan;
    if (is_same) continue;
    if (has_nan) r.unless_made = true;
    else if (is_given_nan(t, row)) r.unless_given = true;
    else if (kind == ROWS_SIGNED) ill_conditioned++;
    else r.differs = true;
  }
  r.differs |= ill_conditioned > MOST_ILL_CONDITIONED || nan_rows > ROWS_OF_KIND / 2;
  return r;
}

// --- rounds

static heddle_status try_round(trier *t, int round, reducer_trial *out) {
  TRY(make_arguments(t, round));
  if (round == 0) build(t);
  const eval_options options = {.max_steps = MOST_STEPS, .max_bytes = MOST_BYTES};
  literal *all = NULL;
  TRY(eval_computation(t->arena, t->computation, &options, 2 * t->count, t->arguments, &all));
  for (int way = IN_CHUNKS; way < WAYS && out->in_chunks; way++) {
    const way_result r = compare_way(t, all, way);
    if (way < IN_LANES) out->in_chunks &= !r.differs;
    out->in_any_order &= out->in_chunks && !r.differs;
    if (way >= IN_LANES && !out->in_any_order) break;
    out->unless_made |= r.unless_made;
    out->unless_given |= r.unless_given;
  }
  return status_ok();
}

reducer_trial reducer_try(const instruction *reduce, const reducer_variant *variant) {
  const int count = reduce->operand_count / 2;
  const reducer_trial in_order = {0};
  if (count > MOST_VALUES) return in_order;
  bool all_known = true;
  for (int v = 0; v < count; v++) all_known &= reducer_knows(reduce->operands[count + v]);
  for (int v = 0; v < count; v++)
    if (reduce->operands[v]->shape->dtype != reduce->operands[count + v]->shape->dtype) return in_order;
  trier t = {.arena = arena_create(), .reduce = reduce, .variant = variant, .count = count, .random = 1};
  t.arguments = arena_array(t.arena, literal *, 2 * count);
  reducer_trial result = {.in_chunks = true, .in_any_order = true};
  for (int round = 0; round < (all_known ? 1 : UNKNOWN_INITS) && result.in_chunks; round++) {
    const heddle_status s = try_round(&t, round, &result);
    if (status_is_ok(s)) continue;
    heddle_status_free(s);
    result = in_order;
  }
  arena_destroy(t.arena);
  return result;
}
