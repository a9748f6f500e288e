// What this machine can do at most, measured once and kept: the yardstick of profiles.
#ifndef HEDDLE_RT_MACHINE_LIMITS_H_
#define HEDDLE_RT_MACHINE_LIMITS_H_

#include <stdbool.h>

#include "base/str.h"

typedef struct machine_limits {
  int threads;
  double bytes_per_second;  // read and written together, by a plain copy of memory that does not fit in caches
  double flops;             // f32 multiplications and additions per second, fused, in the widest vectors
  bool was_kept;            // read from the file of an earlier measurement
} machine_limits;

// For so many threads. They are read from the file machine_limits_path names, if it was written on a machine with the
// same CPU, number of cores and threads; else they are measured, which takes about a second, and written there. A file
// that cannot be read or written changes nothing but the time.
machine_limits machine_limits_get(int threads);

// $XDG_CACHE_HOME/heddle/machine-N, or ~/.cache/heddle/machine-N; null where neither is known.
const char *machine_limits_path(arena *a, int threads);

// "Intel(R) Xeon(R) Processor, 2 cores": what the file is compared by.
const char *machine_limits_cpu(arena *a);

#endif
