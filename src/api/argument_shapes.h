// Takes the shapes of arguments that a caller gives with a program; open dims (`?`) get their sizes from them.
#ifndef HEDDLE_API_ARGUMENT_SHAPES_H_
#define HEDDLE_API_ARGUMENT_SHAPES_H_

#include "heddle/heddle.h"
#include "hlo/shape.h"

// `count` entries, null where `given` has no element type; null for none. Errors: HEDDLE_INVALID with the parameter's
// number for a type that HLO has not, a rank or sizes that no array has, and null for arrays or dims that are needed.
heddle_status argument_shapes_read(arena *a, int count, const heddle_array *given, const shape *const **out);

// Whether the program has `wanted` as given. Errors: HEDDLE_INVALID that names the first difference.
heddle_status argument_shapes_check(arena *a, int count, const shape *const *given, int wanted_count,
                                    const shape *const *wanted);

#endif
