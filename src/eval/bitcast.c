// bitcast and bitcast-convert: the same bits under another shape.
//
// bitcast-convert keeps the row-major order of elements and splits or joins them, low bits first. bitcast speaks of
// memory: the operand's elements in the order of the operand's layout, read in the order of the result's. Elements
// narrower than a byte are taken as packed, low bits first. Tiles leave gaps in memory, which read as zeros; where
// operand and result take different memory with their tiles, only the order of dims counts.
#include "eval/interpreter.h"
#include "eval/strided.h"
#include "hlo/tiled_layout.h"

static bool is_sub_byte(dtype t) { return dtypes[t].bits < 8; }

// Reads `count` elements of type `t` from a stream of bits into their one-per-byte form, or writes them. Those of six
// bits may lie across two bytes.
static void unpack(dtype t, int64_t count, const uint8_t *stream, uint8_t *elements) {
  const int bits = dtypes[t].bits, mask = (1 << bits) - 1;
  for (int64_t k = 0; k < count; k++) {
    const int64_t position = k * bits / 8;
    const int shift = (int)(k * bits % 8);
    int v = stream[position] >> shift;
    if (shift + bits > 8) v |= stream[position + 1] << (8 - shift);
    v &= mask;
    if (dtype_is_signed(t) && v >> (bits - 1)) v -= 1 << bits;
    elements[k] = (uint8_t)v;
  }
}

static void pack(dtype t, int64_t count, const uint8_t *elements, uint8_t *stream) {
  const int bits = dtypes[t].bits, mask = (1 << bits) - 1;
  memset(stream, 0, (size_t)((count * bits + 7) / 8));
  for (int64_t k = 0; k < count; k++) {
    const int64_t position = k * bits / 8;
    const int shift = (int)(k * bits % 8), v = (elements[k] & mask) << shift;
    stream[position] = (uint8_t)(stream[position] | v);
    if (shift + bits > 8) stream[position + 1] = (uint8_t)(stream[position + 1] | v >> 8);
  }
}

static int64_t stream_bytes(const shape *s) { return (shape_element_count(s) * dtypes[s->dtype].bits + 7) / 8; }

// Elements of `from` to elements of `to`, both in one linear order.
static heddle_status reinterpret(interpreter *in, const instruction *i, const shape *from, const void *data,
                                 const shape *to, void *result) {
  const int64_t bytes = stream_bytes(from);
  if (stream_bytes(to) != bytes) return interpreter_refuse(i, "shapes of different sizes");
  if (from->dtype == to->dtype) {
    memcpy(result, data, (size_t)(shape_element_count(from) * dtypes[from->dtype].bytes));
    return status_ok();
  }
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

enum { MAX_TILED_RANK = 3 * SHAPE_MAX_RANK };

// One index of an array on its way to a place in memory: dims from the most major to the most minor, more with each
// tile.
typedef struct memory_index {
  int rank;
  int64_t dims[MAX_TILED_RANK], index[MAX_TILED_RANK];
} memory_index;

static memory_index physical_index(const shape *s, const int64_t *index) {
  memory_index m = {.rank = s->rank};
  int64_t minor_to_major[SHAPE_MAX_RANK];
  shape_minor_to_major(s, minor_to_major);
  for (int k = 0; k < s->rank; k++) {
    const int64_t d = minor_to_major[s->rank - 1 - k];
    m.dims[k] = s->dims[d];
    m.index[k] = index[d];
  }
  return m;
}

// Splits the most minor dims in tiles and places within a tile.
static void apply_tile(memory_index *m, const layout_tile *t) {
  while (m->rank < t->rank) {
    memmove(m->dims + 1, m->dims, (size_t)m->rank * sizeof *m->dims);
    memmove(m->index + 1, m->index, (size_t)m->rank * sizeof *m->index);
    m->dims[0] = 1;
    m->index[0] = 0;
    m->rank++;
  }
  const int first = m->rank - t->rank;
  for (int k = 0; k < t->rank; k++) {
    const int outer = first + k, inner = m->rank + k;
    m->dims[inner] = t->dims[k];
    m->index[inner] = m->index[outer] % t->dims[k];
    m->index[outer] /= t->dims[k];
    m->dims[outer] = m->dims[outer] / t->dims[k] + (m->dims[outer] % t->dims[k] != 0);
  }
  m->rank += t->rank;
}

// The place of an element among the layout's slots, gaps included; `slots` is their number (saturated).
static int64_t memory_slot(const shape *s, const int64_t *index, int64_t *slots) {
  memory_index m = physical_index(s, index);
  for (int k = 0; s->layout && k < s->layout->tile_count; k++) apply_tile(&m, &s->layout->tiles[k]);
  int64_t slot = 0, total = 1;
  for (int k = 0; k < m.rank; k++) {
    slot = slot * m.dims[k] + m.index[k];
    if (__builtin_mul_overflow(total, m.dims[k], &total)) total = INT64_MAX;
  }
  *slots = total;
  return slot;
}

// What each index of each dim adds to an element's slot: tiles split every dim on its own.
static int64_t **slot_parts(arena *scratch, const shape *s) {
  int64_t **parts = arena_array(scratch, int64_t *, s->rank), index[SHAPE_MAX_RANK] = {0}, slots;
  for (int d = 0; d < s->rank; d++) {
    parts[d] = arena_array(scratch, int64_t, s->dims[d]);
    for (index[d] = 0; index[d] < s->dims[d]; index[d]++) parts[d][index[d]] = memory_slot(s, index, &slots);
    index[d] = 0;
  }
  return parts;
}

// Moves elements between row-major order and the slots of a layout, row by row.
static void move_elements(arena *scratch, const shape *s, char *elements, char *memory, bool to_memory) {
  const size_t size = (size_t)dtypes[s->dtype].bytes;
  const int last = s->rank - 1;
  int64_t index[SHAPE_MAX_RANK] = {0};
  if (strided_is_empty(s->rank, s->dims)) return;
  if (s->rank == 0) {
    memcpy(to_memory ? memory : elements, to_memory ? elements : memory, size);
    return;
  }
  int64_t **parts = slot_parts(scratch, s);
  do {
    int64_t row = 0;
    for (int d = 0; d < last; d++) row += parts[d][index[d]];
    for (int64_t k = 0; k < s->dims[last]; k++, elements += size) {
      char *slot = memory + (size_t)(row + parts[last][k]) * size;
      memcpy(to_memory ? slot : elements, to_memory ? elements : slot, size);
    }
  } while (strided_next(last, s->dims, index));
}

// A line of as many elements as the layout has slots.
static heddle_status create_memory(interpreter *in, const instruction *i, const shape *s, arena *scratch, value **out) {
  int64_t slots;
  const int64_t origin[SHAPE_MAX_RANK] = {0};
  memory_slot(s, origin, &slots);
  const shape *line = shape_array(scratch, s->dtype, 1, &slots);
  TRY(shape_check(line, i->where));
  TRY(value_create(&in->pool, line, i->where, out));
  memset((*out)->data, 0, (size_t)shape_byte_size(line));
  return status_ok();
}

static heddle_status read_memory(interpreter *in, const instruction *i, const shape *to, const value *before,
                                 arena *scratch, value *result) {
  value *after;
  TRY(create_memory(in, i, to, scratch, &after));
  heddle_status status = reinterpret(in, i, before->shape, before->data, after->shape, after->data);
  if (status_is_ok(status)) move_elements(scratch, to, result->data, after->data, false);
  value_release(after);
  return status;
}

static const shape *without_tiles(arena *a, const shape *s) {
  if (!tiled_layout_has_tiles(s)) return s;
  layout *order = arena_new(a, layout);
  order->minor_to_major = s->layout->minor_to_major;
  return shape_with_layout(a, s, order);
}

static heddle_status through_memory(interpreter *in, const instruction *i, const shape *from, const value *operand,
                                    arena *scratch, value *result) {
  value *before;
  const bool has_tiles = tiled_layout_matters(from, i->shape);
  const shape *to = has_tiles ? i->shape : without_tiles(scratch, i->shape);
  if (!has_tiles) from = without_tiles(scratch, from);
  TRY(create_memory(in, i, from, scratch, &before));
  move_elements(scratch, from, operand->data, before->data, true);
  heddle_status status = read_memory(in, i, to, before, scratch, result);
  value_release(before);
  return status;
}

static bool is_plain(const shape *s) { return shape_layout_is_default(s) && !tiled_layout_has_tiles(s); }

heddle_status eval_bitcast(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *from = instruction_operand_shape(i, 0);
  if (shape_equal(from, i->shape)) return eval_first_operand(in, i, operands, out);
  if (!shape_is_array(from) || !shape_is_array(i->shape)) return interpreter_refuse(i, "tuples");
  if (is_plain(from) && is_plain(i->shape)) return eval_bitcast_convert(in, i, operands, out);
  if (!tiled_layout_is_known(from, i->shape)) return interpreter_refuse(i, "layouts of this kind");
  value *result;
  TRY(value_create(&in->pool, i->shape, i->where, &result));
  arena *scratch = arena_create();
  heddle_status status = through_memory(in, i, from, operands[0], scratch, result);
  arena_destroy(scratch);
  if (status_is_ok(status)) *out = result;
  else value_release(result);
  return status;
}
