// Blocks of memory that live for a while, packed into one arena.
#ifndef HEDDLE_PLAN_BUFFER_PACK_H_
#define HEDDLE_PLAN_BUFFER_PACK_H_

#include <stdint.h>

#include "base/arena.h"

typedef struct pack_block {
  int64_t bytes;    // a multiple of the alignment
  int first, last;  // times at which it is in use, both included
  int64_t offset;   // filled in
} pack_block;

typedef struct pack_result {
  int64_t bytes;      // of the arena
  int64_t most_live;  // no arena can be smaller
} pack_result;

// Blocks that live at the same time do not overlap. The same blocks always get the same offsets.
pack_result buffer_pack(arena *a, int count, pack_block *blocks);

#endif
