// Converts attributes that are one field of a message each, by what protobuf-c says of that field.
#ifndef HEDDLE_PROTO_FIELDS_H_
#define HEDDLE_PROTO_FIELDS_H_

#include <hlo.pb-c.h>

#include "hlo/module.h"

// Whether the attribute of that operation is one field. If so, moves it: a message's field that holds its default
// leaves the attribute alone, and the other way round.
bool proto_field_exists(hlo_opcode op, hlo_attribute_id id);
heddle_status proto_field_read(arena *a, const Xla__HloInstructionProto *from, hlo_attribute_id id, instruction *to);
heddle_status proto_field_write(arena *a, const instruction *from, hlo_attribute_id id, Xla__HloInstructionProto *to);

#endif
