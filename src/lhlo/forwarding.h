// Finds which leaves of a computation's root are leaves of its parameters, handed through unchanged.
#ifndef HEDDLE_LHLO_FORWARDING_H_
#define HEDDLE_LHLO_FORWARDING_H_

#include "hlo/module.h"

// For each leaf of the root: the leaf of the parameters (those of parameter 0 first) that it is, or -1.
typedef struct forwarding {
  int count;
  int *sources;
} forwarding;

// Of all computations that the entry reaches as programs: by computation, a `const forwarding *`. A loop hands an
// element through if its body does; a conditional's results count as new.
heddle_status forwarding_find(arena *a, const module *m, ptr_map *out);

#endif
