// Measures what this machine's memory can do, as the yardstick for memory-bound kernels.
#ifndef HEDDLE_RT_BANDWIDTH_H_
#define HEDDLE_RT_BANDWIDTH_H_

#include <stdint.h>

// Bytes per second, read and written together, of a plain copy of `bytes` bytes on `threads` threads of the runtime's
// pool: the best of several runs over the same two buffers. 0 if the host has no memory for them.
double bandwidth_of_copy(int64_t bytes, int threads);

#endif
