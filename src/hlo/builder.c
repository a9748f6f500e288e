// Adds instructions to a computation.
#include "hlo/builder.h"

#include "hlo/text.h"

builder builder_for(const instruction *origin) {
  const str *metadata = attributes_raw(origin->attributes, "metadata");
  return (builder){origin->parent->module->arena, origin->parent, origin->where, metadata ? *metadata : STR("")};
}

builder builder_in(computation *c) { return (builder){.arena = c->module->arena, .computation = c}; }

static void describe(const builder *b, instruction *i) {
  i->where = b->where;
  if (!b->metadata.size) return;
  attributes_add_raw(b->arena, i->attributes, STR("metadata"), b->metadata);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_METADATA);
}

instruction *builder_add(const builder *b, hlo_opcode opcode, const shape *s, int count, instruction *const *operands) {
  instruction *i = computation_add(b->computation, opcode, STR(""), s, count, operands);
  describe(b, i);
  return i;
}

instruction *builder_infer(const builder *b, instruction *i) {
  heddle_status_free(shape_infer(b->arena, i, &i->shape));
  return i;
}

instruction *builder_unary(const builder *b, hlo_opcode opcode, instruction *x) {
  return builder_infer(b, builder_add(b, opcode, x->shape, 1, &x));
}

instruction *builder_binary(const builder *b, hlo_opcode opcode, instruction *x, instruction *y) {
  return builder_infer(b, builder_add(b, opcode, x->shape, 2, (instruction *[]){x, y}));
}

instruction *builder_select(const builder *b, instruction *p, instruction *on_true, instruction *on_false) {
  return builder_add(b, HLO_SELECT, on_true->shape, 3, (instruction *[]){p, on_true, on_false});
}

instruction *builder_compare(const builder *b, instruction *x, instruction *y, comparison_direction direction) {
  const shape *s = shape_with_dtype(b->arena, x->shape, DTYPE_PRED);
  instruction *i = builder_add(b, HLO_COMPARE, s, 2, (instruction *[]){x, y});
  i->attributes->direction = direction;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIRECTION);
  return i;
}

instruction *builder_convert(const builder *b, instruction *x, dtype to) {
  if (x->shape->dtype == to) return x;
  return builder_add(b, HLO_CONVERT, shape_with_dtype(b->arena, x->shape, to), 1, &x);
}

instruction *builder_constant(const builder *b, literal *value) {
  instruction *i = builder_add(b, HLO_CONSTANT, value->shape, 0, NULL);
  i->literal = value;
  return i;
}

// Room for one element; like all small allocations it does not fail.
static literal *scalar_literal(arena *a, dtype t) {
  literal *value = arena_new(a, literal);
  value->shape = shape_scalar(a, t);
  value->data = arena_alloc(a, (size_t)dtypes[t].bytes);
  return value;
}

instruction *builder_scalar(const builder *b, dtype t, double value) {
  literal *x = scalar_literal(b->arena, t);
  literal_set_double(x, 0, value);
  return builder_constant(b, x);
}

instruction *builder_scalar_int(const builder *b, dtype t, int64_t value) {
  literal *x = scalar_literal(b->arena, t);
  literal_set_int(x, 0, value);
  return builder_constant(b, x);
}

static instruction *spread(const builder *b, const instruction *like, instruction *scalar) {
  return like->shape->rank == 0 ? scalar : builder_broadcast(b, scalar, like->shape, 0, NULL);
}

instruction *builder_like(const builder *b, const instruction *like, double value) {
  return spread(b, like, builder_scalar(b, like->shape->dtype, value));
}

instruction *builder_like_int(const builder *b, const instruction *like, int64_t value) {
  return spread(b, like, builder_scalar_int(b, like->shape->dtype, value));
}

instruction *builder_iota(const builder *b, dtype t, int rank, const int64_t *dims, int64_t dimension) {
  instruction *i = builder_add(b, HLO_IOTA, shape_array(b->arena, t, rank, dims), 0, NULL);
  i->attributes->iota_dimension = dimension;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_IOTA_DIMENSION);
  return i;
}

void builder_set_dimensions(const builder *b, instruction *i, int count, const int64_t *dimensions) {
  int64_t *copy = arena_array(b->arena, int64_t, count);
  if (count) memcpy(copy, dimensions, (size_t)count * sizeof *copy);
  i->attributes->dimensions = (int_list){copy, count};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIMENSIONS);
}

instruction *builder_broadcast(const builder *b, instruction *x, const shape *s, int count, const int64_t *dimensions) {
  const shape *to = shape_with_layout(b->arena, shape_with_dtype(b->arena, s, x->shape->dtype), NULL);
  instruction *i = builder_add(b, HLO_BROADCAST, to, 1, &x);
  builder_set_dimensions(b, i, count, dimensions);
  return i;
}

instruction *builder_reshape(const builder *b, instruction *x, int rank, const int64_t *dims) {
  return builder_add(b, HLO_RESHAPE, shape_array(b->arena, x->shape->dtype, rank, dims), 1, &x);
}

instruction *builder_transpose(const builder *b, instruction *x, const int64_t *permutation) {
  int64_t dims[SHAPE_MAX_RANK];
  bool is_identity = true;
  for (int k = 0; k < x->shape->rank; k++) {
    dims[k] = x->shape->dims[permutation[k]];
    is_identity &= permutation[k] == k;
  }
  if (is_identity) return x;
  instruction *i = builder_add(b, HLO_TRANSPOSE, shape_array(b->arena, x->shape->dtype, x->shape->rank, dims), 1, &x);
  builder_set_dimensions(b, i, x->shape->rank, permutation);
  return i;
}

instruction *builder_slice(const builder *b, instruction *x, const slice_dim *dims) {
  const int rank = x->shape->rank;
  slice_dim *copy = arena_array(b->arena, slice_dim, rank);
  if (rank) memcpy(copy, dims, (size_t)rank * sizeof *copy);
  instruction *i = builder_add(b, HLO_SLICE, x->shape, 1, &x);
  i->attributes->slice = (slice_config){rank, copy};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_SLICE);
  return builder_infer(b, i);
}

instruction *builder_pad(const builder *b, instruction *x, instruction *fill, const padding_dim *dims) {
  const int rank = x->shape->rank;
  padding_dim *copy = arena_array(b->arena, padding_dim, rank);
  if (rank) memcpy(copy, dims, (size_t)rank * sizeof *copy);
  instruction *i = builder_add(b, HLO_PAD, x->shape, 2, (instruction *[]){x, fill});
  i->attributes->padding = (padding_config){rank, copy};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_PADDING);
  return builder_infer(b, i);
}

instruction *builder_concatenate(const builder *b, int count, instruction *const *operands, int64_t dimension) {
  instruction *i = builder_add(b, HLO_CONCATENATE, operands[0]->shape, count, operands);
  builder_set_dimensions(b, i, 1, &dimension);
  return builder_infer(b, i);
}

instruction *builder_tuple(const builder *b, int count, instruction *const *elements) {
  const shape **shapes = arena_array(b->arena, const shape *, count);
  for (int k = 0; k < count; k++) shapes[k] = elements[k]->shape;
  return builder_add(b, HLO_TUPLE, shape_tuple(b->arena, count, shapes), count, elements);
}

instruction *builder_element(const builder *b, instruction *tuple, int index) {
  instruction *i = builder_add(b, HLO_GET_TUPLE_ELEMENT, tuple->shape->elements[index], 1, &tuple);
  i->attributes->index = index;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_INDEX);
  return i;
}

void builder_replace_values(const builder *b, instruction *of, instruction *const *values) {
  if (!shape_is_tuple(of->shape)) {
    instruction_replace_uses(of, values[0]);
    return;
  }
  const instruction_list users = of->users;  // replacing uses of an element leaves those of the whole alone
  bool is_whole = of->parent->root == of;
  for (int k = 0; k < users.size; k++) {
    instruction *user = users.data[k];
    if (user->opcode == HLO_GET_TUPLE_ELEMENT) instruction_replace_uses(user, values[user->attributes->index]);
    else is_whole = true;
  }
  if (is_whole) instruction_replace_uses(of, builder_tuple(b, of->shape->tuple_size, values));
}

instruction *builder_value(const builder *b, instruction *of, int index) {
  return shape_is_tuple(of->shape) ? builder_element(b, of, index) : of;
}

instruction *builder_reduce_values(const builder *b, int count, instruction *const *operands, int dimension_count,
                                   const int64_t *dimensions, computation *computation) {
  instruction *i = builder_add(b, HLO_REDUCE, operands[0]->shape, 2 * count, operands);
  builder_set_dimensions(b, i, dimension_count, dimensions);
  instruction_set_called(i, 1, &computation);
  return builder_infer(b, i);
}

instruction *builder_reduce(const builder *b, instruction *x, instruction *init, int count, const int64_t *dimensions,
                            computation *computation) {
  return builder_reduce_values(b, 1, (instruction *[]){x, init}, count, dimensions, computation);
}

computation *builder_binary_computation(const builder *b, hlo_opcode opcode, dtype t) {
  computation *c = module_add_computation(b->computation->module, str_from(hlo_op_text(opcode)));
  const shape *s = shape_scalar(b->arena, t);
  instruction *x = computation_add_parameter(c, 0, STR("x"), s), *y = computation_add_parameter(c, 1, STR("y"), s);
  computation_set_root(c, computation_add(c, opcode, STR(""), s, 2, (instruction *[]){x, y}));
  return c;
}
