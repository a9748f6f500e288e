// What a hero's emitter calls: functions over the kernel's own instructions, and computations made for it.
#ifndef HEDDLE_KERNEL_PART_H_
#define HEDDLE_KERNEL_PART_H_

#include "hlo/module.h"
#include "index/indexing_map.h"

// A value at a point of some index space.
typedef struct kernel_value {
  const instruction *root;
  int element;              // of a variadic reduction
  const indexing_map *map;  // from the index space to the root's indices; null: identity
} kernel_value;

// A function that a hero's emitter calls: values at one point of an index space. What is given is passed in by the
// emitter (all values of a tuple-shaped instruction) instead of being computed; it is cut off from its operands in
// every part. Whatever depends on it must be needed at the given instruction's own indices: elementwise consumers.
typedef struct kernel_part {
  const shape *index_space;
  int result_count;
  const kernel_value *results;
  int given_count;
  const instruction *const *given;
} kernel_part;

// A computation made for a hero: its emitter calls it with the kernel's inputs and values of its own choice. All
// elements of its root tuple have the dims of the index space; the indices are arguments of the function too.
typedef struct kernel_body {
  const computation *computation;
  const int *arguments;  // by parameter: input of the kernel (>= 0), or value n of the emitter's (-1 - n), a scalar;
                         // null: all are scalars of the emitter's (a reducer)
  int first_array;       // if > 0: values of the emitter's from this number on are arrays
} kernel_body;

// Whether the body's parameter stands for an array rather than for a scalar.
static inline bool kernel_body_takes_array(const kernel_body *b, int parameter) {
  const int argument = b->arguments[parameter];
  return argument >= 0 || (b->first_array > 0 && -1 - argument >= b->first_array);
}

#endif
