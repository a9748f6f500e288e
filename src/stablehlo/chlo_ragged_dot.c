// chlo.ragged_dot: a matrix product whose lhs has one dim, the ragged one, divided into groups of the given sizes.
//
// Where that is a free dim of the lhs, every group has a rhs of its own; where it is contracted, every group gives a
// result of its own; where it is a batch dim the groups make no difference. In the first two cases the lhs is repeated
// for every group with zeros outside the group's rows, and one ordinary dot does the rest: over groups and contracted
// dims, or with groups as another free dim.
#include "stablehlo/chlo.h"
#include "stablehlo/lower_build.h"

typedef struct ragged_numbers {
  int_list lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
  int64_t ragged, group;  // a dim of the lhs; a dim of the rhs or -1
} ragged_numbers;

static bool are_dims(int_list dims, int rank) {
  for (int k = 0; k < dims.size; k++)
    if (dims.data[k] < 0 || dims.data[k] >= rank) return false;
  return true;
}

static heddle_status read_numbers(lowering *l, const ir_operation *op, const shape *lhs, const shape *rhs,
                                  ragged_numbers *out) {
  const ir_attribute *from = ir_find(op, "ragged_dot_dimension_numbers");
  if (!from) return lowering_invalid(op, "wanted an attribute `ragged_dot_dimension_numbers`");
  int_list ragged, group;
  const ir_attribute *inner = ir_find_field(from, "dot_dimension_numbers"), *dot = inner ? inner : from;  // MHLO's
  TRY(lowering_field_ints(l, op, dot, "lhs_batching_dimensions", &out->lhs_batch));
  TRY(lowering_field_ints(l, op, dot, "rhs_batching_dimensions", &out->rhs_batch));
  TRY(lowering_field_ints(l, op, dot, "lhs_contracting_dimensions", &out->lhs_contracting));
  TRY(lowering_field_ints(l, op, dot, "rhs_contracting_dimensions", &out->rhs_contracting));
  TRY(lowering_field_ints(l, op, from, "lhs_ragged_dimensions", &ragged));
  TRY(lowering_field_ints(l, op, from, "rhs_group_dimensions", &group));
  bool fits = are_dims(out->lhs_batch, lhs->rank) && are_dims(out->rhs_batch, rhs->rank) &&
              are_dims(out->lhs_contracting, lhs->rank) && are_dims(out->rhs_contracting, rhs->rank) &&
              are_dims(ragged, lhs->rank) && are_dims(group, rhs->rank) && ragged.size == 1 && group.size <= 1;
  if (!fits)
    return lowering_invalid(op, "the dimension numbers do not fit %s and %s", shape_text(l->arena, lhs),
                            shape_text(l->arena, rhs));
  out->ragged = ragged.data[0];
  out->group = group.size ? group.data[0] : -1;
  bool is_free = !int_list_has(out->lhs_batch, out->ragged) && !int_list_has(out->lhs_contracting, out->ragged);
  if (is_free != (out->group >= 0))
    return lowering_invalid(op, "wanted a group dim of the rhs just where the ragged dim is not contracted nor batch");
  return status_ok();
}

// The group sizes may differ along the lhs's batch dims and the dims of the ragged one's kind before it: those dims, in
// the order in which they stand in the group sizes.
static heddle_status prefix_dims(lowering *l, const ir_operation *op, const ragged_numbers *n, const shape *lhs,
                                 const shape *sizes, int64_t *dims) {
  int count = 0, wanted = sizes->rank - 1;
  if (wanted <= 0) return wanted < 0 ? lowering_invalid(op, "found a scalar as group sizes") : status_ok();
  for (int k = 0; k < n->lhs_batch.size && count < wanted; k++) dims[count++] = n->lhs_batch.data[k];
  bool contracts = int_list_has(n->lhs_contracting, n->ragged);
  for (int64_t k = 0; k < n->ragged && count < wanted; k++)
    if (!int_list_has(n->lhs_batch, k) && int_list_has(n->lhs_contracting, k) == contracts) dims[count++] = k;
  bool fits = count == wanted;
  for (int k = 0; fits && k < count; k++) fits = sizes->dims[k] == lhs->dims[dims[k]];
  if (fits) return status_ok();
  return lowering_invalid(op, "group sizes of %s do not fit %s", shape_text(l->arena, sizes),
                          shape_text(l->arena, lhs));
}

// Groups first, then the prefix in the lhs's order; the dims as those of the repeated lhs. At least s32, for the sums.
static heddle_status ordered_sizes(lowering *l, const ragged_numbers *n, const shape *lhs, instruction *sizes,
                                   int64_t *dims, instruction **out) {
  int64_t permutation[SHAPE_MAX_RANK], prefix[SHAPE_MAX_RANK] = {0};
  TRY(prefix_dims(l, l->op, n, lhs, sizes->shape, prefix));
  int count = sizes->shape->rank, placed = 0;
  permutation[placed] = count - 1;
  dims[placed++] = 0;
  for (int64_t d = 0; d < lhs->rank; d++)
    for (int k = 0; k < count - 1; k++)
      if (prefix[k] == d && placed < count) {
        permutation[placed] = k;
        dims[placed++] = d + 1;
      }
  *out = build_convert(l, sizes, dtypes[sizes->shape->dtype].bits < 64 ? DTYPE_S32 : DTYPE_S64);
  if (count == 1) return status_ok();
  *out = build_add(l, HLO_TRANSPOSE, (*out)->shape, 1, out);
  build_dimensions(l, *out, count, permutation);
  return build_infer(l, *out);
}

static heddle_status sum_computation(lowering *l, dtype t, computation **out) {
  lowering inner;
  TRY(lowering_enter(l, &inner, STR("sum")));
  const shape *s = shape_scalar(l->arena, t);
  instruction *x = computation_add_parameter(inner.computation, 0, STR("x"), s);
  instruction *y = computation_add_parameter(inner.computation, 1, STR("y"), s);
  computation_set_root(inner.computation, build_binary(&inner, HLO_ADD, x, y));
  *out = inner.computation;
  return status_ok();
}

// Where each group starts: the sum of the sizes before it, from a square of sizes with zeros on one side.
static heddle_status starts_of(lowering *l, instruction *sizes, instruction **out) {
  const shape *s = sizes->shape;
  int64_t dims[SHAPE_MAX_RANK], kept[SHAPE_MAX_RANK], summed = 0;
  if (s->rank >= SHAPE_MAX_RANK) return lowering_refuse(l->op, "the group sizes have too many dims");
  for (int k = 0; k < s->rank; k++) {
    dims[k + 1] = s->dims[k];
    kept[k] = k + (k > 0);
  }
  dims[0] = dims[1] = s->dims[0];
  const shape *square = shape_array(l->arena, s->dtype, s->rank + 1, dims);
  kept[0] = 0;
  instruction *from, *to, *sum;
  TRY(build_iota(l, square, 0, &from));
  TRY(build_iota(l, square, 1, &to));
  instruction *repeated = build_broadcast(l, sizes, square, s->rank, kept);
  instruction *is_before = build_compare(l, from, to, COMPARE_LT);
  instruction *before = build_select(l, is_before, repeated, build_like_int(l, repeated, 0));
  computation *add;
  TRY(sum_computation(l, s->dtype, &add));
  sum = build_add(l, HLO_REDUCE, s, 2, (instruction *[]){before, build_scalar(l, s->dtype, 0)});
  build_dimensions(l, sum, 1, &summed);
  build_called(sum, HLO_ATTRIBUTE_TO_APPLY, add);
  *out = sum;
  return build_infer(l, sum);
}

// [g, lhs...]: the lhs for every group, zero outside the group.
static heddle_status repeat_lhs(lowering *l, const ragged_numbers *n, instruction *lhs, instruction *sizes,
                                instruction **out) {
  const shape *s = lhs->shape;
  int64_t dims[SHAPE_MAX_RANK], kept[SHAPE_MAX_RANK], size_dims[SHAPE_MAX_RANK];
  if (s->rank >= SHAPE_MAX_RANK) return lowering_refuse(l->op, "the lhs has too many dims");
  instruction *ordered = NULL, *start = NULL, *place;
  TRY(ordered_sizes(l, n, s, sizes, size_dims, &ordered));
  TRY(starts_of(l, ordered, &start));
  dims[0] = ordered->shape->dims[0];
  for (int k = 0; k < s->rank; k++) {
    dims[k + 1] = s->dims[k];
    kept[k] = k + 1;
  }
  const shape *all = shape_array(l->arena, ordered->shape->dtype, s->rank + 1, dims);
  TRY(build_iota(l, all, n->ragged + 1, &place));
  instruction *limit = build_binary(l, HLO_ADD, start, ordered);
  instruction *low = build_broadcast(l, start, all, ordered->shape->rank, size_dims);
  instruction *high = build_broadcast(l, limit, all, ordered->shape->rank, size_dims);
  instruction *is_behind = build_compare(l, place, low, COMPARE_GE);
  instruction *is_inside = build_binary(l, HLO_AND, is_behind, build_compare(l, place, high, COMPARE_LT));
  instruction *repeated = build_broadcast(l, lhs, all, s->rank, kept);
  *out = build_select(l, is_inside, repeated, build_like(l, repeated, 0));
  return status_ok();
}

static int_list shifted(lowering *l, int_list from, int64_t by, int64_t first) {
  int64_t *data = arena_array(l->arena, int64_t, from.size + 1);
  int count = 0;
  if (first >= 0) data[count++] = first;
  for (int k = 0; k < from.size; k++) data[count++] = from.data[k] + by;
  return (int_list){data, count};
}

static heddle_status build_dot(lowering *l, const ragged_numbers *n, instruction *lhs, instruction *rhs,
                               instruction **out) {
  dtype to = ir_type_dtype(l->op->results[0]->type);
  if (to == DTYPE_INVALID) to = lhs->shape->dtype;
  instruction *i = build_add(l, HLO_DOT, shape_scalar(l->arena, to), 2, (instruction *[]){lhs, rhs});
  build_set_ints(l, i, HLO_ATTRIBUTE_LHS_CONTRACTING_DIMS, n->lhs_contracting.size, n->lhs_contracting.data);
  build_set_ints(l, i, HLO_ATTRIBUTE_RHS_CONTRACTING_DIMS, n->rhs_contracting.size, n->rhs_contracting.data);
  if (n->lhs_batch.size) {
    build_set_ints(l, i, HLO_ATTRIBUTE_LHS_BATCH_DIMS, n->lhs_batch.size, n->lhs_batch.data);
    build_set_ints(l, i, HLO_ATTRIBUTE_RHS_BATCH_DIMS, n->rhs_batch.size, n->rhs_batch.data);
  }
  TRY(build_precision(l, i));
  *out = i;
  return build_infer(l, i);
}

// Of the dot's result [batch..., g, rest...], the groups come first.
static heddle_status groups_first(lowering *l, int batch_count, instruction *x, instruction **out) {
  int64_t permutation[SHAPE_MAX_RANK];
  permutation[0] = batch_count;
  for (int k = 1; k < x->shape->rank; k++) permutation[k] = k <= batch_count ? k - 1 : k;
  *out = build_add(l, HLO_TRANSPOSE, x->shape, 1, &x);
  build_dimensions(l, *out, x->shape->rank, permutation);
  return build_infer(l, *out);
}

heddle_status lower_chlo_ragged_dot(lowering *l, const ir_operation *op, instruction *const *operands,
                                    instruction **results) {
  bool fits = op->operand_count == 3 && op->result_count == 1;
  for (int k = 0; fits && k < 3; k++) fits = shape_is_array(operands[k]->shape);
  if (!fits || !dtype_is_integer(operands[2]->shape->dtype))
    return lowering_invalid(op, "wanted two arrays and group sizes, and one result");
  ragged_numbers n = {0};
  instruction *lhs = operands[0], *rhs = operands[1], *product = NULL;
  TRY(read_numbers(l, op, lhs->shape, rhs->shape, &n));
  if (int_list_has(n.lhs_batch, n.ragged)) return build_dot(l, &n, lhs, rhs, &results[0]);
  bool contracts = int_list_has(n.lhs_contracting, n.ragged);
  TRY(repeat_lhs(l, &n, lhs, operands[2], &lhs));
  n.lhs_batch = shifted(l, n.lhs_batch, 1, -1);
  n.lhs_contracting = shifted(l, n.lhs_contracting, 1, contracts ? -1 : 0);
  if (!contracts) n.rhs_contracting = shifted(l, n.rhs_contracting, 0, n.group);
  TRY(build_dot(l, &n, lhs, rhs, &product));
  results[0] = product;
  return contracts ? groups_first(l, n.lhs_batch.size, product, &results[0]) : status_ok();
}
