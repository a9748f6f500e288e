// Values in bytecode: integers, floats, and dense elements as raw bytes, a splat as a single element.
#include "vhlo/bytecode_reader.h"

enum { BITS_PER_BYTE = 8 };

static bool is_narrow_integer(dtype t) { return dtype_is_integer(t) && dtypes[t].bits < BITS_PER_BYTE; }

bool bytecode_expand(bytecode *b, size_t offset, int64_t bytes) {
  if (bytes <= b->most_expanded - b->expanded) {
    b->expanded += bytes;
    return true;
  }
  return bytecode_refuse(b, offset, "found repeated values of more than %lld bytes in all",
                         (long long)b->most_expanded);
}

// Numbers of less than eight bits take a byte each; its upper bits may hold anything.
static void normalize(literal *l, int64_t count) {
  dtype t = l->shape->dtype;
  uint8_t *bytes = l->data;
  if (t == DTYPE_PRED)
    for (int64_t i = 0; i < count; i++) bytes[i] = bytes[i] != 0;
  if (dtype_is_float(t) && dtypes[t].bits < BITS_PER_BYTE)
    for (int64_t i = 0; i < count; i++) bytes[i] &= (uint8_t)((1 << dtypes[t].bits) - 1);
  if (!is_narrow_integer(t)) return;
  int unused = BITS_PER_BYTE - dtypes[t].bits;
  for (int64_t i = 0; i < count; i++) {
    uint8_t shifted = (uint8_t)(bytes[i] << unused);
    bytes[i] = dtype_is_signed(t) ? (uint8_t)((int8_t)shifted >> unused) : (uint8_t)(shifted >> unused);
  }
}

static bool fill_splat(bytecode_cursor *c, size_t start, literal *l, int64_t count, int width, const char *element) {
  if (!bytecode_expand(c->b, start, count * width)) return false;
  for (int64_t i = 0; i < count; i++) memcpy((char *)l->data + i * width, element, (size_t)width);
  return true;
}

// Whether the bytes are one element of many (ir.h: these are not written out).
static bool is_long_splat(const shape *s, str blob) {
  return shape_element_count(s) > IR_MOST_REPEATED && blob.size == (size_t)dtypes[s->dtype].bytes;
}

// Booleans are bits, except in files of a short time when they were bytes; all true is the byte 0xff.
static bool fill_booleans(bytecode_cursor *c, size_t start, literal *l, int64_t count, str blob) {
  uint8_t *out = l->data;
  int64_t packed = (count + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
  const uint8_t *in = (const uint8_t *)blob.data;
  if (blob.size == 1 && (in[0] == 0xff || packed != 1)) return fill_splat(c, start, l, count, 1, blob.data);
  if ((int64_t)blob.size == count) {
    if (count) memcpy(out, in, blob.size);
    return true;
  }
  if ((int64_t)blob.size != packed)
    return bytecode_fail(c->b, start, "found %zu bytes, wanted %lld booleans", blob.size, (long long)count);
  for (int64_t i = 0; i < count; i++) out[i] = (in[i / BITS_PER_BYTE] >> (i % BITS_PER_BYTE)) & 1;
  return true;
}

static bool fill(bytecode_cursor *c, size_t start, literal *l, str blob) {
  int64_t count = shape_element_count(l->shape);
  int width = dtypes[l->shape->dtype].bytes;
  if (l->shape->dtype == DTYPE_PRED) return fill_booleans(c, start, l, count, blob);
  if (blob.size == (uint64_t)count * (uint64_t)width) {
    if (blob.size) memcpy(l->data, blob.data, blob.size);
    return true;
  }
  if (blob.size == (size_t)width) return fill_splat(c, start, l, count, width, blob.data);
  return bytecode_fail(c->b, start, "found %zu bytes, wanted %lld elements of %d bytes or one", blob.size,
                       (long long)count, width);
}

// Before any memory is taken: more bytes than the file has can only be a splat, which has its own limit.
static bool check_size(bytecode_cursor *c, size_t start, const shape *s, str blob) {
  bytecode *b = c->b;
  int64_t size = shape_byte_size(s);
  if (s->dtype != DTYPE_PRED && size == (int64_t)blob.size) return true;
  if (size > b->most_expanded - b->expanded) return bytecode_expand(b, start, size);
  if (s->dtype != DTYPE_PRED && blob.size != (size_t)dtypes[s->dtype].bytes)
    return bytecode_fail(b, start, "found %zu bytes for elements of %lld", blob.size, (long long)size);
  return true;
}

bool bytecode_literal(bytecode_cursor *c, const ir_type *type, str blob, literal **out) {
  bytecode *b = c->b;
  size_t start = c->at;
  const shape *s;
  if (type->element && type->element->kind == IR_TYPE_OPAQUE)
    return bytecode_refuse(b, start, "found elements of type " STR_FMT ", which HLO does not have",
                           STR_ARG(type->element->text));
  if (type->kind != IR_TYPE_TENSOR || !ir_type_is_static(type) || ir_type_dtype(type) == DTYPE_INVALID)
    return bytecode_fail(b, start, "found elements of another type, wanted a tensor of static shape");
  heddle_status status = ir_type_shape(b->arena, type, bytecode_where(b, start), &s);
  if (status_is_ok(status)) {
    if (is_long_splat(s, blob)) s = shape_scalar(b->arena, s->dtype);
    if (!check_size(c, start, s, blob)) return false;
    status = literal_create(b->arena, s, out);
  }
  if (!status_is_ok(status)) {
    b->status = status_context(status, "while reading the elements at byte %zu", start);
    return false;
  }
  if (!fill(c, start, *out, blob)) return false;
  normalize(*out, shape_element_count(s));
  return true;
}

bool bytecode_elements(bytecode_cursor *c, const ir_type *type, str blob, const ir_attribute **out) {
  literal *value;
  if (!bytecode_literal(c, type, blob, &value)) return false;
  *out = ir_elements_attribute(c->b->arena, type, value);
  return true;
}

bool bytecode_integer_attribute(bytecode_cursor *c, const ir_type *type, const ir_attribute **out) {
  uint64_t bits;
  size_t start = c->at;
  dtype t = type->kind == IR_TYPE_SCALAR || type->kind == IR_TYPE_INDEX ? ir_type_dtype(type) : DTYPE_INVALID;
  if (t != DTYPE_PRED && !dtype_is_integer(t)) return bytecode_fail(c->b, start, "found an integer of another type");
  if (!bytecode_number(c, t == DTYPE_PRED ? 1 : dtypes[t].bits, &bits)) return false;
  if (t == DTYPE_PRED) {
    *out = ir_bool_attribute(c->b->arena, bits & 1);
    return true;
  }
  ir_attribute *x = ir_attribute_new(c->b->arena, IR_ATTR_INTEGER);
  int unused = 64 - dtypes[t].bits;
  bits <<= unused;
  x->integer = dtype_is_signed(t) ? (int64_t)bits >> unused : (int64_t)(bits >> unused);
  x->type = type;
  *out = x;
  return true;
}

bool bytecode_float_attribute(bytecode_cursor *c, const ir_type *type, const ir_attribute **out) {
  uint64_t bits;
  size_t start = c->at;
  if (type->kind != IR_TYPE_SCALAR || !dtype_is_float(type->dtype))
    return bytecode_refuse(c->b, start, "found a number of a type that is no floating-point type of HLO");
  if (!bytecode_number(c, dtypes[type->dtype].bits, &bits)) return false;
  ir_attribute *x = ir_attribute_new(c->b->arena, IR_ATTR_FLOAT);
  if (type->dtype == DTYPE_F64) memcpy(&x->number, &bits, sizeof bits);
  else if (dtypes[type->dtype].is_narrow_float)
    x->number = float_decode(dtypes[type->dtype].narrow, (uint32_t)bits & ((1u << dtypes[type->dtype].bits) - 1));
  else {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    x->number = (double)value;
  }
  x->type = type;
  *out = x;
  return true;
}
