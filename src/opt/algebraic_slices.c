// Algebraic rules of slices, pads and concatenations: slices reach for what they take, wherever it comes from, and
// pieces that lie side by side grow together.
#include "opt/algebraic_rules.h"
#include "opt/rewrite.h"
#include "opt/uniform.h"

static bool takes_all(const instruction *slice) {
  for (int d = 0; d < slice->shape->rank; d++)
    if (slice->shape->dims[d] != slice->operands[0]->shape->dims[d] || slice->attributes->slice.dims[d].stride != 1)
      return false;
  return true;
}

static instruction *slice_of_slice(const builder *b, instruction *i) {
  const instruction *inner = i->operands[0];
  slice_dim dims[SHAPE_MAX_RANK];
  for (int d = 0; d < i->shape->rank; d++) {
    const slice_dim *s = &inner->attributes->slice.dims[d], *t = &i->attributes->slice.dims[d];
    // Where at most one element is taken the strides mean nothing, and may be of any size.
    const int64_t size = i->shape->dims[d], start = size ? s->start + t->start * s->stride : 0;
    const int64_t stride = size > 1 ? s->stride * t->stride : 1;
    dims[d] = (slice_dim){start, size ? start + (size - 1) * stride + 1 : start, stride};
  }
  return builder_slice(b, inner->operands[0], dims);
}

// Dims that the broadcast adds are cut by making them smaller.
static instruction *slice_of_broadcast(const builder *b, instruction *i) {
  const instruction *broadcast = i->operands[0];
  const int_list positions = broadcast->attributes->dimensions;
  slice_dim dims[SHAPE_MAX_RANK];
  for (int k = 0; k < positions.size; k++) dims[k] = i->attributes->slice.dims[positions.data[k]];
  instruction *x = positions.size ? builder_slice(b, broadcast->operands[0], dims) : broadcast->operands[0];
  return builder_broadcast(b, x, i->shape, positions.size, positions.data);
}

static instruction *slice_of_transpose(const builder *b, instruction *i) {
  const instruction *transpose = i->operands[0];
  const int_list order = transpose->attributes->dimensions;
  slice_dim dims[SHAPE_MAX_RANK];
  if (transpose->users.size != 1) return NULL;
  for (int d = 0; d < order.size; d++) dims[order.data[d]] = i->attributes->slice.dims[d];
  return builder_transpose(b, builder_slice(b, transpose->operands[0], dims), order.data);
}

// What lies within one operand is sliced from it.
static instruction *slice_of_concatenate(const builder *b, instruction *i) {
  const instruction *joined = i->operands[0];
  const int64_t dim = joined->attributes->dimensions.data[0];
  slice_dim dims[SHAPE_MAX_RANK], *along = &dims[dim];
  if (i->shape->dims[dim] == 0) return NULL;
  memcpy(dims, i->attributes->slice.dims, (size_t)i->shape->rank * sizeof *dims);
  const int64_t last = along->start + (i->shape->dims[dim] - 1) * along->stride;
  int64_t offset = 0;
  for (int k = 0; k < joined->operand_count; k++) {
    const int64_t size = joined->operands[k]->shape->dims[dim];
    if (along->start >= offset && last < offset + size) {
      along->start -= offset;
      along->limit = last - offset + 1;
      return builder_slice(b, joined->operands[k], dims);
    }
    offset += size;
  }
  return NULL;
}

// What lies within the padded array is sliced from it; what lies in the padding on one side is the fill.
static instruction *slice_of_pad(const builder *b, instruction *i) {
  const instruction *pad = i->operands[0];
  const shape *inner = pad->operands[0]->shape;
  slice_dim dims[SHAPE_MAX_RANK];
  bool is_inside = true;
  if (shape_element_count(i->shape) == 0) return NULL;
  for (int d = 0; d < i->shape->rank; d++) {
    const padding_dim *p = &pad->attributes->padding.dims[d];
    const slice_dim *s = &i->attributes->slice.dims[d];
    const int64_t last = s->start + (i->shape->dims[d] - 1) * s->stride;
    const int64_t width = inner->dims[d] ? inner->dims[d] + (inner->dims[d] - 1) * p->interior : 0;
    if (last < p->low || s->start >= p->low + width) return builder_broadcast(b, pad->operands[1], i->shape, 0, NULL);
    is_inside = is_inside && p->interior == 0 && s->start >= p->low && last < p->low + width;
    dims[d] = (slice_dim){s->start - p->low, last - p->low + 1, s->stride};
  }
  return is_inside ? builder_slice(b, pad->operands[0], dims) : NULL;
}

static instruction *slice_of_iota(const builder *b, instruction *i) {
  const int64_t dim = i->operands[0]->attributes->iota_dimension;
  const slice_dim *s = &i->attributes->slice.dims[dim];
  if (s->start != 0 || s->stride != 1) return NULL;
  return builder_iota(b, i->shape->dtype, i->shape->rank, i->shape->dims, dim);
}

// A reverse of the slice from the other end.
static instruction *slice_of_reverse(const builder *b, instruction *i) {
  instruction *reverse = i->operands[0];
  slice_dim dims[SHAPE_MAX_RANK];
  for (int d = 0; d < i->shape->rank; d++) {
    const slice_dim *s = &i->attributes->slice.dims[d];
    dims[d] = *s;
    if (!int_list_has(reverse->attributes->dimensions, d) || i->shape->dims[d] == 0) continue;
    const int64_t last = s->start + (i->shape->dims[d] - 1) * s->stride, size = reverse->shape->dims[d];
    dims[d] = (slice_dim){size - 1 - last, size - s->start, s->stride};
  }
  instruction *part = builder_slice(b, reverse->operands[0], dims);
  return rewrite_with(b, reverse, i->shape, &part);
}

instruction *algebraic_slice(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  if (takes_all(i)) return x;
  switch (x->opcode) {
    case HLO_SLICE: return slice_of_slice(b, i);
    case HLO_BROADCAST: return slice_of_broadcast(b, i);
    case HLO_TRANSPOSE: return slice_of_transpose(b, i);
    case HLO_CONCATENATE: return slice_of_concatenate(b, i);
    case HLO_PAD: return slice_of_pad(b, i);
    case HLO_IOTA: return slice_of_iota(b, i);
    case HLO_REVERSE: return slice_of_reverse(b, i);
    default: return NULL;
  }
}

// The scalar that `x` is a broadcast of, or one of its value.
static bool is_filled_with(const instruction *x, const instruction *fill) {
  if (x->opcode == HLO_BROADCAST && x->operands[0] == fill) return true;
  const literal *l = uniform_value(x), *r = uniform_value(fill);
  return l && r && memcmp(l->data, r->data, (size_t)dtypes[fill->shape->dtype].bytes) == 0;
}

// Negative padding alone cuts.
static instruction *pad_as_slice(const builder *b, instruction *i) {
  slice_dim dims[SHAPE_MAX_RANK];
  const shape *from = i->operands[0]->shape;
  for (int d = 0; d < i->shape->rank; d++) {
    const padding_dim *p = &i->attributes->padding.dims[d];
    if (p->low > 0 || p->high > 0 || (p->interior && from->dims[d] > 1)) return NULL;
    if (-p->low + i->shape->dims[d] > from->dims[d]) return NULL;
    dims[d] = (slice_dim){-p->low, -p->low + i->shape->dims[d], 1};
  }
  return builder_slice(b, i->operands[0], dims);
}

static instruction *pad_of_pad(const builder *b, instruction *i) {
  const instruction *inner = i->operands[0];
  padding_dim dims[SHAPE_MAX_RANK];
  if (inner->operands[1] != i->operands[1] && !is_filled_with(inner->operands[1], i->operands[1])) return NULL;
  for (int d = 0; d < i->shape->rank; d++) {
    const padding_dim *p = &i->attributes->padding.dims[d], *q = &inner->attributes->padding.dims[d];
    if (p->interior || q->interior || p->low < 0 || p->high < 0 || q->low < 0 || q->high < 0) return NULL;
    dims[d] = (padding_dim){p->low + q->low, p->high + q->high, 0};
  }
  return builder_pad(b, inner->operands[0], i->operands[1], dims);
}

instruction *algebraic_pad(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  if (is_filled_with(x, i->operands[1])) return builder_broadcast(b, i->operands[1], i->shape, 0, NULL);
  instruction *slice = pad_as_slice(b, i);
  if (slice) return slice;
  return x->opcode == HLO_PAD ? pad_of_pad(b, i) : NULL;
}

// Slices of one array of which the second starts where the first ends.
static bool are_adjacent(const instruction *l, const instruction *r, int64_t dim) {
  if (l->opcode != HLO_SLICE || r->opcode != HLO_SLICE || l->operands[0] != r->operands[0]) return false;
  for (int d = 0; d < l->shape->rank; d++) {
    const slice_dim *s = &l->attributes->slice.dims[d], *t = &r->attributes->slice.dims[d];
    if (d == dim && (s->stride != 1 || t->stride != 1 || s->limit != t->start)) return false;
    if (d != dim && (s->start != t->start || s->stride != t->stride || s->limit != t->limit)) return false;
  }
  return true;
}

static instruction *join_slices(const builder *b, const instruction *first, const instruction *last, int64_t dim) {
  slice_dim dims[SHAPE_MAX_RANK];
  memcpy(dims, first->attributes->slice.dims, (size_t)first->shape->rank * sizeof *dims);
  dims[dim].limit = last->attributes->slice.dims[dim].limit;
  return builder_slice(b, first->operands[0], dims);
}

static bool are_same_scalar(const instruction *l, const instruction *r) {
  return l->opcode == HLO_BROADCAST && l->operands[0]->shape->rank == 0 && is_filled_with(r, l->operands[0]);
}

// Two or more operands in a row that are one: slices side by side, broadcasts of one scalar. Sets *next behind them.
static instruction *join_operands(const builder *b, const instruction *i, int first, int *next) {
  const int64_t dim = i->attributes->dimensions.data[0];
  instruction *x = i->operands[first];
  int end = first + 1;
  while (end < i->operand_count && are_adjacent(i->operands[end - 1], i->operands[end], dim)) end++;
  *next = end;
  if (end > first + 1) return join_slices(b, x, i->operands[end - 1], dim);
  int64_t size = x->shape->dims[dim];
  for (; end < i->operand_count && are_same_scalar(x, i->operands[end]); end++)
    size += i->operands[end]->shape->dims[dim];
  *next = end;
  if (end == first + 1) return x;
  int64_t dims[SHAPE_MAX_RANK];
  memcpy(dims, i->shape->dims, (size_t)i->shape->rank * sizeof *dims);
  dims[dim] = size;
  return builder_broadcast(b, x->operands[0], shape_array(b->arena, i->shape->dtype, i->shape->rank, dims), 0, NULL);
}

static bool can_flatten(const instruction *operand, int64_t dim) {
  return operand->opcode == HLO_CONCATENATE && operand->users.size == 1 &&
         operand->attributes->dimensions.data[0] == dim;
}

// Whether another concatenation will take over the operands: the outermost one of a chain does so for all.
static bool is_inner(const instruction *i, int64_t dim) {
  return can_flatten(i, dim) && i->users.data[0]->opcode == HLO_CONCATENATE &&
         i->users.data[0]->attributes->dimensions.data[0] == dim;
}

typedef VEC(instruction *) operand_list;

// The operands with those of inner concatenations in their place, and without empty ones.
static operand_list flatten(const builder *b, const instruction *i) {
  const int64_t dim = i->attributes->dimensions.data[0];
  operand_list flat = {0}, left = {0};  // left: a stack
  for (int k = i->operand_count; k-- > 0;) vec_push(b->arena, &left, i->operands[k]);
  while (left.size > 0) {
    instruction *x = vec_pop(&left);
    if (can_flatten(x, dim)) {
      for (int k = x->operand_count; k-- > 0;) vec_push(b->arena, &left, x->operands[k]);
    } else if (x->shape->dims[dim] != 0) {
      vec_push(b->arena, &flat, x);
    }
  }
  return flat;
}

instruction *algebraic_concatenate(const builder *b, instruction *i) {
  const int64_t dim = i->attributes->dimensions.data[0];
  if (i->operand_count == 1) return i->operands[0];
  if (shape_element_count(i->shape) == 0 || is_inner(i, dim)) return NULL;
  bool changes = false;
  for (int k = 0; k < i->operand_count; k++)
    changes = changes || i->operands[k]->shape->dims[dim] == 0 || can_flatten(i->operands[k], dim);
  if (changes) {
    const operand_list flat = flatten(b, i);
    return flat.size == 1 ? flat.data[0] : builder_concatenate(b, flat.size, flat.data, dim);
  }
  for (int k = 0; k + 1 < i->operand_count && !changes; k++)
    changes =
        are_adjacent(i->operands[k], i->operands[k + 1], dim) || are_same_scalar(i->operands[k], i->operands[k + 1]);
  if (!changes) return NULL;
  instruction **operands = arena_array(b->arena, instruction *, i->operand_count);
  int count = 0;
  for (int k = 0; k < i->operand_count;) operands[count++] = join_operands(b, i, k, &k);
  return count == 1 ? operands[0] : builder_concatenate(b, count, operands, dim);
}
