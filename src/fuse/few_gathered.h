// What few elements are gathered of is computed for these alone: a gather of an elementwise operation becomes the
// operation on gathers of its operands, with the same bits.
//
//   gather(x - broadcast(r), indices)   becomes   gather(x, indices) - gather(broadcast(r), indices)
//
// So a loss that takes one logarithm of a softmax of each row does not store all of them.
#ifndef HEDDLE_FUSE_FEW_GATHERED_H_
#define HEDDLE_FUSE_FEW_GATHERED_H_

#include "hlo/module.h"

// Whether anything was changed: what is no longer used stays, and new instructions stand at the end.
bool few_gathered_run(computation *c);

#endif
