// Copies and fills memory, with several threads where there is enough to move.
#ifndef HEDDLE_RT_MEMORY_H_
#define HEDDLE_RT_MEMORY_H_

#include <stdint.h>

// The ranges may overlap or be the same.
void memory_copy(void *to, const void *from, int64_t bytes, int threads);

// The pattern's bytes, lowest first, over and over; the last one may be cut.
void memory_fill(void *to, uint32_t pattern, int64_t bytes, int threads);

#endif
