// Attributes of dialects: enumerations (#stablehlo<precision HIGHEST>), records (#stablehlo.dot<...>), and all others
// as text.
//
// Records are written `<name = value, ...>` in most dialects, so one reader serves them; a table says which fields a
// record has. Convolutions' dimension numbers have a form of their own.
#include <stdlib.h>

#include "mlir/parser.h"

typedef struct name_row {
  const char *name;
  const char *words;  // of an enumeration: its values; of a record: its fields; each with a space behind it
} name_row;

static const name_row enumerations[] = {
    {"stablehlo.precision", "DEFAULT HIGH HIGHEST "},
    {"stablehlo.result_accuracy_mode", "DEFAULT HIGHEST TOLERANCE "},
    {"stablehlo.fft_type", "FFT IFFT RFFT IRFFT "},
    {"stablehlo.comparison_direction", "EQ NE GE GT LE LT "},
    {"stablehlo.comparison_type", "NOTYPE FLOAT TOTALORDER SIGNED UNSIGNED "},
    {"stablehlo.transpose", "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT "},
    {"stablehlo.rng_distribution", "UNIFORM NORMAL "},
    {"stablehlo.rng_algorithm", "DEFAULT THREE_FRY PHILOX "},
    {"mhlo.fusion_kind", "kLoop kInput kOutput kCustom "},
    {"mhlo.custom_call_schedule", "NONE LATEST EARLIEST "},
    {"mhlo.kind", "sharding "},
    {"chlo.precision", "DEFAULT HIGH HIGHEST "},
    {"chlo.comparison_direction", "EQ NE GE GT LE LT "},
    {"chlo.comparison_type", "NOTYPE FLOAT TOTALORDER SIGNED UNSIGNED "},
};

static const name_row records[] = {
    {"stablehlo.dot",
     "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions "},
    {"chlo.ragged_dot",
     "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions "
     "lhs_ragged_dimensions rhs_group_dimensions "},
    {"mhlo.ragged_dot", "dot_dimension_numbers lhs_ragged_dimensions rhs_group_dimensions "},
    {"stablehlo.gather",
     "offset_dims collapsed_slice_dims operand_batching_dims start_indices_batching_dims start_index_map "
     "index_vector_dim "},
    {"stablehlo.scatter",
     "update_window_dims inserted_window_dims input_batching_dims scatter_indices_batching_dims "
     "scatter_dims_to_operand_dims index_vector_dim "},
    {"stablehlo.conv",
     "input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension "
     "kernel_output_feature_dimension kernel_spatial_dimensions output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions "},
    {"stablehlo.dot_algorithm",
     "lhs_precision_type rhs_precision_type accumulation_type lhs_component_count rhs_component_count "
     "num_primitive_operations allow_imprecise_accumulation "},
    {"stablehlo.output_operand_alias", "output_tuple_indices operand_index operand_tuple_indices "},
    {"stablehlo.channel_handle", "handle type "},
    {"stablehlo.type_extensions", "bounds "},
    {"stablehlo.result_accuracy", "atol rtol ulps mode "},
    {"stablehlo.axis_ref", "name sub_axis_info "},
    {"stablehlo.mesh_axis", "name size "},
    {"stablehlo.mesh", "axes device_ids "},
    {"stablehlo.replica_group_mesh_axes", "mesh axes "},
};

static const name_row *find_row(const name_row *rows, size_t count, str name) {
  for (size_t i = 0; i < count; i++)
    if (str_is(name, rows[i].name)) return &rows[i];
  return NULL;
}

static const name_row *find_enumeration(const mlir_parser *p, str name) {
  enum { COUNT = sizeof enumerations / sizeof *enumerations };
  const name_row *row = find_row(enumerations, COUNT, name);
  return row ? row : find_row(enumerations, COUNT, mlir_stablehlo_name(p, name));
}

static const name_row *find_record(const mlir_parser *p, str name) {
  enum { COUNT = sizeof records / sizeof *records };
  const name_row *row = find_row(records, COUNT, name);
  return row ? row : find_row(records, COUNT, mlir_stablehlo_name(p, name));
}

static bool has_word(const char *words, str word) {
  for (const char *at = words; *at; at = strchr(at, ' ') + 1)
    if (strncmp(at, word.data, word.size) == 0 && at[word.size] == ' ') return true;
  return false;
}

// --- enumerations

static bool enumeration(mlir_parser *p, const name_row *row, const ir_attribute **out) {
  if (p->kind != MLIR_WORD || !has_word(row->words, p->tok))
    return mlir_found(p, arena_printf(p->scratch, "one of %s", row->words));
  *out = ir_enum_attribute(p->arena, row->name, p->tok);
  mlir_advance(p);
  return true;
}

bool mlir_enumeration(mlir_parser *p, str name, const ir_attribute **out) {
  const name_row *row = find_enumeration(p, name);
  if (row) return enumeration(p, row, out);
  return mlir_error(p, p->tok_offset, "found a value of " STR_FMT ", which is no enumeration", STR_ARG(name));
}

// --- values of fields

typedef VEC(int64_t) integer_list;

static bool list_of_dims(mlir_parser *p, const char *close, const ir_attribute **out) {
  integer_list list = {0};
  while (!mlir_take(p, close)) {
    int64_t value = IR_DYNAMIC;
    if (list.size && !mlir_expect(p, ",")) return false;
    if (!mlir_take(p, "?") && !mlir_integer(p, &value)) return false;
    vec_push(p->scratch, &list, value);
  }
  *out = ir_integers_attribute(p->arena, list.size, list.data);
  return true;
}

bool mlir_dims(mlir_parser *p, const ir_attribute **out) { return mlir_expect(p, "[") && list_of_dims(p, "]", out); }

static bool record(mlir_parser *p, const char *name, const char *words, const ir_attribute **out);

// Inside of a mesh its axes are written without their kind: [<name = "x", size = 2>, ...].
static bool list_of_records(mlir_parser *p, const ir_attribute **out) {
  VEC(const ir_attribute *) items = {0};
  if (!mlir_expect(p, "[")) return false;
  while (!mlir_take(p, "]")) {
    const ir_attribute *item;
    if (items.size && !mlir_expect(p, ",")) return false;
    if (mlir_take(p, "<") ? !record(p, "stablehlo.mesh_axis", "name size ", &item) : !mlir_attribute(p, &item))
      return false;
    vec_push(p->scratch, &items, item);
  }
  *out = ir_array_attribute(p->arena, items.size, items.data);
  return true;
}

// (pre_size)size
static bool sub_axis(mlir_parser *p, const ir_attribute **out) {
  ir_named_attribute fields[2] = {{.name = STR("pre_size")}, {.name = STR("size")}};
  int64_t before, size;
  if (!mlir_expect(p, "(") || !mlir_integer(p, &before) || !mlir_expect(p, ")") || !mlir_integer(p, &size))
    return false;
  fields[0].value = ir_integer_attribute(p->arena, before, DTYPE_S64);
  fields[1].value = ir_integer_attribute(p->arena, size, DTYPE_S64);
  *out = ir_struct_attribute(p->arena, "stablehlo.sub_axis_info", 2, fields);
  return true;
}

static bool field_value(mlir_parser *p, str name, const ir_attribute **out) {
  if (str_is(name, "axes")) return list_of_records(p, out);
  if (mlir_at(p, "[")) return mlir_dims(p, out);
  if (mlir_at(p, "(")) return sub_axis(p, out);
  return mlir_attribute(p, out);
}

// `name = value, ...>` behind the opening bracket, in any order, each at most once; a last comma may stand.
static bool record(mlir_parser *p, const char *name, const char *words, const ir_attribute **out) {
  ir_attribute_list fields = {0};
  while (!mlir_take(p, ">")) {
    ir_named_attribute field = {0};
    size_t offset = p->tok_offset;
    if (p->kind != MLIR_WORD || !has_word(words, p->tok))
      return mlir_found(p, arena_printf(p->scratch, "one of %s", words));
    for (int i = 0; i < fields.size; i++)
      if (str_equal(fields.data[i].name, p->tok))
        return mlir_error(p, offset, "found '" STR_FMT "' twice", STR_ARG(p->tok));
    field.name = str_copy(p->arena, p->tok);
    mlir_advance(p);
    if (!mlir_expect(p, "=") || !field_value(p, field.name, &field.value)) return false;
    vec_push(p->scratch, &fields, field);
    if (!mlir_at(p, ">") && !mlir_expect(p, ",")) return false;
  }
  *out = ir_struct_attribute(p->arena, name, fields.size, fields.data);
  return true;
}

// --- convolutions

// One group of `[b, 0, 1, f]`: where its two named dims and its spatial ones stand.
typedef struct conv_dims {
  char names[2];
  int64_t positions[2];
  int count;  // spatial dims
  int64_t spatial[SHAPE_MAX_RANK];
} conv_dims;

static bool conv_dim(mlir_parser *p, conv_dims *d, int64_t position) {
  int64_t dim;
  for (int i = 0; i < 2; i++)
    if (p->kind == MLIR_WORD && p->tok.size == 1 && p->tok.data[0] == d->names[i] && d->positions[i] < 0) {
      d->positions[i] = position;
      mlir_advance(p);
      return true;
    }
  size_t offset = p->tok_offset;
  if (p->kind != MLIR_INTEGER)
    return mlir_found(
        p, arena_printf(p->scratch, "'%c', '%c' or the number of a spatial dim, each once", d->names[0], d->names[1]));
  if (!mlir_integer(p, &dim)) return false;
  if (dim < 0 || dim >= SHAPE_MAX_RANK || d->spatial[dim] >= 0)
    return mlir_error(p, offset, "found a spatial dim twice, or one beyond the number of dims");
  d->spatial[dim] = position;
  d->count++;
  return true;
}

static bool conv_group(mlir_parser *p, const char *names, conv_dims *d) {
  size_t offset = p->tok_offset;
  int64_t position = 0;
  *d = (conv_dims){.names = {names[0], names[1]}, .positions = {-1, -1}};
  for (int i = 0; i < SHAPE_MAX_RANK; i++) d->spatial[i] = -1;
  if (!mlir_expect(p, "[")) return false;
  do {
    if (!conv_dim(p, d, position++)) return false;
  } while (mlir_take(p, ","));
  if (!mlir_expect(p, "]")) return false;
  if (d->positions[0] < 0 || d->positions[1] < 0)
    return mlir_error(p, offset, "found dims without '%c' or '%c'", names[0], names[1]);
  for (int i = 0; i < d->count; i++)
    if (d->spatial[i] < 0) return mlir_error(p, offset, "found dims without spatial dim %d", i);
  return true;
}

static void conv_fields(mlir_parser *p, const conv_dims *d, const char *const names[3], ir_named_attribute *fields) {
  fields[0].value = ir_integer_attribute(p->arena, d->positions[0], DTYPE_S64);
  fields[1].value = ir_integer_attribute(p->arena, d->positions[1], DTYPE_S64);
  fields[2].value = ir_integers_attribute(p->arena, d->count, d->spatial);
  for (int i = 0; i < 3; i++) fields[i].name = str_from(names[i]);
}

bool mlir_conv_dims(mlir_parser *p, const ir_attribute **out) {
  static const char *const names[3][3] = {
      {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
      {"kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions"},
      {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"},
  };
  ir_named_attribute fields[9];
  conv_dims *groups = arena_array(p->scratch, conv_dims, 3);
  if (!conv_group(p, "bf", &groups[0]) || !mlir_expect(p, "x") || !conv_group(p, "io", &groups[1]) ||
      !mlir_expect(p, "->") || !conv_group(p, "bf", &groups[2]))
    return false;
  for (int i = 0; i < 3; i++) conv_fields(p, &groups[i], names[i], fields + (ptrdiff_t)i * 3);
  *out = ir_struct_attribute(p->arena, "stablehlo.conv", 9, fields);
  return true;
}

// --- all of them

static bool bounds(mlir_parser *p, const ir_attribute **out) {
  ir_named_attribute field = {.name = STR("bounds")};
  if (!list_of_dims(p, ">", &field.value)) return false;
  *out = ir_struct_attribute(p->arena, "stablehlo.bounds", 1, &field);
  return true;
}

// Behind the opening bracket; takes the closing one.
static bool known_record(mlir_parser *p, const name_row *row, const ir_attribute **out) {
  if (str_is(str_from(row->name), "stablehlo.conv") && !mlir_take(p, "raw"))
    return mlir_conv_dims(p, out) && mlir_expect(p, ">");
  bool is_bounds = str_is(str_from(row->name), "stablehlo.type_extensions");
  return record(p, is_bounds ? "stablehlo.bounds" : row->name, row->words, out);
}

bool mlir_record(mlir_parser *p, str name, const ir_attribute **out) {
  const name_row *row = find_record(p, name);
  if (row) return mlir_expect(p, "<") && known_record(p, row, out);
  return mlir_error(p, p->tok_offset, "found a value of " STR_FMT ", which has no fields", STR_ARG(name));
}

// The attribute in its whole, from `start`.
static bool opaque(mlir_parser *p, size_t start, const ir_attribute **out) {
  str body;
  mlir_move(p, start);
  mlir_advance(p);
  if (mlir_at(p, "<") && p->tok_offset == p->last_end && !mlir_balanced(p, &body)) return false;
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_OPAQUE);
  x->text = str_copy(p->arena, (str){p->source.data + start, p->last_end - start});
  *out = x;
  return true;
}

// The full name of `#stablehlo.dot<` or `#stablehlo<dot<`, the parser behind it.
static bool attribute_name(mlir_parser *p, str *name, bool *is_verbose) {
  str head = {p->tok.data + 1, p->tok.size - 1};
  *is_verbose = memchr(head.data, '.', head.size) == NULL;
  mlir_advance(p);
  *name = head;
  if (!*is_verbose) return true;
  if (!mlir_take(p, "<") || p->kind != MLIR_WORD) return false;
  *name = str_from(arena_printf(p->scratch, STR_FMT "." STR_FMT, STR_ARG(head), STR_ARG(p->tok)));
  mlir_advance(p);
  return true;
}

static bool named_attribute(mlir_parser *p, size_t start, const ir_attribute **out) {
  str name;
  bool is_verbose;
  if (!attribute_name(p, &name, &is_verbose)) return opaque(p, start, out);
  const name_row *row = find_enumeration(p, name);
  if (row && is_verbose) return enumeration(p, row, out) && mlir_expect(p, ">");
  if (row) return mlir_expect(p, "<") && enumeration(p, row, out) && mlir_expect(p, ">");
  row = find_record(p, name);
  bool is_bounds = str_is(mlir_stablehlo_name(p, name), "stablehlo.bounds");
  if (!row && !is_bounds) return opaque(p, start, out);
  return mlir_expect(p, "<") && (is_bounds ? bounds(p, out) : known_record(p, row, out)) &&
         (!is_verbose || mlir_expect(p, ">"));
}

bool mlir_dialect_attribute(mlir_parser *p, const ir_attribute **out) {
  bool has_body = p->position < p->limit && p->source.data[p->position] == '<';
  if (!has_body && memchr(p->tok.data, '.', p->tok.size) == NULL) return mlir_attribute_alias(p, out);
  return named_attribute(p, p->tok_offset, out);
}
