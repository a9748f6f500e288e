// Ragged-dot expander.
//
// The rows of a ragged dimension of lhs fall into groups of consecutive ones, whose sizes are an operand. A loop over
// the groups has state (group, lhs, rhs, group of each row, result). Where the dimension is free, each group has a
// matrix of its own in rhs, and of the dot with it the group's rows are kept. Where it is contracted, each group gives
// a result of its own: a dot of operands with zeros outside the group. A ragged batch dimension changes nothing.
#include "opt/passes.h"

#include "hlo/ragged_form.h"
#include "opt/rewrite.h"

typedef struct ragged {
  const instruction *original;
  const shape *lhs, *rhs;
  ragged_form form;
} ragged;

enum { STATE_GROUP, STATE_LHS, STATE_RHS, STATE_GROUPS_OF_ROWS, STATE_RESULT, STATE_SIZE };

// [prefix, rows]: how many groups end at or before each row, which is the group the row is in.
static instruction *groups_of_rows(const builder *b, const ragged *r) {
  instruction *given = r->original->operands[2];
  const int rank = given->shape->rank, last = rank - 1;
  const int64_t rows = r->form.rows;
  instruction *sizes = builder_convert(b, given, DTYPE_S64);
  instruction *none = builder_like_int(b, sizes, 0), *all = builder_like_int(b, sizes, rows);
  sizes = builder_binary(b, HLO_MINIMUM, builder_binary(b, HLO_MAXIMUM, sizes, none), all);
  instruction *zero = builder_scalar_int(b, DTYPE_S64, 0);
  instruction *ends = builder_add(b, HLO_REDUCE_WINDOW, sizes->shape, 2, (instruction *[]){sizes, zero});
  window_dim *dims = arena_array(b->arena, window_dim, rank);
  for (int d = 0; d < rank; d++)
    dims[d] = (window_dim){.size = 1, .stride = 1, .window_dilation = 1, .base_dilation = 1};
  dims[last].size = r->form.groups;
  dims[last].padding_low = r->form.groups - 1;
  ends->attributes->window = (window){rank, dims};
  attributes_mark(ends->attributes, HLO_ATTRIBUTE_WINDOW);
  instruction_set_called(ends, 1, (computation *[]){builder_binary_computation(b, HLO_ADD, DTYPE_S64)});
  // [prefix, groups, rows]
  int64_t whole[SHAPE_MAX_RANK], positions[SHAPE_MAX_RANK], group_dim = last;
  for (int d = 0; d < rank; d++) whole[d] = given->shape->dims[d], positions[d] = d;
  whole[rank] = rows;
  const shape *s = shape_array(b->arena, DTYPE_S64, rank + 1, whole);
  instruction *spread = builder_broadcast(b, ends, s, rank, positions);
  instruction *row = builder_iota(b, DTYPE_S64, rank + 1, whole, rank);
  instruction *is_behind = builder_compare(b, row, spread, COMPARE_GE);
  instruction *start = builder_scalar_int(b, DTYPE_S32, 0);
  computation *sum = builder_binary_computation(b, HLO_ADD, DTYPE_S32);
  return builder_reduce(b, builder_convert(b, is_behind, DTYPE_S32), start, 1, &group_dim, sum);
}

// Whether an element of an array of these dims belongs to the group; places[d] is the array's dim that goes with lhs's
// dim d.
static instruction *in_group(const builder *b, const ragged *r, instruction *of_rows, instruction *group,
                             const shape *array, const int *positions) {
  int64_t dims[SHAPE_MAX_RANK], order[SHAPE_MAX_RANK] = {0};
  for (int k = 0; k < r->form.prefix_rank; k++) dims[k] = positions[r->form.prefix[k]];
  dims[r->form.prefix_rank] = positions[r->form.dim];
  const int rank = r->form.prefix_rank + 1;
  int count = 0;  // sorted: a broadcast's dims ascend
  for (int d = 0; d < array->rank; d++)
    for (int k = 0; k < rank; k++)
      if (dims[k] == d) order[count++] = k;
  instruction *sorted = builder_transpose(b, of_rows, order);
  int64_t ascending[SHAPE_MAX_RANK];
  for (int k = 0; k < rank; k++) ascending[k] = dims[order[k]];
  instruction *groups = builder_broadcast(b, sorted, array, rank, ascending);
  return builder_compare(b, groups, builder_broadcast(b, group, array, 0, NULL), COMPARE_EQ);
}

// A dot of this result shape, with the original's dims; rhs has lost `lost` (-1: nothing).
static instruction *plain_dot(const builder *b, const ragged *r, instruction *lhs, instruction *rhs, int64_t lost,
                              const shape *s) {
  const hlo_attributes *x = r->original->attributes;
  instruction *dot = builder_add(b, HLO_DOT, s, 2, (instruction *[]){lhs, rhs});
  hlo_attributes *to = dot->attributes;
  to->lhs_batch_dims = x->lhs_batch_dims;
  to->lhs_contracting_dims = x->lhs_contracting_dims;
  to->rhs_batch_dims = ragged_form_rhs_dims(b->arena, x->rhs_batch_dims, lost);
  to->rhs_contracting_dims = ragged_form_rhs_dims(b->arena, x->rhs_contracting_dims, lost);
  to->precision_count = x->precision_count;
  to->operand_precision = x->operand_precision;
  static const hlo_attribute_id copied[] = {HLO_ATTRIBUTE_LHS_BATCH_DIMS, HLO_ATTRIBUTE_LHS_CONTRACTING_DIMS,
                                            HLO_ATTRIBUTE_RHS_BATCH_DIMS, HLO_ATTRIBUTE_RHS_CONTRACTING_DIMS,
                                            HLO_ATTRIBUTE_OPERAND_PRECISION};
  for (size_t k = 0; k < sizeof copied / sizeof *copied; k++)
    if (attributes_has(x, copied[k])) attributes_mark(to, copied[k]);
  return dot;
}

// The one entry along a dim, without the dim.
static instruction *take(const builder *b, instruction *whole, int64_t dim, instruction *at) {
  const int rank = whole->shape->rank;
  instruction *operands[SHAPE_MAX_RANK + 1] = {whole}, *zero = builder_scalar_int(b, DTYPE_S32, 0);
  int64_t *sizes = arena_array(b->arena, int64_t, rank), kept[SHAPE_MAX_RANK];
  int count = 0;
  for (int d = 0; d < rank; d++) {
    operands[d + 1] = d == dim ? at : zero;
    sizes[d] = d == dim ? 1 : whole->shape->dims[d];
    if (d != dim) kept[count++] = sizes[d];
  }
  const shape *s = shape_array(b->arena, whole->shape->dtype, rank, sizes);
  instruction *slice = builder_add(b, HLO_DYNAMIC_SLICE, s, rank + 1, operands);
  slice->attributes->dynamic_slice_sizes = (int_list){sizes, rank};
  attributes_mark(slice->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return builder_reshape(b, slice, count, kept);
}

static instruction *step_free(const builder *b, const ragged *r, instruction **state) {
  const int64_t dim = r->original->attributes->rhs_group_dims.data[0];
  int positions[SHAPE_MAX_RANK];
  ragged_form_result_positions(r->original, positions);
  instruction *result = state[STATE_RESULT];
  instruction *rhs = take(b, state[STATE_RHS], dim, state[STATE_GROUP]);
  instruction *product = plain_dot(b, r, state[STATE_LHS], rhs, dim, result->shape);
  instruction *is_kept = in_group(b, r, state[STATE_GROUPS_OF_ROWS], state[STATE_GROUP], result->shape, positions);
  return builder_select(b, is_kept, product, result);
}

static instruction *step_contracted(const builder *b, const ragged *r, instruction **state) {
  int lhs_places[SHAPE_MAX_RANK], rhs_places[SHAPE_MAX_RANK];
  for (int d = 0; d < SHAPE_MAX_RANK; d++) lhs_places[d] = d;
  ragged_form_rhs_positions(r->original, rhs_places);
  instruction *sides[2], *of_rows = state[STATE_GROUPS_OF_ROWS], *group = state[STATE_GROUP];
  for (int k = 0; k < 2; k++) {
    instruction *side = state[STATE_LHS + k], *zero = builder_like_int(b, side, 0);
    instruction *is_kept = in_group(b, r, of_rows, group, side->shape, k == 0 ? lhs_places : rhs_places);
    sides[k] = builder_select(b, is_kept, side, zero);
  }
  const shape *whole = state[STATE_RESULT]->shape;
  int64_t one[SHAPE_MAX_RANK];
  memcpy(one, whole->dims, (size_t)whole->rank * sizeof *one);
  one[0] = 1;
  const shape *s = shape_array(b->arena, whole->dtype, whole->rank - 1, whole->dims + 1);
  instruction *product = plain_dot(b, r, sides[0], sides[1], -1, s), *zero = builder_scalar_int(b, DTYPE_S32, 0);
  instruction *operands[SHAPE_MAX_RANK + 2] = {state[STATE_RESULT]};
  operands[1] = builder_reshape(b, product, whole->rank, one);
  for (int d = 0; d < whole->rank; d++) operands[2 + d] = d == 0 ? group : zero;
  return builder_add(b, HLO_DYNAMIC_UPDATE_SLICE, whole, whole->rank + 2, operands);
}

static computation *loop_condition(const builder *outer, const ragged *r, const shape *state) {
  computation *c = module_add_computation(outer->computation->module, STR("ragged_dot_condition"));
  const builder b = builder_in(c);
  instruction *p = computation_add_parameter(c, 0, STR("state"), state);
  instruction *end = builder_scalar_int(&b, DTYPE_S32, r->form.groups);
  computation_set_root(c, builder_compare(&b, builder_element(&b, p, STATE_GROUP), end, COMPARE_LT));
  return c;
}

static computation *loop_body(const builder *outer, const ragged *r, const shape *s) {
  computation *c = module_add_computation(outer->computation->module, STR("ragged_dot_body"));
  const builder b = builder_in(c);
  instruction *p = computation_add_parameter(c, 0, STR("state"), s), *state[STATE_SIZE];
  for (int k = 0; k < STATE_SIZE; k++) state[k] = builder_element(&b, p, k);
  state[STATE_RESULT] = r->form.kind == RAGGED_FREE ? step_free(&b, r, state) : step_contracted(&b, r, state);
  state[STATE_GROUP] = builder_binary(&b, HLO_ADD, state[STATE_GROUP], builder_scalar_int(&b, DTYPE_S32, 1));
  computation_set_root(c, builder_tuple(&b, STATE_SIZE, state));
  return c;
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  ragged r = {.original = i, .lhs = i->operands[0]->shape, .rhs = i->operands[1]->shape};
  if (!ragged_form_of(i, &r.form) || r.form.groups > INT32_MAX) return NULL;
  const shape *s = shape_array(b.arena, i->shape->dtype, i->shape->rank, i->shape->dims);
  if (r.form.kind == RAGGED_BATCH) return plain_dot(&b, &r, i->operands[0], i->operands[1], -1, s);
  if (i->operands[2]->shape->rank + 2 > SHAPE_MAX_RANK) return NULL;
  instruction *zero = builder_scalar_int(&b, s->dtype, 0);
  instruction *zeros = s->rank ? builder_broadcast(&b, zero, s, 0, NULL) : zero;
  if (shape_element_count(i->operands[2]->shape) == 0 || r.form.rows == 0) return zeros;
  instruction *first = builder_scalar_int(&b, DTYPE_S32, 0), *of_rows = groups_of_rows(&b, &r);
  instruction *start[STATE_SIZE] = {first, i->operands[0], i->operands[1], of_rows, zeros};
  instruction *state = builder_tuple(&b, STATE_SIZE, start);
  computation *condition = loop_condition(&b, &r, state->shape), *body = loop_body(&b, &r, state->shape);
  instruction *loop = builder_add(&b, HLO_WHILE, state->shape, 1, &state);
  instruction_set_called(loop, 2, (computation *[]){condition, body});
  return builder_element(&b, loop, STATE_RESULT);
}

static bool can_expand(const instruction *i) {
  return i->opcode == HLO_RAGGED_DOT && shape_is_static(i->shape) && shape_is_static(i->operands[0]->shape) &&
         shape_is_static(i->operands[1]->shape) && shape_is_static(i->operands[2]->shape);
}

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, can_expand, expand); }

const pass opt_ragged_dot_expander = {
    .name = "ragged-dot-expander",
    .summary = "ragged dots become loops of dots",
    .order_reason = "before the passes on loops and dots",
    .use = PASS_NEEDED,
    .run = run,
};
