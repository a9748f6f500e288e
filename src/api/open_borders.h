// What is read of arrays that have borders inside: which piece of a concatenate it comes from, whether from what was
// padded or from the padding, which row of what was reshaped. Where all that is read lies on one side, code for the
// other side is left out; so runs must have sizes with which it lies there, too.
#ifndef HEDDLE_API_OPEN_BORDERS_H_
#define HEDDLE_API_OPEN_BORDERS_H_

#include "hlo/module.h"

// With the stand-ins of one sample `larger` is at least `smaller`.
typedef struct open_border {
  uint64_t path;  // the same in all samples that are on this side
  int64_t larger, smaller;
  const instruction *taker;  // reads the part
} open_border;

typedef struct open_border_list {
  int count;
  const open_border *borders;
} open_border_list;

// Of a module as it was read, in the same order in each of its samples. HEDDLE_UNIMPLEMENTED if there are too many ways
// from what takes parts to what they are parts of.
heddle_status open_borders_find(arena *a, const module *m, open_border_list *out);

#endif
