// Bytes of protocol buffers.
//
// protobuf-c only says that it failed, recurses as deep as the bytes tell it and allocates a whole struct for an empty
// message of two bytes. So the bytes are walked once before it sees them, with a stack of bounded depth, and it
// allocates from our arena within a budget that every sensible file keeps.
#include "proto/wire.h"

#include <limits.h>

enum {
  WIRE_VARINT = 0,
  WIRE_FIXED64 = 1,
  WIRE_BYTES = 2,
  WIRE_FIXED32 = 5,
  MAX_FIELD = (1 << 29) - 1,
  STRUCT_BYTES_PER_BYTE = 96,  // an empty message is two bytes and up to a kilobyte of struct
  STRUCT_BYTES_MORE = 1 << 22,
};

// One field: its number, wire type, and its contents where they are bytes.
typedef struct wire_field {
  uint32_t number;
  int type;
  size_t start, end;  // offsets of the contents
} wire_field;

static bool read_varint(str bytes, size_t *at, size_t end, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 70 && *at < end; shift += 7) {
    uint8_t byte = (uint8_t)bytes.data[(*at)++];
    if (shift < 64) *out |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

// The field at `*at`, moving behind it. Null or what is wrong with it.
static const char *read_field(str bytes, size_t *at, size_t end, wire_field *out) {
  uint64_t tag, size = 0;
  if (!read_varint(bytes, at, end, &tag)) return "a field's number is cut off";
  if (tag >> 3 == 0 || tag >> 3 > MAX_FIELD) return "no field has this number";
  *out = (wire_field){.number = (uint32_t)(tag >> 3), .type = (int)(tag & 7), .start = *at};
  switch (out->type) {
    case WIRE_VARINT:
      if (!read_varint(bytes, at, end, &size)) return "a number is cut off";
      out->end = *at;
      return NULL;
    case WIRE_FIXED32: size = 4; break;
    case WIRE_FIXED64: size = 8; break;
    case WIRE_BYTES:
      if (!read_varint(bytes, at, end, &size)) return "a length is cut off";
      out->start = *at;
      break;
    default: return "no field has this wire type";
  }
  if (size > end - *at) return "a field reaches beyond the end of its message";
  *at += (size_t)size;
  out->end = *at;
  return NULL;
}

bool proto_wire_is_message(str bytes) {
  wire_field field;
  for (size_t at = 0; at < bytes.size;)
    if (read_field(bytes, &at, bytes.size, &field)) return false;
  return bytes.size > 0;
}

bool proto_wire_find(str bytes, uint32_t number, str *contents) {
  wire_field field;
  for (size_t at = 0; at < bytes.size;) {
    if (read_field(bytes, &at, bytes.size, &field)) return false;
    if (field.number != number || field.type != WIRE_BYTES) continue;
    *contents = (str){bytes.data + field.start, field.end - field.start};
    return true;
  }
  return false;
}

static int wanted_wire_type(ProtobufCType type) {
  switch (type) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT: return WIRE_FIXED32;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return WIRE_FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return WIRE_BYTES;
    default: return WIRE_VARINT;
  }
}

typedef struct wire_level {
  const ProtobufCMessageDescriptor *type;
  size_t end;
} wire_level;

static heddle_status check(const char *file, str bytes, const ProtobufCMessageDescriptor *type) {
  wire_level levels[HLO_PROTO_MAX_NESTING];
  int depth = 0;
  levels[depth++] = (wire_level){type, bytes.size};
  for (size_t at = 0; depth > 0;) {
    const wire_level *level = &levels[depth - 1];
    if (at == level->end) {
      depth--;
      continue;
    }
    wire_field field;
    size_t start = at;
    const char *problem = read_field(bytes, &at, level->end, &field);
    if (problem)
      return status_error(HEDDLE_INVALID, "%s: byte %zu, in %s: %s", file, start, level->type->short_name, problem);
    const ProtobufCFieldDescriptor *known = protobuf_c_message_descriptor_get_field(level->type, field.number);
    if (!known) continue;
    int wanted = wanted_wire_type(known->type);
    bool is_packed = field.type == WIRE_BYTES && known->label == PROTOBUF_C_LABEL_REPEATED;
    if (field.type != wanted && !is_packed)
      return status_error(HEDDLE_INVALID, "%s: byte %zu: field %s of %s has wire type %d, wanted %d", file, start,
                          known->name, level->type->short_name, field.type, wanted);
    if (known->type != PROTOBUF_C_TYPE_MESSAGE) continue;
    if (depth == HLO_PROTO_MAX_NESTING)
      return status_error(HEDDLE_INVALID, "%s: byte %zu: messages nest more than %d deep", file, start,
                          HLO_PROTO_MAX_NESTING);
    levels[depth++] = (wire_level){known->descriptor, field.end};
    at = field.start;
  }
  return status_ok();
}

typedef struct budget {
  arena *arena;
  size_t left;
} budget;

static void *budget_alloc(void *context, size_t size) {
  budget *b = context;
  if (size > b->left) return NULL;
  b->left -= size;
  return arena_try_alloc(b->arena, size);
}

static void budget_free(void *context, void *pointer) { (void)context, (void)pointer; }

heddle_status proto_wire_unpack(arena *a, const char *file, str bytes, const ProtobufCMessageDescriptor *type,
                                ProtobufCMessage **out) {
  if (bytes.size > INT_MAX)
    return status_error(HEDDLE_INVALID, "%s: %zu bytes, but messages have at most %d", file, bytes.size, INT_MAX);
  TRY(check(file, bytes, type));
  budget b = {a, bytes.size * STRUCT_BYTES_PER_BYTE + STRUCT_BYTES_MORE};
  size_t before = b.left;
  ProtobufCAllocator allocator = {budget_alloc, budget_free, &b};
  *out = protobuf_c_message_unpack(type, &allocator, bytes.size, (const uint8_t *)bytes.data);
  if (*out) return status_ok();
  return status_error(HEDDLE_INVALID, "%s: a field of %s cannot be unpacked (%zu bytes of structs made of %zu)", file,
                      type->short_name, before - b.left, bytes.size);
}

ProtobufCMessage *proto_wire_create(arena *a, const ProtobufCMessageDescriptor *type) {
  ProtobufCMessage *message = arena_alloc(a, type->sizeof_message);
  protobuf_c_message_init(type, message);
  return message;
}
