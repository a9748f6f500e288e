// Values of tensors: dense<...> with nested lists, one value for all elements or bytes in hexadecimal;
// dense_resource<...>, whose bytes stand at the end of the file; and array<...>.
//
// The type stands behind the value but says how to read it, so the reader skips the value, reads the type, and goes
// back. Memory is bounded by the text except for splats, which have a budget if they are written out (ir.h says when).
#include <inttypes.h>

#include "mlir/parser.h"

// Elements of complex types are two of their part type.
typedef struct element_writer {
  literal *l;
  dtype part;
  bool is_complex;
  int64_t next;
} element_writer;

static void store(const element_writer *w, int64_t i, uint64_t bits) {
  int bytes = dtypes[w->part].bytes;
  char *to = (char *)w->l->data + i * bytes;
  switch (bytes) {
    case 1: *(uint8_t *)to = (uint8_t)bits; break;
    case 2: *(uint16_t *)(void *)to = (uint16_t)bits; break;
    case 4: *(uint32_t *)(void *)to = (uint32_t)bits; break;
    default: *(uint64_t *)(void *)to = bits; break;
  }
}

static bool part(mlir_parser *p, const element_writer *w, int64_t i) {
  mlir_number_text n;
  uint64_t bits = 0;
  if (p->kind == MLIR_STRING) return mlir_found(p, "a number: tensors of strings are not supported");
  if (!mlir_take_number(p, &n) || !mlir_number_bits(p, &n, w->part, &bits)) return false;
  store(w, i, bits);
  return true;
}

static bool element(mlir_parser *p, element_writer *w) {
  int64_t i = w->next++;
  if (!w->is_complex) return part(p, w, i);
  return mlir_expect(p, "(") && part(p, w, 2 * i) && mlir_expect(p, ",") && part(p, w, 2 * i + 1) &&
         mlir_expect(p, ")");
}

// One list for each index of the dim.
static bool nested_list(mlir_parser *p, element_writer *w, int dim) {
  const shape *s = w->l->shape;
  if (dim == s->rank) return element(p, w);
  size_t offset = p->tok_offset;
  int64_t count = 0;
  if (!mlir_expect(p, "[")) return false;
  while (!mlir_at(p, "]")) {
    if (count && !mlir_expect(p, ",")) return false;
    if (count == s->dims[dim])
      return mlir_error(p, p->tok_offset, "found more than the %" PRId64 " elements that dim %d has", count, dim);
    if (!nested_list(p, w, dim + 1)) return false;
    count++;
  }
  mlir_advance(p);
  if (count != s->dims[dim])
    return mlir_error(p, offset, "found %" PRId64 " elements, wanted %" PRId64 " for dim %d", count, s->dims[dim], dim);
  return true;
}

// --- bytes

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode_bytes(mlir_parser *p, str hex, size_t offset, uint8_t *to) {
  for (size_t i = 0; i + 1 < hex.size; i += 2) {
    int high = hex_value(hex.data[i]), low = hex_value(hex.data[i + 1]);
    if (high < 0 || low < 0) return mlir_error(p, offset, "found a character that is no hexadecimal digit");
    to[i / 2] = (uint8_t)(high * 16 + low);
  }
  return true;
}

// Eight to a byte, as MLIR has stored truth values for most of its life.
static void unpack_bits(literal *l, int64_t count) {
  uint8_t *data = l->data;
  for (int64_t i = count - 1; i >= 0; i--) data[i] = (data[i / 8] >> (i % 8)) & 1;
}

// Bytes of preds may hold more than 0 and 1, those of narrow integers more than their bits.
static void clean(literal *l, int64_t count) {
  dtype t = l->shape->dtype;
  uint8_t *data = l->data;
  if (t == DTYPE_PRED)
    for (int64_t i = 0; i < count; i++) data[i] = data[i] != 0;
  else if (dtype_is_integer(t) && dtypes[t].bits < 8)
    for (int64_t i = 0; i < count; i++) literal_set_int(l, i, literal_get_int(l, i));
  else if (dtypes[t].bits < 8)
    for (int64_t i = 0; i < count; i++) data[i] &= (uint8_t)((1 << dtypes[t].bits) - 1);
}

// How many bytes of splats there may be is bounded: they are not in the text.
static bool spend(mlir_parser *p, size_t offset, const shape *s) {
  int64_t size = shape_byte_size(s);
  if (size > p->expansion_left)
    return mlir_error(p, offset, "found a value of %s that repeats one element, wanted less than 2 GiB of such values",
                      shape_text(p->scratch, s));
  p->expansion_left -= size;
  return true;
}

static bool create(mlir_parser *p, size_t offset, const shape *s, literal **out) {
  heddle_status status = literal_create(p->arena, s, out);
  bool is_ok = status_is_ok(status);
  if (!is_ok && status_is_ok(p->status) && heddle_status_code(status) == HEDDLE_OUT_OF_MEMORY) {
    p->status = status;
    return false;
  }
  if (!is_ok) mlir_error(p, offset, "found a value too large: %s", shape_text(p->scratch, s));
  heddle_status_free(status);
  return is_ok;
}

static bool create_element(mlir_parser *p, size_t offset, const shape *s, literal **out) {
  return create(p, offset, shape_scalar(p->arena, s->dtype), out);
}

// A value of that shape which repeats one element, of which many are not written out.
static bool repeat(mlir_parser *p, size_t offset, const shape *s, literal *element, literal **out) {
  *out = element;
  if (shape_element_count(s) > IR_MOST_REPEATED) return true;
  if (!spend(p, offset, s) || !create(p, offset, s, out)) return false;
  literal_repeat(*out, element);
  return true;
}

static bool hex_elements(mlir_parser *p, str hex, size_t offset, const shape *s, literal **out) {
  int64_t count = shape_element_count(s), bytes = dtypes[s->dtype].bytes;
  int64_t size = (int64_t)(hex.size / 2), packed = count / 8 + (count % 8 != 0);
  bool is_pred = s->dtype == DTYPE_PRED, is_splat = count != 1 && size == bytes && !(is_pred && count <= 8);
  bool is_packed = is_pred && count > 1 && size == packed && !is_splat;
  if (hex.size % 2) return mlir_error(p, offset, "found an odd number of hexadecimal digits");
  if (!is_splat && !is_packed && (size % bytes || size / bytes != count))
    return mlir_error(p, offset, "found %" PRId64 " bytes, wanted %" PRId64 " elements of %" PRId64 " bytes", size,
                      count, bytes);
  if (is_splat) {
    literal *one;
    if (!create_element(p, offset, s, &one) || !decode_bytes(p, hex, offset, one->data)) return false;
    clean(one, 1);
    return repeat(p, offset, s, one, out);
  }
  if (!create(p, offset, s, out)) return false;
  if (count == 0) return true;
  if (!decode_bytes(p, hex, offset, (*out)->data)) return false;
  if (is_packed) unpack_bits(*out, count);
  clean(*out, count);
  return true;
}

// --- dense

static bool listed_elements(mlir_parser *p, size_t text_size, const shape *s, literal **out) {
  element_writer w = {.part = dtype_is_complex(s->dtype) ? dtypes[s->dtype].part : s->dtype,
                      .is_complex = dtype_is_complex(s->dtype)};
  size_t offset = p->tok_offset;
  int64_t count = shape_element_count(s);
  if (!mlir_at(p, "[")) return create_element(p, offset, s, &w.l) && element(p, &w) && repeat(p, offset, s, w.l, out);
  if (count > (int64_t)text_size)
    return mlir_error(p, offset, "found fewer than the %" PRId64 " elements of the type", count);
  if (!create(p, offset, s, out)) return false;
  w.l = *out;
  return nested_list(p, &w, 0);
}

static bool values(mlir_parser *p, size_t text_size, const shape *s, literal **out) {
  size_t offset = p->tok_offset;
  if (mlir_at(p, ">")) {
    if (shape_element_count(s) != 0)
      return mlir_error(p, offset, "found no elements, wanted those of %s", shape_text(p->scratch, s));
    return create(p, offset, s, out);
  }
  if (p->kind != MLIR_STRING) return listed_elements(p, text_size, s, out);
  str hex = {p->tok.data + 1, p->tok.size - 2};
  if (!str_starts_with(hex, "0x")) return mlir_found(p, "a number or \"0x...\": tensors of strings are not supported");
  mlir_advance(p);
  return hex_elements(p, (str){hex.data + 2, hex.size - 2}, offset + 3, s, out);
}

// `: type`, and its shape; null for element types that HLO lacks, whose values are kept as text.
static bool elements_type(mlir_parser *p, const ir_type **type, const shape **s) {
  *s = NULL;
  if (!mlir_expect(p, ":")) return false;
  size_t offset = p->tok_offset;
  if (!mlir_type(p, type)) return false;
  if ((*type)->kind != IR_TYPE_TENSOR || !ir_type_is_static(*type))
    return mlir_error(p, offset, "found another type of a value, wanted a tensor with fixed dims");
  if ((*type)->element->kind == IR_TYPE_OPAQUE) return true;
  heddle_status status = ir_type_shape(p->arena, *type, mlir_where(p, offset), s);
  bool is_ok = status_is_ok(status) || mlir_error(p, offset, "%s", status_brief(status));
  heddle_status_free(status);
  return is_ok;
}

static void keep_text(const mlir_parser *p, size_t start, const ir_type *type, const ir_attribute **out) {
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_OPAQUE);
  x->type = type;
  x->text = str_copy(p->arena, (str){p->source.data + start, p->last_end - start});
  *out = x;
}

bool mlir_dense(mlir_parser *p, const ir_attribute **out) {
  const ir_type *type;
  const shape *s;
  literal *l = NULL;
  str body;
  size_t start = p->tok_offset;
  mlir_advance(p);
  size_t values_start = p->position;
  if (!mlir_at(p, "<")) return mlir_found(p, "'<'");
  if (!mlir_balanced(p, &body) || !elements_type(p, &type, &s)) return false;
  size_t end = p->tok_offset, last_end = p->last_end;
  if (!s) {
    keep_text(p, start, type, out);
    return true;
  }
  mlir_move(p, values_start);
  if (!values(p, body.size, s, &l) || !mlir_expect(p, ">")) return false;
  mlir_move(p, end);
  p->last_end = last_end;
  *out = ir_elements_attribute(p->arena, type, l);
  return true;
}

// The blob starts with its alignment, four bytes that do not matter here.
bool mlir_dense_resource(mlir_parser *p, const ir_attribute **out) {
  enum { PREFIX = 1 + 2 + 8 };  // quote, 0x, alignment
  const ir_type *type;
  const shape *s;
  literal *l = NULL;
  str quoted;
  size_t start = p->tok_offset;
  mlir_advance(p);
  size_t offset = p->tok_offset;
  if (!mlir_expect(p, "<") || !mlir_resource(p, &quoted) || !mlir_expect(p, ">") || !elements_type(p, &type, &s))
    return false;
  // Kept as text it would lose its bytes, which are printed with the values.
  if (!s) return mlir_error(p, start, "found a resource of an element type that cannot be read");
  if (quoted.size < PREFIX + 1 || memcmp(quoted.data, "\"0x", 3) != 0)
    return mlir_error(p, offset, "found a resource without bytes");
  str hex = {quoted.data + PREFIX, quoted.size - PREFIX - 1};
  size_t position = (size_t)(hex.data - p->source.data);
  if (!hex_elements(p, hex, position, s, &l)) return false;
  *out = ir_elements_attribute(p->arena, type, l);
  return true;
}

// --- array<...>

typedef struct number_list {
  VEC(int64_t) integers;
  VEC(double) numbers;
} number_list;

static bool array_element(mlir_parser *p, const ir_type *type, number_list *list) {
  const ir_attribute *x;
  if (!mlir_number_attribute(p, type, &x)) return false;
  if (x->kind == IR_ATTR_FLOAT) vec_push(p->arena, &list->numbers, x->number);
  else vec_push(p->arena, &list->integers, x->integer);
  return true;
}

bool mlir_dense_array(mlir_parser *p, const ir_attribute **out) {
  number_list list = {0};
  const ir_type *type;
  mlir_advance(p);
  if (!mlir_expect(p, "<")) return false;
  size_t offset = p->tok_offset;
  if (!mlir_type(p, &type)) return false;
  if (type->kind != IR_TYPE_SCALAR || dtype_is_complex(type->dtype))
    return mlir_error(p, offset, "found another type of an array's elements, wanted an integer or floating point type");
  if (mlir_take(p, ":")) {
    do {
      if (!array_element(p, type, &list)) return false;
    } while (mlir_take(p, ","));
  }
  ir_attribute *x = ir_attribute_new(p->arena, dtype_is_float(type->dtype) ? IR_ATTR_FLOATS : IR_ATTR_INTEGERS);
  x->type = type;
  x->count = dtype_is_float(type->dtype) ? list.numbers.size : list.integers.size;
  x->integers = list.integers.data;
  x->numbers = list.numbers.data;
  *out = x;
  return mlir_expect(p, ">");
}
