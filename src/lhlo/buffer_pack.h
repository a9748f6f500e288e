// Packs blocks of memory that live for a while into one arena, and into other memory while that is unused.
#ifndef HEDDLE_LHLO_BUFFER_PACK_H_
#define HEDDLE_LHLO_BUFFER_PACK_H_

#include <stdint.h>

#include "base/arena.h"

typedef struct pack_block {
  int64_t bytes;    // a multiple of the alignment
  int first, last;  // times at which it is in use, both included
  int room;         // filled in: -1 for the arena
  int64_t offset;   // filled in: there
} pack_block;

// Memory that is free for everybody up to a time.
typedef struct pack_room {
  int64_t bytes;
  int last;  // time
} pack_room;

typedef struct pack_result {
  int64_t bytes;      // of the arena
  int64_t most_live;  // no arena can be smaller for the blocks that lie in it
} pack_result;

// Blocks that live at the same time do not overlap. The same blocks always get the same places.
pack_result buffer_pack(arena *a, int count, pack_block *blocks, int room_count, const pack_room *rooms);

#endif
