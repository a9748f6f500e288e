// bitcast and bitcast-convert: the same bits under another shape.
//
// bitcast-convert keeps the row-major order of elements and splits or joins them, low bits first. bitcast speaks of
// memory: the operand's elements in the order of the operand's layout, read in the order of the result's. Elements
// narrower than a byte are taken as packed, low bits first.
#include "eval/interpreter.h"
#include "eval/strided.h"

static bool is_sub_byte(dtype t) { return dtypes[t].bits < 8; }

// Reads `count` elements of type `t` from a stream of bits into their one-per-byte form, or writes them.
static void unpack(dtype t, int64_t count, const uint8_t *stream, uint8_t *elements) {
  const int bits = dtypes[t].bits, per_byte = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t k = 0; k < count; k++) {
    int v = stream[k / per_byte] >> (k % per_byte * bits) & mask;
    if (dtype_is_signed(t) && v >> (bits - 1)) v -= 1 << bits;
    elements[k] = (uint8_t)v;
  }
}

static void pack(dtype t, int64_t count, const uint8_t *elements, uint8_t *stream) {
  const int bits = dtypes[t].bits, per_byte = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t k = 0; k < count; k++) {
    int shift = (int)(k % per_byte) * bits;
    uint8_t kept = shift ? stream[k / per_byte] : 0;
    stream[k / per_byte] = (uint8_t)(kept | (elements[k] & mask) << shift);
  }
}

static int64_t stream_bytes(const shape *s) { return (shape_element_count(s) * dtypes[s->dtype].bits + 7) / 8; }

// Elements of `from` to elements of `to`, both in one linear order.
static heddle_status reinterpret(interpreter *in, const instruction *i, const shape *from, const void *data,
                                 const shape *to, void *result) {
  const int64_t bytes = stream_bytes(from);
  if (stream_bytes(to) != bytes) return interpreter_refuse(i, "shapes of different sizes");
  if (!is_sub_byte(from->dtype) && !is_sub_byte(to->dtype)) {
    memcpy(result, data, (size_t)bytes);
  } else {
    const shape stream_shape = {.dtype = DTYPE_U8, .rank = 1, .dims = &bytes};
    value *stream;
    TRY(value_create(&in->pool, &stream_shape, i->where, &stream));
    if (is_sub_byte(from->dtype)) pack(from->dtype, shape_element_count(from), data, stream->data);
    else memcpy(stream->data, data, (size_t)bytes);
    if (is_sub_byte(to->dtype)) unpack(to->dtype, shape_element_count(to), stream->data, result);
    else memcpy(result, stream->data, (size_t)bytes);
    value_release(stream);
  }
  uint8_t *preds = result;
  if (to->dtype == DTYPE_PRED)
    for (int64_t k = 0; k < bytes; k++) preds[k] = preds[k] != 0;
  return status_ok();
}

heddle_status eval_bitcast_convert(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(value_create(&in->pool, i->shape, i->where, out));
  heddle_status status = reinterpret(in, i, operands[0]->shape, operands[0]->data, i->shape, (*out)->data);
  if (!status_is_ok(status)) value_release(*out);
  return status;
}

// The dims from the most major to the most minor one in memory, and the row-major strides they have in a literal.
static void physical_order(const shape *s, int64_t *dims, int64_t *logical, int64_t *physical) {
  int64_t minor_to_major[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  shape_minor_to_major(s, minor_to_major);
  shape_strides(s, strides);
  int64_t stride = 1;
  for (int k = 0; k < s->rank; k++) {
    const int at = s->rank - 1 - k;
    dims[at] = s->dims[minor_to_major[k]];
    logical[at] = strides[minor_to_major[k]];
    physical[at] = stride;
    stride *= dims[at];
  }
}

static void to_memory_order(const shape *s, const void *elements, void *memory) {
  int64_t dims[SHAPE_MAX_RANK], logical[SHAPE_MAX_RANK], physical[SHAPE_MAX_RANK];
  physical_order(s, dims, logical, physical);
  strided_copy(dtypes[s->dtype].bytes, s->rank, dims, memory, physical, elements, logical);
}

static void from_memory_order(const shape *s, const void *memory, void *elements) {
  int64_t dims[SHAPE_MAX_RANK], logical[SHAPE_MAX_RANK], physical[SHAPE_MAX_RANK];
  physical_order(s, dims, logical, physical);
  strided_copy(dtypes[s->dtype].bytes, s->rank, dims, elements, logical, memory, physical);
}

static bool is_tiled(const shape *s) { return s->layout && s->layout->tile_count > 0; }

static heddle_status through_memory(interpreter *in, const instruction *i, const shape *from, const value *operand,
                                    value *before, value *after, value *result) {
  to_memory_order(from, operand->data, before->data);
  TRY(reinterpret(in, i, from, before->data, i->shape, after->data));
  from_memory_order(i->shape, after->data, result->data);
  return status_ok();
}

heddle_status eval_bitcast(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *from = instruction_operand_shape(i, 0);
  if (shape_equal(from, i->shape)) return eval_first_operand(in, i, operands, out);
  if (!shape_is_array(from) || !shape_is_array(i->shape)) return interpreter_refuse(i, "tuples");
  if (is_tiled(from) || is_tiled(i->shape)) return interpreter_refuse(i, "tiled layouts");
  if (shape_layout_is_default(from) && shape_layout_is_default(i->shape))
    return eval_bitcast_convert(in, i, operands, out);
  value *before = NULL, *after = NULL, *result = NULL;
  heddle_status status = value_create(&in->pool, from, i->where, &before);
  if (status_is_ok(status)) status = value_create(&in->pool, i->shape, i->where, &after);
  if (status_is_ok(status)) status = value_create(&in->pool, i->shape, i->where, &result);
  if (status_is_ok(status)) status = through_memory(in, i, from, operands[0], before, after, result);
  value_release(before);
  value_release(after);
  if (status_is_ok(status)) *out = result;
  else value_release(result);
  return status;
}
