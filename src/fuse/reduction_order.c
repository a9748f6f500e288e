// What is tried of a reducer f, until something may be reordered:
//
//   f itself
//   f handing on NaN, where that picks one of two pairs: select(isnan(a), a, select(isnan(b), b, f(a, b))). A plain
//     `select(a >= b, a, b)` forgets what was before a NaN, so that each chunk would forget something else. This one
//     ends in NaN if there is any, and is the same without.
//   f started: a partial result knows whether it holds an element yet and is replaced by the first if not. The initial
//     value meets the end result, once.
//
// and what stands in the place of a reduce whose order matters where NaN comes in (or out, as of infinities):
//
//   fast = reduce(x), to_apply=what was found
//   bad = reduce(isnan(fast)) or reduce(isnan(x))
//   conditional(bad, reduce(x) in order, fast)
//
// The branch computes what is cheap to compute itself, so that nothing has to be in memory for it that was not.
#include "fuse/reduction_order.h"

#include "fuse/reduction_splitter.h"
#include "hlo/body_copy.h"
#include "hlo/builder.h"
#include "hlo/combiner.h"
#include "kernel/reducer.h"
#include "kernel/reducer_trial.h"
#include "kernel/reduction_space.h"

enum {
  MOST_DUPLICATED = 24,  // instructions that the branch computes for itself
  MOST_VALUES = 8,
};

// --- what a reducer is made of

static bool has_plain_results(const computation *f, int count) {
  if (f->parameters.size != 2 * count) return false;
  if (f->root->opcode == HLO_TUPLE) return f->root->operand_count == count;
  return count == 1 && shape_is_array(f->root->shape);
}

typedef struct variant_builder {
  builder b;
  int count;                                     // values of the reducer that it is made of
  instruction *x[MOST_VALUES], *y[MOST_VALUES];  // the two things to be combined
  instruction *combined[MOST_VALUES];
} variant_builder;

// A new computation with the parameters of f (`extra`: and a pred more for each side) that computes f.
static bool begin_variant(const computation *f, int count, bool extra, variant_builder *out) {
  arena *a = f->module->arena, *scratch = arena_create();
  computation *c = module_add_computation(f->module, f->name);
  *out = (variant_builder){.b = builder_in(c), .count = count};
  ptr_map copies = {0};
  for (int n = 0; n < 2 * count; n++) {
    const instruction *from = f->parameters.data[n];
    const int number = n < count || !extra ? n : n + 1;
    instruction *to = computation_add_parameter(c, number, str_from(arena_printf(a, "p%d", number)), from->shape);
    *(n < count ? &out->x[n] : &out->y[n - count]) = to;
    ptr_map_put(scratch, &copies, from, to);
    if (extra && (n == count - 1 || n == 2 * count - 1))
      computation_add_parameter(c, number + 1, str_from(arena_printf(a, "p%d", number + 1)),
                                shape_scalar(a, DTYPE_PRED));
  }
  const heddle_status s = body_copy(scratch, f, c, false, &copies);
  const bool is_copied = status_is_ok(s);
  heddle_status_free(s);
  for (int v = 0; v < count && is_copied; v++)
    out->combined[v] = ptr_map_get(&copies, f->root->opcode == HLO_TUPLE ? f->root->operands[v] : f->root);
  arena_destroy(scratch);
  if (!is_copied) module_remove_computation(f->module, c);
  return is_copied;
}

static computation *end_variant(const variant_builder *v, int count, instruction *const *results) {
  computation *c = v->b.computation;
  computation_set_root(c, count == 1 ? results[0] : builder_tuple(&v->b, count, results));
  return c;
}

static instruction *either(const builder *b, instruction *x, instruction *y) {
  return !x ? y : !y ? x : builder_binary(b, HLO_OR, x, y);
}

static instruction *any_nan(const builder *b, int count, instruction *const *values) {
  instruction *any = NULL;
  for (int v = 0; v < count; v++)
    if (dtype_is_inexact(values[v]->shape->dtype))
      any = either(b, any, builder_compare(b, values[v], values[v], COMPARE_NE));
  return any;
}

static bool may_be_nan(const computation *f) {
  bool may = false;
  for (int n = 0; n < f->parameters.size; n++) may |= dtype_is_inexact(f->parameters.data[n]->shape->dtype);
  return may;
}

// Null if there is nothing that could be NaN.
static computation *hand_on_nan(const computation *f, int count) {
  variant_builder v;
  if (!may_be_nan(f) || !begin_variant(f, count, false, &v)) return NULL;
  instruction *x_is_nan = any_nan(&v.b, count, v.x), *y_is_nan = any_nan(&v.b, count, v.y), *results[MOST_VALUES];
  for (int n = 0; n < count; n++)
    results[n] = builder_select(&v.b, x_is_nan, v.x[n], builder_select(&v.b, y_is_nan, v.y[n], v.combined[n]));
  return end_variant(&v, count, results);
}

static computation *start_with_elements(const computation *f, int count) {
  variant_builder v;
  if (!begin_variant(f, count, true, &v)) return NULL;
  instruction *x_has = v.b.computation->parameters.data[count], *results[MOST_VALUES + 1];
  instruction *y_has = v.b.computation->parameters.data[2 * count + 1];
  for (int n = 0; n < count; n++)
    results[n] = builder_select(&v.b, x_has, builder_select(&v.b, y_has, v.combined[n], v.x[n]), v.y[n]);
  results[count] = builder_binary(&v.b, HLO_OR, x_has, y_has);
  return end_variant(&v, count + 1, results);
}

// --- which variant

typedef struct choice {
  reducer_variant variant;
  reducer_form form;
  bool checks_results, checks_elements;  // what comes out is right only where these hold no NaN
} choice;

static bool is_guarded(const choice *c) { return c->checks_results || c->checks_elements; }

// Whether another order makes it faster: rows long enough to fill vectors, or cut into chunks. Columns lie side by side
// in vectors as it is. On a grid any order but one makes work for many threads.
static bool gains(const target_description *target, const instruction *reduce, reducer_form form) {
  reduction_space s;
  if (target->has_grid || reduction_splitter_splits(target, reduce, form)) return true;
  if (form == REDUCER_CHUNKS || !reduction_space_of(reduce, &s) || !s.is_reduced[s.group_count - 1]) return false;
  const int64_t row = s.sizes[s.group_count - 1], short_row = target->tiles.short_picked_row;
  return row > short_row || (row >= target->tiles.short_row && s.kept < short_row);
}

static bool accept(const target_description *target, const instruction *reduce, const reducer_variant *variant,
                   const reducer_trial *trial, choice *out) {
  *out = (choice){.variant = *variant,
                  .form = trial->in_any_order ? REDUCER_FREE : REDUCER_CHUNKS,
                  .checks_results = trial->unless_made,
                  .checks_elements = trial->unless_given};
  return trial->in_chunks && gains(target, reduce, out->form);
}

static bool is_pick(arena *scratch, instruction *reduce, computation *by) {
  computation *own = reduce->called[0];
  reduce->called[0] = by;
  const bool picks = reducer_of(scratch, reduce).form == REDUCER_PICK;
  reduce->called[0] = own;
  return picks;
}

static bool choose(arena *scratch, const target_description *target, instruction *reduce, choice *out) {
  const int count = reduce->operand_count / 2;
  computation *f = reduce->called[0];
  const reducer_variant own = {f, false};
  const reducer_trial trial = reducer_try(reduce, &own);
  if (trial.in_any_order) return accept(target, reduce, &own, &trial, out);
  computation *handing_on = count == 2 && gains(target, reduce, REDUCER_PICK) ? hand_on_nan(f, count) : NULL;
  if (handing_on && is_pick(scratch, reduce, handing_on)) {
    *out = (choice){.variant = {handing_on, false}, .form = REDUCER_PICK, .checks_results = true};
    return true;
  }
  if (accept(target, reduce, &own, &trial, out)) return true;
  const reducer_variant started = {start_with_elements(f, count), true};
  if (!started.by) return false;
  const reducer_trial then = reducer_try(reduce, &started);
  return accept(target, reduce, &started, &then, out);
}

// --- the branch that reduces in order

typedef struct branch {
  arena *scratch;
  ptr_map seen;
  instruction_list order, leaves;  // what it computes for itself, operands first; what it is given
} branch;

static bool is_cheap(const instruction *i) {
  if (i->called_count > 0 || i->control_predecessors.size > 0 || !shape_is_array(i->shape)) return false;
  switch (i->opcode) {
    case HLO_CONSTANT: return i->shape->rank == 0;
    case HLO_IOTA:
    case HLO_BROADCAST:
    case HLO_BITCAST:
    case HLO_RESHAPE: return true;
    default: return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && !hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT);
  }
}

// As deep as instructions are copied.
static void visit(branch *w, instruction *i) {
  if (ptr_map_has(&w->seen, i)) return;
  ptr_map_put(w->scratch, &w->seen, i, i);
  if (!is_cheap(i) || w->order.size + w->leaves.size > MOST_DUPLICATED) {
    vec_push(w->scratch, &w->leaves, i);
    return;
  }
  for (int k = 0; k < i->operand_count; k++) visit(w, i->operands[k]);
  vec_push(w->scratch, &w->order, i);
}

// The branch of a tuple of the leaves: `reduce` as it is.
static computation *in_order_branch(branch *w, instruction *reduce) {
  module *m = reduce->parent->module;
  const int count = reduce->operand_count / 2;
  for (int k = 0; k < reduce->operand_count; k++) visit(w, reduce->operands[k]);
  const shape **shapes = arena_array(m->arena, const shape *, w->leaves.size);
  for (int k = 0; k < w->leaves.size; k++) shapes[k] = w->leaves.data[k]->shape;
  computation *c = module_add_computation(m, STR("in_order"));
  const builder b = builder_in(c);
  ptr_map copies = {0};
  instruction *given = computation_add_parameter(c, 0, STR("given"), shape_tuple(m->arena, w->leaves.size, shapes));
  for (int k = 0; k < w->leaves.size; k++)
    ptr_map_put(w->scratch, &copies, w->leaves.data[k], builder_element(&b, given, k));
  for (int k = 0; k < w->order.size; k++) body_copy_one(w->scratch, w->order.data[k], c, false, &copies);
  body_copy_one(w->scratch, reduce, c, false, &copies);
  instruction *copy = ptr_map_get(&copies, reduce), *results[MOST_VALUES];
  for (int v = 0; v < count; v++) results[v] = builder_value(&b, copy, v);
  computation_set_root(c, builder_tuple(&b, count, results));
  return c;
}

static computation *as_is_branch(const builder *like, int count, instruction *const *values) {
  arena *a = like->arena;
  computation *c = module_add_computation(like->computation->module, STR("as_is"));
  const builder b = builder_in(c);
  const shape **shapes = arena_array(a, const shape *, count);
  for (int v = 0; v < count; v++) shapes[v] = values[v]->shape;
  instruction *given = computation_add_parameter(c, 0, STR("given"), shape_tuple(a, count, shapes));
  instruction *results[MOST_VALUES];
  for (int v = 0; v < count; v++) results[v] = builder_element(&b, given, v);
  computation_set_root(c, builder_tuple(&b, count, results));
  return c;
}

// --- what takes the place of the reduce

static instruction *is_any(const builder *b, instruction *x) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < x->shape->rank; d++) dims[d] = d;
  if (x->shape->rank == 0) return x;
  return builder_reduce(b, x, builder_scalar_int(b, DTYPE_PRED, 0), x->shape->rank, dims,
                        builder_binary_computation(b, HLO_OR, DTYPE_PRED));
}

// Values of a reduce out of order, or in order if what is to be checked holds NaN.
static void guard(arena *scratch, const builder *b, instruction *reduce, const choice *how, instruction **values) {
  const int count = reduce->operand_count / 2;
  instruction *bad = how->checks_results ? any_nan(b, count, values) : NULL;
  if (how->checks_elements) {
    const int_list *dims = &reduce->attributes->dimensions;
    instruction *elements = any_nan(b, count, reduce->operands);
    bad = either(b, bad,
                 builder_reduce(b, elements, builder_scalar_int(b, DTYPE_PRED, 0), dims->size, dims->data,
                                builder_binary_computation(b, HLO_OR, DTYPE_PRED)));
  }
  branch w = {.scratch = scratch};
  computation *branches[] = {in_order_branch(&w, reduce), as_is_branch(b, count, values)};
  instruction *operands[] = {is_any(b, bad), builder_tuple(b, w.leaves.size, w.leaves.data),
                             builder_tuple(b, count, values)};
  instruction *chosen = builder_add(b, HLO_CONDITIONAL, operands[2]->shape, 3, operands);
  instruction_set_called(chosen, 2, branches);
  for (int v = 0; v < count; v++) values[v] = builder_element(b, chosen, v);
}

// f(init, x), as a reduce over a dim of size 1.
static void combine_inits(const builder *b, const instruction *reduce, instruction **values) {
  const int count = reduce->operand_count / 2;
  const shape *result = shape_is_tuple(reduce->shape) ? reduce->shape->elements[0] : reduce->shape;
  const int64_t rank = result->rank;
  int64_t dims[SHAPE_MAX_RANK + 1];
  for (int64_t d = 0; d < rank; d++) dims[d] = result->dims[d];
  dims[rank] = 1;
  instruction *operands[2 * MOST_VALUES];
  for (int v = 0; v < count; v++) {
    operands[v] = builder_reshape(b, values[v], (int)rank + 1, dims);
    operands[count + v] = reduce->operands[count + v];
  }
  instruction *r = builder_reduce_values(b, count, operands, 1, &rank, reduce->called[0]);
  for (int v = 0; v < count; v++) values[v] = builder_value(b, r, v);
}

static void rewrite(arena *scratch, instruction *reduce, const choice *how) {
  const builder b = builder_for(reduce);
  const int given = reduce->operand_count / 2, count = given + how->variant.is_started;
  if (how->variant.by == reduce->called[0] && !is_guarded(how)) {
    reducer_mark(reduce, how->form);
    return;
  }
  instruction *operands[2 * (MOST_VALUES + 1)], *values[MOST_VALUES];
  for (int v = 0; v < given; v++) {
    operands[v] = reduce->operands[v];
    operands[count + v] = reduce->operands[given + v];
  }
  if (how->variant.is_started) {
    const shape *all = shape_with_dtype(b.arena, reduce->operands[0]->shape, DTYPE_PRED);
    operands[given] = builder_broadcast(&b, builder_scalar_int(&b, DTYPE_PRED, 1), all, 0, NULL);
    operands[count + given] = builder_scalar_int(&b, DTYPE_PRED, 0);
  }
  const int_list *dims = &reduce->attributes->dimensions;
  instruction *fast = builder_reduce_values(&b, count, operands, dims->size, dims->data, how->variant.by);
  if (how->form != REDUCER_PICK) reducer_mark(fast, how->form);
  for (int v = 0; v < given; v++) values[v] = builder_value(&b, fast, v);
  if (how->variant.is_started) combine_inits(&b, reduce, values);
  if (is_guarded(how)) guard(scratch, &b, reduce, how, values);
  builder_replace_values(&b, reduce, values);
}

// --- complex numbers, which no vector holds

static instruction *part_of(const builder *b, instruction *x, hlo_opcode part) {
  if (x->opcode == HLO_COMPLEX) return x->operands[part == HLO_IMAG];
  return builder_unary(b, part, x);
}

// The sums or products of (a, b) and (c, d) as complex numbers.
static computation *parts_computation(const builder *like, hlo_opcode op, dtype t) {
  computation *c = module_add_computation(like->computation->module, STR("parts"));
  const builder b = builder_in(c);
  instruction *p[4], *results[2];
  static const char *const names[] = {"a", "b", "c", "d"};
  for (int n = 0; n < 4; n++) p[n] = computation_add_parameter(c, n, str_from(names[n]), shape_scalar(like->arena, t));
  if (op == HLO_ADD) {
    for (int n = 0; n < 2; n++) results[n] = builder_binary(&b, HLO_ADD, p[n], p[2 + n]);
  } else {
    instruction *ac = builder_binary(&b, HLO_MULTIPLY, p[0], p[2]), *bd = builder_binary(&b, HLO_MULTIPLY, p[1], p[3]);
    instruction *ad = builder_binary(&b, HLO_MULTIPLY, p[0], p[3]), *bc = builder_binary(&b, HLO_MULTIPLY, p[1], p[2]);
    results[0] = builder_binary(&b, HLO_SUBTRACT, ac, bd);
    results[1] = builder_binary(&b, HLO_ADD, ad, bc);
  }
  computation_set_root(c, builder_tuple(&b, 2, results));
  return c;
}

// The reduce of both parts that takes the place of one of complex numbers; null for others.
static instruction *by_parts(instruction *reduce) {
  const dtype t = reduce->operands[0]->shape->dtype;
  const hlo_opcode op = reduce->operand_count == 2 ? combiner_opcode(reduce->called[0]) : HLO_OPCODE_COUNT;
  if (!dtype_is_complex(t) || (op != HLO_ADD && op != HLO_MULTIPLY)) return NULL;
  const builder b = builder_for(reduce);
  const int_list *dims = &reduce->attributes->dimensions;
  instruction *operands[4], *values[2];
  for (int k = 0; k < 4; k++) operands[k] = part_of(&b, reduce->operands[k / 2], k % 2 ? HLO_IMAG : HLO_REAL);
  computation *by = parts_computation(&b, op, operands[0]->shape->dtype);
  instruction *r = builder_reduce_values(&b, 2, operands, dims->size, dims->data, by);
  for (int v = 0; v < 2; v++) values[v] = builder_element(&b, r, v);
  instruction_replace_uses(reduce, builder_binary(&b, HLO_COMPLEX, values[0], values[1]));
  return r;
}

// --- computations

static bool is_long(const target_description *target, const instruction *i) {
  reduction_space s;
  return i->opcode == HLO_REDUCE && reduction_space_of(i, &s) && s.kept * s.reduced >= target->tiles.min_tried_elements;
}

static bool is_unknown(arena *scratch, const target_description *target, const instruction *i) {
  const int count = i->operand_count / 2;
  return count <= MOST_VALUES && has_plain_results(i->called[0], count) &&
         (gains(target, i, REDUCER_FREE) || gains(target, i, REDUCER_CHUNKS)) &&
         reducer_of(scratch, i).form == REDUCER_ORDERED;
}

bool reduction_order_run(computation *c, const target_description *target) {
  bool any = false;
  for (int n = 0, count = c->instructions.size; n < count; n++) {
    instruction *i = c->instructions.data[n];
    if (!is_long(target, i)) continue;
    arena *scratch = arena_create();
    choice how;
    instruction *parts = by_parts(i);
    if (parts) i = parts;
    const bool is_rewritten = is_unknown(scratch, target, i) && choose(scratch, target, i, &how);
    if (is_rewritten) rewrite(scratch, i, &how);
    any |= parts || is_rewritten;
    arena_destroy(scratch);
  }
  return any;
}
