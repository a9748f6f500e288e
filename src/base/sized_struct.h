// Structs of the public interface that begin with their size (include/heddle/abi.h), from callers with other headers.
#ifndef HEDDLE_BASE_SIZED_STRUCT_H_
#define HEDDLE_BASE_SIZED_STRUCT_H_

#include "base/status.h"

// Copies the caller's struct, whose first size_t is its size, to `to`, which has `known` bytes: fields that the caller
// does not have are zero, and `to` begins with `known`. HEDDLE_INVALID, which names `type`, for a size that is not one
// and for fields beyond `known` that are not zero. `given` may be null: all fields are zero.
heddle_status sized_struct_take(const char *type, const void *given, void *to, size_t known);

// The way back: copies `from`, of `known` bytes, to the caller's struct as far as that goes; the size in it stays.
// What it has beyond is zeroed. HEDDLE_INVALID as above, and for null.
heddle_status sized_struct_fill(const char *type, void *given, const void *from, size_t known);

#endif
