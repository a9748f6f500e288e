// Custom calls, and StableHLO's own checks, which are custom calls to the interpreter.
#include "base/int64.h"
#include "hlo/text.h"
#include "mlir/print_values.h"
#include "stablehlo/build_forms.h"
#include "stablehlo/chlo.h"
#include "stablehlo/lower_table.h"

// A layout as the list of dims from minor to major.
static heddle_status with_layout(lowering *l, const ir_attribute *list, int number, const shape *s, const shape **out) {
  *out = s;
  if (!list || list->kind != IR_ATTR_ARRAY || number >= list->count || !shape_is_array(s)) return status_ok();
  int_list order;
  if (!ir_attribute_integers(l->arena, list->items[number], &order.data, &order.size) || order.size != s->rank)
    return lowering_invalid(l->op, "a layout has not as many entries as its array has dimensions, %d", s->rank);
  layout *x = arena_new(l->arena, layout);
  *x = (layout){.minor_to_major = order.data, .element_bits = 0, .tail_padding = 1};
  *out = shape_with_layout(l->arena, s, x);
  return shape_check(*out, l->op->where);
}

// Operands that the called function takes, by their numbers in the operation: without those that say shapes of results.
typedef struct taken_operands {
  int count;
  int *numbers;
  instruction **operands;
} taken_operands;

static bool is_among(const int_list *list, int64_t number) {
  for (int k = 0; k < list->size; k++)
    if (list->data[k] == number) return true;
  return false;
}

static taken_operands take_operands(lowering *l, const ir_operation *op, const int_list *sayers,
                                    instruction *const *operands) {
  taken_operands t = {0, arena_array(l->arena, int, op->operand_count),
                      arena_array(l->arena, instruction *, op->operand_count)};
  for (int k = 0; k < op->operand_count; k++) {
    if (is_among(sayers, k)) continue;
    t.numbers[t.count] = k;
    t.operands[t.count++] = operands[k];
  }
  return t;
}

static heddle_status set_operand_layouts(lowering *l, const ir_operation *op, const taken_operands *t, instruction *i) {
  const ir_attribute *list = ir_find(op, "operand_layouts");
  if (!list || list->kind != IR_ATTR_ARRAY || list->count != op->operand_count) return status_ok();
  const shape **layouts = arena_array(l->arena, const shape *, t->count);
  for (int k = 0; k < t->count; k++) TRY(with_layout(l, list, t->numbers[k], i->operands[k]->shape, &layouts[k]));
  i->attributes->operand_layouts = layouts;
  i->attributes->operand_layout_count = t->count;
  build_mark(i, HLO_ATTRIBUTE_OPERAND_LAYOUT_CONSTRAINTS);
  return status_ok();
}

static void print_indices(text *out, lowering *l, const ir_attribute *alias, const char *name) {
  int_list list;
  text_putc(out, '{');
  if (ir_attribute_integers(l->arena, ir_find_field(alias, name), &list.data, &list.size))
    for (int k = 0; k < list.size; k++) text_printf(out, k ? ", %lld" : "%lld", (long long)list.data[k]);
  text_putc(out, '}');
}

static int64_t taken_number(const taken_operands *t, int64_t number) {
  for (int k = 0; k < t->count; k++)
    if (t->numbers[k] == number) return k;
  return number;
}

// {{0}: (1, {})}: result element 0 may lie in operand 1.
static void set_aliases(lowering *l, const ir_operation *op, const taken_operands *t, instruction *i) {
  const ir_attribute *list = ir_find(op, "output_operand_aliases");
  if (!list || list->kind != IR_ATTR_ARRAY || !list->count) return;
  text out = {0};
  text_putc(&out, '{');
  for (int k = 0; k < list->count; k++) {
    if (k) text_puts(&out, ", ");
    print_indices(&out, l, list->items[k], "output_tuple_indices");
    const int64_t operand = taken_number(t, lowering_field_int(list->items[k], "operand_index", 0));
    text_printf(&out, ": (%lld, ", (long long)operand);
    print_indices(&out, l, list->items[k], "operand_tuple_indices");
    text_putc(&out, ')');
  }
  text_putc(&out, '}');
  build_set_raw(l, i, HLO_ATTRIBUTE_OUTPUT_TO_OPERAND_ALIASING, str_copy(l->arena, text_view(&out)));
  text_free(&out);
}

static str attribute_text(lowering *l, const ir_attribute *x) {
  text out = {0};
  mlir_print_attribute(&out, x);
  str copy = str_copy(l->arena, text_view(&out));
  text_free(&out);
  return copy;
}

static void set_config(instruction *i, str config, bool is_json) {
  i->attributes->backend_config = config;
  i->attributes->backend_config_is_json = is_json;
  build_mark(i, HLO_ATTRIBUTE_BACKEND_CONFIG);
}

// A string stays one; a dictionary (of a typed foreign function) is kept as MLIR writes it. JAX puts the latter into
// mhlo.backend_config and leaves backend_config empty; operations of MHLO that came as calls have mhlo.attributes.
static void set_backend_config(lowering *l, const ir_operation *op, instruction *i) {
  const ir_attribute *config = ir_find(op, "mhlo.backend_config");
  if (!config || config->kind != IR_ATTR_DICTIONARY) config = ir_find(op, "mhlo.attributes");
  if (!config || config->kind != IR_ATTR_DICTIONARY) config = ir_find(op, "backend_config");
  if (!config) return;
  if (config->kind == IR_ATTR_DICTIONARY) set_config(i, attribute_text(l, config), true);
  else if (config->kind == IR_ATTR_STRING && config->text.size) set_config(i, config->text, false);
}

static heddle_status set_api_version(lowering *l, const ir_operation *op, instruction *i) {
  static const char *const words[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                                      "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
  int64_t version;
  TRY(lowering_int(op, "api_version", 1, &version));
  const ir_attribute *typed = ir_find(op, "mhlo.backend_config");
  if (typed && typed->kind == IR_ATTR_DICTIONARY) version = 4;
  if (version < 0 || version > 4) return lowering_invalid(op, "api_version is %lld", (long long)version);
  if (version > 1) build_set_raw(l, i, HLO_ATTRIBUTE_API_VERSION, str_from(words[version]));
  return status_ok();
}

// The function as a computation of its declared shapes.
static heddle_status declared_function(lowering *l, const ir_operation *op, str name, computation **out) {
  const ir_operation *function = ir_module_function(l->source, name);
  if (!function || function->region_count != 1 || function->regions[0]->blocks.size != 1)
    return lowering_invalid(op, "there is no function @" STR_FMT, STR_ARG(name));
  const ir_block *b = function->regions[0]->blocks.data[0];
  instruction **arguments = arena_array(l->arena, instruction *, b->argument_count);
  for (int k = 0; k < b->argument_count; k++) {
    arguments[k] = arena_new(l->arena, instruction);
    arguments[k]->opcode = HLO_PARAMETER;
    TRY(ir_type_shape(l->arena, b->arguments[k]->type, function->where, &arguments[k]->shape));
  }
  return lowering_function(l, op, name, b->argument_count, arguments, out);
}

// Sets the called computations of a custom call to functions named by symbols, at their declared shapes.
static heddle_status add_called_functions(lowering *l, instruction *i, int count, const ir_attribute *const *names) {
  computation **called = arena_array(l->arena, computation *, count);
  for (int k = 0; k < count; k++) {
    if (names[k]->kind != IR_ATTR_SYMBOL && names[k]->kind != IR_ATTR_STRING)
      return lowering_invalid(l->op, "a called function is not named by a symbol");
    TRY(declared_function(l, l->op, names[k]->text, &called[k]));
  }
  instruction_set_called(i, count, called);
  if (count) build_mark(i, HLO_ATTRIBUTE_CALLED_COMPUTATIONS);
  return status_ok();
}

// The shape of result k: declared, or said by one of the operands that indices_of_shape_operands names.
static heddle_status result_shape(lowering *l, const ir_operation *op, const int_list *sayers,
                                  instruction *const *operands, int k, const shape **out) {
  int_list dims;
  if (sayers->size == 0) return lowering_declared(l, op, k, out);
  int64_t which = sayers->data[k];
  if (which < 0 || which >= op->operand_count)
    return lowering_invalid(op, "indices_of_shape_operands[%d] is %lld, wanted an operand", k, (long long)which);
  TRY(lowering_fold_ints(l, operands[which], "the operand that says the shape", &dims.data, &dims.size));
  dtype t = ir_type_dtype(op->results[k]->type);
  if (dims.size > SHAPE_MAX_RANK || t == DTYPE_INVALID) return lowering_invalid(op, "result %d is no array", k);
  *out = shape_array(l->arena, t, dims.size, dims.data);
  return shape_check(*out, op->where);
}

static heddle_status results_shape_of(lowering *l, const ir_operation *op, const int_list *sayers,
                                      instruction *const *operands, const shape **out) {
  const ir_attribute *layouts = ir_find(op, "result_layouts");
  const shape **shapes = arena_array(l->arena, const shape *, op->result_count);
  for (int k = 0; k < op->result_count; k++) {
    TRY(result_shape(l, op, sayers, operands, k, &shapes[k]));
    TRY(with_layout(l, layouts, k, shapes[k], &shapes[k]));
  }
  *out = op->result_count == 1 ? shapes[0] : shape_tuple(l->arena, op->result_count, shapes);
  return status_ok();
}

// {0} in the message stands for the value of operand 1, and so on.
static heddle_status assertion_failed(lowering *l, const ir_operation *op, instruction *const *operands) {
  str message = lowering_word(op, "error_message");
  text out = {0};
  for (size_t k = 0; k < message.size; k++) {
    bool is_place = message.data[k] == '{' && k + 2 < message.size && message.data[k + 2] == '}';
    int number = is_place ? message.data[k + 1] - '0' : -1;
    literal *value = number >= 0 && number + 1 < op->operand_count ? lowering_try_fold(l, operands[number + 1]) : NULL;
    if (value) {
      literal_print(&out, value);
      k += 2;
    } else {
      text_putc(&out, message.data[k]);
    }
  }
  heddle_status status = lowering_invalid(op, "the argument shapes break the program's condition: %s", text_cstr(&out));
  text_free(&out);
  return status;
}

static bool known_int(lowering *l, instruction *i, int64_t *out) {
  const literal *value = lowering_try_fold(l, i);
  if (!value || !shape_is_array(value->shape) || shape_element_count(value->shape) != 1) return false;
  if (!(dtypes[value->shape->dtype].class & (CLASS_INTEGER | CLASS_PRED))) return false;
  *out = literal_get_int(value, 0);
  return true;
}

enum { REMAINDER_MOST_DEPTH = 16 };

// The remainder that `i` is, behind calls and what makes its sign the divisor's.
static instruction *find_remainder(instruction *i, int depth) {
  if (i->opcode == HLO_REMAINDER || depth == REMAINDER_MOST_DEPTH) return i->opcode == HLO_REMAINDER ? i : NULL;
  if (i->opcode == HLO_CALL) return find_remainder(i->called[0]->root, depth + 1);
  if (i->opcode == HLO_SELECT) return find_remainder(i->operands[2], depth + 1);
  if (i->opcode != HLO_GET_TUPLE_ELEMENT) return NULL;
  const instruction *from = i->operands[0];
  if (from->opcode == HLO_CALL) from = from->called[0]->root;
  const int64_t index = i->attributes->index;
  return from->opcode == HLO_TUPLE && index < from->operand_count ? find_remainder(from->operands[index], depth + 1)
                                                                  : NULL;
}

static void add_condition(lowering *l, const ir_operation *op, import_condition_kind kind, int64_t left,
                          int64_t right) {
  vec_push(l->arena, &l->options->open->conditions,
           ((import_condition){kind, left, right, lowering_word(op, "error_message"), op->where}));
}

// What an assertion compares is kept, as it may hold for some sizes only.
static void note_condition(lowering *l, const ir_operation *op, instruction *condition) {
  int64_t left, right, holds = 0;
  const bool is_read = condition->opcode == HLO_COMPARE && known_int(l, condition->operands[0], &left) &&
                       known_int(l, condition->operands[1], &right);
  if (!is_read) {
    (void)known_int(l, condition, &holds);
    add_condition(l, op, IMPORT_UNREAD, holds, 0);
    return;
  }
  int64_t dividend, divisor;
  instruction *remainder = find_remainder(condition->operands[0], 0);
  switch (condition->attributes->direction) {
    case COMPARE_EQ:
      if (right == 0 && remainder && known_int(l, remainder->operands[0], &dividend) &&
          known_int(l, remainder->operands[1], &divisor))
        add_condition(l, op, IMPORT_DIVISIBLE, dividend, divisor);
      else add_condition(l, op, IMPORT_EQUAL, left, right);
      return;
    case COMPARE_GE: add_condition(l, op, IMPORT_AT_LEAST, left, right); return;
    case COMPARE_GT: add_condition(l, op, IMPORT_AT_LEAST, left, int64_saturating_add(right, 1)); return;
    case COMPARE_LE: add_condition(l, op, IMPORT_AT_LEAST, right, left); return;
    case COMPARE_LT: add_condition(l, op, IMPORT_AT_LEAST, right, int64_saturating_add(left, 1)); return;
    default: add_condition(l, op, IMPORT_UNREAD, left != right, 0);
  }
}

// Conditions on shapes are decided now, unless sizes are open.
static heddle_status check_shapes(lowering *l, const ir_operation *op, instruction *const *operands) {
  literal *condition;
  if (!op->operand_count) return lowering_invalid(op, "found no operands, wanted the condition");
  if (l->options && l->options->open) {
    note_condition(l, op, operands[0]);
    return status_ok();
  }
  TRY(lowering_fold(l, operands[0], "the condition", &condition));
  return literal_get_int(condition, 0) ? status_ok() : assertion_failed(l, op, operands);
}

// What JAX writes for a reduce_window whose window follows from shapes: inputs, initial values, then five lists.
static heddle_status dynamic_reduce_window(lowering *l, const ir_operation *op, instruction *const *operands,
                                           instruction **results) {
  static const char *const lists[] = {"window_dimensions", "window_strides", "base_dilations", "window_dilations",
                                      "padding"};
  enum { SIZES, STRIDES, BASE, DILATIONS, PADDING, LIST_COUNT };
  const int inputs = 2 * op->result_count;
  const ir_attribute *called = ir_find(op, "called_computations");
  bool has_body = called && called->kind == IR_ATTR_ARRAY && called->count == 1;
  if (!has_body || op->result_count < 1 || op->operand_count != inputs + LIST_COUNT)
    return lowering_invalid(op,
                            "found %d operands and %d results, wanted two operands for each result, %d lists and "
                            "one called function",
                            op->operand_count, op->result_count, LIST_COUNT);
  int_list values[LIST_COUNT];
  for (int k = 0; k < LIST_COUNT; k++)
    TRY(lowering_fold_ints(l, operands[inputs + k], lists[k], &values[k].data, &values[k].size));
  for (int k = 0; k < inputs; k++)
    if (!shape_is_array(operands[k]->shape)) return lowering_invalid(op, "operand %d is no array", k);
  const int rank = operands[0]->shape->rank;
  instruction **all = arena_array(l->arena, instruction *, inputs);
  for (int k = 0; k < inputs; k++) all[k] = operands[k];
  window w;
  TRY(build_window(l, rank, values[SIZES], values[STRIDES], values[PADDING], values[BASE], values[DILATIONS], &w));
  TRY(lowering_open_windows(l, &(open_windows){op->result_count, all, NULL}, &w));
  instruction *i = build_add(l, HLO_REDUCE_WINDOW, all[0]->shape, inputs, all);
  i->attributes->window = w;
  if (rank) build_mark(i, HLO_ATTRIBUTE_WINDOW);
  computation *body;
  TRY(declared_function(l, op, called->items[0]->text, &body));
  build_called(i, HLO_ATTRIBUTE_TO_APPLY, body);
  TRY(build_infer(l, i));
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

// What it writes for a top_k whose k follows from shapes: an array and k.
static heddle_status dynamic_top_k(lowering *l, const ir_operation *op, instruction *const *operands,
                                   instruction **results) {
  const int64_t *k;
  int count;
  if (op->operand_count != 2) return lowering_invalid(op, "found %d operands, wanted 2", op->operand_count);
  TRY(lowering_fold_ints(l, operands[1], "k", &k, &count));
  if (count != 1) return lowering_invalid(op, "found %d numbers for k, wanted 1", count);
  return chlo_top_k(l, op, operands, k[0], true, results);
}

// And for random bits of such a shape: the state and the shape.
static heddle_status dynamic_random_bits(lowering *l, const ir_operation *op, instruction *const *operands,
                                         instruction **results) {
  const shape *declared;
  int_list dims;
  if (op->operand_count != 2 || op->result_count != 2)
    return lowering_invalid(op, "found %d operands and %d results, wanted 2 of both", op->operand_count,
                            op->result_count);
  TRY(ir_type_shape(l->arena, op->results[1]->type, op->where, &declared));
  TRY(lowering_fold_ints(l, operands[1], "output_shape", &dims.data, &dims.size));
  if (!shape_is_array(declared) || dims.size != declared->rank)
    return lowering_invalid(op, "found %d sizes, wanted those of %s", dims.size, shape_text(l->arena, declared));
  const shape *bits = shape_array(l->arena, declared->dtype, dims.size, dims.data);
  TRY(shape_check(bits, op->where));
  return lowering_random_bits(l, op, operands, bits, results);
}

// A call with the operands that the function takes.
static heddle_status add_call(lowering *l, const ir_operation *op, instruction *const *operands, taken_operands *taken,
                              instruction **out) {
  const shape *s;
  int_list sayers;
  TRY(lowering_ints(l, op, "indices_of_shape_operands", &sayers));
  if (sayers.size != op->result_count) sayers.size = 0;
  TRY(results_shape_of(l, op, &sayers, operands, &s));
  *taken = take_operands(l, op, &sayers, operands);
  *out = build_add(l, HLO_CUSTOM_CALL, s, taken->count, taken->operands);
  return status_ok();
}

heddle_status lower_custom_call(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  str target = lowering_word(op, "call_target_name");
  if (str_is(target, "shape_assertion") && !op->result_count) return check_shapes(l, op, operands);
  if (str_is(target, "stablehlo.dynamic_reduce_window")) return dynamic_reduce_window(l, op, operands, results);
  if (str_is(target, "stablehlo.dynamic_top_k")) return dynamic_top_k(l, op, operands, results);
  if (str_is(target, "stablehlo.dynamic_rng_bit_generator")) return dynamic_random_bits(l, op, operands, results);
  taken_operands taken;
  instruction *i;
  TRY(add_call(l, op, operands, &taken, &i));
  build_set_text(i, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET, target);
  int64_t has_side_effect;
  TRY(lowering_int(op, "has_side_effect", 0, &has_side_effect));
  // StableHLO's checks fail the run whether anybody uses what they return or not.
  const bool is_check = str_starts_with(i->attributes->custom_call_target, "check.");
  if (has_side_effect || is_check) build_set_bool(i, HLO_ATTRIBUTE_CUSTOM_CALL_HAS_SIDE_EFFECT, true);
  TRY(set_operand_layouts(l, op, &taken, i));
  set_aliases(l, op, &taken, i);
  set_backend_config(l, op, i);
  TRY(set_api_version(l, op, i));
  const ir_attribute *called = ir_find(op, "called_computations");
  if (called && called->kind == IR_ATTR_ARRAY) TRY(add_called_functions(l, i, called->count, called->items));
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

// The operation's attributes but for one, as configuration.
static void set_attributes_as_config(lowering *l, const ir_operation *op, const ir_attribute *but, instruction *i) {
  ir_attribute *bounds = ir_attribute_new(l->arena, IR_ATTR_DICTIONARY);
  ir_named_attribute *fields = arena_array(l->arena, ir_named_attribute, op->attribute_count);
  for (int k = 0; k < op->attribute_count; k++)
    if (op->attributes[k].value != but) fields[bounds->count++] = op->attributes[k];
  bounds->fields = fields;
  if (bounds->count) set_config(i, attribute_text(l, bounds), true);
}

// check.expect_eq and its kin: the two values, one of which may be an attribute; the bounds as configuration.
heddle_status lower_check(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  (void)results;
  instruction *both[2] = {0};
  const ir_attribute *value = ir_find(op, "value");
  str target = op->name;
  int count = op->operand_count;
  for (int k = 0; k < count && k < 2; k++) both[k] = operands[k];
  if (value && value->kind == IR_ATTR_ELEMENTS && value->elements && count == 1) {
    both[1] = build_elements(l, value);
    target.size -= strlen("_const");
    count = 2;
  }
  const int wanted = op->op == IR_OP_CHECK_EXPECT_SERIALIZED_EQ ? 1 : 2;
  if (count != wanted) return lowering_invalid(op, "found %d operands, wanted %d", count, wanted);
  instruction *i = build_add(l, HLO_CUSTOM_CALL, shape_tuple(l->arena, 0, NULL), wanted, both);
  build_set_text(i, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET, str_copy(l->arena, target));
  build_set_bool(i, HLO_ATTRIBUTE_CUSTOM_CALL_HAS_SIDE_EFFECT, true);
  set_attributes_as_config(l, op, value, i);
  return status_ok();
}

// interpreter.run_parallel: programs by replica, then by partition, and behind them what feeds infeed, are the called
// computations; the configuration says how many of each there are.
heddle_status lower_run_parallel(lowering *l, const ir_operation *op, instruction *const *operands,
                                 instruction **results) {
  const ir_attribute *programs = ir_find(op, "programs"), *infeed = ir_find(op, "infeed");
  VEC(const ir_attribute *) names = {0};
  int replicas = programs && programs->kind == IR_ATTR_ARRAY ? programs->count : 0, partitions = 0;
  for (int k = 0; k < replicas; k++) {
    const ir_attribute *row = programs->items[k];
    if (row->kind != IR_ATTR_ARRAY || (k && row->count != partitions))
      return lowering_invalid(op, "programs is no grid of functions");
    partitions = row->count;
    for (int n = 0; n < row->count; n++) vec_push(l->arena, &names, row->items[n]);
  }
  for (int k = 0; infeed && infeed->kind == IR_ATTR_ARRAY && k < infeed->count; k++)
    vec_push(l->arena, &names, infeed->items[k]);
  taken_operands taken;
  instruction *i;
  TRY(add_call(l, op, operands, &taken, &i));
  build_set_text(i, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET, STR("interpreter.run_parallel"));
  build_set_bool(i, HLO_ATTRIBUTE_CUSTOM_CALL_HAS_SIDE_EFFECT, true);
  TRY(add_called_functions(l, i, names.size, names.data));
  int infeeds = names.size - replicas * partitions;
  const char *config = arena_printf(l->arena, "replicas=%d partitions=%d infeed=%d", replicas, partitions, infeeds);
  set_config(i, str_from(config), false);
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

// interpreter.probe hands its operand on and remembers it for check.expect_serialized_eq; interpreter.print, which only
// shows its operand, gives nothing and does nothing.
heddle_status lower_probe(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  if (!op->result_count) return status_ok();
  if (op->result_count != 1 || op->operand_count != 1)
    return lowering_invalid(op, "found %d operands and %d results, wanted one of each", op->operand_count,
                            op->result_count);
  results[0] = build_add(l, HLO_CUSTOM_CALL, operands[0]->shape, 1, operands);
  build_set_text(results[0], HLO_ATTRIBUTE_CUSTOM_CALL_TARGET, STR("interpreter.probe"));
  build_set_bool(results[0], HLO_ATTRIBUTE_CUSTOM_CALL_HAS_SIDE_EFFECT, true);
  set_attributes_as_config(l, op, NULL, results[0]);
  return status_ok();
}
