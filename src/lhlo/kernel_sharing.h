// Gives all fusions that do the same one kernel.
#ifndef HEDDLE_LHLO_KERNEL_SHARING_H_
#define HEDDLE_LHLO_KERNEL_SHARING_H_

#include "kernel/kernel.h"

typedef struct kernel_sharing_entry {
  const computation *computation;
  int alias_count;
  const kernel_alias *aliases;
  const kernel_plan *kernel;
  int next;  // of the same hash, or -1
} kernel_sharing_entry;

// Zero-initialised but for arena and target.
typedef struct kernel_sharing {
  arena *arena;
  target_description target;
  ptr_map by_hash;  // first entry, plus one
  VEC(kernel_sharing_entry) entries;
  VEC(const kernel_plan *) kernels;  // main, main_1, …
} kernel_sharing;

// The kernel of the fusion's body, planned when none so far has an equal body and equal aliases (in order of results;
// the caller keeps them).
heddle_status kernel_sharing_find(kernel_sharing *k, const instruction *fusion, int alias_count,
                                  const kernel_alias *aliases, const kernel_plan **out);

#endif
