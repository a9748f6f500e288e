// A shape is an element type with dims and a layout, or a tuple of shapes. Shapes are immutable values in an arena.
#ifndef HEDDLE_HLO_SHAPE_H_
#define HEDDLE_HLO_SHAPE_H_

#include "base/dtype.h"
#include "base/status.h"

// Tuples nest at most SHAPE_MAX_NESTING deep: shape_check refuses deeper ones, and no function below goes deeper.
enum { SHAPE_MAX_RANK = 64, SHAPE_MAX_NESTING = 500 };

typedef struct layout_tile {
  int rank;
  const int64_t *dims;  // INT64_MIN stands for `*` (combine with the next more major dim)
} layout_tile;

typedef struct layout {
  const int64_t *minor_to_major;  // rank entries: a permutation
  int tile_count;
  const layout_tile *tiles;  // T(8,128)(2,1)
  int64_t memory_space;      // S(1); 0 is the default space
  int64_t element_bits;      // E(4); 0 is the type's own width
  int64_t tail_padding;      // L(n); 1 is none
  str other;                 // parts kept as text: dim level types D(..), pointer types, split config, metadata
} layout;

typedef struct shape shape;
struct shape {
  dtype dtype;  // DTYPE_TUPLE, DTYPE_TOKEN and DTYPE_OPAQUE have no dims
  int rank;
  const int64_t *dims;    // a dynamic dim's upper bound; -1 = unbounded (`?`)
  uint64_t dynamic_dims;  // bit i: dim i is dynamic (`<=8`)
  const layout *layout;   // null = default: row-major, no tiles
  int tuple_size;
  const shape *const *elements;
  bool is_buffer;  // of an array: its memory is one place that operations change, `b(f32[2])`; a value like any other
};

const shape *shape_array(arena *a, dtype t, int rank, const int64_t *dims);  // copies dims; default layout
const shape *shape_scalar(arena *a, dtype t);
const shape *shape_tuple(arena *a, int size, const shape *const *elements);
const shape *shape_token(arena *a);
shape *shape_copy(arena *a, const shape *s);  // deep: shares nothing with the original
const shape *shape_with_layout(arena *a, const shape *s, const layout *l);
const shape *shape_with_dtype(arena *a, const shape *s, dtype t);  // keeps dims and layout

static inline bool shape_is_array(const shape *s) { return dtype_is_array(s->dtype); }
static inline bool shape_is_scalar(const shape *s) { return shape_is_array(s) && s->rank == 0; }
static inline bool shape_is_tuple(const shape *s) { return s->dtype == DTYPE_TUPLE; }
static inline bool shape_is_dynamic_dim(const shape *s, int i) { return (s->dynamic_dims >> i) & 1; }
bool shape_is_static(const shape *s);

// Number of elements; saturates at INT64_MAX (shapes are checked when parsed: see shape_check).
int64_t shape_element_count(const shape *s);
// Row-major strides of the dims, in elements; saturates.
void shape_strides(const shape *s, int64_t *strides);
// Bytes of a densely packed literal (dtype bytes each; tuples add up). Saturates.
int64_t shape_byte_size(const shape *s);
// Error for dims whose product in bytes, those of 0 left out, is beyond 2^62, a negative dim, a rank above
// SHAPE_MAX_RANK, a layout that is no permutation of the dims, or tuples nested too deep.
heddle_status shape_check(const shape *s, source_location where);

bool shape_same_dims(const shape *l, const shape *r);   // arrays: rank and dims
bool shape_compatible(const shape *l, const shape *r);  // equal but for layouts and dynamism, tuples inside too
// The same for any real floats in the place of others: what XLA calls mixed precision.
bool shape_compatible_in_floats(const shape *l, const shape *r);
bool shape_equal(const shape *l, const shape *r);  // layouts included (a missing one equals the default)
bool shape_layout_is_default(const shape *s);      // row-major without tiles (space does not count)
// minor_to_major of the effective layout into order[rank].
void shape_minor_to_major(const shape *s, int64_t *order);

// `f32[2,3]{1,0}`, `(f32[2], token[])`; tuples of more than five print /*index=5*/ marks. Without layouts if asked.
void shape_print(text *out, const shape *s, bool with_layout);
void layout_print(text *out, const layout *l, int rank);  // `{1,0:T(8,128)S(1)}`
const char *shape_text(arena *a, const shape *s);         // without layout, for messages

// Whether a reshape only adds or takes away dims of one element. Then dim k of `from` is dim dims[k] of `to`, or -1 if
// it has one element.
bool shape_moves_unit_dims(const shape *from, const shape *to, int *dims);

#endif
