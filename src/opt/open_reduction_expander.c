// Open reduction expander: reductions along an open dim become loops over stretches of it.
//
// A kernel for a reduction has a number for how much it combines. Here the loops' turns are counted by the size that a
// run has, and a turn combines a stretch of rows, which is a reduction like any other: first long stretches, then
// shorter ones, then what is left row by row. Only for reducers that are one operation, begun with the value that
// changes nothing, since each stretch begins with it; others stay, and are refused as kernels.
#include "opt/passes.h"

#include <math.h>

#include "hlo/combiner.h"
#include "hlo/open_size.h"
#include "opt/rewrite.h"

enum { STRETCHES = 3 };

static const int64_t stretches[STRETCHES] = {256, 16, 1};

// State of a loop: the place, the accumulator, the operand, the size.
enum { PLACE, ACCUMULATOR, OPERAND, SIZE, STATE };

typedef struct reduction {
  const instruction *original;
  hlo_opcode combiner;
  int dim;         // the open one
  int64_t length;  // of a turn
} reduction;

// --- which

static int open_dim_of(const instruction *i) {
  const int64_t from = i->parent->module->open_from;
  const shape *s = i->operands[0]->shape;
  const int_list dims = i->attributes->dimensions;
  int found = -1;
  for (int k = 0; k < dims.size; k++) {
    if (s->dims[dims.data[k]] < from) continue;
    if (found >= 0) return -1;
    found = (int)dims.data[k];
  }
  // Kernels go along all other open dims by sizes that they take when they run.
  for (int d = 0; d < s->rank; d++)
    if (d != found && s->dims[d] >= from) return -1;
  return found == 0 && s->dims[found] <= INT32_MAX ? found : -1;
}

static bool is_number(const literal *l, double value) {
  return dtype_is_float(l->shape->dtype) ? literal_get_double(l, 0) == value : (double)literal_get_int(l, 0) == value;
}

static bool changes_nothing(hlo_opcode combiner, const instruction *init) {
  if (init->opcode != HLO_CONSTANT) return false;
  const bool is_float = dtype_is_float(init->shape->dtype);
  switch (combiner) {
    case HLO_ADD: return is_number(init->literal, 0);
    case HLO_MULTIPLY: return is_number(init->literal, 1);
    case HLO_MAXIMUM: return is_float && is_number(init->literal, -INFINITY);
    case HLO_MINIMUM: return is_float && is_number(init->literal, INFINITY);
    case HLO_OR: return is_number(init->literal, 0);
    case HLO_AND: return init->shape->dtype == DTYPE_PRED && is_number(init->literal, 1);
    default: return false;
  }
}

static bool is_open(const instruction *i) {
  if (i->opcode != HLO_REDUCE || i->operand_count != 2 || !shape_is_array(i->shape)) return false;
  const dtype t = i->shape->dtype;
  if (!dtype_is_float(t) && !dtype_is_integer(t) && t != DTYPE_PRED) return false;
  return open_dim_of(i) >= 0 && changes_nothing(combiner_opcode(i->called[0]), i->operands[1]);
}

// --- loops

static computation *make_condition(const builder *outer, const reduction *r, const shape *state) {
  computation *c = module_add_computation(outer->computation->module, STR("open_reduction_condition"));
  const builder b = builder_in(c);
  instruction *p = computation_add_parameter(c, 0, STR("state"), state);
  instruction *last = builder_scalar_int(&b, DTYPE_S32, r->length - 1);
  instruction *end = builder_binary(&b, HLO_ADD, builder_element(&b, p, PLACE), last);
  computation_set_root(c, builder_compare(&b, end, builder_element(&b, p, SIZE), COMPARE_LT));
  return c;
}

static instruction *stretch_at(const builder *b, const reduction *r, instruction *whole, instruction *place) {
  const int rank = whole->shape->rank;
  int64_t *sizes = arena_array(b->arena, int64_t, rank);
  instruction *operands[SHAPE_MAX_RANK + 1] = {whole}, *zero = builder_scalar_int(b, DTYPE_S32, 0);
  for (int d = 0; d < rank; d++) {
    sizes[d] = d == r->dim ? r->length : whole->shape->dims[d];
    operands[1 + d] = d == r->dim ? place : zero;
  }
  const shape *s = shape_array(b->arena, whole->shape->dtype, rank, sizes);
  instruction *i = builder_add(b, HLO_DYNAMIC_SLICE, s, rank + 1, operands);
  i->attributes->dynamic_slice_sizes = (int_list){sizes, rank};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return i;
}

static computation *make_body(const builder *outer, const reduction *r, const shape *state) {
  computation *c = module_add_computation(outer->computation->module, STR("open_reduction_body"));
  const builder b = builder_in(c);
  const instruction *from = r->original;
  instruction *p = computation_add_parameter(c, 0, STR("state"), state), *next[STATE];
  for (int k = 0; k < STATE; k++) next[k] = builder_element(&b, p, k);
  instruction *init = builder_constant(&b, from->operands[1]->literal);
  instruction *part =
      builder_reduce(&b, stretch_at(&b, r, next[OPERAND], next[PLACE]), init, from->attributes->dimensions.size,
                     from->attributes->dimensions.data, from->called[0]);
  next[ACCUMULATOR] = builder_binary(&b, r->combiner, next[ACCUMULATOR], part);
  next[PLACE] = builder_binary(&b, HLO_ADD, next[PLACE], builder_scalar_int(&b, DTYPE_S32, r->length));
  computation_set_root(c, builder_tuple(&b, STATE, next));
  return c;
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  reduction r = {.original = i, .combiner = combiner_opcode(i->called[0]), .dim = open_dim_of(i)};
  instruction *state[STATE] = {
      [PLACE] = builder_scalar_int(&b, DTYPE_S32, 0),
      [ACCUMULATOR] = i->shape->rank ? builder_broadcast(&b, i->operands[1], i->shape, 0, NULL) : i->operands[1],
      [OPERAND] = i->operands[0],
      [SIZE] = open_size_add(&b, i->operands[0]->shape->dims[r.dim]),
  };
  for (int s = 0; s < STRETCHES; s++) {
    r.length = stretches[s];
    instruction *start = builder_tuple(&b, STATE, state);
    computation *condition = make_condition(&b, &r, start->shape), *body = make_body(&b, &r, start->shape);
    instruction *loop = builder_add(&b, HLO_WHILE, start->shape, 1, &start);
    instruction_set_called(loop, 2, (computation *[]){condition, body});
    for (int k = 0; k < STATE; k++) state[k] = builder_element(&b, loop, k);
  }
  return state[ACCUMULATOR];
}

static heddle_status run(pass_context *context, void *unit) {
  const module *m = unit;
  return m->open_from > 0 ? rewrite_each(context, unit, is_open, expand) : status_ok();
}

const pass opt_open_reduction_expander = {
    .name = "open-reduction-expander",
    .summary = "reductions along open dims become loops over stretches of them",
    .order_reason = "behind what makes products of sums and what limits indices, and before tuples are flattened",
    .use = PASS_NEEDED,
    .run = run,
};
