// HLO modules as StableHLO modules: the table of opcodes, and the walk over computations.
//
// Computations that HLO calls become private functions, those that an operation applies become its regions. Each HLO
// value is a tree of StableHLO values (raising.h), so that tuples vanish but where they are the program's interface.
#include "stablehlo/hlo_to_stablehlo.h"

#include "hlo/frontend_attributes.h"
#include "stablehlo/raising.h"

const raising_row raisings[HLO_OPCODE_COUNT] = {
    [HLO_ABS] = {IR_OP_ABS, raise_size_or_sign},
    [HLO_ACOS] = {IR_OP_CHLO_ACOS, NULL},
    [HLO_ACOSH] = {IR_OP_CHLO_ACOSH, NULL},
    [HLO_ADD] = {IR_OP_ADD, NULL},
    [HLO_ADD_DEPENDENCY] = {IR_OP_UNKNOWN, raise_first},
    [HLO_AFTER_ALL] = {IR_OP_AFTER_ALL, NULL},
    [HLO_ALL_GATHER] = {IR_OP_ALL_GATHER, raise_all_gather},
    [HLO_ALL_GATHER_DONE] = {IR_OP_UNKNOWN, raise_first},
    [HLO_ALL_GATHER_START] = {IR_OP_ALL_GATHER, raise_all_gather},
    [HLO_ALL_REDUCE] = {IR_OP_ALL_REDUCE, raise_all_reduce},
    [HLO_ALL_REDUCE_DONE] = {IR_OP_UNKNOWN, raise_first},
    [HLO_ALL_REDUCE_START] = {IR_OP_ALL_REDUCE, raise_all_reduce},
    [HLO_ALL_TO_ALL] = {IR_OP_ALL_TO_ALL, raise_all_to_all},
    [HLO_AND] = {IR_OP_AND, NULL},
    [HLO_ASIN] = {IR_OP_CHLO_ASIN, NULL},
    [HLO_ASINH] = {IR_OP_CHLO_ASINH, NULL},
    [HLO_ASYNC_DONE] = {IR_OP_UNKNOWN, raise_first},
    [HLO_ASYNC_START] = {IR_OP_CALL, raise_call},
    [HLO_ASYNC_UPDATE] = {IR_OP_UNKNOWN, raise_first},
    [HLO_ATAN] = {IR_OP_CHLO_ATAN, NULL},
    [HLO_ATAN2] = {IR_OP_ATAN2, NULL},
    [HLO_ATANH] = {IR_OP_CHLO_ATANH, NULL},
    [HLO_BATCH_NORM_GRAD] = {IR_OP_BATCH_NORM_GRAD, raise_batch_norm},
    [HLO_BATCH_NORM_INFERENCE] = {IR_OP_BATCH_NORM_INFERENCE, raise_batch_norm},
    [HLO_BATCH_NORM_TRAINING] = {IR_OP_BATCH_NORM_TRAINING, raise_batch_norm},
    [HLO_BITCAST] = {IR_OP_UNKNOWN, raise_bitcast},
    [HLO_BITCAST_CONVERT] = {IR_OP_BITCAST_CONVERT, raise_bitcast_convert},
    [HLO_BROADCAST] = {IR_OP_BROADCAST_IN_DIM, raise_broadcast},
    [HLO_CALL] = {IR_OP_CALL, raise_call},
    [HLO_CBRT] = {IR_OP_CBRT, NULL},
    [HLO_CEIL] = {IR_OP_CEIL, NULL},
    [HLO_CHOLESKY] = {IR_OP_CHOLESKY, raise_cholesky},
    [HLO_CLAMP] = {IR_OP_CLAMP, NULL},
    [HLO_COLLECTIVE_BROADCAST] = {IR_OP_COLLECTIVE_BROADCAST, raise_collective_broadcast},
    [HLO_COLLECTIVE_PERMUTE] = {IR_OP_COLLECTIVE_PERMUTE, raise_collective_permute},
    [HLO_COLLECTIVE_PERMUTE_DONE] = {IR_OP_UNKNOWN, raise_first},
    [HLO_COLLECTIVE_PERMUTE_START] = {IR_OP_COLLECTIVE_PERMUTE, raise_collective_permute},
    [HLO_COLLECTIVE_REDUCE] = {IR_OP_COLLECTIVE_REDUCE, raise_all_reduce},
    [HLO_COMPARE] = {IR_OP_COMPARE, raise_compare},
    [HLO_COMPLEX] = {IR_OP_COMPLEX, NULL},
    [HLO_CONCATENATE] = {IR_OP_CONCATENATE, raise_concatenate},
    [HLO_CONDITIONAL] = {IR_OP_CASE, raise_conditional},
    [HLO_CONSTANT] = {IR_OP_CONSTANT, raise_constant},
    [HLO_CONVERT] = {IR_OP_CONVERT, NULL},
    [HLO_CONVOLUTION] = {IR_OP_CONVOLUTION, raise_convolution},
    [HLO_COPY] = {IR_OP_UNKNOWN, raise_first},
    [HLO_COPY_DONE] = {IR_OP_UNKNOWN, raise_first},
    [HLO_COPY_START] = {IR_OP_UNKNOWN, raise_first},
    [HLO_COSH] = {IR_OP_CHLO_COSH, NULL},
    [HLO_COSINE] = {IR_OP_COSINE, NULL},
    [HLO_COUNT_LEADING_ZEROS] = {IR_OP_COUNT_LEADING_ZEROS, NULL},
    [HLO_CUSTOM_CALL] = {IR_OP_CUSTOM_CALL, raise_custom_call},
    [HLO_DIVIDE] = {IR_OP_DIVIDE, NULL},
    [HLO_DOMAIN] = {IR_OP_UNKNOWN, raise_first},
    [HLO_DOT] = {IR_OP_DOT_GENERAL, raise_dot},
    [HLO_DYNAMIC_RESHAPE] = {IR_OP_DYNAMIC_RESHAPE, raise_dynamic_reshape},
    [HLO_DYNAMIC_SLICE] = {IR_OP_DYNAMIC_SLICE, raise_dynamic_slice},
    [HLO_DYNAMIC_UPDATE_SLICE] = {IR_OP_DYNAMIC_UPDATE_SLICE, NULL},
    [HLO_ERF] = {IR_OP_CHLO_ERF, NULL},
    [HLO_EXPONENTIAL] = {IR_OP_EXPONENTIAL, NULL},
    [HLO_EXPONENTIAL_MINUS_ONE] = {IR_OP_EXPONENTIAL_MINUS_ONE, NULL},
    [HLO_FFT] = {IR_OP_FFT, raise_fft},
    [HLO_FLOOR] = {IR_OP_FLOOR, NULL},
    [HLO_FUSION] = {IR_OP_CALL, raise_call},
    [HLO_GATHER] = {IR_OP_GATHER, raise_gather},
    [HLO_GET_DIMENSION_SIZE] = {IR_OP_GET_DIMENSION_SIZE, raise_dimension_size},
    [HLO_GET_TUPLE_ELEMENT] = {IR_OP_UNKNOWN, raise_get_tuple_element},
    [HLO_IMAG] = {IR_OP_IMAG, NULL},
    [HLO_INFEED] = {IR_OP_INFEED, raise_infeed},
    [HLO_IOTA] = {IR_OP_IOTA, raise_iota},
    [HLO_IS_FINITE] = {IR_OP_IS_FINITE, NULL},
    [HLO_LOG] = {IR_OP_LOG, NULL},
    [HLO_LOG_PLUS_ONE] = {IR_OP_LOG_PLUS_ONE, NULL},
    [HLO_LOGISTIC] = {IR_OP_LOGISTIC, NULL},
    [HLO_MAP] = {IR_OP_MAP, raise_map},
    [HLO_MAXIMUM] = {IR_OP_MAXIMUM, NULL},
    [HLO_MINIMUM] = {IR_OP_MINIMUM, NULL},
    [HLO_MULHI] = {IR_OP_CHLO_MULHI, NULL},
    [HLO_MULTIPLY] = {IR_OP_MULTIPLY, NULL},
    [HLO_NEGATE] = {IR_OP_NEGATE, NULL},
    [HLO_NOT] = {IR_OP_NOT, NULL},
    [HLO_OPT_BARRIER] = {IR_OP_OPTIMIZATION_BARRIER, raise_opt_barrier},
    [HLO_OR] = {IR_OP_OR, NULL},
    [HLO_OUTFEED] = {IR_OP_OUTFEED, raise_outfeed},
    [HLO_PAD] = {IR_OP_PAD, raise_pad},
    [HLO_PARTITION_ID] = {IR_OP_PARTITION_ID, NULL},
    [HLO_POPCNT] = {IR_OP_POPCNT, NULL},
    [HLO_POWER] = {IR_OP_POWER, NULL},
    [HLO_RAGGED_DOT] = {IR_OP_CHLO_RAGGED_DOT, raise_ragged_dot},
    [HLO_REAL] = {IR_OP_REAL, NULL},
    [HLO_RECV] = {IR_OP_RECV, raise_recv},
    [HLO_RECV_DONE] = {IR_OP_UNKNOWN, raise_first},
    [HLO_REDUCE] = {IR_OP_REDUCE, raise_reduce},
    [HLO_REDUCE_PRECISION] = {IR_OP_REDUCE_PRECISION, raise_reduce_precision},
    [HLO_REDUCE_SCATTER] = {IR_OP_REDUCE_SCATTER, raise_reduce_scatter},
    [HLO_REDUCE_WINDOW] = {IR_OP_REDUCE_WINDOW, raise_reduce_window},
    [HLO_REMAINDER] = {IR_OP_REMAINDER, NULL},
    [HLO_REPLICA_ID] = {IR_OP_REPLICA_ID, NULL},
    [HLO_RESHAPE] = {IR_OP_RESHAPE, NULL},
    [HLO_REVERSE] = {IR_OP_REVERSE, raise_reverse},
    [HLO_RNG] = {IR_OP_RNG, raise_rng},
    [HLO_RNG_BIT_GENERATOR] = {IR_OP_RNG_BIT_GENERATOR, raise_rng_bit_generator},
    [HLO_ROUND_NEAREST_AFZ] = {IR_OP_ROUND_NEAREST_AFZ, NULL},
    [HLO_ROUND_NEAREST_EVEN] = {IR_OP_ROUND_NEAREST_EVEN, NULL},
    [HLO_RSQRT] = {IR_OP_RSQRT, NULL},
    [HLO_SCAN] = {IR_OP_CHLO_SCAN, raise_scan},
    [HLO_SCATTER] = {IR_OP_SCATTER, raise_scatter},
    [HLO_SELECT] = {IR_OP_SELECT, NULL},
    [HLO_SELECT_AND_SCATTER] = {IR_OP_SELECT_AND_SCATTER, raise_select_and_scatter},
    [HLO_SEND] = {IR_OP_SEND, raise_send},
    [HLO_SEND_DONE] = {IR_OP_UNKNOWN, raise_first},
    [HLO_SET_DIMENSION_SIZE] = {IR_OP_SET_DIMENSION_SIZE, raise_dimension_size},
    [HLO_SHIFT_LEFT] = {IR_OP_SHIFT_LEFT, NULL},
    [HLO_SHIFT_RIGHT_ARITHMETIC] = {IR_OP_SHIFT_RIGHT_ARITHMETIC, NULL},
    [HLO_SHIFT_RIGHT_LOGICAL] = {IR_OP_SHIFT_RIGHT_LOGICAL, NULL},
    [HLO_SIGN] = {IR_OP_SIGN, raise_size_or_sign},
    [HLO_SINE] = {IR_OP_SINE, NULL},
    [HLO_SINH] = {IR_OP_CHLO_SINH, NULL},
    [HLO_SLICE] = {IR_OP_SLICE, raise_slice},
    [HLO_SORT] = {IR_OP_SORT, raise_sort},
    [HLO_SQRT] = {IR_OP_SQRT, NULL},
    [HLO_SUBTRACT] = {IR_OP_SUBTRACT, raise_subtract},
    [HLO_TAN] = {IR_OP_TAN, NULL},
    [HLO_TANH] = {IR_OP_TANH, NULL},
    [HLO_TOPK] = {IR_OP_CHLO_TOP_K, raise_topk},
    [HLO_TRANSPOSE] = {IR_OP_TRANSPOSE, raise_transpose},
    [HLO_TRIANGULAR_SOLVE] = {IR_OP_TRIANGULAR_SOLVE, raise_triangular_solve},
    [HLO_TUPLE] = {IR_OP_UNKNOWN, raise_tuple},
    [HLO_WHILE] = {IR_OP_WHILE, raise_while},
    [HLO_XOR] = {IR_OP_XOR, NULL},
};

// Operations that one module may have: computations used as regions are written once for each use.
enum { OPERATION_LIMIT = 1 << 20 };

// As a dictionary, in which no name stands twice: the last value counts. Null if the text is no list of them.
static const ir_attribute *frontend_dictionary(raising *r, str source) {
  frontend_attribute_list list;
  heddle_status status = frontend_attributes_parse(r->arena, source, &list);
  const bool is_list = status_is_ok(status);
  heddle_status_free(status);
  if (!is_list) return NULL;
  ir_named_attribute *fields = arena_array(r->arena, ir_named_attribute, list.size);
  str_map places = {0};
  int count = 0;
  for (int k = 0; k < list.size; k++) {
    const frontend_attribute *x = &list.data[k];
    ir_named_attribute *field = str_map_get(&places, x->name);
    if (!field) str_map_put(r->arena, &places, x->name, field = &fields[count++]);
    *field = (ir_named_attribute){x->name, ir_string_attribute(r->arena, x->value)};
  }
  ir_attribute *dictionary = ir_attribute_new(r->arena, IR_ATTR_DICTIONARY);
  dictionary->count = count;
  dictionary->fields = fields;
  return dictionary;
}

// What HLO keeps as text and StableHLO as attributes of any operation.
static void set_metadata(raising *r, const instruction *i, ir_operation *op) {
  const str *sharding = attributes_raw(i->attributes, "sharding");
  const str *frontend = attributes_raw(i->attributes, "frontend_attributes");
  const ir_attribute *dictionary = frontend ? frontend_dictionary(r, *frontend) : NULL;
  if (sharding) raising_set(r, op, "mhlo.sharding", ir_string_attribute(r->arena, *sharding));
  if (dictionary) raising_set(r, op, "mhlo.frontend_attributes", dictionary);
}

static heddle_status raise_instruction(raising *r, const instruction *i, ptr_map *values) {
  const raising_row *row = &raisings[i->opcode];
  raised **operands = arena_array(r->arena, raised *, i->operand_count), *out = NULL;
  for (int k = 0; k < i->operand_count; k++) operands[k] = ptr_map_get(values, i->operands[k]);
  int before = r->block->operations.size;
  if (r->budget <= 0) return raising_refuse(i, "the program has grown to more than %d operations", OPERATION_LIMIT);
  if (row->raise) {
    TRY(row->raise(r, i, operands, &out));
  } else {
    ir_operation *op;
    if (row->op == IR_OP_UNKNOWN) return raising_refuse(i, "there is no operation like it");
    TRY(raising_same(r, i, operands, &op, &out));
  }
  if (r->block->operations.size > before) set_metadata(r, i, vec_last(&r->block->operations));
  ptr_map_put(r->arena, values, i, out);
  return status_ok();
}

// All instructions of the computation, appended to r->block.
static heddle_status raise_body(raising *r, const computation *c, raised *const *parameters, raised **root) {
  instruction_list order;
  ptr_map values = {0};
  for (int k = 0; k < c->parameters.size; k++) ptr_map_put(r->arena, &values, c->parameters.data[k], parameters[k]);
  TRY(computation_post_order(r->arena, c, &order));
  for (int k = 0; k < order.size; k++)
    if (order.data[k]->opcode != HLO_PARAMETER) TRY(raise_instruction(r, order.data[k], &values));
  *root = ptr_map_get(&values, c->root);
  return status_ok();
}

static raised *add_arguments(raising *r, ir_block *block, const shape *s) {
  int count;
  const ir_type **types;
  raised_types(r, s, &count, &types);
  ir_value **values = arena_array(r->arena, ir_value *, count);
  for (int k = 0; k < count; k++) values[k] = ir_add_argument(r->arena, block, types[k]);
  ir_value *const *next = values;
  return raised_of_shape(r, s, &next);
}

heddle_status raising_region(raising *r, ir_region *region, const computation *c, raised *const *parameters) {
  ir_block *outer = r->block;
  if (++r->depth >= IR_MAX_DEPTH - 2)
    return status_at(HEDDLE_UNIMPLEMENTED, c->where, "found computations nested more than %d deep", IR_MAX_DEPTH - 2);
  r->block = ir_add_block(r->arena, region);
  if (!parameters) {
    raised **made = arena_array(r->arena, raised *, c->parameters.size);
    for (int k = 0; k < c->parameters.size; k++) made[k] = add_arguments(r, r->block, c->parameters.data[k]->shape);
    parameters = made;
  }
  raised *root;
  raised_leaves results = {0};
  TRY(raise_body(r, c, parameters, &root));
  raised_flatten(r, root, &results);
  raising_add(r, IR_OP_RETURN, results.size, results.data, 0, NULL);
  r->block = outer;
  r->depth--;
  return status_ok();
}

str raising_function(raising *r, const computation *c) {
  str *known = ptr_map_get(&r->function_names, c);
  if (known) return *known;
  str *name = arena_new(r->arena, str);
  *name = str_copy(r->arena, c->name);
  for (int k = 0; str_map_has(&r->taken_names, *name); k++)
    *name = str_from(arena_printf(r->arena, STR_FMT "_%d", STR_ARG(c->name), k));
  str_map_put(r->arena, &r->taken_names, *name, (void *)c);
  ptr_map_put(r->arena, &r->function_names, c, name);
  vec_push(r->arena, &r->waiting, c);
  return *name;
}

// A function of the new module, with its block; the results' types are filled in when they are known.
static ir_operation *add_function(raising *r, str name, const char *visibility) {
  ir_operation *function = ir_create(r->arena, r->functions, IR_OP_FUNC, 0, NULL, 0, NULL, 1);
  raising_set(r, function, "sym_name", ir_string_attribute(r->arena, name));
  raising_set(r, function, "sym_visibility", ir_string_attribute(r->arena, str_from(visibility)));
  r->block = ir_add_block(r->arena, function->regions[0]);
  return function;
}

static void finish_function(raising *r, ir_operation *function, const raised_leaves *results) {
  const ir_block *block = r->block;
  ir_type *type = arena_new(r->arena, ir_type);
  const ir_type **inputs = arena_array(r->arena, const ir_type *, block->argument_count);
  const ir_type **outputs = arena_array(r->arena, const ir_type *, results->size);
  for (int k = 0; k < block->argument_count; k++) inputs[k] = block->arguments[k]->type;
  for (int k = 0; k < results->size; k++) outputs[k] = results->data[k]->type;
  *type = (ir_type){.kind = IR_TYPE_FUNCTION,
                    .count = block->argument_count,
                    .types = inputs,
                    .result_count = results->size,
                    .results = outputs};
  raising_set(r, function, "function_type", ir_type_attribute(r->arena, type));
  raising_add(r, IR_OP_FUNC_RETURN, results->size, results->data, 0, NULL);
}

static heddle_status raise_function(raising *r, const computation *c, str name) {
  ir_operation *function = add_function(r, name, "private");
  raised **parameters = arena_array(r->arena, raised *, c->parameters.size), *root;
  raised_leaves results = {0};
  for (int k = 0; k < c->parameters.size; k++) parameters[k] = add_arguments(r, r->block, c->parameters.data[k]->shape);
  TRY(raise_body(r, c, parameters, &root));
  raised_flatten(r, root, &results);
  finish_function(r, function, &results);
  return status_ok();
}

// Shardings of the parameters, as attributes of the function's arguments.
static void set_argument_attributes(raising *r, const computation *c, ir_operation *function) {
  VEC(const ir_attribute *) items = {0};
  bool has_any = false;
  for (int k = 0; k < c->parameters.size; k++) {
    const str *sharding = attributes_raw(c->parameters.data[k]->attributes, "sharding");
    ir_attribute *x = ir_attribute_new(r->arena, IR_ATTR_DICTIONARY);
    ir_named_attribute *field = arena_new(r->arena, ir_named_attribute);
    if (sharding) *field = (ir_named_attribute){STR("mhlo.sharding"), ir_string_attribute(r->arena, *sharding)};
    x->fields = field;
    x->count = sharding != NULL;
    has_any |= sharding != NULL;
    vec_push(r->arena, &items, x);
  }
  if (has_any) raising_set(r, function, "arg_attrs", ir_array_attribute(r->arena, items.size, items.data));
}

// The entry keeps its interface: one argument for each parameter, one result for each element of a tuple.
static heddle_status raise_entry(raising *r, const computation *c) {
  ir_operation *function = add_function(r, STR("main"), "public");
  raised **parameters = arena_array(r->arena, raised *, c->parameters.size), *root;
  raised_leaves results = {0};
  for (int k = 0; k < c->parameters.size; k++)
    ir_add_argument(r->arena, r->block, ir_type_of_shape(r->arena, c->parameters.data[k]->shape));
  for (int k = 0; k < c->parameters.size; k++) parameters[k] = raising_unpack(r, r->block->arguments[k]);
  TRY(raise_body(r, c, parameters, &root));
  if (root->value) vec_push(r->arena, &results, root->value);
  for (int k = 0; !root->value && k < root->count; k++)
    vec_push(r->arena, &results, raising_pack(r, root->elements[k]));
  finish_function(r, function, &results);
  set_argument_attributes(r, c, function);
  return status_ok();
}

// `replica_count=2` of the module as mhlo.num_replicas = 2 : i32.
static void set_count(raising *r, ir_operation *module_op, const char *from, const char *to) {
  for (int k = 0; k < r->source->attributes.size; k++) {
    const module_attribute *x = &r->source->attributes.data[k];
    int64_t value = 0;
    if (!str_is(x->name, from)) continue;
    for (size_t d = 0; d < x->value.size && d < 9; d++) value = value * 10 + (x->value.data[d] - '0');
    raising_set(r, module_op, to, ir_integer_attribute(r->arena, value, DTYPE_S32));
  }
}

static ir_module *new_module(raising *r) {
  ir_module *m = arena_new(r->arena, ir_module);
  m->arena = r->arena;
  m->file = r->source->file;
  m->operation = ir_create(r->arena, NULL, IR_OP_MODULE, 0, NULL, 0, NULL, 1);
  if (r->source->name.size) raising_set(r, m->operation, "sym_name", ir_string_attribute(r->arena, r->source->name));
  set_count(r, m->operation, "num_partitions", "mhlo.num_partitions");
  set_count(r, m->operation, "replica_count", "mhlo.num_replicas");
  r->functions = ir_add_block(r->arena, m->operation->regions[0]);
  return m;
}

heddle_status hlo_to_stablehlo(arena *a, const module *m, ir_module **out) {
  raising r = {.arena = a, .source = m, .budget = OPERATION_LIMIT};
  *out = new_module(&r);
  str_map_put(a, &r.taken_names, STR("main"), m->entry);
  TRY(raise_entry(&r, m->entry));
  for (int k = 0; k < r.waiting.size; k++) {
    const computation *c = r.waiting.data[k];
    TRY(raise_function(&r, c, raising_function(&r, c)));
  }
  return status_ok();
}
