// Names of operations, making of types, attributes and operations, and what is asked of them.
#include "mlir/ir.h"

static const char *const op_texts[IR_OP_COUNT] = {
    [IR_OP_UNKNOWN] = "",
#define IR_OP(id, text) [IR_OP_##id] = text,
#include "mlir/stablehlo_ops.def"
#undef IR_OP
};

const char *ir_opcode_text(ir_opcode op) { return op_texts[op]; }

ir_opcode ir_opcode_from_text(str name) {
  for (int op = IR_OP_UNKNOWN + 1; op < IR_OP_COUNT; op++)
    if (str_is(name, op_texts[op])) return (ir_opcode)op;
  return IR_OP_UNKNOWN;
}

static ir_type *new_type(arena *a, ir_type_kind kind) {
  ir_type *t = arena_new(a, ir_type);
  t->kind = kind;
  return t;
}

const ir_type *ir_scalar_type(arena *a, dtype t) {
  ir_type *type = new_type(a, IR_TYPE_SCALAR);
  type->dtype = t;
  return type;
}

const ir_type *ir_tensor_type(arena *a, int rank, const int64_t *dims, const ir_type *element) {
  ir_type *t = new_type(a, IR_TYPE_TENSOR);
  int64_t *copy = arena_array(a, int64_t, rank);
  if (rank) memcpy(copy, dims, (size_t)rank * sizeof *copy);
  t->element = element;
  t->rank = rank;
  t->dims = copy;
  return t;
}

// `?` dims with an upper bound say it in the encoding: #stablehlo.bounds<?, 8>, unbounded ones as IR_DYNAMIC.
static const ir_attribute *bounds_of(arena *a, const shape *s) {
  ir_named_attribute *field = arena_new(a, ir_named_attribute);
  int64_t *bounds = arena_array(a, int64_t, s->rank);
  for (int i = 0; i < s->rank; i++) bounds[i] = shape_is_dynamic_dim(s, i) ? s->dims[i] : IR_DYNAMIC;
  *field = (ir_named_attribute){STR("bounds"), ir_integers_attribute(a, s->rank, bounds)};
  return ir_struct_attribute(a, "stablehlo.bounds", 1, field);
}

static const ir_type *tensor_of_shape(arena *a, const shape *s) {
  int64_t *dims = arena_array(a, int64_t, s->rank);
  bool is_bounded = false;
  for (int i = 0; i < s->rank; i++) {
    dims[i] = shape_is_dynamic_dim(s, i) ? IR_DYNAMIC : s->dims[i];
    is_bounded |= shape_is_dynamic_dim(s, i) && s->dims[i] >= 0;
  }
  ir_type *t = (ir_type *)ir_tensor_type(a, s->rank, dims, ir_scalar_type(a, s->dtype));
  if (is_bounded) t->encoding = bounds_of(a, s);
  return t;
}

const ir_type *ir_type_of_shape(arena *a, const shape *s) {
  if (shape_is_array(s)) return tensor_of_shape(a, s);
  if (s->dtype == DTYPE_TOKEN) return new_type(a, IR_TYPE_TOKEN);
  if (!shape_is_tuple(s)) return new_type(a, IR_TYPE_NONE);
  const ir_type **types = arena_array(a, const ir_type *, s->tuple_size);
  for (int i = 0; i < s->tuple_size; i++) types[i] = ir_type_of_shape(a, s->elements[i]);
  ir_type *t = new_type(a, IR_TYPE_TUPLE);
  t->count = s->tuple_size;
  t->types = types;
  return t;
}

static bool same_types(int l_count, const ir_type *const *l, int r_count, const ir_type *const *r) {
  if (l_count != r_count) return false;
  for (int i = 0; i < l_count; i++)
    if (!ir_type_equal(l[i], r[i])) return false;
  return true;
}

static bool same_quantization(const ir_quantization *l, const ir_quantization *r) {
  if (l->storage != r->storage || l->expressed != r->expressed || l->storage_min != r->storage_min ||
      l->storage_max != r->storage_max || l->axis != r->axis || l->count != r->count ||
      l->block_count != r->block_count || l->block_rank != r->block_rank)
    return false;
  size_t scales = (size_t)l->count * sizeof *l->scales, blocks = (size_t)l->block_count * sizeof *l->block_axes;
  return memcmp(l->scales, r->scales, scales) == 0 &&
         memcmp(l->zero_points, r->zero_points, (size_t)l->count * sizeof *l->zero_points) == 0 &&
         (blocks == 0 ||
          (memcmp(l->block_axes, r->block_axes, blocks) == 0 && memcmp(l->block_sizes, r->block_sizes, blocks) == 0));
}

static bool same_dims(const ir_type *l, const ir_type *r) {
  if (l->rank != r->rank) return false;
  for (int i = 0; i < l->rank; i++)
    if (l->dims[i] != r->dims[i]) return false;
  return true;
}

bool ir_type_equal(const ir_type *l, const ir_type *r) {
  if (l == r) return true;
  if (!l || !r || l->kind != r->kind) return false;
  switch (l->kind) {
    case IR_TYPE_SCALAR: return l->dtype == r->dtype;
    case IR_TYPE_QUANTIZED: return same_quantization(l->quantization, r->quantization);
    case IR_TYPE_TENSOR:
    case IR_TYPE_BUFFER: return same_dims(l, r) && ir_type_equal(l->element, r->element);
    case IR_TYPE_UNRANKED: return ir_type_equal(l->element, r->element);
    case IR_TYPE_TUPLE:
    case IR_TYPE_FUTURE: return same_types(l->count, l->types, r->count, r->types);
    case IR_TYPE_FUNCTION:
      return same_types(l->count, l->types, r->count, r->types) &&
             same_types(l->result_count, l->results, r->result_count, r->results);
    case IR_TYPE_OPAQUE: return str_equal(l->text, r->text);
    default: return true;
  }
}

bool ir_type_is_static(const ir_type *t) {
  if (t->kind == IR_TYPE_UNRANKED) return false;
  for (int i = 0; t->kind == IR_TYPE_TENSOR && i < t->rank; i++)
    if (t->dims[i] == IR_DYNAMIC) return false;
  return true;
}

const ir_quantization *ir_type_quantization(const ir_type *t) {
  if (t->element) t = t->element;
  return t->kind == IR_TYPE_QUANTIZED ? t->quantization : NULL;
}

dtype ir_type_dtype(const ir_type *t) {
  if (t->element) t = t->element;
  switch (t->kind) {
    case IR_TYPE_SCALAR: return t->dtype;
    case IR_TYPE_INDEX: return DTYPE_S64;
    case IR_TYPE_QUANTIZED: return t->quantization->storage;
    default: return DTYPE_INVALID;
  }
}

static heddle_status tuple_shape(arena *a, const ir_type *t, source_location where, const shape **out) {
  const shape **elements = arena_array(a, const shape *, t->count);
  for (int i = 0; i < t->count; i++) TRY(ir_type_shape(a, t->types[i], where, &elements[i]));
  *out = shape_tuple(a, t->count, elements);
  return status_ok();
}

heddle_status ir_type_shape(arena *a, const ir_type *t, source_location where, const shape **out) {
  dtype element = ir_type_dtype(t);
  if (t->kind == IR_TYPE_TUPLE) return tuple_shape(a, t, where, out);
  if (t->kind == IR_TYPE_TOKEN) {
    *out = shape_token(a);
    return status_ok();
  }
  if ((t->kind != IR_TYPE_TENSOR && t->kind != IR_TYPE_BUFFER && t->kind != IR_TYPE_SCALAR) || element == DTYPE_INVALID)
    return status_at(HEDDLE_INVALID, where, "found a type that no HLO value has, wanted a tensor, a tuple or a token");
  if (t->rank > SHAPE_MAX_RANK)
    return status_at(HEDDLE_INVALID, where, "found a tensor of rank %d, wanted at most %d", t->rank, SHAPE_MAX_RANK);
  const shape *s = shape_array(a, element, t->rank, t->dims);
  uint64_t dynamic = 0;
  for (int i = 0; i < t->rank; i++)
    if (t->dims[i] == IR_DYNAMIC) dynamic |= (uint64_t)1 << i;
  if (dynamic) ((shape *)s)->dynamic_dims = dynamic;
  *out = s;
  return dynamic ? status_ok() : shape_check(s, where);
}

ir_attribute *ir_attribute_new(arena *a, ir_attribute_kind kind) {
  ir_attribute *x = arena_new(a, ir_attribute);
  x->kind = kind;
  return x;
}

const ir_attribute *ir_integer_attribute(arena *a, int64_t value, dtype t) {
  ir_attribute *x = ir_attribute_new(a, IR_ATTR_INTEGER);
  x->integer = value;
  x->type = ir_scalar_type(a, t);
  return x;
}

const ir_attribute *ir_bool_attribute(arena *a, bool value) {
  ir_attribute *x = ir_attribute_new(a, IR_ATTR_BOOL);
  x->integer = value;
  return x;
}

static const ir_attribute *text_attribute(arena *a, ir_attribute_kind kind, str s) {
  ir_attribute *x = ir_attribute_new(a, kind);
  x->text = str_copy(a, s);
  return x;
}

const ir_attribute *ir_string_attribute(arena *a, str s) { return text_attribute(a, IR_ATTR_STRING, s); }
const ir_attribute *ir_symbol_attribute(arena *a, str name) { return text_attribute(a, IR_ATTR_SYMBOL, name); }

const ir_attribute *ir_integers_attribute(arena *a, int count, const int64_t *values) {
  ir_attribute *x = ir_attribute_new(a, IR_ATTR_INTEGERS);
  int64_t *copy = arena_array(a, int64_t, count);
  if (count) memcpy(copy, values, (size_t)count * sizeof *copy);
  x->type = ir_scalar_type(a, DTYPE_S64);
  x->count = count;
  x->integers = copy;
  return x;
}

const ir_attribute *ir_enum_attribute(arena *a, const char *name, str text) {
  ir_attribute *x = ir_attribute_new(a, IR_ATTR_ENUM);
  x->name = str_from(name);
  x->text = str_copy(a, text);
  return x;
}

static literal *first_element(arena *a, const literal *from) {
  literal *l = arena_new(a, literal);
  l->shape = shape_scalar(a, from->shape->dtype);
  l->data = from->data;
  return l;
}

const ir_attribute *ir_elements_attribute(arena *a, const ir_type *type, literal *value) {
  ir_attribute *x = ir_attribute_new(a, IR_ATTR_ELEMENTS);
  const bool is_long = value && !value->is_elided && shape_element_count(value->shape) > IR_MOST_REPEATED;
  x->type = type;
  x->elements = is_long && literal_repeats(value) ? first_element(a, value) : value;
  return x;
}

bool ir_elements_repeat(const ir_attribute *x) { return x->elements->shape->rank == 0 && x->type->rank > 0; }

const shape *ir_elements_shape(arena *a, const ir_attribute *x) {
  const shape *s = x->elements->shape;
  return ir_elements_repeat(x) ? shape_array(a, s->dtype, x->type->rank, x->type->dims) : s;
}

int64_t ir_elements_count(const ir_attribute *x) {
  if (!ir_elements_repeat(x)) return shape_element_count(x->elements->shape);
  int64_t count = 1;
  for (int i = 0; i < x->type->rank; i++) count *= x->type->dims[i];
  return count;
}

heddle_status ir_elements_expand(arena *a, const ir_attribute *x, literal **out) {
  *out = x->elements;
  if (!ir_elements_repeat(x)) return status_ok();
  TRY(literal_create(a, ir_elements_shape(a, x), out));
  literal_repeat(*out, x->elements);
  return status_ok();
}

const ir_attribute *ir_type_attribute(arena *a, const ir_type *type) {
  ir_attribute *x = ir_attribute_new(a, IR_ATTR_TYPE);
  x->type = type;
  return x;
}

const ir_attribute *ir_array_attribute(arena *a, int count, const ir_attribute *const *items) {
  ir_attribute *x = ir_attribute_new(a, IR_ATTR_ARRAY);
  const ir_attribute **copy = arena_array(a, const ir_attribute *, count);
  if (count) memcpy(copy, items, (size_t)count * sizeof *copy);
  x->count = count;
  x->items = copy;
  return x;
}

const ir_attribute *ir_struct_attribute(arena *a, const char *name, int count, const ir_named_attribute *fields) {
  ir_attribute *x = ir_attribute_new(a, IR_ATTR_STRUCT);
  ir_named_attribute *copy = arena_array(a, ir_named_attribute, count);
  if (count) memcpy(copy, fields, (size_t)count * sizeof *copy);
  x->name = str_from(name);
  x->count = count;
  x->fields = copy;
  return x;
}

const ir_attribute *ir_find(const ir_operation *op, const char *name) {
  for (int i = 0; i < op->attribute_count; i++)
    if (str_is(op->attributes[i].name, name)) return op->attributes[i].value;
  return NULL;
}

const ir_attribute *ir_find_argument_attribute(const ir_operation *function, const char *list, int number,
                                               const char *name) {
  const ir_attribute *all = ir_find(function, list);
  if (!all || all->kind != IR_ATTR_ARRAY || number >= all->count) return NULL;
  return ir_find_field(all->items[number], name);
}

const ir_attribute *ir_find_field(const ir_attribute *of, const char *name) {
  if (!of || (of->kind != IR_ATTR_DICTIONARY && of->kind != IR_ATTR_STRUCT)) return NULL;
  for (int i = 0; i < of->count; i++)
    if (str_is(of->fields[i].name, name)) return of->fields[i].value;
  return NULL;
}

static bool array_integers(const ir_attribute *x, int64_t *values) {
  for (int i = 0; i < x->count; i++)
    if (!ir_attribute_integer(x->items[i], &values[i])) return false;
  return true;
}

static bool has_integer_elements(const ir_attribute *x) {
  return x->elements && (dtypes[x->elements->shape->dtype].class & (CLASS_INTEGER | CLASS_PRED)) != 0;
}

bool ir_attribute_integers(arena *a, const ir_attribute *x, const int64_t **values, int *count) {
  *values = NULL;
  *count = 0;
  if (!x) return true;
  if (x->kind == IR_ATTR_INTEGERS) {
    *values = x->integers;
    *count = x->count;
    return true;
  }
  if (x->kind == IR_ATTR_ELEMENTS && has_integer_elements(x)) {
    int64_t size = shape_element_count(x->elements->shape);
    if (size > INT32_MAX || ir_elements_repeat(x)) return false;
    int64_t *copy = arena_array(a, int64_t, size);
    for (int64_t i = 0; i < size; i++) copy[i] = literal_get_int(x->elements, i);
    *values = copy;
    *count = (int)size;
    return true;
  }
  if (x->kind != IR_ATTR_ARRAY) return false;
  int64_t *copy = arena_array(a, int64_t, x->count);
  if (!array_integers(x, copy)) return false;
  *values = copy;
  *count = x->count;
  return true;
}

static bool same_fields(const ir_attribute *l, const ir_attribute *r) {
  for (int i = 0; i < l->count; i++)
    if (!str_equal(l->fields[i].name, r->fields[i].name) || !ir_attribute_equal(l->fields[i].value, r->fields[i].value))
      return false;
  return str_equal(l->name, r->name);
}

static bool same_items(const ir_attribute *l, const ir_attribute *r) {
  for (int i = 0; i < l->count; i++)
    if (!ir_attribute_equal(l->items[i], r->items[i])) return false;
  return true;
}

static bool same_bytes(const void *l, const void *r, int count, size_t size) {
  return count == 0 || memcmp(l, r, (size_t)count * size) == 0;
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

bool ir_attribute_equal(const ir_attribute *l, const ir_attribute *r) {
  if (l == r) return true;
  if (!l || !r || l->kind != r->kind || l->count != r->count) return false;
  bool same_type = (!l->type || !r->type) ? l->type == r->type : ir_type_equal(l->type, r->type);
  switch (l->kind) {
    case IR_ATTR_UNIT: return true;
    case IR_ATTR_BOOL: return l->integer == r->integer;
    case IR_ATTR_INTEGER: return same_type && l->integer == r->integer;
    case IR_ATTR_FLOAT: return same_type && bits_of(l->number) == bits_of(r->number);
    case IR_ATTR_TYPE: return same_type;
    case IR_ATTR_ARRAY: return same_items(l, r);
    case IR_ATTR_DICTIONARY:
    case IR_ATTR_STRUCT: return same_fields(l, r);
    case IR_ATTR_ELEMENTS: return same_type && literal_identical(l->elements, r->elements);
    case IR_ATTR_INTEGERS: return same_type && same_bytes(l->integers, r->integers, l->count, sizeof *l->integers);
    case IR_ATTR_FLOATS: return same_type && same_bytes(l->numbers, r->numbers, l->count, sizeof *l->numbers);
    default: return str_equal(l->name, r->name) && str_equal(l->text, r->text);
  }
}

bool ir_attribute_integer(const ir_attribute *x, int64_t *value) {
  if (!x) return false;
  if (x->kind == IR_ATTR_INTEGER || x->kind == IR_ATTR_BOOL) {
    *value = x->integer;
    return true;
  }
  if (x->kind != IR_ATTR_ELEMENTS || !has_integer_elements(x) || ir_elements_count(x) != 1) return false;
  *value = literal_get_int(x->elements, 0);
  return true;
}

static void make_results(arena *a, ir_operation *op, int count, const ir_type *const *types) {
  op->result_count = count;
  op->results = arena_array(a, ir_value *, count);
  for (int i = 0; i < count; i++) {
    op->results[i] = arena_new(a, ir_value);
    *op->results[i] = (ir_value){.type = types[i], .producer = op, .number = i};
  }
}

void ir_set_attributes(arena *a, ir_operation *op, int count, const ir_named_attribute *attributes) {
  op->attribute_count = count;
  op->attributes = arena_array(a, ir_named_attribute, count);
  if (count) memcpy(op->attributes, attributes, (size_t)count * sizeof *attributes);
}

ir_operation *ir_create(arena *a, ir_block *block, ir_opcode op, int operand_count, ir_value *const *operands,
                        int result_count, const ir_type *const *result_types, int region_count) {
  ir_operation *o = arena_new(a, ir_operation);
  o->op = op;
  o->name = str_from(ir_opcode_text(op));
  o->operand_count = operand_count;
  o->operands = arena_array(a, ir_value *, operand_count);
  if (operand_count) memcpy(o->operands, operands, (size_t)operand_count * sizeof *operands);
  make_results(a, o, result_count, result_types);
  ir_set_attributes(a, o, 0, NULL);
  o->region_count = region_count;
  o->regions = arena_array(a, ir_region *, region_count);
  for (int i = 0; i < region_count; i++) {
    o->regions[i] = arena_new(a, ir_region);
    o->regions[i]->parent = o;
  }
  o->parent = block;
  if (block) vec_push(a, &block->operations, o);
  return o;
}

void ir_set_attribute(arena *a, ir_operation *op, const char *name, const ir_attribute *value) {
  for (int i = 0; i < op->attribute_count; i++)
    if (str_is(op->attributes[i].name, name)) {
      op->attributes[i].value = value;
      return;
    }
  size_t size = (size_t)op->attribute_count * sizeof *op->attributes;
  op->attributes = arena_grow(a, op->attributes, size, size + sizeof *op->attributes);
  op->attributes[op->attribute_count++] = (ir_named_attribute){str_copy(a, str_from(name)), value};
}

ir_block *ir_add_block(arena *a, ir_region *region) {
  ir_block *b = arena_new(a, ir_block);
  b->parent = region;
  vec_push(a, &region->blocks, b);
  return b;
}

ir_value *ir_add_argument(arena *a, ir_block *block, const ir_type *type) {
  ir_value *v = arena_new(a, ir_value);
  *v = (ir_value){.type = type, .block = block, .number = block->argument_count};
  size_t count = (size_t)block->argument_count, size = count * sizeof(ir_value *);
  if ((count & (count - 1)) == 0)  // doubles, so that many arguments stay linear
    block->arguments = arena_grow(a, block->arguments, size, count ? 2 * size : sizeof(ir_value *));
  block->arguments[block->argument_count++] = v;
  return v;
}

ir_operation *ir_module_function(const ir_module *m, str name) {
  const ir_block *body = m->operation->regions[0]->blocks.data[0];
  for (int i = 0; i < body->operations.size; i++) {
    ir_operation *o = body->operations.data[i];
    const ir_attribute *symbol = o->op == IR_OP_FUNC ? ir_find(o, "sym_name") : NULL;
    if (symbol && symbol->kind == IR_ATTR_STRING && str_equal(symbol->text, name)) return o;
  }
  return NULL;
}
