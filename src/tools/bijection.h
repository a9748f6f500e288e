// Proves by enumeration that a kernel's threads reach every element of an array exactly once.
#ifndef HEDDLE_TOOLS_BIJECTION_H_
#define HEDDLE_TOOLS_BIJECTION_H_

#include "index/indexing_map.h"
#include "plan/program_plan.h"

// The map from launch ids and loop variables to the indices at which the kernel computes the instruction.
// HEDDLE_INVALID if the kernel does not compute it, or at several maps.
heddle_status bijection_map_to_instruction(arena *a, const kernel_plan *kernel, const plan_target *target,
                                           const instruction *i, const indexing_map **out);
// … to the indices of the instruction's operand `operand` that it reads.
heddle_status bijection_map_to_operand(arena *a, const kernel_plan *kernel, const plan_target *target,
                                       const instruction *i, int operand, const indexing_map **out);

// Walks over all points of the map's domain and counts how often each element of an array of shape `s` is reached.
// HEDDLE_INVALID, naming the first element that is reached not at all or several times; HEDDLE_UNIMPLEMENTED for maps
// that depend on run-time values or have more than BIJECTION_MAX_POINTS points. *points (may be null) gets the number
// of points.
heddle_status bijection_check(arena *a, const indexing_map *m, const shape *s, int64_t *points);

enum { BIJECTION_MAX_POINTS = 1 << 27 };

#endif
