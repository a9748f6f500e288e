// Opcodes that run computations as programs, and calls of what lies outside of the program.
#include "stablehlo/raising.h"

static void add_regions(raising *r, ir_operation *op, int count) {
  op->region_count = count;
  op->regions = arena_array(r->arena, ir_region *, count);
  for (int k = 0; k < count; k++) {
    op->regions[k] = arena_new(r->arena, ir_region);
    op->regions[k]->parent = op;
  }
}

static heddle_status called(const instruction *i, int wanted) {
  return i->called_count >= wanted ? status_ok() : raising_refuse(i, "it names %d computations", i->called_count);
}

static raised *results_of(raising *r, const ir_operation *op, const shape *s) {
  ir_value *const *next = op->results;
  return raised_of_shape(r, s, &next);
}

// HLO's `call` that says which operation it stands for: composite.name, composite.attributes and composite.version.
static bool raise_composite(raising *r, const instruction *i, const raised_leaves *leaves, raised **out) {
  const str *name = attributes_raw(i->attributes, "composite.name");
  const str *attributes = attributes_raw(i->attributes, "composite.attributes");
  const str *version = attributes_raw(i->attributes, "composite.version");
  if (!name || name->size < 2) return false;
  int count;
  const ir_type **types;
  raised_types(r, i->shape, &count, &types);
  str function = raising_function(r, i->called[0]);
  const ir_attribute *dictionary = attributes ? raising_parse_attribute(r, *attributes) : NULL;
  int64_t number = 0;
  for (size_t k = 0; version && k < version->size && k < 9; k++)
    if (version->data[k] >= '0' && version->data[k] <= '9') number = number * 10 + (version->data[k] - '0');
  ir_operation *op = raising_add(r, IR_OP_COMPOSITE, leaves->size, leaves->data, count, types);
  raising_set(r, op, "name", ir_string_attribute(r->arena, raising_word(r, *name)));
  if (dictionary) raising_set(r, op, "composite_attributes", dictionary);
  raising_set(r, op, "decomposition", ir_symbol_attribute(r->arena, function));
  raising_set(r, op, "version", ir_integer_attribute(r->arena, number, DTYPE_S32));
  *out = results_of(r, op, i->shape);
  return true;
}

// call, fusion and async-start, whose result is that of its computation.
heddle_status raise_call(raising *r, const instruction *i, raised *const *operands, raised **out) {
  raised_leaves leaves = {0};
  TRY(called(i, 1));
  for (int k = 0; k < i->operand_count; k++) raised_flatten(r, operands[k], &leaves);
  if (raise_composite(r, i, &leaves, out)) return status_ok();
  const shape *s = i->called[0]->root->shape;
  int count;
  const ir_type **types;
  raised_types(r, s, &count, &types);
  str function = raising_function(r, i->called[0]);
  ir_operation *op = raising_add(r, IR_OP_CALL, leaves.size, leaves.data, count, types);
  raising_set(r, op, "callee", ir_symbol_attribute(r->arena, function));
  *out = results_of(r, op, s);
  return status_ok();
}

heddle_status raise_while(raising *r, const instruction *i, raised *const *operands, raised **out) {
  raised_leaves leaves = {0};
  TRY(called(i, 2));
  raised_flatten(r, operands[0], &leaves);
  int count;
  const ir_type **types;
  raised_types(r, i->shape, &count, &types);
  if (count != leaves.size) return raising_refuse(i, "its state and result differ");
  ir_operation *op = raising_add(r, IR_OP_WHILE, leaves.size, leaves.data, count, types);
  add_regions(r, op, 2);
  for (int k = 0; k < 2; k++) TRY(raising_region(r, op->regions[k], i->called[k], NULL));
  *out = results_of(r, op, i->shape);
  return status_ok();
}

// A branch's parameter is the operand it would get; its region just uses it.
heddle_status raise_conditional(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_value *selector;
  TRY(raising_operand(i, operands, 0, &selector));
  TRY(called(i, i->operand_count - 1));
  bool is_if = i->operands[0]->shape->dtype == DTYPE_PRED;
  int count;
  const ir_type **types;
  raised_types(r, i->shape, &count, &types);
  ir_operation *op = raising_add(r, is_if ? IR_OP_IF : IR_OP_CASE, 1, &selector, count, types);
  add_regions(r, op, i->operand_count - 1);
  for (int k = 0; k + 1 < i->operand_count; k++) TRY(raising_region(r, op->regions[k], i->called[k], &operands[k + 1]));
  *out = results_of(r, op, i->shape);
  return status_ok();
}

// Custom calls take and give real tuples where HLO nests them.

ir_value *raising_pack(raising *r, const raised *x) {
  if (x->value) return x->value;
  ir_value **values = arena_array(r->arena, ir_value *, x->count);
  const ir_type **types = arena_array(r->arena, const ir_type *, x->count);
  for (int k = 0; k < x->count; k++) {
    values[k] = raising_pack(r, x->elements[k]);
    types[k] = values[k]->type;
  }
  ir_type *tuple = arena_new(r->arena, ir_type);
  *tuple = (ir_type){.kind = IR_TYPE_TUPLE, .count = x->count, .types = types};
  const ir_type *type = tuple;
  return raising_add(r, IR_OP_TUPLE, x->count, values, 1, &type)->results[0];
}

raised *raising_unpack(raising *r, ir_value *x) {
  if (x->type->kind != IR_TYPE_TUPLE) return raised_leaf(r, x);
  raised *out = arena_new(r->arena, raised);
  out->count = x->type->count;
  out->elements = arena_array(r->arena, raised *, out->count);
  for (int k = 0; k < out->count; k++) {
    ir_operation *op = raising_add(r, IR_OP_GET_TUPLE_ELEMENT, 1, &x, 1, &x->type->types[k]);
    raising_set(r, op, "index", ir_integer_attribute(r->arena, k, DTYPE_S32));
    out->elements[k] = raising_unpack(r, op->results[0]);
  }
  return out;
}

// Orders of dims in memory, minor ones first: [dense<[1, 0]> : tensor<2xindex>, ...]
static heddle_status layouts(raising *r, int count, const shape *const *shapes, const ir_attribute **out) {
  VEC(const ir_attribute *) items = {0};
  ir_type *element = arena_new(r->arena, ir_type);
  element->kind = IR_TYPE_INDEX;
  for (int k = 0; k < count; k++) {
    int64_t order[SHAPE_MAX_RANK];
    const int64_t rank = shape_is_array(shapes[k]) ? shapes[k]->rank : 0;
    literal *l;
    if (rank) shape_minor_to_major(shapes[k], order);
    TRY(literal_create(r->arena, shape_array(r->arena, DTYPE_S64, 1, &rank), &l));
    for (int d = 0; d < rank; d++) literal_set_int(l, d, order[d]);
    vec_push(r->arena, &items, ir_elements_attribute(r->arena, ir_tensor_type(r->arena, 1, &rank, element), l));
  }
  *out = ir_array_attribute(r->arena, items.size, items.data);
  return status_ok();
}

static heddle_status set_layouts(raising *r, const instruction *i, ir_operation *op, bool has_results) {
  const hlo_attributes *x = i->attributes;
  const ir_attribute *operand_layouts, *result_layouts;
  if (!attributes_has(x, HLO_ATTRIBUTE_OPERAND_LAYOUT_CONSTRAINTS) || x->operand_layout_count != i->operand_count)
    return status_ok();
  for (int k = 0; k < i->operand_count; k++)
    if (shape_is_tuple(x->operand_layouts[k])) return status_ok();
  int count = shape_is_tuple(i->shape) && has_results ? i->shape->tuple_size : 1;
  const shape *const *results = shape_is_tuple(i->shape) ? i->shape->elements : &i->shape;
  if (shape_is_tuple(i->shape) && !has_results) return status_ok();
  TRY(layouts(r, x->operand_layout_count, x->operand_layouts, &operand_layouts));
  TRY(layouts(r, count, results, &result_layouts));
  raising_set(r, op, "operand_layouts", operand_layouts);
  raising_set(r, op, "result_layouts", result_layouts);
  return status_ok();
}

static void set_backend_config(raising *r, const instruction *i, ir_operation *op, int64_t version) {
  const hlo_attributes *x = i->attributes;
  if (!x->backend_config.size) return;
  const ir_attribute *parsed = version == 4 ? raising_parse_attribute(r, x->backend_config) : NULL;
  if (!parsed || parsed->kind != IR_ATTR_DICTIONARY) parsed = ir_string_attribute(r->arena, x->backend_config);
  raising_set(r, op, "backend_config", parsed);
}

static int64_t api_version(const instruction *i) {
  static const char *const names[] = {"", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                                      "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
  const str *text = attributes_raw(i->attributes, "api_version");
  for (int k = 1; text && k < 5; k++)
    if (str_is(*text, names[k])) return k;
  return 1;
}

static void set_called(raising *r, const instruction *i, ir_operation *op) {
  VEC(const ir_attribute *) names = {0};
  for (int k = 0; k < i->called_count; k++)
    vec_push(r->arena, &names, ir_symbol_attribute(r->arena, raising_function(r, i->called[k])));
  if (names.size) raising_set(r, op, "called_computations", ir_array_attribute(r->arena, names.size, names.data));
}

heddle_status raise_custom_call(raising *r, const instruction *i, raised *const *operands, raised **out) {
  raised_leaves values = {0};
  VEC(const ir_type *) types = {0};
  for (int k = 0; k < i->operand_count; k++) vec_push(r->arena, &values, raising_pack(r, operands[k]));
  // A tuple of one would come back as no tuple.
  bool has_results = shape_is_tuple(i->shape) && i->shape->tuple_size != 1;
  for (int k = 0; k < (has_results ? i->shape->tuple_size : 1); k++)
    vec_push(r->arena, &types, ir_type_of_shape(r->arena, has_results ? i->shape->elements[k] : i->shape));
  ir_operation *op = raising_add(r, IR_OP_CUSTOM_CALL, values.size, values.data, types.size, types.data);
  int64_t version = api_version(i);
  raising_set(r, op, "call_target_name", ir_string_attribute(r->arena, i->attributes->custom_call_target));
  if (i->attributes->custom_call_has_side_effect) raising_set_bool(r, op, "has_side_effect", true);
  set_backend_config(r, i, op, version);
  if (version != 1) raising_set(r, op, "api_version", ir_integer_attribute(r->arena, version, DTYPE_S32));
  set_called(r, i, op);
  TRY(set_layouts(r, i, op, has_results || !shape_is_tuple(i->shape)));
  if (!has_results) {
    *out = raising_unpack(r, op->results[0]);
    return status_ok();
  }
  raised *x = arena_new(r->arena, raised);
  x->count = op->result_count;
  x->elements = arena_array(r->arena, raised *, x->count);
  for (int k = 0; k < x->count; k++) x->elements[k] = raising_unpack(r, op->results[k]);
  *out = x;
  return status_ok();
}
