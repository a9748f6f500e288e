// Converts shapes and literals between our structures and the messages of hlo.proto.
#ifndef HEDDLE_PROTO_VALUES_H_
#define HEDDLE_PROTO_VALUES_H_

#include <hlo.pb-c.h>

#include "hlo/literal.h"

// HEDDLE_INVALID for types, layouts and sizes that make no shape, HEDDLE_UNIMPLEMENTED for element types Heddle lacks.
heddle_status proto_read_shape(arena *a, const Xla__ShapeProto *from, const shape **out);
heddle_status proto_read_literal(arena *a, const Xla__LiteralProto *from, literal **out);

// Arrays always get a layout, as readers of literals insist on one.
// The first element type inside the shape that protos have no number for (f6); DTYPE_INVALID if there is none.
dtype proto_lacking_type(const shape *s);
Xla__ShapeProto *proto_make_shape(arena *a, const shape *s);
heddle_status proto_make_literal(arena *a, const literal *l, Xla__LiteralProto **out);

#endif
