// The lesser and the greater of two numbers, which C lacks.
#ifndef HEDDLE_BASE_LEAST_H_
#define HEDDLE_BASE_LEAST_H_

#include <stdint.h>

static inline int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static inline int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }

#endif
