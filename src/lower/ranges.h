// What is known about the range of an index or integer value.
//
// Sources: apply_indexing (interval evaluation of its map; its bounds are promises), constants, `xla.range` on
// operations and function arguments, scf.for and xla_gpu.loop induction variables, loop results of maps, and integer
// arithmetic over all of these. Every value lies in its range; INTERVAL_ALL says that nothing is known.
#ifndef HEDDLE_LOWER_RANGES_H_
#define HEDDLE_LOWER_RANGES_H_

#include <mlir-c/IR.h>

#include "base/map.h"
#include "index/interval.h"

// Remembers what it found. Stale once the IR it looked at changes: make a new one then.
typedef struct ranges {
  arena *arena;
  ptr_map known;  // value -> interval *
} ranges;

static inline ranges ranges_begin(arena *a) { return (ranges){.arena = a}; }
interval ranges_of(ranges *r, MlirValue v);

// The `xla.range` attribute [lower : index, upper : index] of an operation or of a function argument; false if there is
// none.
bool ranges_from_attribute(MlirAttribute attribute, interval *out);
MlirAttribute ranges_to_attribute(MlirContext c, interval range);

#endif
