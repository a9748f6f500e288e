// Splits a copy or a fill into chunks of memory, which the threads of the pool take.
#include "rt/memory.h"

#include <stdbool.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"

// Moved in pieces of this size, and alone below PARALLEL_BYTES: that little is done before another thread has woken up.
enum { PIECE_BYTES = 64 << 10, PARALLEL_BYTES = 256 << 10 };

typedef struct moving {
  char *to;
  const char *from;
  uint32_t pattern;
  int64_t bytes;
} moving;

static int64_t piece_count(int64_t bytes) { return (bytes + PIECE_BYTES - 1) / PIECE_BYTES; }

static void copy_pieces(void *argument, int64_t begin, int64_t end) {
  const moving *m = argument;
  const int64_t at = begin * PIECE_BYTES;
  memcpy(m->to + at, m->from + at, (size_t)(int64_min(end * PIECE_BYTES, m->bytes) - at));
}

void memory_copy(void *to, const void *from, int64_t bytes, int threads) {
  if (bytes <= 0 || to == from) return;
  moving m = {.to = to, .from = from, .bytes = bytes};
  const bool overlaps = m.to < m.from + bytes && m.from < m.to + bytes;
  if (overlaps) memmove(to, from, (size_t)bytes);
  else pool_run(bytes < PARALLEL_BYTES ? 1 : threads, piece_count(bytes), copy_pieces, &m);
}

static void fill_pieces(void *argument, int64_t begin, int64_t end) {
  const moving *m = argument;
  const int64_t from = begin * PIECE_BYTES, to = int64_min(end * PIECE_BYTES, m->bytes);
  if (m->pattern == (m->pattern & 0xff) * 0x01010101u) {
    memset(m->to + from, (int)(m->pattern & 0xff), (size_t)(to - from));
    return;
  }
  int64_t at = from;
  for (; at + 4 <= to; at += 4) memcpy(m->to + at, &m->pattern, 4);
  if (at < to) memcpy(m->to + at, &m->pattern, (size_t)(to - at));  // the host is little-endian
}

void memory_fill(void *to, uint32_t pattern, int64_t bytes, int threads) {
  if (bytes <= 0) return;
  moving m = {.to = to, .pattern = pattern, .bytes = bytes};
  pool_run(bytes < PARALLEL_BYTES ? 1 : threads, piece_count(bytes), fill_pieces, &m);
}
