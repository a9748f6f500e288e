// Converts metadata, which Heddle keeps as text and messages keep in fields: op_metadata, frontend attributes, stack
// frame tables, aliases.
#include <stdio.h>

#include "hlo/frontend_attributes.h"
#include "proto/parts.h"
#include "proto/wire.h"

heddle_status proto_token_int(token t, int64_t *out) {
  bool is_negative = t.text.size && t.text.data[0] == '-';
  size_t i = is_negative;
  bool fits = true;
  *out = 0;  // downwards, where there is one number more
  for (; fits && i < t.text.size && t.text.data[i] >= '0' && t.text.data[i] <= '9'; i++)
    fits = !__builtin_mul_overflow(*out, 10, out) && !__builtin_sub_overflow(*out, t.text.data[i] - '0', out);
  if (!is_negative && fits) fits = !__builtin_sub_overflow(0, *out, out);
  if (t.kind == TOKEN_NUMBER && fits && i == t.text.size && i > (size_t)is_negative) return status_ok();
  return status_error(HEDDLE_INVALID, "found '" STR_FMT "', wanted an integer", STR_ARG(t.text));
}

static heddle_status wants(lexer *l, int kind, const char *wanted) {
  token t = lexer_next(l);
  if (t.kind == kind) return status_ok();
  return status_error(HEDDLE_INVALID, "found '" STR_FMT "', wanted %s", STR_ARG(t.text), wanted);
}

static token peek(const lexer *l) {
  lexer copy = *l;
  return lexer_next(&copy);
}

// --- metadata

// Fields of OpMetadata in the order of printing.
static const char *const metadata_fields[] = {"op_type",
                                              "op_name",
                                              "source_file",
                                              "source_line",
                                              "source_end_line",
                                              "source_column",
                                              "source_end_column",
                                              "stack_frame_id",
                                              "deduplicated_name",
                                              "scheduling_name",
                                              NULL};

static const ProtobufCFieldDescriptor *field_named(const ProtobufCMessageDescriptor *type, str name) {
  char copy[64];
  snprintf(copy, sizeof copy, "%.*s", name.size > 63 ? 63 : (int)name.size, name.data);
  return protobuf_c_message_descriptor_get_field_by_name(type, copy);
}

// `name=value` pairs of a flat message's fields that are set, in the order of the list.
static void print_fields(text *out, const ProtobufCMessage *m, const char *const *names) {
  bool is_first = true;
  for (; *names; names++) {
    const ProtobufCFieldDescriptor *f = field_named(m->descriptor, str_from(*names));
    const void *data = (const char *)m + f->offset;
    bool is_string = f->type == PROTOBUF_C_TYPE_STRING;
    if (is_string ? !(*(char *const *)data)[0] : !*(const int32_t *)data) continue;
    text_printf(out, is_first ? "%s=" : " %s=", *names);
    if (is_string) text_quote(out, str_from(*(char *const *)data));
    else text_printf(out, "%d", *(const int32_t *)data);
    is_first = false;
  }
}

// Reads such pairs up to a closing brace. What the message has no field for is passed over.
static heddle_status parse_fields(arena *a, lexer *l, ProtobufCMessage *m) {
  TRY(wants(l, '{', "'{'"));
  for (;;) {
    token name = lexer_next(l);
    int64_t number;
    if (name.kind == '}') return status_ok();
    if (name.kind == ',') continue;
    if (name.kind != TOKEN_WORD)
      return status_error(HEDDLE_INVALID, "found '" STR_FMT "', wanted a name", STR_ARG(name.text));
    TRY(wants(l, '=', "'='"));
    const ProtobufCFieldDescriptor *f = field_named(m->descriptor, name.text);
    token value = peek(l);
    const char *problem = NULL;
    size_t end = lexer_value_end(l, &problem);
    if (problem || value.kind == TOKEN_END) return status_error(HEDDLE_INVALID, "a value is missing or never ends");
    if (end > value.end || (value.kind != TOKEN_STRING && value.kind != TOKEN_NUMBER)) {
      lexer_move(l, end > value.end ? end : value.end);
      continue;
    }
    lexer_move(l, value.end);
    void *data = f ? (char *)m + f->offset : NULL;
    if (f && f->type == PROTOBUF_C_TYPE_STRING) *(char **)data = proto_string(a, lexer_unescape(a, value.text));
    if (!f || f->type == PROTOBUF_C_TYPE_STRING) continue;
    TRY(proto_token_int(value, &number));
    if (number < INT32_MIN || number > INT32_MAX)
      return status_error(HEDDLE_INVALID, "%s has more than 32 bits", f->name);
    *(int32_t *)data = (int32_t)number;
  }
}

str proto_metadata_text(arena *a, const Xla__OpMetadata *from) {
  text t = {0};
  if (from) print_fields(&t, &from->base, metadata_fields);
  if (!t.size) return (str){0};
  const char *kept = arena_printf(a, "{%s}", text_cstr(&t));
  text_free(&t);
  return str_from(kept);
}

heddle_status proto_metadata_from(arena *a, str source, Xla__OpMetadata **out) {
  lexer l = lexer_create(source);
  HLO_PROTO_NEW(a, *out, OpMetadata, op_metadata);
  return parse_fields(a, &l, &(*out)->base);
}

// --- frontend attributes

str proto_frontend_text(arena *a, const Xla__FrontendAttributes *from) {
  frontend_attribute_list list = {0};
  for (size_t k = 0; from && k < from->n_map; k++)
    vec_push(a, &list, (frontend_attribute){str_from(from->map[k]->key), str_from(from->map[k]->value)});
  return frontend_attributes_text(a, &list);
}

heddle_status proto_frontend_from(arena *a, str source, Xla__FrontendAttributes **out) {
  frontend_attribute_list list;
  TRY(frontend_attributes_parse(a, source, &list));
  HLO_PROTO_NEW(a, *out, FrontendAttributes, frontend_attributes);
  (*out)->n_map = (size_t)list.size;
  (*out)->map = arena_array(a, Xla__FrontendAttributes__MapEntry *, list.size);
  for (int k = 0; k < list.size; k++) {
    HLO_PROTO_NEW(a, (*out)->map[k], FrontendAttributes__MapEntry, frontend_attributes__map_entry);
    (*out)->map[k]->key = proto_string(a, list.data[k].name);
    (*out)->map[k]->value = proto_string(a, list.data[k].value);
  }
  return status_ok();
}

// --- aliases

void proto_print_index(text *out, size_t count, const int64_t *index) {
  text_putc(out, '{');
  for (size_t k = 0; k < count; k++) text_printf(out, "%s%lld", k ? "," : "", (long long)index[k]);
  text_putc(out, '}');
}

// `0,1}` behind the opening brace.
static heddle_status parse_index(arena *a, lexer *l, proto_index *out) {
  VEC(int64_t) values = {0};
  for (token t = lexer_next(l); t.kind != '}'; t = lexer_next(l)) {
    int64_t value;
    if (t.kind == ',' && values.size) continue;
    TRY(proto_token_int(t, &value));
    vec_push(a, &values, value);
  }
  *out = (proto_index){values.data, values.size};
  return status_ok();
}

// `(1, {2}, may-alias)` behind the parenthesis.
static heddle_status parse_target(arena *a, lexer *l, proto_alias *out) {
  TRY(proto_token_int(lexer_next(l), &out->number));
  TRY(wants(l, ',', "','"));
  TRY(wants(l, '{', "'{'"));
  TRY(parse_index(a, l, &out->input));
  token t = lexer_next(l);
  if (t.kind == ',') {
    out->kind = lexer_next(l).text;
    t = lexer_next(l);
  }
  if (t.kind == ')') return status_ok();
  return status_error(HEDDLE_INVALID, "found '" STR_FMT "', wanted ')'", STR_ARG(t.text));
}

heddle_status proto_each_alias(arena *a, str source, proto_alias_fn *fn, void *context) {
  lexer l = lexer_create(source);
  TRY(wants(&l, '{', "'{'"));
  for (bool is_first = true;; is_first = false) {
    proto_alias alias = {0};
    token t = lexer_next(&l);
    if (t.kind == '}') return status_ok();
    if (!is_first && t.kind == ',') t = lexer_next(&l);
    if (t.kind == '{') {
      TRY(parse_index(a, &l, &alias.output));
      TRY(wants(&l, ':', "':'"));
      t = lexer_next(&l);
    }
    if (t.kind != '(') return status_error(HEDDLE_INVALID, "found '" STR_FMT "', wanted '('", STR_ARG(t.text));
    TRY(parse_target(a, &l, &alias));
    TRY(fn(context, a, &alias));
  }
}

str proto_alias_text(arena *a, const Xla__HloInputOutputAliasProto *from) {
  text t = {0};
  for (size_t k = 0; from && k < from->n_entries; k++) {
    const Xla__HloInputOutputAliasProto__AliasEntryProto *e = from->entries[k];
    text_puts(&t, k ? ", " : "{ ");
    proto_print_index(&t, e->n_output_shape_index, e->output_shape_index);
    text_printf(&t, ": (%lld, ", (long long)e->parameter_number);
    proto_print_index(&t, e->n_parameter_shape_index, e->parameter_shape_index);
    text_puts(&t, e->kind == XLA__KIND__MUST_ALIAS ? ", must-alias)" : ", may-alias)");
  }
  if (t.size) text_puts(&t, " }");
  return proto_keep(a, &t);
}

static heddle_status add_alias(void *context, arena *a, const proto_alias *alias) {
  Xla__HloInputOutputAliasProto *to = context;
  Xla__HloInputOutputAliasProto__AliasEntryProto *e = arena_new(a, Xla__HloInputOutputAliasProto__AliasEntryProto);
  xla__hlo_input_output_alias_proto__alias_entry_proto__init(e);
  e->n_output_shape_index = (size_t)alias->output.size;
  e->output_shape_index = alias->output.data;
  e->parameter_number = alias->number;
  e->n_parameter_shape_index = (size_t)alias->input.size;
  e->parameter_shape_index = alias->input.data;
  e->kind = str_is(alias->kind, "must-alias") ? XLA__KIND__MUST_ALIAS : XLA__KIND__MAY_ALIAS;
  to->entries[to->n_entries++] = e;
  return status_ok();
}

// There are fewer entries than characters.
heddle_status proto_alias_from(arena *a, str source, Xla__HloInputOutputAliasProto **out) {
  HLO_PROTO_NEW(a, *out, HloInputOutputAliasProto, hlo_input_output_alias_proto);
  (*out)->entries = arena_array(a, Xla__HloInputOutputAliasProto__AliasEntryProto *, source.size);
  return proto_each_alias(a, source, add_alias, *out);
}

str proto_donor_text(arena *a, const Xla__HloBufferDonorProto *from) {
  text t = {0};
  for (size_t k = 0; from && k < from->n_entries; k++) {
    const Xla__HloBufferDonorProto__BufferDonorEntryProto *e = from->entries[k];
    text_printf(&t, "%s(%lld, ", k ? ", " : "{ ", (long long)e->parameter_number);
    proto_print_index(&t, e->n_parameter_shape_index, e->parameter_shape_index);
    text_putc(&t, ')');
  }
  if (t.size) text_puts(&t, " }");
  return proto_keep(a, &t);
}

static heddle_status add_donor(void *context, arena *a, const proto_alias *alias) {
  Xla__HloBufferDonorProto *to = context;
  Xla__HloBufferDonorProto__BufferDonorEntryProto *e = arena_new(a, Xla__HloBufferDonorProto__BufferDonorEntryProto);
  xla__hlo_buffer_donor_proto__buffer_donor_entry_proto__init(e);
  e->parameter_number = alias->number;
  e->n_parameter_shape_index = (size_t)alias->input.size;
  e->parameter_shape_index = alias->input.data;
  to->entries[to->n_entries++] = e;
  return status_ok();
}

heddle_status proto_donor_from(arena *a, str source, Xla__HloBufferDonorProto **out) {
  HLO_PROTO_NEW(a, *out, HloBufferDonorProto, hlo_buffer_donor_proto);
  (*out)->entries = arena_array(a, Xla__HloBufferDonorProto__BufferDonorEntryProto *, source.size);
  return proto_each_alias(a, source, add_donor, *out);
}

// --- stack frame tables: a title a line, then numbered lines
//
// A frame without a parent has parent 0 in a message and 1 in the text, where all parents are one higher.

static const char *const location_fields[] = {"file_name_id", "function_name_id", "line", "end_line",
                                              "column",       "end_column",       NULL};
static const char *const frame_fields[] = {"file_location_id", "parent_frame_id", NULL};

static void print_names(text *out, const char *title, size_t count, char *const *names) {
  text_printf(out, "%s%s\n", out->size ? "\n" : "", title);
  for (size_t k = 0; k < count; k++) {
    text_printf(out, "%zu ", k + 1);
    text_quote(out, str_from(names[k]));
    text_putc(out, '\n');
  }
}

static void print_entry(text *out, size_t k, const ProtobufCMessage *m, const char *const *fields) {
  text_printf(out, "%zu {", k + 1);
  print_fields(out, m, fields);
  text_puts(out, "}\n");
}

str proto_tables_text(arena *a, const Xla__StackFrameIndexProto *from) {
  text t = {0};
  if (!from || !(from->n_file_names || from->n_file_locations || from->n_stack_frames)) return (str){0};
  print_names(&t, "FileNames", from->n_file_names, from->file_names);
  print_names(&t, "FunctionNames", from->n_function_names, from->function_names);
  text_puts(&t, "\nFileLocations\n");
  for (size_t k = 0; k < from->n_file_locations; k++)
    print_entry(&t, k, &from->file_locations[k]->base, location_fields);
  text_puts(&t, "\nStackFrames\n");
  for (size_t k = 0; k < from->n_stack_frames; k++) {
    Xla__StackFrameIndexProto__StackFrame frame = *from->stack_frames[k];
    if (frame.parent_frame_id < INT32_MAX) frame.parent_frame_id++;
    print_entry(&t, k, &frame.base, frame_fields);
  }
  t.size--;  // as the parser keeps them: without the last end of line
  return proto_keep(a, &t);
}

typedef VEC(char *) name_list;
typedef VEC(ProtobufCMessage *) message_list;

heddle_status proto_tables_from(arena *a, str source, Xla__StackFrameIndexProto **out) {
  name_list files = {0}, functions = {0};
  message_list locations = {0}, frames = {0};
  lexer l = lexer_create(source);
  str title = {0};
  HLO_PROTO_NEW(a, *out, StackFrameIndexProto, stack_frame_index_proto);
  for (token t = lexer_next(&l); t.kind != TOKEN_END; t = lexer_next(&l)) {
    if (t.kind == TOKEN_WORD) {
      title = t.text;
      continue;
    }
    bool is_location = str_is(title, "FileLocations");
    if (t.kind != TOKEN_NUMBER)
      return status_error(HEDDLE_INVALID, "found '" STR_FMT "' in a stack frame table", STR_ARG(t.text));
    if (is_location || str_is(title, "StackFrames")) {
      ProtobufCMessage *entry =
          proto_wire_create(a, is_location ? &xla__stack_frame_index_proto__file_location__descriptor
                                           : &xla__stack_frame_index_proto__stack_frame__descriptor);
      TRY(parse_fields(a, &l, entry));
      if (!is_location) ((Xla__StackFrameIndexProto__StackFrame *)entry)->parent_frame_id -= 1;
      if (is_location) vec_push(a, &locations, entry);
      else vec_push(a, &frames, entry);
      continue;
    }
    token name = lexer_next(&l);
    char *copy = proto_string(a, lexer_unescape(a, name.text));
    if (str_is(title, "FileNames")) vec_push(a, &files, copy);
    else vec_push(a, &functions, copy);
  }
  (*out)->n_file_names = (size_t)files.size;
  (*out)->file_names = files.data;
  (*out)->n_function_names = (size_t)functions.size;
  (*out)->function_names = functions.data;
  (*out)->n_file_locations = (size_t)locations.size;
  (*out)->file_locations = (Xla__StackFrameIndexProto__FileLocation **)(void *)locations.data;
  (*out)->n_stack_frames = (size_t)frames.size;
  (*out)->stack_frames = (Xla__StackFrameIndexProto__StackFrame **)(void *)frames.data;
  return status_ok();
}
