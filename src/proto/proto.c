// HLO as protocol buffers: which message it is, and the way in and out.
//
// A message does not say what it is; but a module has computations, which have instructions, and the other messages
// have a module at a known place.
#include "proto/proto.h"

#include <stdio.h>

#include "proto/parts.h"
#include "proto/text.h"
#include "proto/values.h"
#include "proto/wire.h"

// Field numbers that tell the messages apart.
enum {
  FIELD_COMPUTATIONS = 3,  // of HloModuleProto
  FIELD_INSTRUCTIONS = 2,  // of HloComputationProto
  FIELD_MODULE = 1,        // of HloProto and HloUnoptimizedSnapshot
  FIELD_HLO = 1,           // of HloSnapshot
  FIELD_PARTITIONS = 2,    // of HloUnoptimizedSnapshot
  SNIFFED_BYTES = 256,
};

// The program and, of a snapshot, a run of it.
typedef struct contents {
  const Xla__HloModuleProto *module;
  size_t argument_count;
  Xla__LiteralProto **arguments;
  const Xla__LiteralProto *result;
} contents;

static bool is_module(str bytes) {
  str computation, instruction;
  return proto_wire_find(bytes, FIELD_COMPUTATIONS, &computation) &&
         proto_wire_find(computation, FIELD_INSTRUCTIONS, &instruction) && proto_wire_is_message(instruction);
}

// Null if it is none of them.
static const ProtobufCMessageDescriptor *message_type(str bytes) {
  str inner, other;
  if (is_module(bytes)) return &xla__hlo_module_proto__descriptor;
  if (!proto_wire_find(bytes, FIELD_MODULE, &inner)) return NULL;
  if (is_module(inner))
    return proto_wire_find(bytes, FIELD_PARTITIONS, &other) ? &xla__hlo_unoptimized_snapshot__descriptor
                                                            : &xla__hlo_proto__descriptor;
  if (proto_wire_find(inner, FIELD_HLO, &other) && is_module(other)) return &xla__hlo_snapshot__descriptor;
  return NULL;
}

// Damaged files count as what they were: all writers start with field 1, a text that starts with an empty line has no
// control characters behind it.
bool proto_is(str bytes) {
  if (message_type(bytes)) return true;
  if (bytes.size < 4 || bytes.data[0] != '\n') return false;
  for (size_t i = 1; i < bytes.size && i < SNIFFED_BYTES; i++) {
    unsigned char c = (unsigned char)bytes.data[i];
    if (c < 0x20 && !strchr("\t\n\v\f\r", c)) return true;
  }
  return false;
}

static contents contents_of(const ProtobufCMessage *m) {
  contents c = {0};
  if (m->descriptor == &xla__hlo_module_proto__descriptor) c.module = (const Xla__HloModuleProto *)m;
  if (m->descriptor == &xla__hlo_proto__descriptor) c.module = ((const Xla__HloProto *)m)->hlo_module;
  if (m->descriptor == &xla__hlo_snapshot__descriptor) {
    const Xla__HloSnapshot *s = (const Xla__HloSnapshot *)m;
    c = (contents){s->hlo ? s->hlo->hlo_module : NULL, s->n_arguments, s->arguments, s->result};
  }
  if (m->descriptor == &xla__hlo_unoptimized_snapshot__descriptor) {
    const Xla__HloUnoptimizedSnapshot *s = (const Xla__HloUnoptimizedSnapshot *)m;
    c.module = s->hlo_module;
    if (s->n_partitions) c.argument_count = s->partitions[0]->n_arguments;
    if (s->n_partitions) c.arguments = s->partitions[0]->arguments;
  }
  return c;
}

static heddle_status read_message(arena *a, const char *file, const ProtobufCMessage *m, module **out,
                                  int *argument_count, literal ***arguments, literal **result) {
  contents c = contents_of(m);
  if (!c.module) return status_error(HEDDLE_INVALID, "%s: a %s without a module", file, m->descriptor->short_name);
  TRY(proto_module_from(a, file, c.module, out));
  if (argument_count) *argument_count = (int)c.argument_count;
  if (arguments) {
    *arguments = arena_array(a, literal *, c.argument_count);
    for (size_t k = 0; k < c.argument_count; k++)
      TRY(status_context(proto_read_literal(a, c.arguments[k], &(*arguments)[k]), "while reading argument %zu of %s", k,
                         file));
  }
  if (!result) return status_ok();
  *result = NULL;
  if (!c.result || !c.result->shape) return status_ok();
  return status_context(proto_read_literal(a, c.result, result), "while reading the result of %s", file);
}

heddle_status proto_read(arena *a, const char *file, str bytes, module **out, int *argument_count, literal ***arguments,
                         literal **result) {
  const ProtobufCMessageDescriptor *type = message_type(bytes);
  ProtobufCMessage *m;
  // Of damaged bytes a module is wanted, so that the message says where they are damaged.
  arena *scratch = arena_create();
  heddle_status status = proto_wire_unpack(scratch, file, bytes, type ? type : &xla__hlo_proto__descriptor, &m);
  if (status_is_ok(status) && !type)
    status = status_error(HEDDLE_INVALID, "%s: found no HloModuleProto, HloProto or HloSnapshot", file);
  if (status_is_ok(status)) status = read_message(a, file, m, out, argument_count, arguments, result);
  arena_destroy(scratch);
  return status;
}

// Null if it is none of them.
static const ProtobufCMessageDescriptor *text_type(str source) {
  if (proto_text_has_field(source, "computations")) return &xla__hlo_module_proto__descriptor;
  if (proto_text_has_field(source, "hlo")) return &xla__hlo_snapshot__descriptor;
  if (!proto_text_has_field(source, "hlo_module")) return NULL;
  return proto_text_has_field(source, "partitions") ? &xla__hlo_unoptimized_snapshot__descriptor
                                                    : &xla__hlo_proto__descriptor;
}

// A text of another kind has no field at its start; what follows the first one may be damaged.
bool proto_is_text(str bytes) {
  static const char *const first[] = {"hlo_module", "hlo", "name", "computations", "entry_computation_name", "id"};
  if (text_type(bytes)) return true;
  for (size_t k = 0; k < sizeof first / sizeof *first; k++)
    if (proto_text_starts_with(bytes, first[k])) return true;
  return false;
}

heddle_status proto_read_text(arena *a, const char *file, str source, module **out, int *argument_count,
                              literal ***arguments, literal **result) {
  const ProtobufCMessageDescriptor *type = text_type(source);
  ProtobufCMessage *m;
  arena *scratch = arena_create();
  heddle_status status = proto_text_read(scratch, file, source, type ? type : &xla__hlo_proto__descriptor, &m);
  if (status_is_ok(status) && !type)
    status = status_error(HEDDLE_INVALID, "%s: found no HloModuleProto, HloProto or HloSnapshot", file);
  if (status_is_ok(status)) status = read_message(a, file, m, out, argument_count, arguments, result);
  arena_destroy(scratch);
  return status;
}

// The buffer that protobuf-c packs into is our text, so that nothing is copied twice.
typedef struct packer {
  ProtobufCBuffer base;
  text *out;
} packer;

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data) {
  text_append(((packer *)buffer)->out, (str){(const char *)data, size});
}

static heddle_status write_hlo(arena *a, const module *m, Xla__HloProto **out) {
  HLO_PROTO_NEW(a, *out, HloProto, hlo_proto);
  return proto_module_to(a, m, &(*out)->hlo_module);
}

heddle_status proto_write(text *out, const module *m) {
  arena *scratch = arena_create();
  Xla__HloProto *message;
  heddle_status status = write_hlo(scratch, m, &message);
  packer p = {{append}, out};
  if (status_is_ok(status)) protobuf_c_message_pack_to_buffer(&message->base, &p.base);
  arena_destroy(scratch);
  return status;
}

heddle_status proto_write_text(text *out, const module *m) {
  arena *scratch = arena_create();
  Xla__HloProto *message;
  heddle_status status = write_hlo(scratch, m, &message);
  if (status_is_ok(status)) proto_text_print(out, &message->base);
  arena_destroy(scratch);
  return status;
}
