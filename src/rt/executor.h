// Runs a program's kernels on host memory.
#ifndef HEDDLE_RT_EXECUTOR_H_
#define HEDDLE_RT_EXECUTOR_H_

#include "base/status.h"
#include "prog/kernel_list.h"

// A kernel's native entry; see program_kernel.
typedef void (*kernel_fn)(void *const *buffers, int64_t begin, int64_t end);

typedef struct executable {
  const program *program;
  kernel_fn *entries;  // one per kernel, in order
  int threads;
} executable;

// Runs all kernels in order. parameters[i] and results[i] are the slices' memory by number, aligned to 64 bytes and at
// least as large as the slice says; results may be null for a slice of zero bytes. Blocks until done; allocates nothing
// but the pointer table on the stack. Calls on different memory may run at the same time.
heddle_status executor_run(const executable *e, void *const *parameters, void *const *results);

#endif
