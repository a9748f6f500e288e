// Changes one field of a message: unpacks it, walks down by protobuf-c's descriptors to a random field, packs again.
//
// Enumerations get other values of theirs and repeated fields lose, repeat or exchange entries, so the result is always
// a well-formed message of the schema; what it says is for the readers to judge.
#include <hlo.pb-c.h>

#include "base/vec.h"
#include "fuzz/mutate.h"
#include "proto/text.h"
#include "proto/wire.h"
#include "tools/split_mix.h"

// A field of a message somewhere in the tree.
typedef struct field_site {
  ProtobufCMessage *message;
  const ProtobufCFieldDescriptor *field;
} field_site;

typedef struct proto_mutation {
  arena *arena;
  VEC(field_site) sites;  // fields that hold something
  uint64_t random;
} proto_mutation;

static int below(proto_mutation *m, size_t limit) { return limit > 0 ? (int)(split_mix_next(&m->random) % limit) : 0; }

static void *member(ProtobufCMessage *m, unsigned offset) { return (char *)m + offset; }

// How many entries the field holds; 0 for one that is not there.
static size_t entry_count(const field_site *s) {
  if (s->field->label == PROTOBUF_C_LABEL_REPEATED) return *(size_t *)member(s->message, s->field->quantifier_offset);
  if (s->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
    return *(uint32_t *)member(s->message, s->field->quantifier_offset) == s->field->id;
  if (s->field->type == PROTOBUF_C_TYPE_MESSAGE) return *(void **)member(s->message, s->field->offset) != NULL;
  return 1;
}

static void *entries(const field_site *s) {
  void *value = member(s->message, s->field->offset);
  return s->field->label == PROTOBUF_C_LABEL_REPEATED ? *(void **)value : value;
}

static void collect(proto_mutation *m, ProtobufCMessage *message) {
  for (unsigned k = 0; k < message->descriptor->n_fields; k++) {
    const field_site s = {message, &message->descriptor->fields[k]};
    const size_t count = entry_count(&s);
    if (count == 0) continue;
    vec_push(m->arena, &m->sites, s);
    if (s.field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
    for (size_t i = 0; i < count; i++) collect(m, ((ProtobufCMessage **)entries(&s))[i]);
  }
}

// --- entries

static int64_t near(proto_mutation *m, int64_t old) {
  static const int64_t extremes[] = {0, 1, -1, 2, 64, 127, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 30};
  const uint64_t o = (uint64_t)old;
  switch (below(m, 8)) {
    case 0: return extremes[below(m, sizeof extremes / sizeof *extremes)];
    case 1: return (int64_t)(o * 2);
    case 2: return old / 2;
    case 3: return (int64_t)(o ^ (uint64_t)1 << below(m, 64));
    case 4:
    case 5: return (int64_t)(o + 1);
    default: return (int64_t)(o - 1);
  }
}

static void change_bytes(proto_mutation *m, ProtobufCBinaryData *bytes) {
  if (bytes->len > 0) bytes->data[below(m, bytes->len)] ^= (uint8_t)(1 << below(m, 8));
}

// A letter of it, or the whole of another string field's.
static void change_string(proto_mutation *m, char **string) {
  for (int tries = 0; tries < 16; tries++) {
    const field_site *s = &m->sites.data[below(m, (size_t)m->sites.size)];
    if (s->field->type != PROTOBUF_C_TYPE_STRING || entry_count(s) == 0) continue;
    *string = ((char **)entries(s))[below(m, entry_count(s))];
    return;
  }
}

static void change_scalar(proto_mutation *m, const field_site *s, size_t at) {
  void *all = entries(s);
  const ProtobufCEnumDescriptor *names = s->field->descriptor;
  switch (s->field->type) {
    case PROTOBUF_C_TYPE_ENUM:
      ((int *)all)[at] = below(m, 16) ? names->values[below(m, names->n_values)].value : (int)near(m, ((int *)all)[at]);
      break;
    case PROTOBUF_C_TYPE_BOOL: ((protobuf_c_boolean *)all)[at] = !((protobuf_c_boolean *)all)[at]; break;
    case PROTOBUF_C_TYPE_STRING: change_string(m, &((char **)all)[at]); break;
    case PROTOBUF_C_TYPE_BYTES: change_bytes(m, &((ProtobufCBinaryData *)all)[at]); break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: ((int64_t *)all)[at] = near(m, ((int64_t *)all)[at]); break;
    default: ((int32_t *)all)[at] = (int32_t)near(m, ((int32_t *)all)[at]); break;
  }
}

// One entry goes, stands twice, or changes places with another.
static void change_entries(proto_mutation *m, const field_site *s) {
  size_t *count = member(s->message, s->field->quantifier_offset);
  const size_t size = proto_entry_size(s->field), at = (size_t)below(m, *count), with = (size_t)below(m, *count);
  char *old = entries(s), *new = arena_alloc(m->arena, (*count + 1) * size);
  memcpy(new, old, *count * size);
  switch (below(m, 3)) {
    case 0:
      memmove(new + at *size, new + (at + 1) * size, (*count - at - 1) * size);
      *count -= 1;
      break;
    case 1:
      memcpy(new + *count *size, old + at * size, size);
      *count += 1;
      break;
    default:
      memcpy(new + at *size, old + with * size, size);
      memcpy(new + with *size, old + at * size, size);
      break;
  }
  *(void **)member(s->message, s->field->offset) = new;
}

static void change(proto_mutation *m) {
  const field_site *s = &m->sites.data[below(m, (size_t)m->sites.size)];
  const size_t count = entry_count(s);
  const bool is_repeated = s->field->label == PROTOBUF_C_LABEL_REPEATED;
  if (s->field->type != PROTOBUF_C_TYPE_MESSAGE && (!is_repeated || below(m, 4)))
    change_scalar(m, s, (size_t)below(m, count));
  else if (is_repeated) change_entries(m, s);
  else if (!(s->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)) *(void **)member(s->message, s->field->offset) = NULL;
}

// ---

// The message that the bytes are, judged as the reader does: by the one whose module has computations.
static ProtobufCMessage *unpack(arena *a, str bytes) {
  const ProtobufCMessageDescriptor *types[] = {&xla__hlo_module_proto__descriptor, &xla__hlo_proto__descriptor,
                                               &xla__hlo_snapshot__descriptor};
  ProtobufCMessage *best = NULL;
  size_t most = 0;
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    ProtobufCMessage *made;
    heddle_status s = proto_wire_unpack(a, "mutant", bytes, types[k], &made);
    const bool is_ok = status_is_ok(s);
    heddle_status_free(s);
    if (!is_ok) continue;
    proto_mutation all = {.arena = a};
    collect(&all, made);
    if ((size_t)all.sites.size > most) {
      most = (size_t)all.sites.size;
      best = made;
    }
  }
  return best;
}

size_t mutate_proto(uint8_t *data, size_t size, size_t max_size, uint64_t seed) {
  proto_mutation m = {.arena = arena_create(), .random = seed};
  ProtobufCMessage *message = unpack(m.arena, str_copy(m.arena, (str){(const char *)data, size}));
  size_t made = size;
  if (message) {
    collect(&m, message);
    change(&m);
    const size_t packed = protobuf_c_message_get_packed_size(message);
    if (packed > 0 && packed <= max_size) made = protobuf_c_message_pack(message, data);
  }
  arena_destroy(m.arena);
  return made;
}
