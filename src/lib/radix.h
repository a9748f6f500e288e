// Sorts unsigned integers by their bits, stably.
#ifndef HEDDLE_LIB_RADIX_H_
#define HEDDLE_LIB_RADIX_H_

#include <stdint.h>

// An item of 16 bytes; items of 4 and 8 bytes are a uint32_t and a uint64_t.
typedef struct radix_pair {
  uint64_t key;
  uint64_t position;
} radix_pair;

// Sorts `count` items of `item_bytes` (4, 8 or 16) by bits low … high - 1 of the integer (of the pair: its key); items
// that agree in them keep their order. Where `low` is 0 integers have no bits from `high` on. `spare` is as large as
// `items`; returns the one of the two that holds the result.
void *radix_sort(int item_bytes, int low, int high, void *items, void *spare, int64_t count, int threads);

#endif
