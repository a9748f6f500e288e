// Integers of less than a byte: several share one in a binding's memory, in tensors each has a byte, extended by its
// sign or zeros, as a value of s8 or u8.
#ifndef HEDDLE_TILE_PACKED_LOADS_H_
#define HEDDLE_TILE_PACKED_LOADS_H_

#include "emit/ir_builder.h"
#include "hlo/shape.h"

bool packed_loads_shares_bytes(dtype t);

// The type whose elements tensors hold: s8 or u8; other types are themselves.
dtype packed_loads_held(dtype t);

// The bytes that an array takes in memory.
MlirType packed_loads_bytes(MlirContext context, const shape *s);

// The array's elements, a byte each, of those bytes: an operation that asks for each element's byte.
MlirValue packed_loads_unpack(ir_builder *b, MlirValue bytes, const shape *s);

#endif
