// Runs one kernel of a region on a Vulkan device: a program of a single step, as the runtime takes it.
#ifndef HEDDLE_TOOLS_REGION_DEVICE_H_
#define HEDDLE_TOOLS_REGION_DEVICE_H_

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

typedef struct region_kernel {
  const char *name;  // of the modules' entry
  str words;         // SPIR-V modules, forms of the kernel, one behind the other
  int64_t threads, blocks;
  int count;  // of its buffers, in order
  const int64_t *bytes;
  const bool *writes;   // results; the others are parameters
  void *const *memory;  // aligned to 64
} region_kernel;

heddle_status region_device_run(arena *a, const region_kernel *k);

#endif
