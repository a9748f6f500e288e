// Limits to the memory that a program takes while it runs, as command lines and callers write them.
//
// Two levels of a hierarchy of memories: the outer one holds what lives at a step and what the step touches, the inner
// one what a single step touches.
#ifndef HEDDLE_BASE_MEMORY_LIMIT_H_
#define HEDDLE_BASE_MEMORY_LIMIT_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef enum memory_level { MEMORY_DRAM, MEMORY_L2, MEMORY_LEVELS } memory_level;

typedef struct memory_amount {
  int64_t bytes;   // 0: none given
  double percent;  // of what the program takes without a limit; 0: none given
} memory_amount;

typedef struct memory_limit {
  memory_amount levels[MEMORY_LEVELS];
} memory_limit;

const char *memory_level_name(memory_level level);  // "dram", "l2"

bool memory_limit_is_set(const memory_limit *l);

// "BYTES", "3KiB", "1.5MiB", "2GiB" or "25%" for dram; or a list of "dram=AMOUNT" and "l2=AMOUNT". HEDDLE_INVALID for
// anything else, for amounts that are not positive, and for a level that is named twice.
heddle_status memory_limit_parse(const char *text, memory_limit *out);

// The bytes of a level; INT64_MAX without a limit. `natural`: what the program takes there without one.
int64_t memory_limit_bytes(const memory_limit *l, memory_level level, int64_t natural);

#endif
