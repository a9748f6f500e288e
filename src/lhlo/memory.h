// The memory of a program, simulated: who wrote last to each segment of bytes. For those who check programs.
#ifndef HEDDLE_LHLO_MEMORY_H_
#define HEDDLE_LHLO_MEMORY_H_

#include "lhlo/lhlo.h"

enum { LHLO_UNDEFINED = -1 };

// What lies in a segment of bytes: part of the value `token` that was written to begin … end - 1.
typedef struct lhlo_content {
  int64_t token, begin, end;
} lhlo_content;

typedef struct lhlo_segments {
  int count;
  int64_t *starts;  // of each segment, and the end of the last
  lhlo_content *contents;
} lhlo_segments;

typedef struct lhlo_change {
  int allocation, segment;
  lhlo_content before;
} lhlo_change;

typedef struct lhlo_memory {
  arena *arena;
  const lhlo_program *program;
  lhlo_segments *allocations;
  VEC(lhlo_change) log;  // of all writes
} lhlo_memory;

// Bytes are divided wherever a slice of the program begins or ends. Everything is undefined.
lhlo_memory *lhlo_memory_create(arena *a, const lhlo_program *p);

void lhlo_memory_write(lhlo_memory *m, const lhlo_slice *s, int64_t token);
// The value whose bytes the slice holds, all of them and no others; LHLO_UNDEFINED if there is no such value.
int64_t lhlo_memory_read(const lhlo_memory *m, const lhlo_slice *s);
bool lhlo_memory_is_written(const lhlo_memory *m, const lhlo_slice *s);  // every byte, by whomever
void lhlo_memory_undo(lhlo_memory *m, int log_size);                     // all writes since the log was that long

bool lhlo_slices_overlap(const lhlo_slice *l, const lhlo_slice *r);

#endif
