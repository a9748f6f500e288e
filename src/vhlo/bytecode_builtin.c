// The builtin dialect's types, attributes and locations in bytecode. The tables are indexed by MLIR's codes.
#include "vhlo/bytecode_reader.h"

static ir_attribute *attribute_new(bytecode_cursor *c, bytecode_entry *entry, ir_attribute_kind kind) {
  ir_attribute *x = ir_attribute_new(c->b->arena, kind);
  entry->attribute = x;
  return x;
}

static bool read_typed_string(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_type *type;
  return bytecode_read_string(c, entry) && bytecode_type(c, &type);
}

static bool read_symbol(bytecode_cursor *c, bytecode_entry *entry) {
  return bytecode_string_attribute(c, &attribute_new(c, entry, IR_ATTR_SYMBOL)->text);
}

static bool read_nested_symbol(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_attribute **nested;
  int count;
  size_t start = c->at;
  if (!read_symbol(c, entry) || !bytecode_attributes(c, &count, &nested)) return false;
  ir_attribute *x = ir_attribute_new(c->b->arena, IR_ATTR_SYMBOL);
  text joined = {0};
  text_append(&joined, entry->attribute->text);
  bool are_symbols = true;
  for (int i = 0; i < count; i++) {
    are_symbols &= nested[i]->kind == IR_ATTR_SYMBOL;
    text_puts(&joined, "::");
    text_append(&joined, nested[i]->text);
  }
  x->text = str_copy(c->b->arena, text_view(&joined));
  text_free(&joined);
  entry->attribute = x;
  return are_symbols || bytecode_fail(c->b, start, "found another attribute, wanted a symbol");
}

static bool read_unit(bytecode_cursor *c, bytecode_entry *entry) {
  attribute_new(c, entry, IR_ATTR_UNIT);
  return true;
}

// Only the callee: the place itself. What follows is where that was called from.
static bool read_call_site(bytecode_cursor *c, bytecode_entry *entry) {
  int caller;
  return bytecode_location(c, &entry->location) && bytecode_index(c, c->b->attribute_count, "location", &caller);
}

static bool read_file_place(bytecode_cursor *c, bytecode_entry *entry) {
  uint64_t line, column;
  ir_location *l = arena_new(c->b->arena, ir_location);
  if (!bytecode_string_attribute(c, &l->file) || !bytecode_varint(c, &line) || !bytecode_varint(c, &column))
    return false;
  l->line = line > INT32_MAX ? 0 : (int)line;
  l->column = column > INT32_MAX ? 0 : (int)column;
  entry->location = l;
  return true;
}

// A range of places: of up to four numbers the first two are the line and the column it starts at.
static bool read_file_range(bytecode_cursor *c, bytecode_entry *entry) {
  enum { NUMBERS = 4 };
  uint64_t number;
  int count, starts[NUMBERS] = {0};
  ir_location *l = arena_new(c->b->arena, ir_location);
  if (!bytecode_string_attribute(c, &l->file) || !bytecode_count(c, &count)) return false;
  if (count > NUMBERS) return bytecode_fail(c->b, c->at, "found a range of %d numbers, wanted at most 4", count);
  for (int i = 0; i < count; i++) {
    if (!bytecode_varint(c, &number)) return false;
    starts[i] = number > INT32_MAX ? 0 : (int)number;
  }
  l->line = starts[0];
  l->column = starts[1];
  entry->location = l;
  return true;
}

static void merge_location(ir_location *to, const ir_location *from) {
  if (!to->name.size) to->name = from->name;
  if (!to->file.size) {
    to->file = from->file;
    to->line = from->line;
    to->column = from->column;
  }
}

static bool read_fused(bytecode_cursor *c, bytecode_entry *entry) {
  int count;
  const ir_location *part;
  ir_location *l = arena_new(c->b->arena, ir_location);
  entry->location = l;
  if (!bytecode_count(c, &count)) return false;
  for (int i = 0; i < count; i++) {
    if (!bytecode_location(c, &part)) return false;
    merge_location(l, part);
  }
  return true;
}

static bool read_fused_with_metadata(bytecode_cursor *c, bytecode_entry *entry) {
  int metadata;
  return read_fused(c, entry) && bytecode_index(c, c->b->attribute_count, "attribute", &metadata);
}

static bool read_name(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_location *child;
  ir_location *l = arena_new(c->b->arena, ir_location);
  if (!bytecode_string_attribute(c, &l->name) || !bytecode_location(c, &child)) return false;
  merge_location(l, child);
  entry->location = l;
  return true;
}

static bool read_unknown(bytecode_cursor *c, bytecode_entry *entry) {
  entry->location = arena_new(c->b->arena, ir_location);
  return true;
}

static bool read_resource(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_type *type;
  int index;
  if (!bytecode_type(c, &type) || !bytecode_index(c, c->b->resource_count, "resource", &index)) return false;
  str blob = c->b->resources[index];
  return bytecode_expand(c->b, entry->offset, (int64_t)blob.size) &&
         bytecode_elements(c, type, blob, &entry->attribute);
}

static bool fill_array(bytecode_cursor *c, ir_attribute *x, const literal *values) {
  if (x->kind == IR_ATTR_FLOATS) {
    double *numbers = arena_array(c->b->arena, double, x->count);
    for (int i = 0; i < x->count; i++) numbers[i] = literal_get_double(values, i);
    x->numbers = numbers;
    return true;
  }
  int64_t *integers = arena_array(c->b->arena, int64_t, x->count);
  const bool is_boolean = x->type->dtype == DTYPE_PRED;
  for (int i = 0; i < x->count; i++) {
    const int64_t value = literal_get_int(values, i);
    integers[i] = is_boolean ? value != 0 : value;
  }
  x->integers = integers;
  return true;
}

// array<i64: ...>: read as elements of a one-dimensional tensor. Booleans take a byte each here.
static bool read_dense_array(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_type *element;
  literal *elements;
  str blob;
  int64_t size;
  uint64_t count;
  size_t start = c->at;
  if (!bytecode_type(c, &element) || !bytecode_varint(c, &count) || !bytecode_blob(c, &blob)) return false;
  if (element->kind != IR_TYPE_SCALAR || dtype_is_complex(element->dtype))
    return bytecode_fail(c->b, start, "found an array of another type, wanted an integer or floating point type");
  if (count > blob.size)
    return bytecode_fail(c->b, start, "found an array of %llu elements in %zu bytes", (unsigned long long)count,
                         blob.size);
  size = (int64_t)count;
  bool is_boolean = element->dtype == DTYPE_PRED;
  const ir_type *stored = is_boolean ? ir_scalar_type(c->b->arena, DTYPE_U8) : element;
  if (!bytecode_literal(c, ir_tensor_type(c->b->arena, 1, &size, stored), blob, &elements)) return false;
  bool is_float = dtype_is_float(element->dtype);
  ir_attribute *x = attribute_new(c, entry, is_float ? IR_ATTR_FLOATS : IR_ATTR_INTEGERS);
  x->type = element;
  x->count = (int)count;
  return fill_array(c, x, elements);
}

static bool read_distinct(bytecode_cursor *c, bytecode_entry *entry) {
  return bytecode_attribute(c, &entry->attribute);
}

// MLIR's codes of builtin attributes and locations; 19 and 20 are elements that StableHLO has no use for.
enum {
  BUILTIN_ARRAY,
  BUILTIN_DICTIONARY,
  BUILTIN_STRING,
  BUILTIN_STRING_WITH_TYPE,
  BUILTIN_FLAT_SYMBOL_REF,
  BUILTIN_SYMBOL_REF,
  BUILTIN_TYPE,
  BUILTIN_UNIT,
  BUILTIN_INTEGER,
  BUILTIN_FLOAT,
  BUILTIN_CALL_SITE_LOC,
  BUILTIN_FILE_LINE_COL_LOC,
  BUILTIN_FUSED_LOC,
  BUILTIN_FUSED_LOC_WITH_METADATA,
  BUILTIN_NAME_LOC,
  BUILTIN_UNKNOWN_LOC,
  BUILTIN_DENSE_RESOURCE_ELEMENTS,
  BUILTIN_DENSE_ARRAY,
  BUILTIN_DENSE_INT_OR_FP_ELEMENTS,
  BUILTIN_DISTINCT = 21,
  BUILTIN_FILE_LINE_COL_RANGE,
};

static const bytecode_attribute_fn attributes[] = {
    [BUILTIN_ARRAY] = bytecode_read_array,
    [BUILTIN_DICTIONARY] = bytecode_read_dictionary,
    [BUILTIN_STRING] = bytecode_read_string,
    [BUILTIN_STRING_WITH_TYPE] = read_typed_string,
    [BUILTIN_FLAT_SYMBOL_REF] = read_symbol,
    [BUILTIN_SYMBOL_REF] = read_nested_symbol,
    [BUILTIN_TYPE] = bytecode_read_type,
    [BUILTIN_UNIT] = read_unit,
    [BUILTIN_INTEGER] = bytecode_read_integer,
    [BUILTIN_FLOAT] = bytecode_read_float,
    [BUILTIN_CALL_SITE_LOC] = read_call_site,
    [BUILTIN_FILE_LINE_COL_LOC] = read_file_place,
    [BUILTIN_FUSED_LOC] = read_fused,
    [BUILTIN_FUSED_LOC_WITH_METADATA] = read_fused_with_metadata,
    [BUILTIN_NAME_LOC] = read_name,
    [BUILTIN_UNKNOWN_LOC] = read_unknown,
    [BUILTIN_DENSE_RESOURCE_ELEMENTS] = read_resource,
    [BUILTIN_DENSE_ARRAY] = read_dense_array,
    [BUILTIN_DENSE_INT_OR_FP_ELEMENTS] = bytecode_read_elements,
    [BUILTIN_DISTINCT] = read_distinct,
    [BUILTIN_FILE_LINE_COL_RANGE] = read_file_range,
};

bool bytecode_builtin_attribute(bytecode_cursor *c, bytecode_entry *entry) {
  uint64_t code;
  if (!bytecode_varint(c, &code)) return false;
  if (code >= sizeof attributes / sizeof *attributes || !attributes[code])
    return bytecode_refuse(c->b, entry->offset,
                           "found the builtin attribute of code %llu, which StableHLO does not use",
                           (unsigned long long)code);
  return attributes[code](c, entry);
}

static void make_opaque(bytecode_cursor *c, ir_type *t, const char *spelling) {
  t->kind = IR_TYPE_OPAQUE;
  t->text = str_copy(c->b->arena, str_from(spelling));
}

static bool read_integer_type(bytecode_cursor *c, ir_type *t) {
  enum { SIGNEDNESS_BITS = 2, UNSIGNED = 2 };
  static const char *const prefixes[] = {"i", "si", "ui", "i"};
  uint64_t word;
  if (!bytecode_varint(c, &word)) return false;
  unsigned long long width = word >> SIGNEDNESS_BITS;
  int signedness = (int)(word & 3);
  t->kind = IR_TYPE_SCALAR;
  t->dtype = width == 1 ? DTYPE_PRED : DTYPE_INVALID;
  for (int d = DTYPE_S2; d <= DTYPE_U64; d++)
    if ((unsigned long long)dtypes[d].bits == width && dtype_is_signed((dtype)d) == (signedness != UNSIGNED))
      t->dtype = (dtype)d;
  if (t->dtype == DTYPE_INVALID) make_opaque(c, t, arena_printf(c->b->arena, "%s%llu", prefixes[signedness], width));
  return true;
}

static bool read_buffer_type(bytecode_cursor *c, ir_type *t) {
  const ir_attribute *layout;
  if (!bytecode_read_tensor_type(c, t) || !bytecode_attribute(c, &layout)) return false;
  t->kind = IR_TYPE_BUFFER;
  return true;
}

// MLIR's codes of builtin types; those left out are memrefs in memory spaces and without rank.
enum {
  BUILTIN_TYPE_INTEGER,
  BUILTIN_TYPE_INDEX,
  BUILTIN_TYPE_FUNCTION,
  BUILTIN_TYPE_BF16,
  BUILTIN_TYPE_F16,
  BUILTIN_TYPE_F32,
  BUILTIN_TYPE_F64,
  BUILTIN_TYPE_F80,
  BUILTIN_TYPE_F128,
  BUILTIN_TYPE_COMPLEX,
  BUILTIN_TYPE_MEMREF,
  BUILTIN_TYPE_NONE = 12,
  BUILTIN_TYPE_RANKED_TENSOR,
  BUILTIN_TYPE_RANKED_TENSOR_WITH_ENCODING,
  BUILTIN_TYPE_TUPLE,
  BUILTIN_TYPE_UNRANKED_TENSOR = 18,
};

static const struct {
  bytecode_type_fn read;  // null if there is nothing but the code: then what follows is the whole of it
  ir_type_kind kind;
  dtype dtype;
  const char *text;
} types[] = {
    [BUILTIN_TYPE_INTEGER] = {.read = read_integer_type},
    [BUILTIN_TYPE_INDEX] = {.kind = IR_TYPE_INDEX},
    [BUILTIN_TYPE_FUNCTION] = {.read = bytecode_read_function_type},
    [BUILTIN_TYPE_BF16] = {.dtype = DTYPE_BF16},
    [BUILTIN_TYPE_F16] = {.dtype = DTYPE_F16},
    [BUILTIN_TYPE_F32] = {.dtype = DTYPE_F32},
    [BUILTIN_TYPE_F64] = {.dtype = DTYPE_F64},
    [BUILTIN_TYPE_F80] = {.kind = IR_TYPE_OPAQUE, .text = "f80"},
    [BUILTIN_TYPE_F128] = {.kind = IR_TYPE_OPAQUE, .text = "f128"},
    [BUILTIN_TYPE_COMPLEX] = {.read = bytecode_read_complex_type},
    [BUILTIN_TYPE_MEMREF] = {.read = read_buffer_type},
    [BUILTIN_TYPE_NONE] = {.kind = IR_TYPE_NONE},
    [BUILTIN_TYPE_RANKED_TENSOR] = {.read = bytecode_read_tensor_type},
    [BUILTIN_TYPE_RANKED_TENSOR_WITH_ENCODING] = {.read = bytecode_read_encoded_tensor_type},
    [BUILTIN_TYPE_TUPLE] = {.read = bytecode_read_tuple_type},
    [BUILTIN_TYPE_UNRANKED_TENSOR] = {.read = bytecode_read_unranked_type},
};

bool bytecode_builtin_type(bytecode_cursor *c, bytecode_entry *entry) {
  uint64_t code;
  if (!bytecode_varint(c, &code)) return false;
  bool is_known = code < sizeof types / sizeof *types &&
                  (types[code].read || types[code].kind != IR_TYPE_SCALAR || types[code].dtype != DTYPE_INVALID);
  if (!is_known)
    return bytecode_refuse(c->b, entry->offset, "found the builtin type of code %llu, which StableHLO does not use",
                           (unsigned long long)code);
  ir_type *t = arena_new(c->b->arena, ir_type);
  entry->type = t;
  if (types[code].read) return types[code].read(c, t);
  t->kind = types[code].kind;
  t->dtype = types[code].dtype;
  if (types[code].text) make_opaque(c, t, types[code].text);
  return true;
}
