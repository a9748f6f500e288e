// Emission of the partition's functions, element by element.
//
// A scope is emitted in two passes over its instructions: users first, to learn at which indices each is needed, then
// operands first, to make the values. So a chain of any length needs no recursion; only nested scopes recurse, and the
// partitioner bounds their depth.
#include "emit/elemental.h"

#include "emit/narrow_floats.h"

// --- index vectors

static const index_vector *copy_indices(function_emitter *e, int count, const MlirValue *values) {
  index_vector *v = arena_new(e->kernel->arena, index_vector);
  MlirValue *copy = arena_array(e->kernel->arena, MlirValue, count);
  for (int i = 0; i < count; i++) copy[i] = values[i];
  *v = (index_vector){.count = count, .values = copy};
  return v;
}

static bool same_indices(const index_vector *l, const index_vector *r) {
  if (l == r) return true;
  if (l->count != r->count) return false;
  for (int i = 0; i < l->count; i++) {
    if (!mlirValueEqual(l->values[i], r->values[i])) return false;
  }
  return true;
}

const index_vector *emit_apply(function_emitter *e, const indexing_map *map, const index_vector *dims,
                               const MlirValue *symbols) {
  if (!map) return dims;
  ir_values values = ir_apply_indexing(&e->b, map, dims->values, symbols);
  return copy_indices(e, values.size, values.data);
}

static MlirValue both(ir_builder *b, MlirValue x, MlirValue y) {
  return mlirValueIsNull(x) ? y : mlirValueIsNull(y) ? x : ir_binary(b, "arith.andi", x, y);
}

MlirValue emit_is_inside(function_emitter *e, const instruction *i, int k, const MlirValue *symbols) {
  ir_builder *b = &e->b;
  const index_vector *at = emit_indices(e, i);
  indexing_map *map = indexing_map_copy(e->kernel->arena, emit_operand_access(e, i, k)->map);
  const shape *s = partition_index_shape(i);
  MlirValue inside = {0};
  for (int d = 0; d < map->dim_count; d++) {
    interval *bounds = &map->dims[d].bounds;
    int64_t last = s->dims[d] - 1;
    if (bounds->lower > 0) inside = both(b, inside, ir_cmpi(b, "sge", at->values[d], ir_index(b, bounds->lower)));
    if (bounds->upper < last) inside = both(b, inside, ir_cmpi(b, "sle", at->values[d], ir_index(b, bounds->upper)));
    *bounds = (interval){0, last};  // what is computed to decide is computed everywhere
  }
  if (map->constraint_count == 0) return inside;
  return both(b, inside, ir_check_constraints(b, map, at->values, symbols, false));
}

const index_vector *emit_indices(function_emitter *e, const instruction *i) { return ptr_map_get(&e->indices, i); }

// --- calls

static MlirType result_type(kernel_emitter *k, const partition_result *r) {
  const shape *s = shape_is_tuple(r->root->shape) ? r->root->shape->elements[r->element] : r->root->shape;
  return emit_element_type(k->context, s->dtype);
}

static MlirValue *call_function(kernel_emitter *k, ir_builder *b, const partition_function *f,
                                const ir_values *operands, const char *attribute) {
  MlirType *types = arena_array(k->arena, MlirType, f->result_count);
  for (int i = 0; i < f->result_count; i++) types[i] = result_type(k, &f->results[i]);
  MlirStringRef symbol = mlirStringRefCreateFromCString(f->name);
  MlirNamedAttribute attributes[2] = {ir_named(b->context, "callee", mlirFlatSymbolRefAttrGet(b->context, symbol))};
  if (attribute) attributes[1] = ir_named(b->context, attribute, mlirUnitAttrGet(b->context));
  MlirOperation call = ir_build(b, (ir_op_state){.name = "xla_gpu.pure_call",
                                                 .operand_count = operands->size,
                                                 .operands = operands->data,
                                                 .result_count = f->result_count,
                                                 .results = types,
                                                 .attribute_count = attribute ? 2 : 1,
                                                 .attributes = attributes});
  MlirValue *values = arena_array(k->arena, MlirValue, f->result_count);
  for (int i = 0; i < f->result_count; i++) values[i] = ir_result(call, i);
  return values;
}

MlirValue *emit_call(kernel_emitter *k, ir_builder *b, const partition_function *f, const MlirValue *parameters,
                     const index_vector *at, const char *attribute) {
  int inputs = f->computation == k->plan->computation ? k->plan->input_count : f->computation->parameters.size;
  ir_values operands = {0};
  for (int i = 0; i < inputs; i++) vec_push(k->arena, &operands, parameters[i]);
  for (int i = 0; at && i < at->count; i++) vec_push(k->arena, &operands, at->values[i]);
  return call_function(k, b, f, &operands, attribute);
}

static int value_count(const instruction *i) { return shape_is_tuple(i->shape) ? i->shape->tuple_size : 1; }

MlirValue *emit_part(kernel_emitter *k, ir_builder *b, int part, const MlirValue *inputs, const index_vector *at,
                     const MlirValue *given) {
  const partition_function *f = k->partition->functions[part];
  ir_values operands = {0};
  for (int i = 0; i < k->plan->input_count; i++) vec_push(k->arena, &operands, inputs[i]);
  for (int i = 0; i < at->count; i++) vec_push(k->arena, &operands, at->values[i]);
  int next = 0;
  for (int g = 0; g < f->given_count; g++) {
    for (int v = 0; v < value_count(f->given[g]); v++) vec_push(k->arena, &operands, given[next++]);
  }
  return call_function(k, b, f, &operands, 0);
}

// --- leaves: emitted where they are used, once per access

static MlirValue constant_value(function_emitter *e, const instruction *constant, const index_vector *at) {
  const literal *l = constant->literal;
  if (constant->shape->rank == 0) return *(MlirValue *)ptr_map_get(&e->values, constant);
  if (literal_repeats(l)) return emit_literal_element(&e->b, l, 0);
  MlirValue *operands = arena_array(e->kernel->arena, MlirValue, at->count + 1);
  operands[0] = emit_literal_tensor(&e->b, l);
  for (int i = 0; i < at->count; i++) operands[i + 1] = at->values[i];
  MlirType type = emit_element_type(e->kernel->context, constant->shape->dtype);
  return ir_value(&e->b, "tensor.extract", type, at->count + 1, operands);
}

static MlirValue parameter_value(function_emitter *e, const instruction *parameter, const index_vector *at) {
  intptr_t position = (intptr_t)ptr_map_get(&e->kernel->inputs, parameter) - 1;
  if (position < 0) return e->parameters.data[parameter->attributes->index];
  MlirValue *operands = arena_array(e->kernel->arena, MlirValue, at->count + 1);
  operands[0] = e->parameters.data[position];
  for (int i = 0; i < at->count; i++) operands[i + 1] = at->values[i];
  MlirType type = emit_element_type(e->kernel->context, parameter->shape->dtype);
  return ir_value(&e->b, "tensor.extract", type, at->count + 1, operands);
}

// The index as a number of the element type; wraps like XLA's for types too narrow.
static MlirValue iota_value(function_emitter *e, const instruction *i, const index_vector *at) {
  dtype t = i->shape->dtype;
  MlirValue index = at->values[i->attributes->iota_dimension];
  dtype through = dtypes[t].class == CLASS_UNSIGNED ? DTYPE_U64 : DTYPE_S64;
  MlirType wide = mlirIntegerTypeGet(e->kernel->context, 64);
  if (dtype_is_integer(t)) {
    return ir_cast(&e->b, "arith.index_cast", emit_element_type(e->kernel->context, t), index);
  }
  return emit_convert(&e->b, ir_cast(&e->b, "arith.index_cast", wide, index), through, t);
}

static MlirValue leaf_value(function_emitter *e, const instruction *leaf, const index_vector *at) {
  switch (leaf->opcode) {
    case HLO_PARAMETER: return parameter_value(e, leaf, at);
    case HLO_IOTA: return iota_value(e, leaf, at);
    case HLO_BROADCAST: return constant_value(e, leaf->operands[0], at);
    default: return constant_value(e, leaf, at);
  }
}

// --- values

// Leaves and other functions' roots: remembered by the indices they are accessed at.
static MlirValue *access_values(function_emitter *e, const instruction *x, const index_vector *at) {
  indexed_value *first = ptr_map_get(&e->accesses, x);
  for (indexed_value *p = first; p; p = p->next) {
    if (!p->is_dead && same_indices(p->at, at)) return p->values;
  }
  indexed_value *made = arena_new(e->kernel->arena, indexed_value);
  *made = (indexed_value){.at = at, .next = first};
  const partition_node *node = partition_node_of(e->kernel->partition, x);
  if (node->is_given) {
    made->values = ptr_map_get(&e->given, x);
  } else if (node->is_leaf) {
    made->values = arena_array(e->kernel->arena, MlirValue, 1);
    made->values[0] = leaf_value(e, x, at);
  } else {
    const partition_function *callee = e->kernel->partition->functions[node->function];
    made->values = emit_call(e->kernel, &e->b, callee, e->parameters.data, at, 0);
  }
  ptr_map_put(e->kernel->arena, &e->accesses, x, made);
  vec_push(e->kernel->arena, &e->made, made);
  return made->values;
}

static bool is_here(const function_emitter *e, const instruction *x) {
  return partition_node_of(e->kernel->partition, x)->function == e->number;
}

heddle_status emit_value(function_emitter *e, const instruction *x, const index_vector *at, MlirValue **out) {
  *out = is_here(e, x) ? ptr_map_get(&e->values, x) : access_values(e, x, at);
  if (*out) return status_ok();
  return status_at(HEDDLE_INTERNAL, x->where, STR_FMT " is used before it is emitted", STR_ARG(x->name));
}

const partition_operand *emit_operand_access(function_emitter *e, const instruction *i, int k) {
  return &partition_node_of(e->kernel->partition, i)->operands[k];
}

static const index_vector *operand_indices(function_emitter *e, const instruction *i, int k) {
  return emit_apply(e, emit_operand_access(e, i, k)->map, emit_indices(e, i), 0);
}

heddle_status emit_operand(function_emitter *e, const instruction *i, int k, MlirValue *out) {
  const instruction *operand = i->operands[k];
  const index_vector *at = is_here(e, operand) ? 0 : operand_indices(e, i, k);
  MlirValue *values = 0;
  TRY(emit_value(e, operand, at, &values));
  *out = values[0];
  return status_ok();
}

void emit_provide(function_emitter *e, const instruction *i, int k, const index_vector *at) {
  const instruction *operand = i->operands[k];
  if (is_here(e, operand) && !ptr_map_has(&e->indices, operand)) {
    ptr_map_put(e->kernel->arena, &e->indices, operand, (void *)at);
  }
}

heddle_status emit_refuse(function_emitter *e, const instruction *i, const char *why) {
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s of shape %s cannot be emitted yet%s%s",
                   hlo_op_text(i->opcode), arena_printf(e->kernel->arena, STR_FMT, STR_ARG(i->name)),
                   shape_text(e->kernel->arena, i->shape), why[0] ? ": " : "", why);
}

// --- regions and scopes

region_mark emit_enter(function_emitter *e, MlirBlock block) {
  region_mark mark = {.outer = e->b, .made = e->made.size};
  e->b.block = block;
  e->b.before = (MlirOperation){0};
  return mark;
}

void emit_leave(function_emitter *e, region_mark mark) {
  for (int i = mark.made; i < e->made.size; i++) e->made.data[i]->is_dead = true;
  e->made.size = mark.made;
  e->b = mark.outer;
}

static const emit_choice *choice_of(const emit_op *op, const instruction *i) {
  switch (dtypes[i->operands[0]->shape->dtype].class) {
    case CLASS_PRED: return &op->on_pred;
    case CLASS_SIGNED: return &op->on_signed;
    case CLASS_UNSIGNED: return &op->on_unsigned;
    case CLASS_FLOAT: return &op->on_float;
    default: return &op->on_complex;
  }
}

// Conversions know encoded types themselves, and a selection only picks.
static bool computes_on_encoded(const instruction *i) {
  if (i->opcode == HLO_CONVERT || i->opcode == HLO_SELECT) return false;
  bool any = emit_is_encoded(i->shape->dtype);
  for (int k = 0; k < i->operand_count; k++) any |= emit_is_encoded(i->operands[k]->shape->dtype);
  return any;
}

static MlirValue decoded(ir_builder *b, const instruction *operand, MlirValue value) {
  dtype t = operand->shape->dtype;
  return emit_is_encoded(t) ? narrow_floats_decode_code(b, dtypes[t].narrow, value) : value;
}

static MlirValue encoded(ir_builder *b, const instruction *i, MlirValue wide) {
  const dtype t = i->shape->dtype;
  return narrow_floats_encode_code(b, dtypes[t].narrow, emit_element_type(b->context, t), wide);
}

bool emit_is_elementwise(const instruction *i) {
  if (i->operand_count == 0 || i->operand_count > 3 || shape_is_tuple(i->operands[0]->shape)) return false;
  const emit_op *row = &emit_ops[i->opcode];
  const emit_choice *choice = choice_of(row, i);
  return !row->structural && (choice->op || choice->fn);
}

MlirValue emit_elementwise(ir_builder *b, const instruction *i, const MlirValue *values) {
  const emit_choice *choice = choice_of(&emit_ops[i->opcode], i);
  MlirValue operands[3] = {0};
  const bool is_coded = computes_on_encoded(i);
  for (int k = 0; k < i->operand_count; k++) operands[k] = is_coded ? decoded(b, i->operands[k], values[k]) : values[k];
  MlirValue made = choice->fn ? choice->fn(b, i, operands)
                              : ir_value(b, choice->op, mlirValueGetType(operands[0]), i->operand_count, operands);
  return is_coded && emit_is_encoded(i->shape->dtype) ? encoded(b, i, made) : made;
}

static heddle_status emit_from_operands(function_emitter *e, const instruction *i, MlirValue *out) {
  if (!emit_is_elementwise(i)) return emit_refuse(e, i, "");
  MlirValue operands[3] = {0};
  for (int k = 0; k < i->operand_count; k++) TRY(emit_operand(e, i, k, &operands[k]));
  *out = emit_elementwise(&e->b, i, operands);
  return status_ok();
}

static heddle_status check_type(function_emitter *e, const instruction *i) {
  int values = shape_is_tuple(i->shape) ? i->shape->tuple_size : 1;
  for (int v = 0; v < values; v++) {
    const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[v] : i->shape;
    if (mlirTypeIsNull(emit_element_type(e->kernel->context, s->dtype))) {
      return emit_refuse(e, i, "no type of array elements");
    }
  }
  return status_ok();
}

static heddle_status check_types(function_emitter *e, const instruction *i) {
  TRY(check_type(e, i));
  for (int k = 0; k < i->operand_count; k++) TRY(check_type(e, i->operands[k]));
  return status_ok();
}

static heddle_status emit_instruction(function_emitter *e, const instruction *i) {
  TRY(check_types(e, i));
  int values = shape_is_tuple(i->shape) ? i->shape->tuple_size : 1;
  MlirValue *out = arena_array(e->kernel->arena, MlirValue, values);
  op_emitter structural = emit_ops[i->opcode].structural;
  TRY(structural ? structural(e, i, out) : emit_from_operands(e, i, out));
  ptr_map_put(e->kernel->arena, &e->values, i, out);
  return status_ok();
}

// The operand is evaluated in its user's scope, by its user's function, at indices that are not known yet.
static bool wants_indices(function_emitter *e, const instruction *i, int k) {
  const partition_operand *access = emit_operand_access(e, i, k);
  return access->is_needed && partition_operand_branch(i, k) < 0 && is_here(e, i->operands[k]) &&
         !ptr_map_has(&e->indices, i->operands[k]);
}

static void index_operands(function_emitter *e, const instruction *i) {
  for (int k = 0; k < i->operand_count; k++) {
    const partition_operand *access = emit_operand_access(e, i, k);
    if (!access->is_offset && wants_indices(e, i, k)) emit_provide(e, i, k, operand_indices(e, i, k));
    for (int r = 0; access->is_needed && access->map && r < access->map->rt_count; r++) {
      const runtime_value *rt = &access->rts[r];
      if (wants_indices(e, i, rt->operand)) {
        emit_provide(e, i, rt->operand, emit_apply(e, rt->map, emit_indices(e, i), 0));
      }
    }
  }
}

static heddle_status emit_scope(function_emitter *e, int number) {
  const partition_scope *scope = e->kernel->partition->scopes[number];
  for (int n = scope->order.size - 1; n >= 0; n--) index_operands(e, scope->order.data[n]);
  for (int n = 0; n < scope->order.size; n++) TRY(emit_instruction(e, scope->order.data[n]));
  return status_ok();
}

heddle_status emit_branch(function_emitter *e, const instruction *i, int branch) {
  return emit_scope(e, partition_node_of(e->kernel->partition, i)->first_scope + branch);
}

// --- functions

static MlirAttribute range_attribute(MlirContext c, int64_t upper) {
  MlirType index = mlirIndexTypeGet(c);
  MlirAttribute bounds[] = {mlirIntegerAttrGet(index, 0), mlirIntegerAttrGet(index, upper)};
  return mlirArrayAttrGet(c, 2, bounds);
}

// Types of the arguments: inputs, indices, what is given.
static heddle_status argument_types(kernel_emitter *k, const partition_function *f, MlirType *types) {
  bool is_kernel = f->computation == k->plan->computation;
  int inputs = is_kernel ? k->plan->input_count : f->computation->parameters.size;
  for (int i = 0; i < inputs; i++) {
    const instruction *p = is_kernel ? k->plan->inputs[i].parameter : f->computation->parameters.data[i];
    MlirType element = emit_element_type(k->context, p->shape->dtype);
    if (mlirTypeIsNull(element)) {
      return status_at(HEDDLE_UNIMPLEMENTED, p->where, "parameter " STR_FMT " of type %s cannot be emitted yet",
                       STR_ARG(p->name), shape_text(k->arena, p->shape));
    }
    types[i] = ptr_map_has(&k->inputs, p) ? emit_tensor_type(k->context, p->shape) : element;
  }
  for (int d = 0; d < f->index_space->rank; d++) types[inputs + d] = mlirIndexTypeGet(k->context);
  int next = inputs + f->index_space->rank;
  for (int g = 0; g < f->given_count; g++) {
    const shape *s = f->given[g]->shape;
    for (int v = 0; v < value_count(f->given[g]); v++)
      types[next++] = emit_element_type(k->context, shape_is_tuple(s) ? s->elements[v]->dtype : s->dtype);
  }
  return status_ok();
}

static int count_given(const partition_function *f) {
  int count = 0;
  for (int g = 0; g < f->given_count; g++) count += value_count(f->given[g]);
  return count;
}

static void take_given(function_emitter *e, MlirBlock block, int first) {
  for (int g = 0; g < e->function->given_count; g++) {
    const instruction *given = e->function->given[g];
    MlirValue *values = arena_array(e->kernel->arena, MlirValue, value_count(given));
    for (int v = 0; v < value_count(given); v++) values[v] = mlirBlockGetArgument(block, first++);
    ptr_map_put(e->kernel->arena, &e->given, given, values);
  }
}

static heddle_status emit_results(function_emitter *e, const index_vector *at) {
  const partition_function *f = e->function;
  const index_vector **indices = arena_array(e->kernel->arena, const index_vector *, f->result_count);
  for (int r = 0; r < f->result_count; r++) {
    const instruction *root = f->results[r].root;
    indices[r] = emit_apply(e, f->results[r].map, at, 0);
    if (is_here(e, root) && !ptr_map_has(&e->indices, root)) {
      ptr_map_put(e->kernel->arena, &e->indices, root, (void *)indices[r]);
    }
  }
  TRY(emit_scope(e, f->scope));
  MlirValue *results = arena_array(e->kernel->arena, MlirValue, f->result_count);
  for (int r = 0; r < f->result_count; r++) {
    MlirValue *values = 0;
    TRY(emit_value(e, f->results[r].root, indices[r], &values));
    results[r] = values[f->results[r].element];
  }
  ir_return(&e->b, f->result_count, results);
  return status_ok();
}

static heddle_status emit_function(kernel_emitter *k, int number) {
  const partition_function *f = k->partition->functions[number];
  bool is_kernel = f->computation == k->plan->computation;
  int inputs = is_kernel ? k->plan->input_count : f->computation->parameters.size, rank = f->index_space->rank;
  int arguments = inputs + rank + count_given(f);
  MlirType *types = arena_array(k->arena, MlirType, arguments);
  TRY(argument_types(k, f, types));
  MlirType *results = arena_array(k->arena, MlirType, f->result_count);
  for (int i = 0; i < f->result_count; i++) {
    results[i] = result_type(k, &f->results[i]);
    if (mlirTypeIsNull(results[i])) {
      return status_at(HEDDLE_UNIMPLEMENTED, f->results[i].root->where, STR_FMT " of type %s cannot be emitted yet",
                       STR_ARG(f->results[i].root->name), shape_text(k->arena, f->results[i].root->shape));
    }
  }
  MlirOperation op = ir_function(&k->module_body, f->name, arguments, types, f->result_count, results, true);
  for (int d = 0; d < rank; d++) {
    ir_set_argument_attribute(op, inputs + d, "xla.range", range_attribute(k->context, f->index_space->dims[d] - 1));
  }
  MlirBlock block = ir_body(op, 0);
  function_emitter e = {
      .kernel = k, .function = f, .number = number, .b = ir_builder_at_end(k->context, block, k->arena)};
  for (int i = 0; i < inputs; i++) vec_push(k->arena, &e.parameters, mlirBlockGetArgument(block, i));
  MlirValue *indices = arena_array(k->arena, MlirValue, rank);
  for (int d = 0; d < rank; d++) indices[d] = mlirBlockGetArgument(block, inputs + d);
  take_given(&e, block, inputs + rank);
  for (int i = 0; i < f->constants.size; i++) {
    TRY(check_type(&e, f->constants.data[i]));
    MlirValue *value = arena_array(k->arena, MlirValue, 1);
    value[0] = emit_literal_element(&e.b, f->constants.data[i]->literal, 0);
    ptr_map_put(k->arena, &e.values, f->constants.data[i], value);
  }
  return emit_results(&e, copy_indices(&e, rank, indices));
}

heddle_status emit_functions(kernel_emitter *k) {
  for (int i = 0; i < k->partition->function_count; i++) {
    TRY(status_context(emit_function(k, i), "while emitting function @%s", k->partition->functions[i]->name));
  }
  return status_ok();
}

// --- ops that only pass values on

heddle_status emit_passthrough(function_emitter *e, const instruction *i, MlirValue *out) {
  return emit_operand(e, i, 0, out);
}

heddle_status emit_get_tuple_element(function_emitter *e, const instruction *i, MlirValue *out) {
  MlirValue *values = 0;
  TRY(emit_value(e, i->operands[0], emit_indices(e, i), &values));
  *out = values[i->attributes->index];
  return status_ok();
}

heddle_status emit_map(function_emitter *e, const instruction *i, MlirValue *out) {
  MlirValue *operands = arena_array(e->kernel->arena, MlirValue, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) TRY(emit_operand(e, i, k, &operands[k]));
  const partition_function *body = partition_entry(e->kernel->partition, i->called[0]);
  *out = emit_call(e->kernel, &e->b, body, operands, 0, 0)[0];
  return status_ok();
}
