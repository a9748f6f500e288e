// Computes how large arrays are in memory, and refuses programs that cannot be planned for.
#ifndef HEDDLE_KERNEL_SIZES_H_
#define HEDDLE_KERNEL_SIZES_H_

#include "hlo/module.h"

// Bytes of a packed buffer as kernels see it: sub-byte integers share bytes, pred takes one.
int64_t kernel_buffer_bytes(const shape *s);

// Bytes of one array, and of all arrays of a module together: plans count bytes and operations, and below these bounds
// no sum of them leaves 64 bits. One array of the first would fill half of what a process can address.
// Where sizes are open, numbers stand in for them that no array will have: there it may be larger.
enum { KERNEL_MOST_ARRAY_BYTES_LOG2 = 46, KERNEL_MOST_OPEN_ARRAY_BYTES_LOG2 = 54, KERNEL_MOST_BYTES_LOG2 = 60 };

// Results of one operation that calls a computation for their elements (reduce, reduce-window, scatter), and operands
// of a sort whose comparator is compiled, operands of a concatenate inside of a kernel: their code takes time and
// memory with the square of the number.
enum { KERNEL_MOST_VARIADIC = 512 };

// HEDDLE_INVALID at the first instruction whose size is not known (an unbounded dim, `?`) or is beyond these bounds,
// HEDDLE_UNIMPLEMENTED at one with more results than KERNEL_MOST_VARIADIC.
heddle_status kernel_check_sizes(const module *m);

#endif
