// Checks the bytes of protocol buffers before protobuf-c unpacks them, and bounds what it allocates meanwhile.
#ifndef HEDDLE_PROTO_WIRE_H_
#define HEDDLE_PROTO_WIRE_H_

#include <protobuf-c/protobuf-c.h>

#include "base/status.h"
#include "base/str.h"

// Messages nest at most this deep, binary and text: protobuf-c and the readers recurse.
enum { HLO_PROTO_MAX_NESTING = 400 };

// Whether `bytes` are fields behind each other to their last byte. What the fields hold is not looked at.
bool proto_wire_is_message(str bytes);

// The contents of the first length-delimited field `number`; false if there is none in front of the end or of the first
// malformed field.
bool proto_wire_find(str bytes, uint32_t number, str *contents);

// Checks and unpacks a message. It lives in the arena (strings and lists too) and is not freed. HEDDLE_INVALID with the
// place for malformed bytes and for fields of a wire type that the descriptor rules out.
heddle_status proto_wire_unpack(arena *a, const char *file, str bytes, const ProtobufCMessageDescriptor *type,
                                ProtobufCMessage **out);

// A new message with all fields at their defaults.
ProtobufCMessage *proto_wire_create(arena *a, const ProtobufCMessageDescriptor *type);

#endif
