// Converts shapes to messages and back.
#include "proto/parts.h"
#include "proto/values.h"
#include "proto/wire.h"

static const Xla__PrimitiveType primitive_types[DTYPE_COUNT] = {
    [DTYPE_PRED] = XLA__PRIMITIVE_TYPE__PRED,
    [DTYPE_S2] = XLA__PRIMITIVE_TYPE__S2,
    [DTYPE_S4] = XLA__PRIMITIVE_TYPE__S4,
    [DTYPE_S8] = XLA__PRIMITIVE_TYPE__S8,
    [DTYPE_S16] = XLA__PRIMITIVE_TYPE__S16,
    [DTYPE_S32] = XLA__PRIMITIVE_TYPE__S32,
    [DTYPE_S64] = XLA__PRIMITIVE_TYPE__S64,
    [DTYPE_U2] = XLA__PRIMITIVE_TYPE__U2,
    [DTYPE_U4] = XLA__PRIMITIVE_TYPE__U4,
    [DTYPE_U8] = XLA__PRIMITIVE_TYPE__U8,
    [DTYPE_U16] = XLA__PRIMITIVE_TYPE__U16,
    [DTYPE_U32] = XLA__PRIMITIVE_TYPE__U32,
    [DTYPE_U64] = XLA__PRIMITIVE_TYPE__U64,
    [DTYPE_F4E2M1FN] = XLA__PRIMITIVE_TYPE__F4E2M1FN,
    [DTYPE_F8E5M2] = XLA__PRIMITIVE_TYPE__F8E5M2,
    [DTYPE_F8E4M3] = XLA__PRIMITIVE_TYPE__F8E4M3,
    [DTYPE_F8E4M3FN] = XLA__PRIMITIVE_TYPE__F8E4M3FN,
    [DTYPE_F8E4M3B11FNUZ] = XLA__PRIMITIVE_TYPE__F8E4M3B11FNUZ,
    [DTYPE_F8E5M2FNUZ] = XLA__PRIMITIVE_TYPE__F8E5M2FNUZ,
    [DTYPE_F8E4M3FNUZ] = XLA__PRIMITIVE_TYPE__F8E4M3FNUZ,
    [DTYPE_F8E3M4] = XLA__PRIMITIVE_TYPE__F8E3M4,
    [DTYPE_F8E8M0FNU] = XLA__PRIMITIVE_TYPE__F8E8M0FNU,
    [DTYPE_F16] = XLA__PRIMITIVE_TYPE__F16,
    [DTYPE_BF16] = XLA__PRIMITIVE_TYPE__BF16,
    [DTYPE_F32] = XLA__PRIMITIVE_TYPE__F32,
    [DTYPE_F64] = XLA__PRIMITIVE_TYPE__F64,
    [DTYPE_C64] = XLA__PRIMITIVE_TYPE__C64,
    [DTYPE_C128] = XLA__PRIMITIVE_TYPE__C128,
    [DTYPE_TOKEN] = XLA__PRIMITIVE_TYPE__TOKEN,
    [DTYPE_OPAQUE] = XLA__PRIMITIVE_TYPE__OPAQUE_TYPE,
    [DTYPE_TUPLE] = XLA__PRIMITIVE_TYPE__TUPLE,
};

static heddle_status read_dtype(Xla__PrimitiveType type, dtype *out) {
  for (int t = DTYPE_INVALID + 1; t < DTYPE_COUNT; t++) {
    if (type == XLA__PRIMITIVE_TYPE__PRIMITIVE_TYPE_INVALID || primitive_types[t] != type) continue;
    *out = (dtype)t;
    return status_ok();
  }
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(&xla__primitive_type__descriptor, (int)type);
  if (!value || type == XLA__PRIMITIVE_TYPE__PRIMITIVE_TYPE_INVALID)
    return status_error(HEDDLE_INVALID, "found element type %d, which no shape has", (int)type);
  return status_error(HEDDLE_UNIMPLEMENTED, "element type %s is not supported", value->name);
}

static const int64_t *copy_dims(arena *a, size_t count, const int64_t *dims) {
  int64_t *copy = arena_array(a, int64_t, count);
  if (count) memcpy(copy, dims, count * sizeof *copy);
  return copy;
}

static bool layout_says_nothing(const Xla__LayoutProto *l) {
  return !l->n_minor_to_major && !l->n_tiles && !l->element_size_in_bits && !l->memory_space &&
         l->tail_padding_alignment_in_elements <= 1 && !l->n_split_configs && !l->dynamic_shape_metadata_prefix_bytes;
}

// SC(1:2,4)(0:3)M(8): where dimensions are split between memories, and bytes in front of the data.
static str layout_other(arena *a, const Xla__LayoutProto *from) {
  text t = {0};
  for (size_t i = 0; i < from->n_split_configs; i++) {
    const Xla__SplitConfigProto *split = from->split_configs[i];
    text_printf(&t, "%s(%lld:", i ? "" : "SC", (long long)split->dimension);
    for (size_t k = 0; k < split->n_split_indices; k++)
      text_printf(&t, "%s%lld", k ? "," : "", (long long)split->split_indices[k]);
    text_putc(&t, ')');
  }
  if (from->dynamic_shape_metadata_prefix_bytes)
    text_printf(&t, "M(%lld)", (long long)from->dynamic_shape_metadata_prefix_bytes);
  return proto_keep(a, &t);
}

// Sizes and places are not negative; in a tile INT64_MIN stands for a combined dimension.
static heddle_status check_layout(const Xla__LayoutProto *l) {
  bool is_bad = l->element_size_in_bits < 0 || l->memory_space < 0 || l->tail_padding_alignment_in_elements < 0 ||
                l->dynamic_shape_metadata_prefix_bytes < 0;
  for (size_t i = 0; i < l->n_tiles; i++)
    for (size_t k = 0; k < l->tiles[i]->n_dimensions; k++)
      is_bad |= l->tiles[i]->dimensions[k] < 0 && l->tiles[i]->dimensions[k] != INT64_MIN;
  for (size_t i = 0; i < l->n_split_configs; i++) {
    is_bad |= l->split_configs[i]->dimension < 0;
    for (size_t k = 0; k < l->split_configs[i]->n_split_indices; k++)
      is_bad |= l->split_configs[i]->split_indices[k] < 0;
  }
  return is_bad ? status_error(HEDDLE_INVALID, "a layout has a negative size") : status_ok();
}

static heddle_status read_layout(arena *a, const Xla__LayoutProto *from, int rank, const layout **out) {
  if (layout_says_nothing(from) && rank == 0) return status_ok();
  if (from->n_minor_to_major != (size_t)rank)
    return status_error(HEDDLE_INVALID, "a layout orders %zu dimensions, wanted %d", from->n_minor_to_major, rank);
  TRY(check_layout(from));
  layout *l = arena_new(a, layout);
  layout_tile *tiles = arena_array(a, layout_tile, from->n_tiles);
  for (size_t i = 0; i < from->n_tiles; i++)
    tiles[i] = (layout_tile){(int)from->tiles[i]->n_dimensions,
                             copy_dims(a, from->tiles[i]->n_dimensions, from->tiles[i]->dimensions)};
  *l = (layout){.minor_to_major = copy_dims(a, from->n_minor_to_major, from->minor_to_major),
                .tile_count = (int)from->n_tiles,
                .tiles = tiles,
                .memory_space = from->memory_space,
                .element_bits = from->element_size_in_bits,
                .tail_padding = from->tail_padding_alignment_in_elements,
                .other = layout_other(a, from)};
  if (l->tail_padding == 0) l->tail_padding = 1;
  *out = l;
  return status_ok();
}

static heddle_status read_array(arena *a, const Xla__ShapeProto *from, shape *s) {
  if (from->n_dimensions > SHAPE_MAX_RANK)
    return status_error(HEDDLE_INVALID, "a shape has rank %zu, the limit is %d", from->n_dimensions, SHAPE_MAX_RANK);
  if (from->n_is_dynamic_dimension && from->n_is_dynamic_dimension != from->n_dimensions)
    return status_error(HEDDLE_INVALID, "%zu dimensions are said to be dynamic or not, wanted %zu",
                        from->n_is_dynamic_dimension, from->n_dimensions);
  s->rank = (int)from->n_dimensions;
  int64_t *dims = arena_array(a, int64_t, s->rank);
  for (int i = 0; i < s->rank; i++) {
    bool is_dynamic = from->n_is_dynamic_dimension && from->is_dynamic_dimension[i];
    dims[i] = is_dynamic && from->dimensions[i] < 0 ? -1 : from->dimensions[i];
    s->dynamic_dims |= (uint64_t)is_dynamic << i;
  }
  s->dims = dims;
  return from->layout ? read_layout(a, from->layout, s->rank, &s->layout) : status_ok();
}

// A buffer is written like a tuple of one array.
static heddle_status read_buffer(arena *a, const Xla__ShapeProto *from, const shape **out) {
  if (from->n_tuple_shapes != 1)
    return status_error(HEDDLE_INVALID, "found a buffer of %zu arrays, wanted one", from->n_tuple_shapes);
  shape *s = arena_new(a, shape);
  *s = (shape){.is_buffer = true};
  *out = s;
  TRY(read_dtype(from->tuple_shapes[0]->element_type, &s->dtype));
  if (!dtype_is_array(s->dtype))
    return status_error(HEDDLE_INVALID, "found a buffer of %s, wanted an array", dtype_name(s->dtype));
  return read_array(a, from->tuple_shapes[0], s);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as messages nest, see HLO_PROTO_MAX_NESTING
static heddle_status read_nested(arena *a, const Xla__ShapeProto *from, const shape **out) {
  if (from->element_type == XLA__PRIMITIVE_TYPE__BUFFER) return read_buffer(a, from, out);
  shape *s = arena_new(a, shape);
  *out = s;
  TRY(read_dtype(from->element_type, &s->dtype));
  if (s->dtype != DTYPE_TUPLE && from->n_tuple_shapes)
    return status_error(HEDDLE_INVALID, "%s has no elements", dtype_name(s->dtype));
  if (dtype_is_array(s->dtype)) return read_array(a, from, s);
  if (from->n_dimensions) return status_error(HEDDLE_INVALID, "%s has no dimensions", dtype_name(s->dtype));
  const shape **elements = arena_array(a, const shape *, from->n_tuple_shapes);
  for (size_t i = 0; i < from->n_tuple_shapes; i++) TRY(read_nested(a, from->tuple_shapes[i], &elements[i]));
  s->tuple_size = (int)from->n_tuple_shapes;
  s->elements = elements;
  return status_ok();
}

heddle_status proto_read_shape(arena *a, const Xla__ShapeProto *from, const shape **out) {
  if (!from) return status_error(HEDDLE_INVALID, "found no shape");
  TRY(read_nested(a, from, out));
  return shape_check(*out, SOURCE_UNKNOWN);
}

static int64_t *dims_to_proto(arena *a, int count, const int64_t *dims) {
  int64_t *copy = arena_array(a, int64_t, count);
  if (count) memcpy(copy, dims, (size_t)count * sizeof *copy);
  return copy;
}

// Behind the digits so far; what a message cannot hold becomes the most that it can.
static int64_t with_digit(int64_t number, char c) {
  const bool fits = !__builtin_mul_overflow(number, 10, &number) && !__builtin_add_overflow(number, c - '0', &number);
  return fits ? number : INT64_MAX;
}

// Integers in a part of a layout, `(1:2,4)`; moves behind its closing parenthesis.
static int part_numbers(arena *a, str other, size_t *at, int64_t **out) {
  VEC(int64_t) numbers = {0};
  for (bool is_open = false; *at < other.size && other.data[*at] != ')'; ++*at) {
    char c = other.data[*at];
    bool is_digit = c >= '0' && c <= '9';
    if (is_digit && !is_open) vec_push(a, &numbers, 0);
    is_open = is_digit;
    if (is_digit) vec_last(&numbers) = with_digit(vec_last(&numbers), c);
  }
  ++*at;
  *out = numbers.data;
  return numbers.size;
}

// The other way round; what has no field (how sparse arrays are kept) is left out.
static void make_layout_other(arena *a, str other, Xla__LayoutProto *out) {
  VEC(Xla__SplitConfigProto *) splits = {0};
  char kind = 0;
  for (size_t at = 0; at < other.size;) {
    if (other.data[at] != '(') kind = other.data[at];
    int64_t *numbers;
    int count = part_numbers(a, other, &at, &numbers);
    if (kind == 'M' && count) out->dynamic_shape_metadata_prefix_bytes = numbers[0];
    if (kind != 'S' || !count) continue;
    Xla__SplitConfigProto *split;
    HLO_PROTO_NEW(a, split, SplitConfigProto, split_config_proto);
    split->dimension = numbers[0];
    split->n_split_indices = (size_t)(count - 1);
    split->split_indices = numbers + 1;
    vec_push(a, &splits, split);
  }
  out->n_split_configs = (size_t)splits.size;
  out->split_configs = splits.data;
}

static Xla__LayoutProto *make_layout(arena *a, const shape *s) {
  Xla__LayoutProto *out = arena_new(a, Xla__LayoutProto);
  xla__layout_proto__init(out);
  out->n_minor_to_major = (size_t)s->rank;
  out->minor_to_major = arena_array(a, int64_t, s->rank);
  shape_minor_to_major(s, out->minor_to_major);
  const layout *l = s->layout;
  if (!l) return out;
  out->memory_space = l->memory_space;
  out->element_size_in_bits = l->element_bits;
  out->tail_padding_alignment_in_elements = l->tail_padding > 1 ? l->tail_padding : 0;
  make_layout_other(a, l->other, out);
  out->n_tiles = (size_t)l->tile_count;
  out->tiles = arena_array(a, Xla__TileProto *, l->tile_count);
  for (int i = 0; i < l->tile_count; i++) {
    out->tiles[i] = arena_new(a, Xla__TileProto);
    xla__tile_proto__init(out->tiles[i]);
    out->tiles[i]->n_dimensions = (size_t)l->tiles[i].rank;
    out->tiles[i]->dimensions = dims_to_proto(a, l->tiles[i].rank, l->tiles[i].dims);
  }
  return out;
}

static void make_dims(arena *a, const shape *s, Xla__ShapeProto *out) {
  out->n_dimensions = (size_t)s->rank;
  out->dimensions = dims_to_proto(a, s->rank, s->dims);
  out->layout = make_layout(a, s);
  if (!s->dynamic_dims) return;
  out->n_is_dynamic_dimension = (size_t)s->rank;
  out->is_dynamic_dimension = arena_array(a, protobuf_c_boolean, s->rank);
  for (int i = 0; i < s->rank; i++) {
    out->is_dynamic_dimension[i] = shape_is_dynamic_dim(s, i);
    if (out->dimensions[i] < 0) out->dimensions[i] = INT64_MIN;  // without a bound
  }
}

// NOLINTNEXTLINE(misc-no-recursion): shapes nest at most SHAPE_MAX_NESTING deep
dtype proto_lacking_type(const shape *s) {
  if (primitive_types[s->dtype] == XLA__PRIMITIVE_TYPE__PRIMITIVE_TYPE_INVALID) return s->dtype;
  for (int i = 0; i < s->tuple_size; i++) {
    dtype lacking = proto_lacking_type(s->elements[i]);
    if (lacking != DTYPE_INVALID) return lacking;
  }
  return DTYPE_INVALID;
}

// NOLINTNEXTLINE(misc-no-recursion): shapes nest at most SHAPE_MAX_NESTING deep
Xla__ShapeProto *proto_make_shape(arena *a, const shape *s) {
  Xla__ShapeProto *out = arena_new(a, Xla__ShapeProto);
  xla__shape_proto__init(out);
  if (s->is_buffer) {
    shape array = *s;
    array.is_buffer = false;
    out->element_type = XLA__PRIMITIVE_TYPE__BUFFER;
    out->n_tuple_shapes = 1;
    out->tuple_shapes = arena_array(a, Xla__ShapeProto *, 1);
    out->tuple_shapes[0] = proto_make_shape(a, &array);
    return out;
  }
  out->element_type = primitive_types[s->dtype];
  if (shape_is_array(s)) make_dims(a, s, out);
  out->n_tuple_shapes = (size_t)s->tuple_size;
  out->tuple_shapes = arena_array(a, Xla__ShapeProto *, s->tuple_size);
  for (int i = 0; i < s->tuple_size; i++) out->tuple_shapes[i] = proto_make_shape(a, s->elements[i]);
  return out;
}
