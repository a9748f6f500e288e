// Protocol buffers as text (`name: "x" shape { element_type: F32 }`), for any message protobuf-c has a descriptor of.
#ifndef HEDDLE_PROTO_TEXT_H_
#define HEDDLE_PROTO_TEXT_H_

#include <protobuf-c/protobuf-c.h>

#include "base/status.h"
#include "base/str.h"

// Reads a message into the arena, strings and lists too. Fields the type does not have are passed over. Errors have
// line, column and the line itself.
heddle_status proto_text_read(arena *a, const char *file, str source, const ProtobufCMessageDescriptor *type,
                              ProtobufCMessage **out);

// Whether the text is a message of fields, one of which, at the outermost level, has this name.
bool proto_text_has_field(str source, const char *name);

// Whether the text starts with this field, so that it is a message or what is left of one.
bool proto_text_starts_with(str source, const char *name);

// Bytes of one value of the field, of one entry where it is repeated.
size_t proto_entry_size(const ProtobufCFieldDescriptor *f);

// One field a line; fields at their defaults are left out.
void proto_text_print(text *out, const ProtobufCMessage *m);

#endif
