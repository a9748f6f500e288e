// Makes dense copies of strided arrays: transposes, reversals, and slices with steps.
#ifndef HEDDLE_LIB_PERMUTE_H_
#define HEDDLE_LIB_PERMUTE_H_

#include <stdint.h>

enum { PERMUTE_MAX_RANK = 12 };

// to, dense and row-major with `dims`, gets the elements (of 1, 2, 4, 8 or 16 bytes) whose number in `from` is the sum
// of index times stride; strides may be negative or zero. The dims' product fits in memory; zero sizes are allowed.
void permute(int threads, int element_size, int rank, const int64_t *dims, const int64_t *from_strides,
             const void *from, void *to);

#endif
