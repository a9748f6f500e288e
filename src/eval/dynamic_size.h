// Dynamic dimensions at run time.
//
// A value always has a static shape of its own: its actual sizes, its elements dense. An instruction's shape says what
// the sizes may be. So what lies beyond an actual size does not exist, and a reduction cannot see it. The one invariant
// is that a value has the sizes that its instruction's shape declares static; programs in which nothing is dynamic pay
// nothing for this.
#ifndef HEDDLE_EVAL_DYNAMIC_SIZE_H_
#define HEDDLE_EVAL_DYNAMIC_SIZE_H_

#include "eval/interpreter.h"

// The shapes of values whose sizes came out at run time.
struct dynamic_shapes {
  arena *arena;
  str_map known;  // by type and dims
  bool in_use;    // whether the program has dynamic dimensions
};

// Whether a value of shape `actual` may stand where `declared` is: equal but for dynamic dims, which may be smaller.
bool dynamic_size_allows(const shape *declared, const shape *actual);

// Runs one instruction on operands of actual sizes; what eval_ops[] holds is run on a copy of the instruction that is
// refined to them. Sizes that the operation does not follow are filled up with zeros to the bounds.
heddle_status dynamic_size_step(interpreter *in, const instruction *i, value *const *operands, value **out);

// A copy of `v` with other sizes: what both have, and zeros for the rest.
heddle_status dynamic_size_resize(interpreter *in, const value *v, const int64_t *dims, source_location where,
                                  value **out);

// A copy of `v` in the arena under `declared`, with the actual sizes where that is dynamic.
heddle_status dynamic_size_result(arena *a, const value *v, const shape *declared, literal **out);

#endif
