// Proves by enumeration that a kernel's threads reach every element of an array exactly once.
#ifndef HEDDLE_TOOLS_BIJECTION_H_
#define HEDDLE_TOOLS_BIJECTION_H_

#include "index/indexing_map.h"
#include "kernel/written_kernels.h"

// Maps that reach the elements of one array together.
typedef VEC(const indexing_map *) bijection_maps;

// The maps from launch ids and loop variables to the indices at which the kernel computes the instruction, as its own
// hero deals them out. An output that is updated in place has the map of the update's elements, in *space, since only
// the run knows where they go; otherwise *space is the instruction's shape (the first of a tuple's). Appends to *out.
// HEDDLE_INVALID if the kernel does not compute it, HEDDLE_UNIMPLEMENTED where only the run knows what a tile takes.
heddle_status bijection_maps_to_instruction(arena *a, const kernel_plan *kernel, const target_description *target,
                                            const instruction *i, bijection_maps *out, const shape **space);
// … to the indices of the instruction's operand `operand` that it reads.
heddle_status bijection_maps_to_operand(arena *a, const kernel_plan *kernel, const target_description *target,
                                        const instruction *i, int operand, bijection_maps *out);

// Walks over all points of the maps' domains and counts how often each element of an array of shape `s` is reached.
// HEDDLE_INVALID, naming the first element that is reached not at all or several times; HEDDLE_UNIMPLEMENTED for maps
// that depend on run-time values or have more than BIJECTION_MAX_POINTS points. *points (may be null) gets the number
// of points.
heddle_status bijection_check(arena *a, const bijection_maps *maps, const shape *s, int64_t *points);

// The same where visits have been counted already, by element.
heddle_status bijection_judge(arena *a, const shape *s, const unsigned char *visits, int64_t points);

enum { BIJECTION_MAX_POINTS = 1 << 27 };

#endif
