// Messages printed as text.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/text.h"

static void print_string(text *out, size_t size, const char *data) {
  text_putc(out, '"');
  for (size_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)data[i];
    if (c == '\n') text_puts(out, "\\n");
    else if (c == '"' || c == '\\') text_printf(out, "\\%c", c);
    else if (c < 0x20 || c >= 0x7f) text_printf(out, "\\%03o", c);
    else text_putc(out, (char)c);
  }
  text_putc(out, '"');
}

// The shortest digits that are the same number again.
static void print_real(text *out, double value, bool is_float) {
  char digits[40];
  if (isnan(value) || isinf(value)) {
    text_puts(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  for (int precision = is_float ? 6 : 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (is_float ? strtof(digits, NULL) == (float)value : strtod(digits, NULL) == value) break;
  }
  text_puts(out, digits);
}

static void print_enum(text *out, const ProtobufCEnumDescriptor *type, int number) {
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(type, number);
  if (value) text_puts(out, value->name);
  else text_printf(out, "%d", number);
}

static void print_message(text *out, const ProtobufCMessage *m, int indent);

// One field of element `i` of a list, or of the only value.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the message
static void print_field(text *out, const ProtobufCFieldDescriptor *f, const void *data, size_t i, int indent) {
  text_indent(out, indent);
  text_puts(out, f->name);
  if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
    text_puts(out, " {\n");
    print_message(out, ((const ProtobufCMessage *const *)data)[i], indent + 2);
    text_indent(out, indent);
    text_puts(out, "}\n");
    return;
  }
  text_puts(out, ": ");
  const ProtobufCBinaryData *bytes = data;
  switch (f->type) {
    case PROTOBUF_C_TYPE_STRING: print_string(out, strlen(((char *const *)data)[i]), ((char *const *)data)[i]); break;
    case PROTOBUF_C_TYPE_BYTES: print_string(out, bytes[i].len, (const char *)bytes[i].data); break;
    case PROTOBUF_C_TYPE_BOOL: text_puts(out, ((const protobuf_c_boolean *)data)[i] ? "true" : "false"); break;
    case PROTOBUF_C_TYPE_ENUM: print_enum(out, f->descriptor, ((const int *)data)[i]); break;
    case PROTOBUF_C_TYPE_FLOAT: print_real(out, (double)((const float *)data)[i], true); break;
    case PROTOBUF_C_TYPE_DOUBLE: print_real(out, ((const double *)data)[i], false); break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: text_printf(out, "%" PRIu64, ((const uint64_t *)data)[i]); break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32: text_printf(out, "%" PRIu32, ((const uint32_t *)data)[i]); break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64: text_printf(out, "%" PRId64, ((const int64_t *)data)[i]); break;
    default: text_printf(out, "%" PRId32, ((const int32_t *)data)[i]); break;
  }
  text_putc(out, '\n');
}

// Whether the field, which is no list, holds more than its default.
static bool is_set(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
  const void *data = (const char *)m + f->offset;
  if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
    return *(const uint32_t *)(const void *)((const char *)m + f->quantifier_offset) == f->id;
  switch (f->type) {
    case PROTOBUF_C_TYPE_MESSAGE: return *(void *const *)data != NULL;
    case PROTOBUF_C_TYPE_STRING: return *(char *const *)data && (*(char *const *)data)[0];
    case PROTOBUF_C_TYPE_BYTES: return ((const ProtobufCBinaryData *)data)->len > 0;
    case PROTOBUF_C_TYPE_BOOL: return *(const protobuf_c_boolean *)data;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return *(const uint64_t *)data != 0;  // the bits: -0 is not the default
    default: return *(const uint32_t *)data != 0;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the message
static void print_message(text *out, const ProtobufCMessage *m, int indent) {
  for (unsigned k = 0; k < m->descriptor->n_fields; k++) {
    const ProtobufCFieldDescriptor *f = &m->descriptor->fields[k];
    const char *data = (const char *)m + f->offset;
    if (f->label != PROTOBUF_C_LABEL_REPEATED) {
      if (is_set(m, f)) print_field(out, f, data, 0, indent);
      continue;
    }
    size_t count = *(const size_t *)(const void *)((const char *)m + f->quantifier_offset);
    for (size_t i = 0; i < count; i++) print_field(out, f, *(void *const *)(const void *)data, i, indent);
  }
}

void proto_text_print(text *out, const ProtobufCMessage *m) { print_message(out, m, 0); }
