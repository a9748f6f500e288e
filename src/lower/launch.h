// The attribute xla.launch of a function: how many workitems and workgroups of a grid run it.
#ifndef HEDDLE_LOWER_LAUNCH_H_
#define HEDDLE_LOWER_LAUNCH_H_

#include "emit/ir_builder.h"

#define LAUNCH_ATTRIBUTE "xla.launch"

// Of a workgroup, as of CUDA's blocks; no device has more.
enum { LAUNCH_MOST_THREADS = 1024 };

// Up to three numbers are [workitems, workgroups in x, in y], of which the last may be missing, six are [workitems in
// x, y, z, workgroups in x, y, z].
typedef struct launch {
  bool is_said;  // false: the function has no such attribute, and all numbers are 1
  int64_t threads[3], blocks[3];
} launch;

// HEDDLE_INVALID, with the function's place, for what is neither, and for numbers that no launch can have: less than
// one workitem, more of them than LAUNCH_MOST_THREADS in all, less than no workgroups.
heddle_status launch_of(MlirOperation function, launch *out);

#endif
