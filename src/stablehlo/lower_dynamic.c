// Operations whose operands say shapes: these operands are folded, which leaves HLO's operations on static shapes.
#include "hlo/open_size.h"
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

static heddle_status fold_list(lowering *l, instruction *i, const char *what, int_list *out) {
  return lowering_fold_ints(l, i, what, &out->data, &out->size);
}

// The shape that an operand says.
static heddle_status fold_shape(lowering *l, instruction *sizes, dtype t, const shape **out) {
  int_list dims;
  *out = sizes->shape;
  TRY(fold_list(l, sizes, "the operand that says the shape", &dims));
  if (dims.size > SHAPE_MAX_RANK) return lowering_invalid(l->op, "the result would have rank %d", dims.size);
  if (t == DTYPE_INVALID) return lowering_invalid(l->op, "the result is no array");
  *out = shape_array(l->arena, t, dims.size, dims.data);
  return shape_check(*out, l->op->where);
}

heddle_status lower_dynamic_broadcast_in_dim(lowering *l, const ir_operation *op, instruction *const *operands,
                                             instruction **results) {
  int_list dimensions;
  const shape *s;
  TRY(lowering_ints(l, op, "broadcast_dimensions", &dimensions));
  TRY(fold_shape(l, operands[1], operands[0]->shape->dtype, &s));
  return build_broadcast_in_dim(l, operands[0], s, dimensions, &results[0]);
}

heddle_status lower_dynamic_iota(lowering *l, const ir_operation *op, instruction *const *operands,
                                 instruction **results) {
  int64_t dimension;
  const shape *s;
  TRY(lowering_needed_int(op, "iota_dimension", &dimension));
  TRY(fold_shape(l, operands[0], ir_type_dtype(op->results[0]->type), &s));
  return build_iota(l, s, dimension, &results[0]);
}

heddle_status lower_dynamic_reshape(lowering *l, const ir_operation *op, instruction *const *operands,
                                    instruction **results) {
  const shape *s;
  (void)op;
  TRY(fold_shape(l, operands[1], operands[0]->shape->dtype, &s));
  results[0] = build_reshape(l, operands[0], s->rank, s->dims);
  return build_infer(l, results[0]);
}

heddle_status lower_dynamic_pad(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  int_list low, high, interior;
  (void)op;
  TRY(fold_list(l, operands[2], "edge_padding_low", &low));
  TRY(fold_list(l, operands[3], "edge_padding_high", &high));
  TRY(fold_list(l, operands[4], "interior_padding", &interior));
  return build_pad(l, operands[0], operands[1], low, high, interior, &results[0]);
}

heddle_status lower_dynamic_gather(lowering *l, const ir_operation *op, instruction *const *operands,
                                   instruction **results) {
  int_list sizes;
  (void)op;
  TRY(fold_list(l, operands[2], "slice_sizes", &sizes));
  return build_gather(l, operands[0], operands[1], sizes, &results[0]);
}

// How many elements are taken along each dim where starts are only known when the program runs: what limits add to
// them, or what the result declares. False if neither says it.
static bool taken_of(lowering *l, const ir_operation *op, instruction *const *operands, int_list *out) {
  const shape *declared, *from = operands[0]->shape;
  const instruction *limits = operands[2];
  for (int k = 0; limits->opcode == HLO_ADD && k < 2; k++) {
    if (limits->operands[k] != operands[1] || !lowering_try_fold(l, limits->operands[1 - k])) continue;
    heddle_status s = fold_list(l, limits->operands[1 - k], "what limit_indices add to start_indices", out);
    const bool is_list = status_is_ok(s) && out->size == from->rank;
    heddle_status_free(s);
    return is_list;
  }
  heddle_status s = ir_type_shape(l->arena, op->results[0]->type, op->where, &declared);
  const bool says = status_is_ok(s) && shape_is_static(declared) && declared->rank == from->rank;
  heddle_status_free(s);
  if (says) *out = (int_list){declared->dims, declared->rank};
  return says;
}

// Starts that are only known when the program runs leave a dynamic-slice, if the size of the result is known.
static heddle_status dynamic_start(lowering *l, const ir_operation *op, instruction *const *operands, int_list strides,
                                   instruction **out) {
  const shape *from = operands[0]->shape;
  int_list taken, starts;
  bool fits = taken_of(l, op, operands, &taken);
  for (int k = 0; k < strides.size; k++) fits = fits && strides.data[k] == 1;
  if (!fits) return fold_list(l, operands[1], "start_indices", &starts);
  instruction **all = arena_array(l->arena, instruction *, 1 + from->rank);
  all[0] = operands[0];
  for (int k = 0; k < from->rank; k++) {
    int_list one = {(int64_t[]){1}, 1}, at = {(int64_t[]){k}, 1}, end = {(int64_t[]){k + 1}, 1};
    instruction *part;
    TRY(build_slice(l, operands[1], at, end, one, &part));
    all[1 + k] = build_reshape(l, part, 0, NULL);
  }
  *out = build_add(l, HLO_DYNAMIC_SLICE, from, 1 + from->rank, all);
  build_set_ints(l, *out, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES, taken.size, taken.data);
  return build_infer(l, *out);
}

// How many elements steps take of an open dim is no polynomial of its size: the reader says what it is, and the limit
// is the one behind the last of them.
static void open_limits(lowering *l, int_list starts, int_list strides, int_list *limits) {
  const import_open_sizes *open = l->options ? l->options->open : NULL;
  if (!open || !open->derive || starts.size != limits->size || strides.size != limits->size) return;
  int64_t *changed = arena_array(l->arena, int64_t, limits->size);
  for (int k = 0; k < limits->size; k++) {
    int64_t room;
    changed[k] = limits->data[k];
    if (strides.data[k] < 2 || __builtin_sub_overflow(limits->data[k], starts.data[k], &room) ||
        __builtin_add_overflow(room, strides.data[k] - 1, &room) || room < 0)
      continue;
    const int64_t steps = room / strides.data[k];
    const int64_t taken = open->derive(open->derive_context, IMPORT_QUOTIENT, room, strides.data[k], steps);
    if (taken != steps) changed[k] = starts.data[k] + (taken - 1) * strides.data[k] + 1;
  }
  limits->data = changed;
}

heddle_status lower_real_dynamic_slice(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  int_list starts, limits, strides;
  TRY(fold_list(l, operands[3], "strides", &strides));
  if (!lowering_try_fold(l, operands[1])) return dynamic_start(l, op, operands, strides, &results[0]);
  TRY(fold_list(l, operands[1], "start_indices", &starts));
  TRY(fold_list(l, operands[2], "limit_indices", &limits));
  open_limits(l, starts, strides, &limits);
  return build_slice(l, operands[0], starts, limits, strides, &results[0]);
}

// -1 if the attribute names none of the operand's dimensions.
static int dimension_of(const ir_operation *op, const shape *s) {
  int64_t dimension;
  bool fits = ir_attribute_integer(ir_find(op, "dimension"), &dimension) && dimension >= 0 && dimension < s->rank;
  return fits ? (int)dimension : -1;
}

// The size as a value. Operands that say shapes see the number that stands in for it.
static instruction *open_size(lowering *l, int64_t size) {
  instruction *i = build_add(l, HLO_CUSTOM_CALL, shape_scalar(l->arena, DTYPE_S32), 0, NULL);
  open_size_set(i, size);
  literal *value;
  if (status_is_ok(literal_create(l->arena, i->shape, &value))) {
    literal_set_int(value, 0, size);
    ptr_map_put(l->arena, l->folded, i, value);
  }
  return i;
}

heddle_status lower_get_dimension_size(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  const shape *s = operands[0]->shape;
  int dimension = dimension_of(op, s);
  if (dimension < 0) return lowering_invalid(op, "attribute dimension is no dimension of %s", shape_text(l->arena, s));
  const import_open_sizes *open = l->options ? l->options->open : NULL;
  if (open && s->dims[dimension] >= open->from && s->dims[dimension] <= INT32_MAX) {
    results[0] = open_size(l, s->dims[dimension]);
    return status_ok();
  }
  if (!shape_is_dynamic_dim(s, dimension)) {
    results[0] = build_scalar(l, DTYPE_S32, (double)s->dims[dimension]);
    return status_ok();
  }
  results[0] = build_add(l, HLO_GET_DIMENSION_SIZE, shape_scalar(l->arena, DTYPE_S32), 1, operands);
  build_dimensions(l, results[0], 1, (int64_t[]){dimension});
  return build_infer(l, results[0]);
}

// A size that is known and the dimension's own changes nothing; any other makes the dimension bounded.
heddle_status lower_set_dimension_size(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  const shape *from = operands[0]->shape;
  int dimension = dimension_of(op, from);
  if (dimension < 0)
    return lowering_invalid(op, "attribute dimension is no dimension of %s", shape_text(l->arena, from));
  literal *size = lowering_try_fold(l, operands[1]);
  if (size && shape_is_static(from) && shape_element_count(size->shape) == 1 &&
      literal_get_int(size, 0) == from->dims[dimension]) {
    results[0] = operands[0];
    return status_ok();
  }
  shape *s = arena_new(l->arena, shape);
  *s = *from;
  s->dynamic_dims |= (uint64_t)1 << dimension;
  results[0] = build_add(l, HLO_SET_DIMENSION_SIZE, s, 2, operands);
  build_dimensions(l, results[0], 1, (int64_t[]){dimension});
  return build_infer(l, results[0]);
}
