// Literals as messages.
//
// Which field holds the elements follows from the element type; a table says which one and how it is packed. A message
// keeps elements in the order of its shape's layout, our literals row-major.
#include <string.h>

#include "proto/values.h"

typedef enum element_form {
  FORM_NONE,
  FORM_WORDS,   // a list of numbers as wide as our elements or, of a complex type, as their parts
  FORM_PREDS,   // a list of protobuf_c_boolean
  FORM_BYTES,   // bytes, as ours
  FORM_NARROW,  // bytes of which only the low bits count
} element_form;

typedef struct literal_field {
  element_form form;
  size_t count, data;  // offsets in the message: of the list's length and of the list; of the bytes in `data`
} literal_field;

#define WORDS(member) {FORM_WORDS, offsetof(Xla__LiteralProto, n_##member), offsetof(Xla__LiteralProto, member)}
#define BYTES(member) {FORM_BYTES, 0, offsetof(Xla__LiteralProto, member)}
#define NARROW(member) {FORM_NARROW, 0, offsetof(Xla__LiteralProto, member)}

static const literal_field fields[DTYPE_COUNT] = {
    [DTYPE_PRED] = {FORM_PREDS, offsetof(Xla__LiteralProto, n_preds), offsetof(Xla__LiteralProto, preds)},
    [DTYPE_S2] = NARROW(s2s),
    [DTYPE_S4] = NARROW(s4s),
    [DTYPE_S8] = BYTES(s8s),
    [DTYPE_S16] = BYTES(s16s),
    [DTYPE_S32] = WORDS(s32s),
    [DTYPE_S64] = WORDS(s64s),
    [DTYPE_U2] = NARROW(u2s),
    [DTYPE_U4] = NARROW(u4s),
    [DTYPE_U8] = BYTES(u8s),
    [DTYPE_U16] = BYTES(u16s),
    [DTYPE_U32] = WORDS(u32s),
    [DTYPE_U64] = WORDS(u64s),
    [DTYPE_F4E2M1FN] = NARROW(f4e2m1fns),
    [DTYPE_F8E5M2] = BYTES(f8e5m2s),
    [DTYPE_F8E4M3] = BYTES(f8e4m3s),
    [DTYPE_F8E4M3FN] = BYTES(f8e4m3fns),
    [DTYPE_F8E4M3B11FNUZ] = BYTES(f8e4m3b11fnuzs),
    [DTYPE_F8E5M2FNUZ] = BYTES(f8e5m2fnuzs),
    [DTYPE_F8E4M3FNUZ] = BYTES(f8e4m3fnuzs),
    [DTYPE_F8E3M4] = BYTES(f8e3m4s),
    [DTYPE_F8E8M0FNU] = BYTES(f8e8m0fnus),
    [DTYPE_F16] = BYTES(f16s),
    [DTYPE_BF16] = BYTES(bf16s),
    [DTYPE_F32] = WORDS(f32s),
    [DTYPE_F64] = WORDS(f64s),
    [DTYPE_C64] = WORDS(c64s),
    [DTYPE_C128] = WORDS(c128s),
};

// Elements a list has for each of ours.
static size_t words_per_element(dtype t) { return dtype_is_complex(t) ? 2 : 1; }

// Whether our order is the message's.
static bool is_row_major(const shape *s) {
  int64_t order[SHAPE_MAX_RANK];
  shape_minor_to_major(s, order);
  for (int i = 0; i < s->rank; i++)
    if (order[i] != s->rank - 1 - i) return false;
  return true;
}

// Copies elements of `size` bytes between row-major order and the layout's.
static void reorder(const shape *s, char *to, const char *from, size_t size, bool to_row_major) {
  int64_t order[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK], index[SHAPE_MAX_RANK] = {0};
  int64_t count = shape_element_count(s), position = 0;
  shape_minor_to_major(s, order);
  shape_strides(s, strides);
  for (int64_t i = 0; i < count; i++) {
    int64_t target = to_row_major ? position : i, source = to_row_major ? i : position;
    memcpy(to + (size_t)target * size, from + (size_t)source * size, size);
    for (int k = 0; k < s->rank; k++) {
      int64_t d = order[k];
      position += strides[d];
      if (++index[d] < s->dims[d]) break;
      position -= strides[d] * s->dims[d];
      index[d] = 0;
    }
  }
}

// Bytes the message must have for `count` elements, or the length of its list.
static size_t wanted_size(dtype t, element_form form, size_t count) {
  if (form == FORM_WORDS) return count * words_per_element(t);
  return form == FORM_PREDS ? count : count * (size_t)dtypes[t].bytes;
}

// Sign-extends, or takes the bits above away.
static void widen(dtype t, const uint8_t *from, size_t count, uint8_t *to) {
  unsigned mask = (1u << dtypes[t].bits) - 1, sign = dtype_is_signed(t) ? (mask + 1) / 2 : 0;
  for (size_t i = 0; i < count; i++) to[i] = (uint8_t)((from[i] & sign) ? from[i] | ~mask : from[i] & mask);
}

static void narrow(dtype t, const uint8_t *from, size_t count, uint8_t *to) {
  unsigned mask = (1u << dtypes[t].bits) - 1;
  for (size_t i = 0; i < count; i++) to[i] = (uint8_t)(from[i] & mask);
}

static heddle_status read_array(arena *a, const Xla__LiteralProto *from, const shape *s, literal **out) {
  const literal_field *field = &fields[s->dtype];
  const char *base = (const char *)from;
  bool is_list = field->form == FORM_WORDS || field->form == FORM_PREDS;
  const ProtobufCBinaryData *bytes = is_list ? NULL : (const ProtobufCBinaryData *)(base + field->data);
  size_t found = is_list ? *(const size_t *)(base + field->count) : bytes->len;
  size_t count = (size_t)shape_element_count(s), wanted = wanted_size(s->dtype, field->form, count);
  if (found != wanted)
    return status_error(HEDDLE_INVALID, "a literal of %s has %zu %s, wanted %zu", shape_text(a, s), found,
                        is_list ? "numbers" : "bytes", wanted);
  TRY(literal_create(a, s, out));
  if (!count) return status_ok();
  uint8_t *data = (*out)->data;
  const void *source = is_list ? *(const void *const *)(base + field->data) : bytes->data;
  if (field->form == FORM_PREDS)
    for (size_t i = 0; i < count; i++) data[i] = ((const protobuf_c_boolean *)source)[i] != 0;
  else if (field->form == FORM_NARROW) widen(s->dtype, source, count, data);
  else memcpy(data, source, count * (size_t)dtypes[s->dtype].bytes);
  if (is_row_major(s)) return status_ok();
  literal *in_layout = *out;
  TRY(literal_create(a, s, out));
  reorder(s, (*out)->data, in_layout->data, (size_t)dtypes[s->dtype].bytes, true);
  return status_ok();
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as messages nest
static heddle_status read_nested(arena *a, const Xla__LiteralProto *from, const shape *s, literal **out) {
  if (shape_is_array(s)) return read_array(a, from, s, out);
  if (!shape_is_tuple(s)) return status_error(HEDDLE_INVALID, "there are no literals of %s", dtype_name(s->dtype));
  if (from->n_tuple_literals != (size_t)s->tuple_size)
    return status_error(HEDDLE_INVALID, "a literal of %s has %zu elements, wanted %d", shape_text(a, s),
                        from->n_tuple_literals, s->tuple_size);
  *out = arena_new(a, literal);
  (*out)->shape = s;
  (*out)->elements = arena_array(a, literal *, s->tuple_size);
  for (int i = 0; i < s->tuple_size; i++) {
    const Xla__LiteralProto *element = from->tuple_literals[i];
    const shape *found = s->elements[i];
    if (element->shape) TRY(proto_read_shape(a, element->shape, &found));
    if (!shape_compatible(found, s->elements[i]))
      return status_error(HEDDLE_INVALID, "element %d of a literal is %s, wanted %s", i, shape_text(a, found),
                          shape_text(a, s->elements[i]));
    TRY(read_nested(a, element, found, &(*out)->elements[i]));
  }
  return status_ok();
}

heddle_status proto_read_literal(arena *a, const Xla__LiteralProto *from, literal **out) {
  const shape *s;
  TRY(proto_read_shape(a, from->shape, &s));
  if (!shape_is_static(s)) return status_error(HEDDLE_UNIMPLEMENTED, "a literal of a dynamic shape is not supported");
  return read_nested(a, from, s, out);
}

static heddle_status make_array(arena *a, const literal *l, Xla__LiteralProto *out) {
  const shape *s = l->shape;
  const literal_field *field = &fields[s->dtype];
  size_t count = (size_t)shape_element_count(s), size = wanted_size(s->dtype, field->form, count);
  size_t width = (size_t)dtypes[s->dtype].bytes;
  const uint8_t *from = l->data;
  if (!is_row_major(s) && count) {
    char *moved = arena_try_alloc(a, count * width);
    if (!moved) return status_error(HEDDLE_OUT_OF_MEMORY, "no room for a literal of %s", shape_text(a, s));
    reorder(s, moved, l->data, width, false);
    from = (const uint8_t *)moved;
  }
  bool is_list = field->form == FORM_WORDS || field->form == FORM_PREDS;
  size_t bytes = field->form == FORM_PREDS ? count * sizeof(protobuf_c_boolean) : count * width;
  uint8_t *data = arena_try_alloc(a, bytes);
  if (!data) return status_error(HEDDLE_OUT_OF_MEMORY, "no room for a literal of %s", shape_text(a, s));
  if (field->form == FORM_PREDS)
    for (size_t i = 0; i < count; i++) ((protobuf_c_boolean *)(void *)data)[i] = from[i];
  else if (field->form == FORM_NARROW) narrow(s->dtype, from, count, data);
  else if (count) memcpy(data, from, bytes);
  if (is_list) {
    *(size_t *)((char *)out + field->count) = size;
    *(void **)((char *)out + field->data) = data;
  } else {
    *(ProtobufCBinaryData *)((char *)out + field->data) = (ProtobufCBinaryData){bytes, data};
  }
  return status_ok();
}

// NOLINTNEXTLINE(misc-no-recursion): shapes nest at most SHAPE_MAX_NESTING deep
heddle_status proto_make_literal(arena *a, const literal *l, Xla__LiteralProto **out) {
  *out = arena_new(a, Xla__LiteralProto);
  xla__literal_proto__init(*out);
  (*out)->shape = proto_make_shape(a, l->shape);
  if (shape_is_array(l->shape)) return make_array(a, l, *out);
  (*out)->n_tuple_literals = (size_t)l->shape->tuple_size;
  (*out)->tuple_literals = arena_array(a, Xla__LiteralProto *, l->shape->tuple_size);
  for (int i = 0; i < l->shape->tuple_size; i++) TRY(proto_make_literal(a, l->elements[i], &(*out)->tuple_literals[i]));
  return status_ok();
}
