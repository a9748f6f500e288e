// Reads VHLO's attributes from bytecode and makes StableHLO's of them. The table is indexed by VHLO's codes, which
// never change.
#include "vhlo/bytecode_reader.h"

#include <math.h>

// Enumerations are one number. The names are StableHLO's; a null stands for a number that is none.
enum { ENUM_MOST = 6 };
typedef struct enumeration {
  const char *name;
  const char *texts[ENUM_MOST];
} enumeration;

static bool read_boolean(bytecode_cursor *c, bytecode_entry *entry) {
  uint64_t value;
  if (!bytecode_varint(c, &value)) return false;
  entry->attribute = ir_bool_attribute(c->b->arena, value != 0);
  return true;
}

// A 32-bit integer in StableHLO, where this enumeration has no attribute of its own.
static bool read_api_version(bytecode_cursor *c, bytecode_entry *entry) {
  enum { API_VERSIONS = 5 };
  int value;
  if (!bytecode_index(c, API_VERSIONS, "API version", &value)) return false;
  entry->attribute = ir_integer_attribute(c->b->arena, value, DTYPE_S32);
  return true;
}

static bool integers(bytecode_cursor *c, const ir_attribute **out) {
  int count;
  int64_t *values;
  if (!bytecode_integers(c, &count, &values)) return false;
  *out = ir_integers_attribute(c->b->arena, count, values);
  return true;
}

static bool integer(bytecode_cursor *c, const ir_attribute **out) {
  int64_t value;
  if (!bytecode_signed(c, &value)) return false;
  *out = ir_integer_attribute(c->b->arena, value, DTYPE_S64);
  return true;
}

// A tolerance: what is not finite has no text, and bounds nothing.
static bool number(bytecode_cursor *c, const ir_attribute **out) {
  ir_attribute *x = ir_attribute_new(c->b->arena, IR_ATTR_FLOAT);
  const size_t start = c->at;
  x->type = ir_scalar_type(c->b->arena, DTYPE_F64);
  *out = x;
  if (!bytecode_double(c, &x->number)) return false;
  return isfinite(x->number) || bytecode_fail(c->b, start, "found a tolerance that is not finite");
}

// Fields hold attributes of one kind, and text has no form for others.
static bool of_kind(bytecode_cursor *c, bool fits, size_t start, const char *wanted) {
  return fits || bytecode_fail(c->b, start, "found another attribute, wanted %s", wanted);
}

static bool is_struct(const ir_attribute *x, const char *name) {
  return x->kind == IR_ATTR_STRUCT && str_is(x->name, name);
}

static bool structs(bytecode_cursor *c, const ir_attribute **out, const char *name) {
  const size_t start = c->at;
  if (!bytecode_attribute(c, out)) return false;
  bool fits = (*out)->kind == IR_ATTR_ARRAY;
  for (int i = 0; fits && i < (*out)->count; i++) fits = is_struct((*out)->items[i], name);
  return of_kind(c, fits, start, "an array of axes");
}

static bool mode(bytecode_cursor *c, const ir_attribute **out) {
  const size_t start = c->at;
  return bytecode_attribute(c, out) &&
         of_kind(c, (*out)->kind == IR_ATTR_ENUM && str_is((*out)->name, "stablehlo.result_accuracy_mode"), start,
                 "a mode of accuracy");
}

static bool text_of(bytecode_cursor *c, const ir_attribute **out) {
  const size_t start = c->at;
  return bytecode_attribute(c, out) && of_kind(c, (*out)->kind == IR_ATTR_STRING, start, "a string");
}

// A number before it says whether it is there.
static bool sub_axis(bytecode_cursor *c, const ir_attribute **out) {
  uint64_t is_there;
  *out = NULL;
  if (!bytecode_varint(c, &is_there)) return false;
  const size_t start = c->at;
  return !is_there || (bytecode_attribute(c, out) &&
                       of_kind(c, is_struct(*out, "stablehlo.sub_axis_info"), start, "a part of an axis"));
}

static bool axes(bytecode_cursor *c, const ir_attribute **out) { return structs(c, out, "stablehlo.axis_ref"); }
static bool mesh_axes(bytecode_cursor *c, const ir_attribute **out) { return structs(c, out, "stablehlo.mesh_axis"); }

static bool device_ids(bytecode_cursor *c, const ir_attribute **out) {
  const size_t start = c->at;
  return bytecode_optional_attribute(c, out) &&
         of_kind(c, !*out || (*out)->kind == IR_ATTR_ELEMENTS || (*out)->kind == IR_ATTR_INTEGERS, start,
                 "numbers of devices");
}

typedef struct field {
  const char *name;
  bool (*read)(bytecode_cursor *c, const ir_attribute **out);
} field;

static bool read_struct(bytecode_cursor *c, bytecode_entry *entry, const char *name, int count, const field *fields) {
  enum { MOST_FIELDS = 4 };
  ir_named_attribute values[MOST_FIELDS];
  int found = 0;
  for (int i = 0; i < count; i++) {
    values[found].name = str_from(fields[i].name);
    if (!fields[i].read(c, &values[found].value)) return false;
    found += values[found].value != NULL;
  }
  entry->attribute = ir_struct_attribute(c->b->arena, name, found, values);
  return true;
}

#define READ_STRUCT(c, entry, name, fields) read_struct(c, entry, name, sizeof(fields) / sizeof *(fields), fields)

static bool read_alias(bytecode_cursor *c, bytecode_entry *entry) {
  static const field fields[] = {
      {"output_tuple_indices", integers}, {"operand_index", integer}, {"operand_tuple_indices", integers}};
  return READ_STRUCT(c, entry, "stablehlo.output_operand_alias", fields);
}

static bool bounds(bytecode_cursor *c, const ir_attribute **out) {
  int count;
  int64_t *values;
  if (!bytecode_dims(c, &count, &values)) return false;
  *out = ir_integers_attribute(c->b->arena, count, values);
  return true;
}

static bool read_extensions(bytecode_cursor *c, bytecode_entry *entry) {
  static const field fields[] = {{"bounds", bounds}};
  return READ_STRUCT(c, entry, "stablehlo.bounds", fields);
}

static bool read_accuracy(bytecode_cursor *c, bytecode_entry *entry) {
  static const field fields[] = {{"atol", number}, {"rtol", number}, {"ulps", integer}, {"mode", mode}};
  return READ_STRUCT(c, entry, "stablehlo.result_accuracy", fields);
}

static bool read_sub_axis(bytecode_cursor *c, bytecode_entry *entry) {
  static const field fields[] = {{"pre_size", integer}, {"size", integer}};
  return READ_STRUCT(c, entry, "stablehlo.sub_axis_info", fields);
}

static bool read_axis(bytecode_cursor *c, bytecode_entry *entry) {
  static const field fields[] = {{"name", text_of}, {"sub_axis_info", sub_axis}};
  return READ_STRUCT(c, entry, "stablehlo.axis_ref", fields);
}

// A mesh by its name is a symbol in StableHLO.
static bool mesh(bytecode_cursor *c, const ir_attribute **out) {
  const size_t start = c->at;
  if (!bytecode_attribute(c, out)) return false;
  if ((*out)->kind == IR_ATTR_STRING) *out = ir_symbol_attribute(c->b->arena, (*out)->text);
  return of_kind(c, (*out)->kind == IR_ATTR_SYMBOL || is_struct(*out, "stablehlo.mesh"), start, "a mesh or its name");
}

static bool read_mesh_groups(bytecode_cursor *c, bytecode_entry *entry) {
  static const field fields[] = {{"mesh", mesh}, {"axes", axes}};
  return READ_STRUCT(c, entry, "stablehlo.replica_group_mesh_axes", fields);
}

static bool read_mesh_axis(bytecode_cursor *c, bytecode_entry *entry) {
  static const field fields[] = {{"name", text_of}, {"size", integer}};
  return READ_STRUCT(c, entry, "stablehlo.mesh_axis", fields);
}

static bool read_mesh(bytecode_cursor *c, bytecode_entry *entry) {
  static const field fields[] = {{"axes", mesh_axes}, {"device_ids", device_ids}};
  return READ_STRUCT(c, entry, "stablehlo.mesh", fields);
}

// VHLO's codes of attributes.
enum {
  VHLO_ATTRIBUTE_ARRAY = 1,
  VHLO_ATTRIBUTE_BOOLEAN,
  VHLO_ATTRIBUTE_COMPARISON_DIRECTION,
  VHLO_ATTRIBUTE_COMPARISON_TYPE,
  VHLO_ATTRIBUTE_CUSTOM_CALL_API_VERSION,
  VHLO_ATTRIBUTE_DICTIONARY,
  VHLO_ATTRIBUTE_FFT_TYPE,
  VHLO_ATTRIBUTE_FLOAT,
  VHLO_ATTRIBUTE_INTEGER,
  VHLO_ATTRIBUTE_OUTPUT_OPERAND_ALIAS,
  VHLO_ATTRIBUTE_PRECISION,
  VHLO_ATTRIBUTE_RNG_ALGORITHM,
  VHLO_ATTRIBUTE_RNG_DISTRIBUTION,
  VHLO_ATTRIBUTE_STRING,
  VHLO_ATTRIBUTE_TENSOR,
  VHLO_ATTRIBUTE_TRANSPOSE,
  VHLO_ATTRIBUTE_TYPE,
  VHLO_ATTRIBUTE_TYPE_EXTENSIONS,
  VHLO_ATTRIBUTE_RESULT_ACCURACY_MODE,
  VHLO_ATTRIBUTE_RESULT_ACCURACY,
  VHLO_ATTRIBUTE_SUB_AXIS_INFO,
  VHLO_ATTRIBUTE_AXIS_REF,
  VHLO_ATTRIBUTE_REPLICA_GROUP_MESH_AXES,
  VHLO_ATTRIBUTE_MESH_AXIS,
  VHLO_ATTRIBUTE_MESH,
};

static const struct {
  bytecode_attribute_fn read;
  enumeration of;  // if there is no function
} attributes[] = {
    [VHLO_ATTRIBUTE_ARRAY] = {bytecode_read_array, {0}},
    [VHLO_ATTRIBUTE_BOOLEAN] = {read_boolean, {0}},
    [VHLO_ATTRIBUTE_COMPARISON_DIRECTION] = {NULL,
                                             {"stablehlo.comparison_direction", {"EQ", "NE", "GE", "GT", "LE", "LT"}}},
    [VHLO_ATTRIBUTE_COMPARISON_TYPE] = {NULL,
                                        {"stablehlo.comparison_type",
                                         {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}}},
    [VHLO_ATTRIBUTE_CUSTOM_CALL_API_VERSION] = {read_api_version, {0}},
    [VHLO_ATTRIBUTE_DICTIONARY] = {bytecode_read_dictionary, {0}},
    [VHLO_ATTRIBUTE_FFT_TYPE] = {NULL, {"stablehlo.fft_type", {"FFT", "IFFT", "RFFT", "IRFFT"}}},
    [VHLO_ATTRIBUTE_FLOAT] = {bytecode_read_float, {0}},
    [VHLO_ATTRIBUTE_INTEGER] = {bytecode_read_integer, {0}},
    [VHLO_ATTRIBUTE_OUTPUT_OPERAND_ALIAS] = {read_alias, {0}},
    [VHLO_ATTRIBUTE_PRECISION] = {NULL, {"stablehlo.precision", {"DEFAULT", "HIGH", "HIGHEST"}}},
    [VHLO_ATTRIBUTE_RNG_ALGORITHM] = {NULL, {"stablehlo.rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX"}}},
    [VHLO_ATTRIBUTE_RNG_DISTRIBUTION] = {NULL, {"stablehlo.rng_distribution", {NULL, "UNIFORM", "NORMAL"}}},
    [VHLO_ATTRIBUTE_STRING] = {bytecode_read_string, {0}},
    [VHLO_ATTRIBUTE_TENSOR] = {bytecode_read_elements, {0}},
    [VHLO_ATTRIBUTE_TRANSPOSE] = {NULL,
                                  {"stablehlo.transpose",
                                   {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}}},
    [VHLO_ATTRIBUTE_TYPE] = {bytecode_read_type, {0}},
    [VHLO_ATTRIBUTE_TYPE_EXTENSIONS] = {read_extensions, {0}},
    [VHLO_ATTRIBUTE_RESULT_ACCURACY_MODE] = {NULL,
                                             {"stablehlo.result_accuracy_mode", {"DEFAULT", "HIGHEST", "TOLERANCE"}}},
    [VHLO_ATTRIBUTE_RESULT_ACCURACY] = {read_accuracy, {0}},
    [VHLO_ATTRIBUTE_SUB_AXIS_INFO] = {read_sub_axis, {0}},
    [VHLO_ATTRIBUTE_AXIS_REF] = {read_axis, {0}},
    [VHLO_ATTRIBUTE_REPLICA_GROUP_MESH_AXES] = {read_mesh_groups, {0}},
    [VHLO_ATTRIBUTE_MESH_AXIS] = {read_mesh_axis, {0}},
    [VHLO_ATTRIBUTE_MESH] = {read_mesh, {0}},
};

static bool read_enumeration(bytecode_cursor *c, bytecode_entry *entry, const enumeration *e) {
  uint64_t value;
  size_t start = c->at;
  if (!bytecode_varint(c, &value)) return false;
  if (value >= ENUM_MOST || !e->texts[value])
    return bytecode_fail(c->b, start, "found %llu, which is no #%s", (unsigned long long)value, e->name);
  entry->attribute = ir_enum_attribute(c->b->arena, e->name, str_from(e->texts[value]));
  return true;
}

bool vhlo_attribute(bytecode_cursor *c, bytecode_entry *entry) {
  uint64_t code;
  if (!bytecode_varint(c, &code)) return false;
  if (code >= sizeof attributes / sizeof *attributes || (!attributes[code].read && !attributes[code].of.name))
    return bytecode_fail(c->b, entry->offset, "found the VHLO attribute of code %llu, which there is not",
                         (unsigned long long)code);
  if (!attributes[code].read) return read_enumeration(c, entry, &attributes[code].of);
  return attributes[code].read(c, entry);
}
