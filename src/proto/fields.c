// Attributes that are one field of a message each.
//
// A table says which field; protobuf-c's descriptors say where it lies and of what type it is, attributes.def where the
// attribute lies. Between the two there are only a few pairs of types, so the code is about types and not about
// attributes.
#include "proto/fields.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "hlo/lexer.h"
#include "hlo/text.h"
#include "proto/parts.h"
#include "proto/values.h"
#include "proto/wire.h"

enum { ANY = HLO_OPCODE_COUNT };

typedef struct row {
  hlo_attribute_id id;
  int op;              // an opcode, or ANY; rows for one opcode stand before those for any
  const char *path;    // of the field, through messages
  const char *silent;  // the value, as text, that the attribute has when it is not written; null: none
} row;

static const row rows[] = {
    {HLO_ATTRIBUTE_DIMENSIONS, ANY, "dimensions", NULL},
    {HLO_ATTRIBUTE_INDEX, HLO_PARAMETER, "parameter_number", NULL},
    {HLO_ATTRIBUTE_INDEX, ANY, "tuple_index", NULL},
    {HLO_ATTRIBUTE_IOTA_DIMENSION, ANY, "dimensions", NULL},
    {HLO_ATTRIBUTE_INFERRED_DIMENSION, ANY, "dimensions", NULL},
    {HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES, ANY, "dynamic_slice_sizes", NULL},
    {HLO_ATTRIBUTE_DIRECTION, ANY, "comparison_direction", NULL},
    {HLO_ATTRIBUTE_TYPE, ANY, "comparison_type", NULL},
    {HLO_ATTRIBUTE_EXPONENT_BITS, ANY, "exponent_bits", NULL},
    {HLO_ATTRIBUTE_MANTISSA_BITS, ANY, "mantissa_bits", NULL},
    {HLO_ATTRIBUTE_FEATURE_GROUP_COUNT, ANY, "feature_group_count", NULL},
    {HLO_ATTRIBUTE_BATCH_GROUP_COUNT, ANY, "batch_group_count", NULL},
#define DOT(id, field)                                                                                       \
  {HLO_ATTRIBUTE_##id, HLO_RAGGED_DOT, "ragged_dot_dimension_numbers.dot_dimension_numbers." field, NULL}, { \
    HLO_ATTRIBUTE_##id, ANY, "dot_dimension_numbers." field, NULL                                            \
  }
    DOT(LHS_BATCH_DIMS, "lhs_batch_dimensions"),
    DOT(LHS_CONTRACTING_DIMS, "lhs_contracting_dimensions"),
    DOT(RHS_BATCH_DIMS, "rhs_batch_dimensions"),
    DOT(RHS_CONTRACTING_DIMS, "rhs_contracting_dimensions"),
#undef DOT
    {HLO_ATTRIBUTE_LHS_RAGGED_DIMS, ANY, "ragged_dot_dimension_numbers.lhs_ragged_dimensions", NULL},
    {HLO_ATTRIBUTE_RHS_GROUP_DIMS, ANY, "ragged_dot_dimension_numbers.rhs_group_dimensions", NULL},
    {HLO_ATTRIBUTE_PADDING_TYPE, ANY, "padding_type", NULL},
    {HLO_ATTRIBUTE_OFFSET_DIMS, ANY, "gather_dimension_numbers.offset_dims", NULL},
    {HLO_ATTRIBUTE_COLLAPSED_SLICE_DIMS, ANY, "gather_dimension_numbers.collapsed_slice_dims", NULL},
    {HLO_ATTRIBUTE_START_INDEX_MAP, ANY, "gather_dimension_numbers.start_index_map", NULL},
    {HLO_ATTRIBUTE_OPERAND_BATCHING_DIMS, ANY, "gather_dimension_numbers.operand_batching_dims", NULL},
    {HLO_ATTRIBUTE_START_INDICES_BATCHING_DIMS, ANY, "gather_dimension_numbers.start_indices_batching_dims", NULL},
    {HLO_ATTRIBUTE_UPDATE_WINDOW_DIMS, ANY, "scatter_dimension_numbers.update_window_dims", NULL},
    {HLO_ATTRIBUTE_INSERTED_WINDOW_DIMS, ANY, "scatter_dimension_numbers.inserted_window_dims", NULL},
    {HLO_ATTRIBUTE_SCATTER_DIMS_TO_OPERAND_DIMS, ANY, "scatter_dimension_numbers.scatter_dims_to_operand_dims", NULL},
    {HLO_ATTRIBUTE_INPUT_BATCHING_DIMS, ANY, "scatter_dimension_numbers.input_batching_dims", NULL},
    {HLO_ATTRIBUTE_SCATTER_INDICES_BATCHING_DIMS, ANY, "scatter_dimension_numbers.scatter_indices_batching_dims", NULL},
    {HLO_ATTRIBUTE_INDEX_VECTOR_DIM, HLO_SCATTER, "scatter_dimension_numbers.index_vector_dim", NULL},
    {HLO_ATTRIBUTE_INDEX_VECTOR_DIM, ANY, "gather_dimension_numbers.index_vector_dim", NULL},
    {HLO_ATTRIBUTE_SLICE_SIZES, HLO_GATHER, "gather_slice_sizes", NULL},
    {HLO_ATTRIBUTE_INDICES_ARE_SORTED, ANY, "indices_are_sorted", NULL},
    {HLO_ATTRIBUTE_UNIQUE_INDICES, ANY, "unique_indices", NULL},
    {HLO_ATTRIBUTE_IS_STABLE, ANY, "is_stable", NULL},
    {HLO_ATTRIBUTE_EPSILON, ANY, "epsilon", NULL},
    {HLO_ATTRIBUTE_FEATURE_INDEX, ANY, "feature_index", NULL},
    {HLO_ATTRIBUTE_LEFT_SIDE, ANY, "triangular_solve_options.left_side", NULL},
    {HLO_ATTRIBUTE_LOWER, HLO_CHOLESKY, "cholesky_options.lower", NULL},
    {HLO_ATTRIBUTE_LOWER, ANY, "triangular_solve_options.lower", NULL},
    {HLO_ATTRIBUTE_UNIT_DIAGONAL, ANY, "triangular_solve_options.unit_diagonal", NULL},
    {HLO_ATTRIBUTE_TRANSPOSE_A, ANY, "triangular_solve_options.transpose_a", NULL},
    {HLO_ATTRIBUTE_K, ANY, "k", NULL},
    {HLO_ATTRIBUTE_LARGEST, ANY, "largest", NULL},
    {HLO_ATTRIBUTE_FFT_TYPE, ANY, "fft_type", NULL},
    {HLO_ATTRIBUTE_FFT_LENGTH, ANY, "fft_length", NULL},
    {HLO_ATTRIBUTE_DISTRIBUTION, ANY, "distribution", NULL},
    {HLO_ATTRIBUTE_DELTA, ANY, "delta", NULL},
    {HLO_ATTRIBUTE_KIND, ANY, "fusion_kind", NULL},
    {HLO_ATTRIBUTE_NUM_CARRIES, ANY, "num_carries", NULL},
    {HLO_ATTRIBUTE_IS_REVERSE, ANY, "is_reverse", NULL},
    {HLO_ATTRIBUTE_IS_COMPOSITE, ANY, "is_composite", NULL},
    {HLO_ATTRIBUTE_USE_GLOBAL_DEVICE_IDS, ANY, "use_global_device_ids", NULL},
    {HLO_ATTRIBUTE_CONSTRAIN_LAYOUT, ANY, "constrain_layout", NULL},
    {HLO_ATTRIBUTE_IS_HOST_TRANSFER, ANY, "is_host_transfer", NULL},
    {HLO_ATTRIBUTE_CROSS_PROGRAM_PREFETCH_INDEX, ANY, "cross_program_prefetch_index", NULL},
    {HLO_ATTRIBUTE_ASYNC_EXECUTION_THREAD, ANY, "async_execution_thread", "\"main\""},
    {HLO_ATTRIBUTE_INFEED_CONFIG, ANY, "infeed_config", NULL},
    {HLO_ATTRIBUTE_OUTFEED_CONFIG, ANY, "outfeed_config", NULL},
    {HLO_ATTRIBUTE_OUTFEED_SHAPE, ANY, "outfeed_shape", NULL},
    {HLO_ATTRIBUTE_PARAMETER_REPLICATION, ANY, "parameter_replication.replicated_at_leaf_buffers", NULL},
    {HLO_ATTRIBUTE_CUSTOM_CALL_TARGET, ANY, "custom_call_target", NULL},
    {HLO_ATTRIBUTE_CUSTOM_CALL_HAS_SIDE_EFFECT, ANY, "custom_call_has_side_effect", NULL},
    {HLO_ATTRIBUTE_SCHEDULE, ANY, "custom_call_schedule", NULL},
    {HLO_ATTRIBUTE_API_VERSION, ANY, "custom_call_api_version", "API_VERSION_ORIGINAL"},
};

static const row *find_row(hlo_opcode op, hlo_attribute_id id) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].id == id && (rows[i].op == ANY || rows[i].op == (int)op)) return &rows[i];
  return NULL;
}

bool proto_field_exists(hlo_opcode op, hlo_attribute_id id) { return find_row(op, id) != NULL; }

// A field and the message that has it.
typedef struct position {
  const ProtobufCFieldDescriptor *field;
  char *message;
} position;

static void *data_of(const position *p) { return p->message + p->field->offset; }
static size_t *count_of(const position *p) { return (size_t *)(void *)(p->message + p->field->quantifier_offset); }
static bool is_list(const position *p) { return p->field->label == PROTOBUF_C_LABEL_REPEATED; }

// Follows the path; with an arena, messages that are missing are made, without one they end the search.
static bool find_place(arena *a, ProtobufCMessage *start, const char *path, position *out) {
  out->message = (char *)start;
  for (const ProtobufCMessageDescriptor *type = start->descriptor;;) {
    char name[64];
    size_t size = strcspn(path, ".");
    snprintf(name, sizeof name, "%.*s", (int)size, path);
    out->field = protobuf_c_message_descriptor_get_field_by_name(type, name);
    if (!out->field) return false;
    if (!path[size]) return true;
    void **child = data_of(out);
    type = out->field->descriptor;
    if (!*child && a) *child = proto_wire_create(a, type);
    if (!*child) return false;
    out->message = *child;
    path += size + 1;
  }
}

// --- reading

static int64_t number_at(const position *p, size_t i) {
  const void *data = is_list(p) ? *(void **)data_of(p) : data_of(p);
  switch (p->field->type) {
    case PROTOBUF_C_TYPE_INT64: return ((const int64_t *)data)[i];
    case PROTOBUF_C_TYPE_BOOL: return ((const protobuf_c_boolean *)data)[i] != 0;
    default: return ((const int32_t *)data)[i];  // int32 and enums
  }
}

static const char *enum_name_at(const position *p) {
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(p->field->descriptor, (int)number_at(p, 0));
  return value ? value->name : "";
}

// The shortest decimal that is the same float: what the program's text said.
static double plain_double(float value) {
  char digits[40];
  for (int precision = 6; precision <= 9; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, (double)value);
    if (strtof(digits, NULL) == value) break;
  }
  return strtod(digits, NULL);
}

// Whether the field holds what a field has that was never set.
static bool is_unset(const position *p) {
  if (is_list(p)) return *count_of(p) == 0;
  if (p->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
    return *(const uint32_t *)(const void *)(p->message + p->field->quantifier_offset) != p->field->id;
  switch (p->field->type) {
    case PROTOBUF_C_TYPE_STRING: return !(*(char **)data_of(p))[0];
    case PROTOBUF_C_TYPE_BYTES: return ((const ProtobufCBinaryData *)data_of(p))->len == 0;
    case PROTOBUF_C_TYPE_MESSAGE: return !*(void **)data_of(p);
    case PROTOBUF_C_TYPE_FLOAT: return *(const float *)data_of(p) == 0;
    default: return number_at(p, 0) == 0;
  }
}

static heddle_status read_enum(const position *p, const hlo_attribute_info *info, int *out) {
  const char *name = p->field->type == PROTOBUF_C_TYPE_STRING ? *(char **)data_of(p) : enum_name_at(p);
  for (int i = 0; info->names[i]; i++) {
    if (strcasecmp(info->names[i], name) != 0) continue;
    *out = i;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found %s '%s'", p->field->name, name);
}

static void read_ints(arena *a, const position *p, int_list *out) {
  size_t count = *count_of(p);
  int64_t *values = arena_array(a, int64_t, count);
  for (size_t i = 0; i < count; i++) values[i] = number_at(p, i);
  *out = (int_list){values, (int)count};
}

static heddle_status read_raw(arena *a, const position *p, str *out) {
  text t = {0};
  const shape *s = NULL;
  const ProtobufCBinaryData *bytes = data_of(p);
  if (is_list(p)) {
    for (size_t i = 0; i < *count_of(p); i++)
      text_printf(&t, "%s%s", i ? "," : "{", number_at(p, i) ? "true" : "false");
    text_putc(&t, '}');
    *out = proto_keep(a, &t);
    return status_ok();
  }
  switch (p->field->type) {
    case PROTOBUF_C_TYPE_STRING: text_quote(&t, str_from(*(char **)data_of(p))); break;
    case PROTOBUF_C_TYPE_BYTES: text_quote(&t, (str){(const char *)bytes->data, bytes->len}); break;
    case PROTOBUF_C_TYPE_ENUM: text_puts(&t, enum_name_at(p)); break;
    case PROTOBUF_C_TYPE_BOOL: text_puts(&t, "true"); break;
    case PROTOBUF_C_TYPE_MESSAGE: TRY(proto_read_shape(a, *(Xla__ShapeProto **)data_of(p), &s)); break;
    default: text_printf(&t, "%lld", (long long)number_at(p, 0)); break;
  }
  if (s) shape_print(&t, s, true);
  *out = proto_keep(a, &t);
  return status_ok();
}

static heddle_status read_attribute(arena *a, const position *p, const row *r, instruction *to) {
  const hlo_attribute_info *info = &hlo_attribute_infos[r->id];
  void *field = (char *)to->attributes + info->offset;
  str raw;
  switch (info->kind) {
    case ATTRIBUTE_INT:
      if (is_list(p) && *count_of(p) != 1)
        return status_error(HEDDLE_INVALID, "%s has %zu values, wanted 1", p->field->name, *count_of(p));
      *(int64_t *)field = number_at(p, 0);
      break;
    case ATTRIBUTE_BOOL: *(bool *)field = number_at(p, 0) != 0; break;
    case ATTRIBUTE_DOUBLE: *(double *)field = plain_double(*(const float *)data_of(p)); break;
    case ATTRIBUTE_INTS: read_ints(a, p, field); break;
    case ATTRIBUTE_ENUM: TRY(read_enum(p, info, field)); break;
    case ATTRIBUTE_STRING: *(str *)field = str_copy(a, str_from(*(char **)data_of(p))); break;
    default:
      TRY(read_raw(a, p, &raw));
      if (!raw.size || (r->silent && str_is(raw, r->silent))) return status_ok();
      attributes_add_raw(a, to->attributes, str_from(info->text), raw);
      break;
  }
  // A default is not worth printing, unless it can be told from nothing.
  bool is_told = (p->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) || info->kind == ATTRIBUTE_RAW;
  if (is_told || !attributes_is_default(to->attributes, r->id)) attributes_mark(to->attributes, r->id);
  return status_ok();
}

heddle_status proto_field_read(arena *a, const Xla__HloInstructionProto *from, hlo_attribute_id id, instruction *to) {
  const row *r = find_row(to->opcode, id);
  position p;
  // Only looked at: without an arena nothing is made.
  if (!find_place(NULL, (ProtobufCMessage *)(uintptr_t)&from->base, r->path, &p)) return status_ok();
  if (!is_unset(&p)) return read_attribute(a, &p, r, to);
  if (id == HLO_ATTRIBUTE_LARGEST) to->attributes->largest = false;
  return status_ok();
}

// --- writing

static void *make_list(arena *a, const position *p, size_t count, size_t size) {
  *count_of(p) = count;
  return *(void **)data_of(p) = arena_array_alloc(a, size, count);
}

static heddle_status write_number(arena *a, const position *p, int64_t value) {
  if (is_list(p)) {
    *(int64_t *)make_list(a, p, 1, sizeof(int64_t)) = value;
    return status_ok();
  }
  if (p->field->type == PROTOBUF_C_TYPE_INT64) {
    *(int64_t *)data_of(p) = value;
    return status_ok();
  }
  if (value < INT32_MIN || value > INT32_MAX)
    return status_error(HEDDLE_INVALID, "%s %lld has more than 32 bits", p->field->name, (long long)value);
  *(int32_t *)data_of(p) = (int32_t)value;
  if (p->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
    *(uint32_t *)(void *)(p->message + p->field->quantifier_offset) = p->field->id;
  return status_ok();
}

static heddle_status write_enum(arena *a, const position *p, str name) {
  if (p->field->type == PROTOBUF_C_TYPE_STRING) {
    *(char **)data_of(p) = proto_string(a, name);
    return status_ok();
  }
  const ProtobufCEnumDescriptor *type = p->field->descriptor;
  for (unsigned i = 0; i < type->n_values; i++) {
    const char *value = type->values[i].name;
    if (strlen(value) != name.size || strncasecmp(value, name.data, name.size) != 0) continue;
    *(int *)data_of(p) = type->values[i].value;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found %s '" STR_FMT "', which a message cannot say", p->field->name,
                      STR_ARG(name));
}

static void write_ints(arena *a, const position *p, const int_list *from) {
  int64_t *values = make_list(a, p, (size_t)from->size, sizeof(int64_t));
  if (from->size) memcpy(values, from->data, (size_t)from->size * sizeof *values);
}

// {true,false}
static heddle_status write_bools(arena *a, const position *p, str raw) {
  lexer l = lexer_create(raw);
  VEC(protobuf_c_boolean) values = {0};
  for (token t = lexer_next(&l); t.kind != TOKEN_END; t = lexer_next(&l)) {
    if (t.kind == TOKEN_BAD) return status_error(HEDDLE_INVALID, "found '" STR_FMT "'", STR_ARG(raw));
    if (t.kind == TOKEN_WORD) vec_push(a, &values, str_is(t.text, "true"));
  }
  *count_of(p) = (size_t)values.size;
  *(void **)data_of(p) = values.data;
  return status_ok();
}

static heddle_status write_raw(arena *a, const position *p, str raw) {
  lexer l = lexer_create(raw);
  token t = lexer_next(&l);
  const shape *s;
  str word = t.kind == TOKEN_STRING ? lexer_unescape(a, t.text) : raw;
  if (is_list(p)) return write_bools(a, p, raw);
  switch (p->field->type) {
    case PROTOBUF_C_TYPE_STRING: *(char **)data_of(p) = proto_string(a, word); return status_ok();
    case PROTOBUF_C_TYPE_BYTES:
      *(ProtobufCBinaryData *)data_of(p) = (ProtobufCBinaryData){word.size, (uint8_t *)proto_string(a, word)};
      return status_ok();
    case PROTOBUF_C_TYPE_ENUM: return write_enum(a, p, word);
    case PROTOBUF_C_TYPE_BOOL: *(protobuf_c_boolean *)data_of(p) = str_is(word, "true"); return status_ok();
    case PROTOBUF_C_TYPE_MESSAGE:
      TRY(shape_parse(a, raw, &s));
      *(Xla__ShapeProto **)data_of(p) = proto_make_shape(a, s);
      return status_ok();
    default: return write_number(a, p, strtoll(proto_string(a, word), NULL, 10));
  }
}

static heddle_status write_attribute(arena *a, const hlo_attributes *x, const row *r, const position *p) {
  const hlo_attribute_info *info = &hlo_attribute_infos[r->id];
  const void *field = (const char *)x + info->offset;
  const str *raw = NULL;
  switch (info->kind) {
    case ATTRIBUTE_INT: return write_number(a, p, *(const int64_t *)field);
    case ATTRIBUTE_BOOL: *(protobuf_c_boolean *)data_of(p) = *(const bool *)field; return status_ok();
    case ATTRIBUTE_DOUBLE: *(float *)data_of(p) = (float)*(const double *)field; return status_ok();
    case ATTRIBUTE_INTS: write_ints(a, p, field); return status_ok();
    case ATTRIBUTE_ENUM: return write_enum(a, p, str_from(info->names[*(const int *)field]));
    case ATTRIBUTE_STRING: *(char **)data_of(p) = proto_string(a, *(const str *)field); return status_ok();
    default: break;
  }
  raw = attributes_raw(x, info->text);
  if (raw) return write_raw(a, p, *raw);
  return r->silent ? write_raw(a, p, str_from(r->silent)) : status_ok();
}

// Whether the attribute says anything: only then its field, and the message around it, is made.
static bool is_worth_writing(const instruction *i, const row *r) {
  const hlo_attribute_info *info = &hlo_attribute_infos[r->id];
  const hlo_attributes *x = i->attributes;
  if (info->kind == ATTRIBUTE_RAW) return attributes_raw(x, info->text) || (r->silent && i->opcode == HLO_CUSTOM_CALL);
  return !attributes_is_default(x, r->id) || info->kind == ATTRIBUTE_ENUM || info->missing ||
         attributes_has(x, r->id) || r->id == HLO_ATTRIBUTE_IOTA_DIMENSION || strchr(r->path, '.');
}

heddle_status proto_field_write(arena *a, const instruction *from, hlo_attribute_id id, Xla__HloInstructionProto *to) {
  const row *r = find_row(from->opcode, id);
  position p;
  if (!is_worth_writing(from, r) || !find_place(a, &to->base, r->path, &p)) return status_ok();
  return write_attribute(a, from->attributes, r, &p);
}
