// What a program's operations ask of its arguments: indices that lie inside of what they index, keys without
// duplicates, initial values that change nothing.
#ifndef HEDDLE_TOOLS_ARGUMENT_USE_H_
#define HEDDLE_TOOLS_ARGUMENT_USE_H_

#include "hlo/module.h"

typedef enum argument_constant {
  ARGUMENT_ANY,
  ARGUMENT_ZERO,
  ARGUMENT_ONE,
  ARGUMENT_ALL_BITS,  // true, -1
  ARGUMENT_LOWEST,    // of the type; -inf
  ARGUMENT_HIGHEST
} argument_constant;

// Index vectors of a gather or scatter: the array's dims but `vector_dim` count vectors, `batches` blocks of them, and
// along `vector_dim` (the rank: vectors of one component) lie the components.
typedef struct index_vectors {
  int component_count;  // 0: the array is not known to hold index vectors
  int64_t *highest;     // of each component; the lowest is 0
  int vector_dim;
  int64_t batches;
} index_vectors;

typedef struct argument_use {
  bool has_bounds;
  int64_t lowest, highest;  // both allowed
  bool is_sorted;
  bool is_unique;
  bool is_key;       // of a random number generator: all bits count
  bool is_definite;  // a matrix whose factors exist
  argument_constant constant;
  index_vectors vectors;
} argument_use;

// One entry for each array of the entry's parameters, in order, tokens not counted. Values are followed through moves,
// converts, tuples and calls, not through arithmetic. Where uses contradict each other the first one found counts.
const argument_use *argument_use_find(arena *a, const module *m, int *count);

#endif
