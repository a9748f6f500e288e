// Shapes: making, measuring and comparing them.
//
// Sizes come from the user's program, so every product saturates. Tuples are walked recursively, but never deeper than
// SHAPE_MAX_NESTING: what lies deeper counts as nothing, and shape_check refuses it before it matters.
#include "hlo/shape.h"

#include <stdint.h>

#include "base/int64.h"

static const int64_t *copy_dims(arena *a, int count, const int64_t *dims) {
  int64_t *copy = arena_array(a, int64_t, count);
  if (count) memcpy(copy, dims, (size_t)count * sizeof *dims);
  return copy;
}

const shape *shape_array(arena *a, dtype t, int rank, const int64_t *dims) {
  shape *s = arena_new(a, shape);
  *s = (shape){.dtype = t, .rank = rank, .dims = copy_dims(a, rank, dims)};
  return s;
}

const shape *shape_scalar(arena *a, dtype t) { return shape_array(a, t, 0, NULL); }

const shape *shape_tuple(arena *a, int size, const shape *const *elements) {
  shape *s = arena_new(a, shape);
  const shape **copy = arena_array(a, const shape *, size);
  if (size) memcpy(copy, elements, (size_t)size * sizeof *copy);
  *s = (shape){.dtype = DTYPE_TUPLE, .tuple_size = size, .elements = copy};
  return s;
}

const shape *shape_token(arena *a) {
  shape *s = arena_new(a, shape);
  s->dtype = DTYPE_TOKEN;
  return s;
}

static const layout *layout_copy(arena *a, const layout *from, int rank) {
  layout *to = arena_new(a, layout);
  *to = *from;
  to->minor_to_major = copy_dims(a, rank, from->minor_to_major);
  layout_tile *tiles = arena_array(a, layout_tile, from->tile_count);
  for (int i = 0; i < from->tile_count; i++)
    tiles[i] = (layout_tile){from->tiles[i].rank, copy_dims(a, from->tiles[i].rank, from->tiles[i].dims)};
  to->tiles = tiles;
  to->other = from->other.size ? str_copy(a, from->other) : (str){0};
  return to;
}

static shape *copy_nested(arena *a, const shape *s, int depth) {
  shape *to = arena_new(a, shape);
  *to = *s;
  if (s->rank) to->dims = copy_dims(a, s->rank, s->dims);
  if (s->layout) to->layout = layout_copy(a, s->layout, s->rank);
  if (!shape_is_tuple(s)) return to;
  const shape **elements = arena_array(a, const shape *, s->tuple_size);
  to->tuple_size = depth < SHAPE_MAX_NESTING ? s->tuple_size : 0;
  for (int i = 0; i < to->tuple_size; i++) elements[i] = copy_nested(a, s->elements[i], depth + 1);
  to->elements = elements;
  return to;
}

shape *shape_copy(arena *a, const shape *s) { return copy_nested(a, s, 0); }

const shape *shape_with_layout(arena *a, const shape *s, const layout *l) {
  shape *to = arena_new(a, shape);
  *to = *s;
  to->layout = l;
  return to;
}

const shape *shape_with_dtype(arena *a, const shape *s, dtype t) {
  shape *to = arena_new(a, shape);
  *to = *s;
  to->dtype = t;
  return to;
}

static bool is_static(const shape *s, int depth) {
  if (s->dynamic_dims) return false;
  for (int i = 0; i < s->tuple_size && depth < SHAPE_MAX_NESTING; i++)
    if (!is_static(s->elements[i], depth + 1)) return false;
  return true;
}

bool shape_is_static(const shape *s) { return is_static(s, 0); }

// An unbounded dim can be of any size, so the count saturates. A dim of 0 wins over everything else.
int64_t shape_element_count(const shape *s) {
  if (!shape_is_array(s)) return 0;
  int64_t count = 1;
  for (int i = 0; i < s->rank; i++)
    if (s->dims[i] == 0) return 0;
  for (int i = 0; i < s->rank; i++) count = s->dims[i] < 0 ? INT64_MAX : int64_saturating_mul(count, s->dims[i]);
  return count;
}

static int64_t byte_size(const shape *s, int depth) {
  if (shape_is_array(s)) return int64_saturating_mul(shape_element_count(s), dtypes[s->dtype].bytes);
  int64_t size = 0;
  for (int i = 0; i < s->tuple_size && depth < SHAPE_MAX_NESTING; i++)
    size = int64_saturating_add(size, byte_size(s->elements[i], depth + 1));
  return size;
}

int64_t shape_byte_size(const shape *s) { return byte_size(s, 0); }

void shape_strides(const shape *s, int64_t *strides) {
  int64_t stride = 1;
  for (int i = s->rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride = int64_saturating_mul(stride, s->dims[i] < 0 ? INT64_MAX : s->dims[i]);
  }
}

static heddle_status check_layout(const shape *s, source_location where) {
  uint64_t seen = 0;
  for (int i = 0; i < s->rank; i++) {
    int64_t dim = s->layout->minor_to_major[i];
    if (dim < 0 || dim >= s->rank || (seen >> dim & 1))
      return status_at(HEDDLE_INVALID, where,
                       "layout: found dimension %lld at position %d, wanted a permutation of 0..%d", (long long)dim, i,
                       s->rank - 1);
    seen |= (uint64_t)1 << dim;
  }
  return status_ok();
}

// Dims of 0 do not make the others smaller: whoever multiplies some of an array's dims need not think of overflow.
static heddle_status check_array(const shape *s, source_location where) {
  const int64_t limit = (int64_t)1 << 62;
  if (s->rank > SHAPE_MAX_RANK)
    return status_at(HEDDLE_INVALID, where, "found a shape of rank %d, wanted at most %d", s->rank, SHAPE_MAX_RANK);
  int64_t count = 1;
  for (int i = 0; i < s->rank; i++) {
    bool unbounded = s->dims[i] == -1 && shape_is_dynamic_dim(s, i);
    if (s->dims[i] < 0 && !unbounded)
      return status_at(HEDDLE_INVALID, where, "dimension %d of a shape is %lld, wanted 0 or more", i,
                       (long long)s->dims[i]);
    if (s->dims[i] > 0) count = int64_saturating_mul(count, s->dims[i]);
  }
  if (int64_saturating_mul(count, dtypes[s->dtype].bytes) > limit)
    return status_at(HEDDLE_INVALID, where, "a shape's dimensions multiply to more than 2^62 bytes");
  return s->layout ? check_layout(s, where) : status_ok();
}

static heddle_status check(const shape *s, source_location where, int depth) {
  if (shape_is_array(s)) return check_array(s, where);
  if (depth > SHAPE_MAX_NESTING)
    return status_at(HEDDLE_INVALID, where, "found tuples nested more than %d deep", SHAPE_MAX_NESTING);
  for (int i = 0; i < s->tuple_size; i++) TRY(check(s->elements[i], where, depth + 1));
  return status_ok();
}

heddle_status shape_check(const shape *s, source_location where) {
  TRY(check(s, where, 0));
  if (shape_byte_size(s) > (int64_t)1 << 62 && shape_is_static(s))
    return status_at(HEDDLE_INVALID, where, "a tuple's elements add up to more than 2^62 bytes");
  return status_ok();
}

bool shape_same_dims(const shape *l, const shape *r) {
  return l->rank == r->rank && (l->rank == 0 || memcmp(l->dims, r->dims, (size_t)l->rank * sizeof *l->dims) == 0);
}

// Unbounded dims agree with every size.
static bool compatible_dims(const shape *l, const shape *r) {
  if (l->rank != r->rank) return false;
  for (int i = 0; i < l->rank; i++)
    if (l->dims[i] != r->dims[i] && l->dims[i] != -1 && r->dims[i] != -1) return false;
  return true;
}

static bool compatible(const shape *l, const shape *r, bool in_floats, int depth) {
  if (l == r) return true;
  const bool same_type = l->dtype == r->dtype || (in_floats && dtype_is_float(l->dtype) && dtype_is_float(r->dtype));
  if (!same_type || l->tuple_size != r->tuple_size || !compatible_dims(l, r)) return false;
  if (depth >= SHAPE_MAX_NESTING) return false;
  for (int i = 0; i < l->tuple_size; i++)
    if (!compatible(l->elements[i], r->elements[i], in_floats, depth + 1)) return false;
  return true;
}

bool shape_compatible(const shape *l, const shape *r) { return compatible(l, r, false, 0); }
bool shape_compatible_in_floats(const shape *l, const shape *r) { return compatible(l, r, true, 0); }

void shape_minor_to_major(const shape *s, int64_t *order) {
  for (int i = 0; i < s->rank; i++) order[i] = s->layout ? s->layout->minor_to_major[i] : s->rank - 1 - i;
}

bool shape_layout_is_default(const shape *s) {
  if (!s->layout) return true;
  for (int i = 0; i < s->rank; i++)
    if (s->layout->minor_to_major[i] != s->rank - 1 - i) return false;
  return s->layout->tile_count == 0;
}

static bool tiles_equal(const layout *l, const layout *r) {
  if (l->tile_count != r->tile_count) return false;
  for (int i = 0; i < l->tile_count; i++) {
    const layout_tile *x = &l->tiles[i], *y = &r->tiles[i];
    if (x->rank != y->rank) return false;
    if (x->rank && memcmp(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims) != 0) return false;
  }
  return true;
}

static bool layouts_equal(const shape *l, const shape *r) {
  static const layout none = {.tail_padding = 1};
  if (!l->layout && !r->layout) return true;
  int64_t order_l[SHAPE_MAX_RANK], order_r[SHAPE_MAX_RANK];
  shape_minor_to_major(l, order_l);
  shape_minor_to_major(r, order_r);
  if (memcmp(order_l, order_r, (size_t)l->rank * sizeof *order_l) != 0) return false;
  const layout *x = l->layout ? l->layout : &none, *y = r->layout ? r->layout : &none;
  int64_t padding_x = x->tail_padding ? x->tail_padding : 1, padding_y = y->tail_padding ? y->tail_padding : 1;
  return tiles_equal(x, y) && x->memory_space == y->memory_space && x->element_bits == y->element_bits &&
         padding_x == padding_y && str_equal(x->other, y->other);
}

static bool equal(const shape *l, const shape *r, int depth) {
  if (l == r) return true;
  if (l->dtype != r->dtype || l->tuple_size != r->tuple_size || l->dynamic_dims != r->dynamic_dims) return false;
  if (l->is_buffer != r->is_buffer) return false;
  if (!shape_same_dims(l, r) || l->rank > SHAPE_MAX_RANK || !layouts_equal(l, r)) return false;
  if (depth >= SHAPE_MAX_NESTING) return false;
  for (int i = 0; i < l->tuple_size; i++)
    if (!equal(l->elements[i], r->elements[i], depth + 1)) return false;
  return true;
}

bool shape_equal(const shape *l, const shape *r) { return equal(l, r, 0); }

bool shape_moves_unit_dims(const shape *from, const shape *to, int *dims) {
  int d = 0;
  for (int k = 0; k < from->rank; k++) {
    dims[k] = -1;
    if (from->dims[k] == 1) continue;
    while (d < to->rank && to->dims[d] == 1) d++;
    if (d == to->rank || to->dims[d] != from->dims[k]) return false;
    dims[k] = d++;
  }
  while (d < to->rank && to->dims[d] == 1) d++;
  return d == to->rank;
}
