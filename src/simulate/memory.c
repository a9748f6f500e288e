// Ranges of memory, and a record for each granule of those that threads could race for.
//
// Two accesses of different threads to the same bytes race if one of them writes, not both are atomic, and no barrier
// stands between them: there is none between blocks. Memory that a block shares is not cleared between blocks; a record
// says which block it is about, and means nothing to others.
#include "simulate/memory.h"

#include <stdlib.h>

#include "base/int64.h"

enum { MOST_WATCHED_BYTES = 1 << 30 };

static bool holds(uintptr_t begin, uintptr_t end, uintptr_t address, int64_t bytes) {
  return address >= begin && address <= end && (uint64_t)bytes <= end - address;
}

const memory_range *memory_find(const memory *m, uintptr_t address, int64_t bytes, sim_place *place) {
  if (place->argument >= 0) {
    const memory_argument *only = &m->arguments[place->argument];
    if (!holds(only->begin, only->end, address, bytes)) return NULL;
  }
  const memory_range *last = place->range < m->count ? &m->ranges[place->range] : NULL;
  if (last && holds(last->begin, last->end, address, bytes)) return last;
  for (int k = 0; k < m->count && m->ranges; k++) {
    if (!holds(m->ranges[k].begin, m->ranges[k].end, address, bytes)) continue;
    place->range = k;
    return &m->ranges[k];
  }
  return NULL;
}

void memory_add(arena *a, memory *m, memory_range range) {
  int kept = 0;
  for (int k = 0; k < m->count; k++) {
    const memory_range *r = &m->ranges[k];
    if (r->kind == range.kind && r->begin < range.end && range.begin < r->end) {
      if (r->begin < range.begin) range.begin = r->begin;
      if (r->end > range.end) range.end = r->end;
      range.is_written |= r->is_written;
      range.granule = (int)int64_gcd(range.granule, r->granule);
    } else {
      m->ranges[kept++] = *r;
    }
  }
  memory_range *grown = arena_array(a, memory_range, kept + 1);
  for (int k = 0; k < kept; k++) grown[k] = m->ranges[k];
  grown[kept] = range;
  m->ranges = grown;
  m->count = kept + 1;
}

static int64_t record_count(const memory_range *r) {
  return int64_ceil_div((int64_t)(r->end - r->begin), r->granule) + 1;  // the first granule may begin before the range
}

bool memory_watch(memory *m) {
  bool is_complete = true;
  for (int k = 0; k < m->count; k++) {
    memory_range *r = &m->ranges[k];
    if ((r->kind != MEMORY_GLOBAL && r->kind != MEMORY_SHARED) || !r->is_written) continue;
    const int64_t bytes = record_count(r) * (int64_t)sizeof(memory_record);
    if (m->watched_bytes + bytes <= MOST_WATCHED_BYTES)
      r->records = calloc((size_t)record_count(r), sizeof(memory_record));
    if (r->records) m->watched_bytes += bytes;
    else is_complete = false;
  }
  return is_complete;
}

void memory_release(memory *m) {
  for (int k = 0; k < m->count; k++) {
    free(m->ranges[k].records);
    m->ranges[k].records = NULL;
  }
}

// Whether the earlier access is known to be over: it was this thread's, or a barrier stands between.
static bool is_over(const memory_access *by, uint32_t thread, uint32_t epoch) {
  if (thread == by->thread) return true;
  return (thread - 1) / by->block_threads + 1 == by->block && epoch < by->epoch;
}

static const char *note_read(memory_record *r, const memory_access *by) {
  if (r->writer && !is_over(by, r->writer, r->writer_epoch) && !(r->is_atomic && by->is_atomic))
    return "reads what another thread writes without a barrier between them";
  if (r->reader && r->reader != by->thread) {
    r->several_readers = true;
    r->several_blocks |= (r->reader - 1) / by->block_threads + 1 != by->block;
  }
  // Readers that a barrier has ended, this one among them, are no concern of this block's writers.
  if (!r->several_blocks && r->reader_epoch < by->epoch) r->several_readers = r->reads_plainly = false;
  r->reads_plainly |= !by->is_atomic;
  r->reader = by->thread;
  r->reader_epoch = by->epoch;
  return NULL;
}

static const char *note_write(memory_record *r, const memory_access *by) {
  if (r->writer && !is_over(by, r->writer, r->writer_epoch) && !(r->is_atomic && by->is_atomic))
    return "writes what another thread writes without a barrier between them";
  const bool is_read = r->reader && (r->several_blocks || !is_over(by, r->reader, r->reader_epoch) ||
                                     (r->several_readers && r->reader_epoch == by->epoch));
  if (is_read && (r->reads_plainly || !by->is_atomic))
    return "writes what another thread reads without a barrier between them";
  r->writer = by->thread;
  r->writer_epoch = by->epoch;
  r->is_atomic = by->is_atomic;
  return NULL;
}

const char *memory_note(const memory_range *r, uintptr_t address, int64_t bytes, const memory_access *by) {
  const uintptr_t base = r->begin - r->begin % (uintptr_t)r->granule;
  const size_t first = (address - base) / (size_t)r->granule,
               last = (address + (uintptr_t)bytes - 1 - base) / (size_t)r->granule;
  for (size_t k = first; k <= last; k++) {
    memory_record *record = &r->records[k];
    const bool is_shared = r->kind == MEMORY_SHARED;
    if (is_shared && record->block != by->block) {
      if (!by->writes) return "reads shared memory that its block has not written";
      *record = (memory_record){.block = by->block};
    }
    const char *wrong = by->writes ? note_write(record, by) : note_read(record, by);
    if (wrong) return wrong;
  }
  return NULL;
}
