// Types and attributes that the builtin dialect and VHLO encode alike, but for the code in front.
#include "vhlo/bytecode_reader.h"

static ir_attribute *attribute_new(bytecode_cursor *c, bytecode_entry *entry, ir_attribute_kind kind) {
  ir_attribute *x = ir_attribute_new(c->b->arena, kind);
  entry->attribute = x;
  return x;
}

bool bytecode_read_array(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_attribute **items;
  ir_attribute *x = attribute_new(c, entry, IR_ATTR_ARRAY);
  if (!bytecode_attributes(c, &x->count, &items)) return false;
  x->items = items;
  return true;
}

bool bytecode_read_string(bytecode_cursor *c, bytecode_entry *entry) {
  return bytecode_string(c, &attribute_new(c, entry, IR_ATTR_STRING)->text);
}

bool bytecode_read_type(bytecode_cursor *c, bytecode_entry *entry) {
  return bytecode_type(c, &attribute_new(c, entry, IR_ATTR_TYPE)->type);
}

bool bytecode_read_integer(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_type *type;
  return bytecode_type(c, &type) && bytecode_integer_attribute(c, type, &entry->attribute);
}

bool bytecode_read_float(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_type *type;
  return bytecode_type(c, &type) && bytecode_float_attribute(c, type, &entry->attribute);
}

bool bytecode_read_elements(bytecode_cursor *c, bytecode_entry *entry) {
  const ir_type *type;
  str blob;
  return bytecode_type(c, &type) && bytecode_blob(c, &blob) && bytecode_elements(c, type, blob, &entry->attribute);
}

bool bytecode_read_dictionary(bytecode_cursor *c, bytecode_entry *entry) {
  return bytecode_dictionary(c, &entry->attribute);
}

static bool is_element(const ir_type *t) {
  return t->kind == IR_TYPE_SCALAR || t->kind == IR_TYPE_INDEX || t->kind == IR_TYPE_QUANTIZED ||
         t->kind == IR_TYPE_OPAQUE;
}

static bool element_type(bytecode_cursor *c, const ir_type **out) {
  size_t start = c->at;
  if (!bytecode_type(c, out)) return false;
  return is_element(*out) || bytecode_fail(c->b, start, "found another type, wanted an element type");
}

bool bytecode_read_tensor_type(bytecode_cursor *c, ir_type *t) {
  int64_t *dims;
  t->kind = IR_TYPE_TENSOR;
  if (!bytecode_dims(c, &t->rank, &dims) || !element_type(c, &t->element)) return false;
  t->dims = dims;
  return true;
}

bool bytecode_read_function_type(bytecode_cursor *c, ir_type *t) {
  const ir_type **inputs, **results;
  t->kind = IR_TYPE_FUNCTION;
  if (!bytecode_types(c, &t->count, &inputs) || !bytecode_types(c, &t->result_count, &results)) return false;
  t->types = inputs;
  t->results = results;
  return true;
}

bool bytecode_read_complex_type(bytecode_cursor *c, ir_type *t) {
  const ir_type *part;
  size_t start = c->at;
  if (!bytecode_type(c, &part)) return false;
  dtype of = part->kind == IR_TYPE_SCALAR ? part->dtype : DTYPE_INVALID;
  t->kind = IR_TYPE_SCALAR;
  t->dtype = of == DTYPE_F32 ? DTYPE_C64 : of == DTYPE_F64 ? DTYPE_C128 : DTYPE_INVALID;
  return t->dtype != DTYPE_INVALID ||
         bytecode_refuse(c->b, start, "found a complex type of other parts than f32 and f64");
}

bool bytecode_read_encoded_tensor_type(bytecode_cursor *c, ir_type *t) {
  return bytecode_attribute(c, &t->encoding) && bytecode_read_tensor_type(c, t);
}

bool bytecode_read_tuple_type(bytecode_cursor *c, ir_type *t) {
  const ir_type **types;
  t->kind = IR_TYPE_TUPLE;
  if (!bytecode_types(c, &t->count, &types)) return false;
  t->types = types;
  return true;
}

bool bytecode_read_unranked_type(bytecode_cursor *c, ir_type *t) {
  t->kind = IR_TYPE_UNRANKED;
  return element_type(c, &t->element);
}
