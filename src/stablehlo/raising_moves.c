// What moves elements or names them, and the few elementwise opcodes with attributes.
#include "stablehlo/raising.h"

#include "hlo/tiled_layout.h"

heddle_status raise_first(raising *r, const instruction *i, raised *const *operands, raised **out) {
  (void)r;
  (void)i;
  *out = operands[0];
  return status_ok();
}

heddle_status raise_tuple(raising *r, const instruction *i, raised *const *operands, raised **out) {
  raised *x = arena_new(r->arena, raised);
  x->count = i->operand_count;
  x->elements = arena_array(r->arena, raised *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) x->elements[k] = operands[k];
  *out = x;
  return status_ok();
}

heddle_status raise_get_tuple_element(raising *r, const instruction *i, raised *const *operands, raised **out) {
  (void)r;
  if (i->attributes->index < 0 || i->attributes->index >= operands[0]->count)
    return raising_refuse(i, "its operand is not taken apart that way");
  *out = operands[0]->elements[i->attributes->index];
  return status_ok();
}

// A constant for each array of the literal.
static raised *constants(raising *r, const literal *l) {
  if (!shape_is_tuple(l->shape)) return raised_leaf(r, raising_constant(r, l));
  raised *x = arena_new(r->arena, raised);
  x->count = l->shape->tuple_size;
  x->elements = arena_array(r->arena, raised *, x->count);
  for (int k = 0; k < x->count; k++) x->elements[k] = constants(r, l->elements[k]);
  return x;
}

heddle_status raise_constant(raising *r, const instruction *i, raised *const *operands, raised **out) {
  (void)operands;
  if (!i->literal) return raising_refuse(i, "it has no value");
  *out = constants(r, i->literal);
  return status_ok();
}

heddle_status raise_iota(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_int(r, op, "iota_dimension", i->attributes->iota_dimension);
  return status_ok();
}

heddle_status raise_broadcast(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_list(r, op, "broadcast_dimensions", i->attributes->dimensions);
  return status_ok();
}

heddle_status raise_transpose(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_list(r, op, "permutation", i->attributes->dimensions);
  return status_ok();
}

heddle_status raise_reverse(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_list(r, op, "dimensions", i->attributes->dimensions);
  return status_ok();
}

heddle_status raise_concatenate(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_int(r, op, "dimension", i->attributes->dimensions.size ? i->attributes->dimensions.data[0] : 0);
  return status_ok();
}

heddle_status raise_slice(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const slice_config *s = &i->attributes->slice;
  int64_t start[SHAPE_MAX_RANK], limit[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK];
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  for (int k = 0; k < s->rank; k++) {
    start[k] = s->dims[k].start;
    limit[k] = s->dims[k].limit;
    stride[k] = s->dims[k].stride;
  }
  raising_set_ints(r, op, "start_indices", s->rank, start);
  raising_set_ints(r, op, "limit_indices", s->rank, limit);
  raising_set_ints(r, op, "strides", s->rank, stride);
  return status_ok();
}

heddle_status raise_pad(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const padding_config *p = &i->attributes->padding;
  int64_t low[SHAPE_MAX_RANK], high[SHAPE_MAX_RANK], interior[SHAPE_MAX_RANK];
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  for (int k = 0; k < p->rank; k++) {
    low[k] = p->dims[k].low;
    high[k] = p->dims[k].high;
    interior[k] = p->dims[k].interior;
  }
  raising_set_ints(r, op, "edge_padding_low", p->rank, low);
  raising_set_ints(r, op, "edge_padding_high", p->rank, high);
  raising_set_ints(r, op, "interior_padding", p->rank, interior);
  return status_ok();
}

heddle_status raise_dynamic_slice(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_list(r, op, "slice_sizes", i->attributes->dynamic_slice_sizes);
  return status_ok();
}

// Bitcast speaks of memory, StableHLO of indices: the operand is brought into the order of its layout, read as the
// other type and dims, and brought from the order of the result's layout.

static void physical_order(const shape *s, int64_t *order, int64_t *dims) {
  int64_t minor_to_major[SHAPE_MAX_RANK];
  shape_minor_to_major(s, minor_to_major);
  for (int k = 0; k < s->rank; k++) {
    order[k] = minor_to_major[s->rank - 1 - k];
    dims[k] = s->dims[order[k]];
  }
}

static bool is_identity(int count, const int64_t *order) {
  for (int k = 0; k < count; k++)
    if (order[k] != k) return false;
  return true;
}

static ir_value *converted(raising *r, ir_value *x, dtype to) {
  const ir_type *element = ir_scalar_type(r->arena, to);
  return raising_unary(r, IR_OP_CONVERT, x, ir_tensor_type(r->arena, x->type->rank, x->type->dims, element));
}

// HLO's booleans are bytes, StableHLO's are bits: they go by way of ui8. The dims are positive constants.
static ir_value *retype(raising *r, ir_value *x, dtype from, dtype to) {
  if (from == to) return x;
  if (from == DTYPE_PRED) return retype(r, converted(r, x, DTYPE_U8), DTYPE_U8, to);
  if (to == DTYPE_PRED) return converted(r, retype(r, x, from, DTYPE_U8), DTYPE_PRED);
  const ir_type *element = ir_scalar_type(r->arena, to);
  int64_t dims[SHAPE_MAX_RANK + 1], count = 1;
  int rank = x->type->rank;
  for (int k = 0; k < rank; k++) count *= dims[k] = x->type->dims[k];
  int from_bits = dtypes[from].bits, to_bits = dtypes[to].bits;
  if (from_bits > to_bits) {
    dims[rank++] = from_bits / to_bits;
  } else if (from_bits < to_bits) {
    const int64_t ratio = to_bits / from_bits, split[] = {count / ratio, ratio};
    x = raising_reshape(r, x, 2, split);
    dims[0] = split[0];
    rank = 1;
  }
  return raising_unary(r, IR_OP_BITCAST_CONVERT, x, ir_tensor_type(r->arena, rank, dims, element));
}

// No elements have no bytes to go by.
static heddle_status raise_nothing(raising *r, const shape *s, raised **out) {
  literal *none;
  TRY(literal_create(r->arena, s, &none));
  *out = raised_leaf(r, raising_constant(r, none));
  return status_ok();
}

// What bitcast_convert, transpose and reshape together cannot say.
static heddle_status check_bitcast(const instruction *i, const shape *from, const shape *to) {
  if (!shape_is_array(from) || !shape_is_array(to)) return raising_refuse(i, "it is of no array");
  if (!shape_is_static(from) || !shape_is_static(to)) return raising_refuse(i, "its dims are not all constants");
  if (shape_element_count(to) == 0) return status_ok();
  if (!tiled_layout_is_known(from, to) || tiled_layout_matters(from, to))
    return raising_refuse(i, "its layouts have tiles");
  if (dtype_is_complex(from->dtype) != dtype_is_complex(to->dtype))
    return raising_refuse(i, "it is from %s to %s", dtype_name(from->dtype), dtype_name(to->dtype));
  __extension__ typedef __int128 wide;
  if ((wide)shape_element_count(from) * dtypes[from->dtype].bits !=
      (wide)shape_element_count(to) * dtypes[to->dtype].bits)
    return raising_refuse(i, "its elements of less than a byte take a byte each");
  return status_ok();
}

heddle_status raise_bitcast(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const shape *from = i->operands[0]->shape, *to = i->shape;
  int64_t order[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK], back[SHAPE_MAX_RANK];
  ir_value *x;
  if (shape_equal(from, to)) return raise_first(r, i, operands, out);
  TRY(check_bitcast(i, from, to));
  if (shape_element_count(to) == 0) return raise_nothing(r, to, out);
  TRY(raising_operand(i, operands, 0, &x));
  physical_order(from, order, dims);
  if (!is_identity(from->rank, order)) x = raising_transpose(r, x, from->rank, order);
  x = retype(r, x, from->dtype, to->dtype);
  physical_order(to, order, dims);
  bool is_same = x->type->rank == to->rank;
  for (int k = 0; k < to->rank && is_same; k++) is_same = x->type->dims[k] == dims[k];
  if (!is_same) x = raising_reshape(r, x, to->rank, dims);
  for (int k = 0; k < to->rank; k++) back[order[k]] = k;
  if (!is_identity(to->rank, back)) x = raising_transpose(r, x, to->rank, back);
  *out = raised_leaf(r, x);
  return status_ok();
}

heddle_status raise_bitcast_convert(raising *r, const instruction *i, raised *const *operands, raised **out) {
  shape from = *i->operands[0]->shape, to = *i->shape;
  ir_value *x;
  TRY(raising_operand(i, operands, 0, &x));
  const bool from_booleans = from.dtype == DTYPE_PRED && to.dtype != DTYPE_PRED;
  const bool to_booleans = to.dtype == DTYPE_PRED && from.dtype != DTYPE_PRED;
  if (from_booleans) from.dtype = DTYPE_U8;
  if (to_booleans) to.dtype = DTYPE_U8;
  if (from_booleans) x = raising_unary(r, IR_OP_CONVERT, x, ir_type_of_shape(r->arena, &from));
  if (from.dtype != to.dtype) x = raising_unary(r, IR_OP_BITCAST_CONVERT, x, ir_type_of_shape(r->arena, &to));
  if (to_booleans) x = raising_unary(r, IR_OP_CONVERT, x, ir_type_of_shape(r->arena, i->shape));
  *out = raised_leaf(r, x);
  return status_ok();
}

// The difference of booleans, which StableHLO lacks, is where they differ.
heddle_status raise_subtract(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_value *values[2];
  for (int k = 0; k < 2; k++) TRY(raising_operand(i, operands, k, &values[k]));
  const ir_type *type = ir_type_of_shape(r->arena, i->shape);
  ir_opcode op = i->shape->dtype == DTYPE_PRED ? IR_OP_XOR : IR_OP_SUBTRACT;
  *out = raised_leaf(r, raising_add(r, op, 2, values, 1, &type)->results[0]);
  return status_ok();
}

// StableHLO's abs and sign take no unsigned integers: there they are x, and whether x is anything but 0.
heddle_status raise_size_or_sign(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  ir_value *x;
  shape booleans = *i->shape;
  if (dtypes[i->shape->dtype].class != CLASS_UNSIGNED) return raising_same(r, i, operands, &op, out);
  TRY(raising_operand(i, operands, 0, &x));
  *out = operands[0];
  if (i->opcode == HLO_ABS) return status_ok();
  booleans.dtype = DTYPE_PRED;
  x = raising_unary(r, IR_OP_CONVERT, x, ir_type_of_shape(r->arena, &booleans));
  *out = raised_leaf(r, raising_unary(r, IR_OP_CONVERT, x, ir_type_of_shape(r->arena, i->shape)));
  return status_ok();
}

heddle_status raise_compare(raising *r, const instruction *i, raised *const *operands, raised **out) {
  static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  static const char *const types[] = {NULL, "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  const char *type = types[i->attributes->compare_type];
  if (!type) {
    dtype_class class = dtypes[i->operands[0]->shape->dtype].class;
    type = class & (CLASS_FLOAT | CLASS_COMPLEX) ? "FLOAT" : (class == CLASS_SIGNED ? "SIGNED" : "UNSIGNED");
  }
  raising_set_enum(r, op, "comparison_direction", "stablehlo.comparison_direction",
                   directions[i->attributes->direction]);
  raising_set_enum(r, op, "compare_type", "stablehlo.comparison_type", type);
  return status_ok();
}

heddle_status raise_reduce_precision(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set(r, op, "exponent_bits", ir_integer_attribute(r->arena, i->attributes->exponent_bits, DTYPE_S32));
  raising_set(r, op, "mantissa_bits", ir_integer_attribute(r->arena, i->attributes->mantissa_bits, DTYPE_S32));
  return status_ok();
}

heddle_status raise_opt_barrier(raising *r, const instruction *i, raised *const *operands, raised **out) {
  raised_leaves leaves = {0};
  raised_flatten(r, operands[0], &leaves);
  int count;
  const ir_type **types;
  raised_types(r, i->shape, &count, &types);
  ir_operation *op = raising_add(r, IR_OP_OPTIMIZATION_BARRIER, leaves.size, leaves.data, count, types);
  ir_value *const *next = op->results;
  *out = raised_of_shape(r, i->shape, &next);
  return status_ok();
}

heddle_status raise_dimension_size(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_int(r, op, "dimension", i->attributes->dimensions.size ? i->attributes->dimensions.data[0] : 0);
  return status_ok();
}

// HLO has one scalar for each dim, StableHLO a vector.
heddle_status raise_dynamic_reshape(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const int64_t one = 1, rank = i->operand_count - 1;
  ir_value *pair[2], **sizes = arena_array(r->arena, ir_value *, rank);
  if (rank == 0) return raising_refuse(i, "it has no sizes");
  TRY(raising_operand(i, operands, 0, &pair[0]));
  for (int k = 1; k < i->operand_count; k++) {
    ir_value *x;
    TRY(raising_operand(i, operands, k, &x));
    sizes[k - 1] = raising_reshape(r, x, 1, &one);
  }
  const ir_type *type = raising_tensor(r, sizes[0]->type, 1, &rank);
  ir_operation *concatenate = raising_add(r, IR_OP_CONCATENATE, (int)rank, sizes, 1, &type);
  raising_set_int(r, concatenate, "dimension", 0);
  pair[1] = concatenate->results[0];
  type = ir_type_of_shape(r->arena, i->shape);
  *out = raised_leaf(r, raising_add(r, IR_OP_DYNAMIC_RESHAPE, 2, pair, 1, &type)->results[0]);
  return status_ok();
}
