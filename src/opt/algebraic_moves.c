// Algebraic rules of reshapes, transposes, broadcasts and reverses: two in a row become one, those that move nothing
// vanish, and broadcasts wander towards the results, so that what is computed on copies is computed once.
#include "opt/algebraic_rules.h"
#include "opt/reshape_groups.h"
#include "opt/rewrite.h"

static bool is_identity(int_list dims) {
  for (int k = 0; k < dims.size; k++)
    if (dims.data[k] != k) return false;
  return true;
}

static bool is_increasing(int_list dims) {
  for (int k = 1; k < dims.size; k++)
    if (dims.data[k] <= dims.data[k - 1]) return false;
  return true;
}

// Whether all that reads it takes its elements as numbers, not as places or as a table.
static bool is_read_by_element(const instruction *i) {
  bool all = i->parent->root != i;
  for (int k = 0; k < i->users.size && all; k++) {
    const hlo_opcode op = i->users.data[k]->opcode;
    all = hlo_op_has(op, TRAIT_ELEMENTWISE) || op == HLO_BROADCAST || op == HLO_RESHAPE;
  }
  return all;
}

// Whether all elements are `first` and, for each step along the dim, `step` more.
static bool counts_along(const instruction *i, int dim, int64_t first, int64_t step) {
  const shape *s = i->shape;
  const int64_t count = shape_element_count(s);
  int64_t inner = 1, more, wanted;
  for (int d = dim + 1; d < s->rank; d++) inner *= s->dims[d];
  for (int64_t n = 0; n < count; n++) {
    if (__builtin_mul_overflow(n / inner % s->dims[dim], step, &more) || __builtin_add_overflow(first, more, &wanted) ||
        literal_get_int(i->literal, n) != wanted)
      return false;
  }
  return true;
}

enum { MOST_COUNTED = 1 << 20 };

// An integer constant that counts along one dim, as front ends make of `arange` -> an iota, which kernels need not
// read, and of which other rules know what it holds.
static instruction *counting(const builder *b, instruction *i) {
  const shape *s = i->shape;
  const int bits = dtypes[s->dtype].bits;
  if (!dtype_is_integer(s->dtype) || shape_element_count(s) > MOST_COUNTED || !is_read_by_element(i)) return NULL;
  int dim = s->rank - 1;
  int64_t inner = 1, difference;
  for (; dim >= 0 && s->dims[dim] == 1; dim--) continue;
  const int64_t first = literal_get_int(i->literal, 0);
  for (; dim >= 0 && literal_get_int(i->literal, s->dims[dim] > 1 ? inner : 0) == first; dim--) inner *= s->dims[dim];
  if (dim < 0 || (bits < 64 && s->dims[dim] > (int64_t)1 << (bits - 1))) return NULL;
  if (__builtin_sub_overflow(literal_get_int(i->literal, inner), first, &difference)) return NULL;
  if (!counts_along(i, dim, first, difference)) return NULL;
  instruction *result = builder_iota(b, s->dtype, s->rank, s->dims, dim);
  if (difference != 1) result = builder_binary(b, HLO_MULTIPLY, result, builder_like_int(b, i, difference));
  return first != 0 ? builder_binary(b, HLO_ADD, result, builder_like_int(b, i, first)) : result;
}

// A constant whose elements all have the same bits -> a broadcast scalar.
instruction *algebraic_constant(const builder *b, instruction *i) {
  if (!shape_is_array(i->shape) || i->literal->is_elided) return NULL;
  const int64_t count = shape_element_count(i->shape);
  const size_t size = (size_t)dtypes[i->shape->dtype].bytes;
  const char *data = i->literal->data;
  if (count < 2) return NULL;
  if (memcmp(data, data + size, (size_t)(count - 1) * size) != 0) return counting(b, i);
  literal *value = arena_new(b->arena, literal);
  value->shape = shape_scalar(b->arena, i->shape->dtype);
  value->data = memcpy(arena_alloc(b->arena, size), data, size);
  return builder_broadcast(b, builder_constant(b, value), i->shape, 0, NULL);
}

instruction *algebraic_copy(const builder *b, instruction *i) {
  (void)b;
  return i->operands[0];
}

instruction *algebraic_get_tuple_element(const builder *b, instruction *i) {
  (void)b;
  return i->operands[0]->opcode == HLO_TUPLE ? i->operands[0]->operands[i->attributes->index] : NULL;
}

// reshape(broadcast(x)): where x's dims are kept, or split and joined among themselves, the broadcast can come last.
static instruction *reshape_of_broadcast(const builder *b, instruction *i) {
  const instruction *broadcast = i->operands[0];
  const int_list dims = broadcast->attributes->dimensions;
  if (!is_increasing(dims)) return NULL;
  reshape_group groups[RESHAPE_MAX_GROUPS];
  int64_t inner[SHAPE_MAX_RANK], positions[SHAPE_MAX_RANK];
  int rank = 0, count = reshape_groups_find(broadcast->shape, i->shape, groups);
  for (int g = 0; g < count; g++) {
    int from_operand = 0;
    for (int d = groups[g].from; d < groups[g].from_end; d++) from_operand += int_list_has(dims, d);
    if (from_operand == 0) continue;
    if (from_operand != groups[g].from_end - groups[g].from) return NULL;
    for (int d = groups[g].to; d < groups[g].to_end; d++) {
      inner[rank] = i->shape->dims[d];
      positions[rank++] = d;
    }
  }
  return builder_broadcast(b, builder_reshape(b, broadcast->operands[0], rank, inner), i->shape, rank, positions);
}

instruction *algebraic_reshape(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  if (shape_same_dims(x->shape, i->shape)) return x;
  if (x->opcode == HLO_RESHAPE) return builder_reshape(b, x->operands[0], i->shape->rank, i->shape->dims);
  if (x->opcode == HLO_BROADCAST && shape_element_count(i->shape) > 0) return reshape_of_broadcast(b, i);
  return NULL;
}

// Whether the dims of more than one element keep their order.
static bool moves_nothing(const instruction *transpose) {
  const int_list dims = transpose->attributes->dimensions;
  int64_t last = -1;
  for (int k = 0; k < dims.size; k++) {
    if (transpose->shape->dims[k] == 1) continue;
    if (dims.data[k] < last) return false;
    last = dims.data[k];
  }
  return true;
}

// The places of a broadcast's dims when its result is transposed.
static instruction *transpose_of_broadcast(const builder *b, instruction *i) {
  const instruction *broadcast = i->operands[0];
  int64_t positions[SHAPE_MAX_RANK], inverse[SHAPE_MAX_RANK];
  const int_list order = i->attributes->dimensions, dims = broadcast->attributes->dimensions;
  for (int k = 0; k < order.size; k++) inverse[order.data[k]] = k;
  for (int k = 0; k < dims.size; k++) positions[k] = inverse[dims.data[k]];
  return builder_broadcast(b, broadcast->operands[0], i->shape, dims.size, positions);
}

instruction *algebraic_transpose(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  const int_list order = i->attributes->dimensions;
  if (is_identity(order)) return x;
  if (moves_nothing(i)) return builder_reshape(b, x, i->shape->rank, i->shape->dims);
  if (x->opcode == HLO_TRANSPOSE) {
    int64_t both[SHAPE_MAX_RANK];
    for (int k = 0; k < order.size; k++) both[k] = x->attributes->dimensions.data[order.data[k]];
    return builder_transpose(b, x->operands[0], both);
  }
  if (x->opcode == HLO_BROADCAST) return transpose_of_broadcast(b, i);
  if (x->opcode == HLO_IOTA) {
    int k = 0;
    while (order.data[k] != x->attributes->iota_dimension) k++;
    return builder_iota(b, i->shape->dtype, i->shape->rank, i->shape->dims, k);
  }
  return NULL;
}

// Operand dims in any order -> a transposed operand with its dims in order.
static instruction *sort_broadcast(const builder *b, instruction *i) {
  const int_list dims = i->attributes->dimensions;
  int64_t order[SHAPE_MAX_RANK], positions[SHAPE_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < i->shape->rank; d++)
    for (int k = 0; k < dims.size; k++)
      if (dims.data[k] == d) {
        order[rank] = k;
        positions[rank++] = d;
      }
  return builder_broadcast(b, builder_transpose(b, i->operands[0], order), i->shape, rank, positions);
}

// broadcast(reshape(x)) where the reshape only adds dims of size 1: the broadcast adds them as well.
static instruction *broadcast_of_reshape(const builder *b, instruction *i) {
  const instruction *reshape = i->operands[0];
  const shape *outer = reshape->shape, *inner = reshape->operands[0]->shape;
  int64_t positions[SHAPE_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < outer->rank; d++) {
    if (rank < inner->rank && inner->dims[rank] == outer->dims[d])
      positions[rank++] = i->attributes->dimensions.data[d];
    else if (outer->dims[d] != 1) return NULL;
  }
  if (rank != inner->rank) return NULL;
  return builder_broadcast(b, reshape->operands[0], i->shape, rank, positions);
}

instruction *algebraic_broadcast(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  const int_list dims = i->attributes->dimensions;
  if (!is_increasing(dims)) return sort_broadcast(b, i);
  if (shape_element_count(x->shape) == shape_element_count(i->shape) && shape_element_count(i->shape) > 0)
    return builder_reshape(b, x, i->shape->rank, i->shape->dims);
  if (x->opcode == HLO_BROADCAST) {
    int64_t positions[SHAPE_MAX_RANK];
    const int_list inner = x->attributes->dimensions;
    for (int k = 0; k < inner.size; k++) positions[k] = dims.data[inner.data[k]];
    return builder_broadcast(b, x->operands[0], i->shape, inner.size, positions);
  }
  return x->opcode == HLO_RESHAPE ? broadcast_of_reshape(b, i) : NULL;
}

instruction *algebraic_reverse(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  int64_t kept[SHAPE_MAX_RANK];
  int count = 0;
  const bool is_broadcast = x->opcode == HLO_BROADCAST, is_twice = x->opcode == HLO_REVERSE;
  for (int d = 0; d < i->shape->rank; d++) {
    bool reverses = int_list_has(i->attributes->dimensions, d) && i->shape->dims[d] != 1;
    if (is_broadcast && !int_list_has(x->attributes->dimensions, d)) reverses = false;
    if (is_twice) reverses ^= int_list_has(x->attributes->dimensions, d);
    if (reverses) kept[count++] = d;
  }
  if (count == i->attributes->dimensions.size && !is_twice) return NULL;
  instruction *from = is_twice ? x->operands[0] : x;
  if (count == 0) return from;
  instruction *by = builder_add(b, HLO_REVERSE, i->shape, 1, &from);
  builder_set_dimensions(b, by, count, kept);
  return by;
}

// What an operand is a broadcast of, if its dims lie where `pattern`'s lie, or if it is a broadcast scalar.
static bool fits_pattern(const instruction *x, const instruction *pattern) {
  if (x->opcode != HLO_BROADCAST) return x->shape->rank == 0;
  if (x->operands[0]->shape->rank == 0) return true;
  const int_list l = x->attributes->dimensions, r = pattern->attributes->dimensions;
  return l.size == r.size && memcmp(l.data, r.data, (size_t)l.size * sizeof *l.data) == 0;
}

// The operand on the pattern's dims.
static instruction *inner_operand(const builder *b, instruction *x, const shape *dims, bool takes_scalars) {
  instruction *inner = x->opcode == HLO_BROADCAST && x->shape->rank > 0 ? x->operands[0] : x;
  if (inner->shape->rank == dims->rank || (x->shape->rank == 0 && takes_scalars)) return inner;
  return builder_broadcast(b, inner, dims, 0, NULL);
}

// op(broadcast(x), broadcast(y)) -> broadcast(op(x, y)).
instruction *algebraic_elementwise(const builder *b, instruction *i) {
  const instruction *pattern = NULL;
  instruction *operands[3];
  if (!shape_is_array(i->shape) || i->operand_count < 1 || i->operand_count > 3) return NULL;
  for (int k = 0; k < i->operand_count; k++) {
    const instruction *x = i->operands[k];
    if (!shape_is_array(x->shape) || (x->shape->rank > 0 && !shape_same_dims(x->shape, i->shape))) return NULL;
    if (x->opcode == HLO_BROADCAST && (!pattern || x->operands[0]->shape->rank > pattern->operands[0]->shape->rank))
      pattern = x;
  }
  if (!pattern || shape_element_count(pattern->operands[0]->shape) >= shape_element_count(i->shape)) return NULL;
  for (int k = 0; k < i->operand_count; k++)
    if (!fits_pattern(i->operands[k], pattern)) return NULL;
  const shape *inner = shape_with_layout(b->arena, pattern->operands[0]->shape, NULL);
  const bool takes_scalars = i->opcode == HLO_CLAMP || i->opcode == HLO_SELECT;
  for (int k = 0; k < i->operand_count; k++) operands[k] = inner_operand(b, i->operands[k], inner, takes_scalars);
  instruction *once = rewrite_with(b, i, shape_with_dtype(b->arena, inner, i->shape->dtype), operands);
  const int_list positions = pattern->attributes->dimensions;
  return builder_broadcast(b, once, i->shape, positions.size, positions.data);
}
