// Finds which values an instruction's leaves are, where an instruction is only another name for its operands' values.
#ifndef HEDDLE_FUSE_LEAF_FLOW_H_
#define HEDDLE_FUSE_LEAF_FLOW_H_

#include "hlo/module.h"

// Numbers of values, leaf by leaf; what the numbers mean is the user's.
typedef struct leaf_numbers {
  int count;
  int *numbers;
  int *starts;  // of the elements of a tuple; null until asked for
} leaf_numbers;

typedef struct leaf_flow {
  arena *arena;
  leaf_numbers *values;  // by an instruction's mark
} leaf_flow;

// True if `i` only names values (tuple, get-tuple-element, bitcast, …): those go to *out. Operands must be known.
bool leaf_flow_name(leaf_flow *f, const instruction *i, leaf_numbers *out);

// The leaves of all operands from the first on.
leaf_numbers leaf_flow_operands(leaf_flow *f, const instruction *i, int first);

#endif
