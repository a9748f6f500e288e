// Makes StableHLO's operations of VHLO's.
//
// VHLO keeps every attribute, says dimension numbers as single attributes, and writes lists of integers as tensors.
// Two tables say what becomes of them: `rules` by an attribute's name (the same name means the same in all operations,
// but for a few that are limited to one), and `bundles` for the structs that several attributes make up. An older
// version of an operation has fewer attributes, whose absence means what their default means today.
#include "vhlo/vhlo_operation.h"

static const vhlo_operation operations[] = {
#define VHLO_OP(id, version, attributes) {IR_OP_##id, version, attributes},
#include "vhlo/vhlo_ops.def"
#undef VHLO_OP
};
enum { OPERATION_COUNT = sizeof operations / sizeof *operations };

// "add_v1" is stablehlo.add or func.add, of which there is at most one.
const vhlo_operation *vhlo_operation_find(str name) {
  enum { SUFFIX = 3 };
  if (name.size <= SUFFIX || name.data[name.size - 3] != '_' || name.data[name.size - 2] != 'v') return NULL;
  int version = name.data[name.size - 1] - '0';
  str base = {name.data, name.size - SUFFIX};
  for (int i = 0; i < OPERATION_COUNT; i++) {
    const char *full = ir_opcode_text(operations[i].op);
    const char *dot = strchr(full, '.');
    if (operations[i].version == version && dot && str_is(base, dot + 1)) return &operations[i];
  }
  return NULL;
}

int vhlo_operation_attributes(const vhlo_operation *o, str names[VHLO_MOST_ATTRIBUTES]) {
  int count = 0;
  for (const char *at = o->attributes; *at;) {
    size_t size = strcspn(at, " ");
    names[count++] = (str){at, size};
    at += size + (at[size] == ' ');
  }
  return count;
}

// Lists have an entry, or two, for each dim.
enum { LONGEST_LIST = 2 * SHAPE_MAX_RANK };

typedef enum vhlo_form {
  AS_IS,
  INTEGERS,  // a tensor that StableHLO writes as array<i64: ...> or array<i1: ...>
  SYMBOL,    // a string that names a function
  SYMBOLS,   // an array of them
  CHANNEL,   // an integer that becomes a channel handle
  FLAG,      // a boolean that becomes a unit attribute
  NOTHING    // what StableHLO has no more
} vhlo_form;

typedef enum vhlo_default {
  NO_DEFAULT,
  EMPTY,  // string, array, dictionary, tensor
  ZERO,   // or false, or a tensor of nothing else
  ONE,    // or a tensor of nothing else
  MINUS_ONE,
  FIRST,  // an enumeration's first value, of a list all are: DEFAULT, NOTYPE
  EXACT,  // an accuracy that asks for nothing
} vhlo_default;

typedef struct rule {
  const char *name;
  vhlo_form form;
  vhlo_default absent;
  ir_opcode only;  // IR_OP_UNKNOWN: in every operation
} rule;

static const rule rules[] = {
    {"api_version", AS_IS, ONE, IR_OP_UNKNOWN},
    {"arg_attrs", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"backend_config", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"base_dilations", INTEGERS, ONE, IR_OP_UNKNOWN},
    {"broadcast_dimensions", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"broadcast_sizes", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"called_computations", SYMBOLS, EMPTY, IR_OP_UNKNOWN},
    {"callee", SYMBOL, NO_DEFAULT, IR_OP_UNKNOWN},
    {"channel_id", CHANNEL, ZERO, IR_OP_UNKNOWN},
    {"compare_type", AS_IS, FIRST, IR_OP_UNKNOWN},
    {"composite_attributes", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"decomposition", SYMBOL, NO_DEFAULT, IR_OP_UNKNOWN},
    {"dimension", AS_IS, MINUS_ONE, IR_OP_SORT},
    {"dimensions", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"edge_padding_high", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"edge_padding_low", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"fft_length", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"has_side_effect", AS_IS, ZERO, IR_OP_UNKNOWN},
    {"indices_are_sorted", AS_IS, ZERO, IR_OP_UNKNOWN},
    {"infeed_config", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"interior_padding", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"is_host_transfer", AS_IS, ZERO, IR_OP_UNKNOWN},
    {"is_stable", AS_IS, ZERO, IR_OP_UNKNOWN},
    {"known_expanding_dimensions", INTEGERS, EMPTY, IR_OP_UNKNOWN},
    {"known_nonexpanding_dimensions", INTEGERS, EMPTY, IR_OP_UNKNOWN},
    {"layout", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"lhs_dilation", INTEGERS, ONE, IR_OP_UNKNOWN},
    {"limit_indices", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"lower", AS_IS, ZERO, IR_OP_CHOLESKY},
    {"outfeed_config", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"output_operand_aliases", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"padding", NOTHING, NO_DEFAULT, IR_OP_DYNAMIC_CONV},
    {"padding", AS_IS, ZERO, IR_OP_UNKNOWN},
    {"permutation", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"precision_config", AS_IS, FIRST, IR_OP_UNKNOWN},
    {"res_attrs", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"result_accuracy", AS_IS, EXACT, IR_OP_UNKNOWN},
    {"rhs_dilation", INTEGERS, ONE, IR_OP_UNKNOWN},
    {"slice_sizes", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"source_target_pairs", AS_IS, EMPTY, IR_OP_RECV},
    {"source_target_pairs", AS_IS, EMPTY, IR_OP_SEND},
    {"start_indices", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"strides", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"sym_visibility", AS_IS, EMPTY, IR_OP_UNKNOWN},
    {"unique_indices", AS_IS, ZERO, IR_OP_UNKNOWN},
    {"use_global_device_ids", FLAG, ZERO, IR_OP_UNKNOWN},
    {"version", AS_IS, ZERO, IR_OP_COMPOSITE},
    {"window_dilations", INTEGERS, ONE, IR_OP_UNKNOWN},
    {"window_dimensions", INTEGERS, NO_DEFAULT, IR_OP_UNKNOWN},
    {"window_reversal", INTEGERS, ZERO, IR_OP_UNKNOWN},
    {"window_strides", INTEGERS, ONE, IR_OP_UNKNOWN},
};

// Attributes of VHLO that are the fields of one of StableHLO's. A field without a value of its own (an empty list, the
// type none) is left out; a struct without any field is absent.
enum { MOST_FIELDS = 9 };
typedef struct bundle {
  ir_opcode op;
  const char *attribute, *name;
  const char *fields[MOST_FIELDS];
  const char *from[MOST_FIELDS];  // the attributes, where their names are others
} bundle;

#define CONV_FIELDS                                                                                  \
  {"input_batch_dimension",          "input_feature_dimension",         "input_spatial_dimensions",  \
   "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions", \
   "output_batch_dimension",         "output_feature_dimension",        "output_spatial_dimensions"}
#define GATHER_FIELDS                                                                                 \
  {"offset_dims",     "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", \
   "start_index_map", "index_vector_dim"}

static const bundle bundles[] = {
    {IR_OP_CONVOLUTION, "dimension_numbers", "stablehlo.conv", CONV_FIELDS, {0}},
    {IR_OP_DYNAMIC_CONV, "dimension_numbers", "stablehlo.conv", CONV_FIELDS, {0}},
    {IR_OP_DOT_GENERAL,
     "dot_dimension_numbers",
     "stablehlo.dot",
     {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions"},
     {0}},
    {IR_OP_DOT_GENERAL,
     "algorithm",
     "stablehlo.dot_algorithm",
     {"lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count", "rhs_component_count",
      "num_primitive_operations", "allow_imprecise_accumulation"},
     {0}},
    {IR_OP_DYNAMIC_GATHER, "dimension_numbers", "stablehlo.gather", GATHER_FIELDS, {0}},
    {IR_OP_GATHER, "dimension_numbers", "stablehlo.gather", GATHER_FIELDS, {0}},
    {IR_OP_RECV, "channel_handle", "stablehlo.channel_handle", {"handle", "type"}, {"channel_id", "channel_type"}},
    {IR_OP_SCATTER,
     "scatter_dimension_numbers",
     "stablehlo.scatter",
     {"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
      "scatter_dims_to_operand_dims", "index_vector_dim"},
     {0}},
    {IR_OP_SEND, "channel_handle", "stablehlo.channel_handle", {"handle", "type"}, {"channel_id", "channel_type"}},
};
enum { BUNDLE_COUNT = sizeof bundles / sizeof *bundles };

// What an operation's attributes are on the way: those taken have a null value.
typedef struct conversion {
  bytecode *b;
  size_t offset;
  ir_opcode op;
  int count;
  ir_named_attribute *given;
  vhlo_attribute_list *out;
} conversion;

static bool wrong(const conversion *v, str name, const char *wanted) {
  return bytecode_fail(v->b, v->offset, "found attribute " STR_FMT " of %s, wanted %s", STR_ARG(name),
                       ir_opcode_text(v->op), wanted);
}

static const rule *rule_of(ir_opcode op, str name) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (str_is(name, rules[i].name) && (rules[i].only == IR_OP_UNKNOWN || rules[i].only == op)) return &rules[i];
  return NULL;
}

static bool is_all(const ir_attribute *x, int64_t value) {
  if (x->kind == IR_ATTR_INTEGER || x->kind == IR_ATTR_BOOL) return x->integer == value;
  for (int i = 0; x->kind == IR_ATTR_INTEGERS && i < x->count; i++)
    if (x->integers[i] != value) return false;
  if (x->kind == IR_ATTR_INTEGERS) return true;
  if (x->kind != IR_ATTR_ELEMENTS || dtype_is_float(x->elements->shape->dtype)) return false;
  int64_t count = ir_elements_count(x);
  if (count > LONGEST_LIST) return false;
  for (int64_t i = 0; i < count; i++)
    if (literal_get_int(x->elements, i) != value) return false;
  return true;
}

static bool is_empty_dictionary(const ir_attribute *x) { return x->kind == IR_ATTR_DICTIONARY && x->count == 0; }

// A function's list of dictionaries is as good as none if none says anything.
static bool is_empty(const ir_attribute *x) {
  if (x->kind == IR_ATTR_STRING) return x->text.size == 0;
  if (x->kind == IR_ATTR_ELEMENTS) return ir_elements_count(x) == 0;
  if (x->kind == IR_ATTR_INTEGERS) return x->count == 0;
  if (x->kind != IR_ATTR_ARRAY) return is_empty_dictionary(x);
  for (int i = 0; i < x->count; i++)
    if (!is_empty_dictionary(x->items[i])) return false;
  return true;
}

static bool is_first(const ir_attribute *x) {
  if (x->kind == IR_ATTR_ENUM) return str_is(x->text, "DEFAULT") || str_is(x->text, "NOTYPE");
  if (x->kind != IR_ATTR_ARRAY) return false;
  for (int i = 0; i < x->count; i++)
    if (x->items[i]->kind != IR_ATTR_ENUM || !str_is(x->items[i]->text, "DEFAULT")) return false;
  return true;
}

static bool is_zero_number(const ir_attribute *x) { return x && x->kind == IR_ATTR_FLOAT && x->number == 0; }

static bool is_exact(const ir_attribute *x) {
  const ir_attribute *ulps = ir_find_field(x, "ulps"), *mode = ir_find_field(x, "mode");
  return is_zero_number(ir_find_field(x, "atol")) && is_zero_number(ir_find_field(x, "rtol")) && ulps &&
         is_all(ulps, 0) && mode && is_first(mode);
}

static bool is_default(const ir_attribute *x, vhlo_default d) {
  switch (d) {
    case EMPTY: return is_empty(x);
    case ZERO: return is_all(x, 0);
    case ONE: return is_all(x, 1);
    case MINUS_ONE: return is_all(x, -1);
    case FIRST: return is_first(x);
    case EXACT: return is_exact(x);
    default: return false;
  }
}

bool vhlo_operation_is_default(ir_opcode op, str name, const ir_attribute *x) {
  const rule *r = rule_of(op, name);
  return r && is_default(x, r->absent);
}

static bool to_integers(const conversion *v, str name, const ir_attribute *x, const ir_attribute **out) {
  const int64_t *values;
  int count;
  if (x->kind != IR_ATTR_ELEMENTS || ir_elements_count(x) > LONGEST_LIST ||
      !ir_attribute_integers(v->b->arena, x, &values, &count))
    return wrong(v, name, "a short tensor of integers");
  ir_attribute *list = (ir_attribute *)ir_integers_attribute(v->b->arena, count, values);
  if (x->elements->shape->dtype == DTYPE_PRED) list->type = ir_scalar_type(v->b->arena, DTYPE_PRED);
  *out = list;
  return true;
}

static bool to_symbol(const conversion *v, str name, const ir_attribute *x, const ir_attribute **out) {
  if (x->kind != IR_ATTR_STRING) return wrong(v, name, "a string");
  ir_attribute *symbol = ir_attribute_new(v->b->arena, IR_ATTR_SYMBOL);
  symbol->text = x->text;
  *out = symbol;
  return true;
}

static bool to_symbols(const conversion *v, str name, const ir_attribute *x, const ir_attribute **out) {
  if (x->kind != IR_ATTR_ARRAY) return wrong(v, name, "an array of strings");
  if (!bytecode_expand(v->b, v->offset, (int64_t)x->count * (int64_t)sizeof *x)) return false;
  const ir_attribute **items = arena_array(v->b->arena, const ir_attribute *, x->count);
  for (int i = 0; i < x->count; i++)
    if (!to_symbol(v, name, x->items[i], &items[i])) return false;
  *out = ir_array_attribute(v->b->arena, x->count, items);
  return true;
}

static bool to_channel(const conversion *v, str name, const ir_attribute *x, const ir_attribute **out) {
  if (x->kind != IR_ATTR_INTEGER) return wrong(v, name, "an integer");
  ir_named_attribute fields[] = {{STR("handle"), x}, {STR("type"), ir_integer_attribute(v->b->arena, 0, DTYPE_S64)}};
  *out = ir_struct_attribute(v->b->arena, "stablehlo.channel_handle", 2, fields);
  return true;
}

static void add(const conversion *v, str name, const ir_attribute *value) {
  vec_push(v->b->arena, v->out, (ir_named_attribute){name, value});
}

static bool convert_one(const conversion *v, str name, const ir_attribute *x) {
  const rule *r = rule_of(v->op, name);
  if (r && (r->form == NOTHING || is_default(x, r->absent))) return true;
  if (r && r->form == CHANNEL) name = STR("channel_handle");
  bool is_good = true;
  switch (r ? r->form : AS_IS) {
    case INTEGERS: is_good = to_integers(v, name, x, &x); break;
    case SYMBOL: is_good = to_symbol(v, name, x, &x); break;
    case SYMBOLS: is_good = to_symbols(v, name, x, &x); break;
    case CHANNEL: is_good = to_channel(v, name, x, &x); break;
    case FLAG: x = ir_attribute_new(v->b->arena, IR_ATTR_UNIT); break;
    default: break;
  }
  if (is_good) add(v, name, x);
  return is_good;
}

static ir_named_attribute *given_at(const conversion *v, const char *name) {
  for (int i = 0; i < v->count; i++)
    if (v->given[i].value && str_is(v->given[i].name, name)) return &v->given[i];
  return NULL;
}

// Whether a field says nothing: an empty list, except in a convolution's layouts, the type none, which stands for an
// absent field, and the dim of index vectors if it is the first.
static bool is_silent(str name, bool keeps_empty, const ir_attribute *x) {
  if (x->kind == IR_ATTR_TYPE) return x->type->kind == IR_TYPE_NONE;
  if (x->kind == IR_ATTR_INTEGER) return str_is(name, "index_vector_dim") && x->integer == 0;
  return x->kind == IR_ATTR_ELEMENTS && !keeps_empty && is_empty(x);
}

static bool ends_with(str name, const char *end) {
  const size_t size = strlen(end);
  return name.size >= size && memcmp(name.data + name.size - size, end, size) == 0;
}

static ir_attribute_kind field_kind(str name) {
  if (ends_with(name, "_dims") || ends_with(name, "_dimensions") || ends_with(name, "_map")) return IR_ATTR_ELEMENTS;
  if (ends_with(name, "precision_type") || ends_with(name, "accumulation_type")) return IR_ATTR_TYPE;
  return str_starts_with(name, "allow_") ? IR_ATTR_BOOL : IR_ATTR_INTEGER;
}

static bool convert_field(const conversion *v, str name, bool keeps_empty, const ir_attribute *x,
                          const ir_attribute **out) {
  *out = is_silent(name, keeps_empty, x) ? NULL : x;
  if (!*out) return true;
  if (x->kind != field_kind(name)) return wrong(v, name, "an attribute of another kind");
  const bool is_element =
      x->kind != IR_ATTR_TYPE || x->type->kind == IR_TYPE_SCALAR || x->type->kind == IR_TYPE_OPAQUE;  // such as tf32
  if (!is_element) return wrong(v, name, "an element type");
  // The text of a field has no place for its type.
  if (x->kind == IR_ATTR_INTEGER && ir_type_dtype(x->type) != DTYPE_S64) return wrong(v, name, "a number of 64 bits");
  if (x->kind != IR_ATTR_ELEMENTS) return true;
  return x->elements->shape->dtype == DTYPE_S64 ? to_integers(v, name, x, out) : wrong(v, name, "numbers of 64 bits");
}

static bool convert_bundle(const conversion *v, const bundle *u) {
  ir_named_attribute fields[MOST_FIELDS];
  int count = 0;
  bool is_there = false, is_raw = str_is(str_from(u->name), "stablehlo.conv");
  for (int i = 0; i < MOST_FIELDS && u->fields[i]; i++) {
    const ir_attribute *value;
    ir_named_attribute *from = given_at(v, u->from[i] ? u->from[i] : u->fields[i]);
    if (!from) continue;
    is_there = true;
    if (!convert_field(v, from->name, is_raw, from->value, &value)) return false;
    from->value = NULL;
    if (value) fields[count++] = (ir_named_attribute){str_from(u->fields[i]), value};
  }
  bool is_optional = str_is(str_from(u->attribute), "algorithm");
  if (!is_there || (is_optional && count == 0)) return true;
  add(v, str_from(u->attribute), ir_struct_attribute(v->b->arena, u->name, count, fields));
  return true;
}

// Layouts are given for all operands and results or for none: a list that is empty for want of operands is kept.
static void drop_layouts(const conversion *v) {
  ir_named_attribute *operands = given_at(v, "operand_layouts"), *results = given_at(v, "result_layouts");
  if (!operands || !results || !is_empty(operands->value) || !is_empty(results->value)) return;
  operands->value = NULL;
  results->value = NULL;
}

bool vhlo_operation_convert(bytecode *b, size_t offset, const vhlo_operation *o, int count,
                            const ir_named_attribute *given, vhlo_attribute_list *out) {
  str own[VHLO_MOST_ATTRIBUTES];
  int own_count = vhlo_operation_attributes(o, own);
  ir_named_attribute taken[VHLO_MOST_ATTRIBUTES];
  conversion v = {b, offset, o->op, 0, taken, out};
  for (int i = 0; i < count; i++) {
    bool is_own = false;
    for (int j = 0; j < own_count; j++) is_own |= str_equal(given[i].name, own[j]);
    if (!is_own) vec_push(b->arena, out, given[i]);
    else taken[v.count++] = given[i];
  }
  for (int i = 0; i < BUNDLE_COUNT; i++)
    if (bundles[i].op == o->op && !convert_bundle(&v, &bundles[i])) return false;
  drop_layouts(&v);
  for (int i = 0; i < v.count; i++)
    if (taken[i].value && !convert_one(&v, taken[i].name, taken[i].value)) return false;
  return true;
}
