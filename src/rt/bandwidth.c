// Copies with the C library's memcpy, which uses the machine's widest vectors, in pieces small enough that it stays
// with ordinary stores: kernels' results are stored that way too, so that the next kernel finds them in the cache.
#include "rt/bandwidth.h"

#include <string.h>

#include "base/call.h"
#include "base/log.h"
#include "base/pool.h"
#include "rt/buffer.h"

enum { PIECE = 64 << 10, RUNS = 15 };

typedef struct copy {
  char *to;
  const char *from;
  int64_t bytes;
} copy;

static void copy_pieces(void *argument, int64_t begin, int64_t end) {
  const copy *c = argument;
  for (int64_t i = begin; i < end; i++) {
    int64_t offset = i * PIECE;
    int64_t size = c->bytes - offset < PIECE ? c->bytes - offset : PIECE;
    memcpy(c->to + offset, c->from + offset, (size_t)size);
  }
}

static double best_of_runs(copy *c, int threads) {
  double best = 0;
  for (int i = 0; i < RUNS && !call_is_over(); i++) {
    double start = log_seconds();
    pool_run(threads, (c->bytes + PIECE - 1) / PIECE, copy_pieces, c);
    double seconds = log_seconds() - start;
    if (i == 0 || seconds < best) best = seconds;
  }
  return best;
}

double bandwidth_of_copy(int64_t bytes, int threads) {
  if (bytes < PIECE) bytes = PIECE;
  buffer_cache *cache = buffer_cache_create();
  if (!cache) return 0;
  void *from = buffer_take(cache, (size_t)bytes), *to = buffer_take(cache, (size_t)bytes);
  double seconds = 0;
  if (from && to) {
    memset(from, 1, (size_t)bytes);
    memset(to, 2, (size_t)bytes);
    seconds = best_of_runs(&(copy){to, from, bytes}, threads);
  }
  buffer_give(cache, from);
  buffer_give(cache, to);
  buffer_cache_destroy(cache);
  return seconds > 0 ? 2.0 * (double)bytes / seconds : 0;
}
