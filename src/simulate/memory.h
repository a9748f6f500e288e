// The memory that a simulated kernel may touch, and who has touched what: accesses out of bounds and races are found
// here.
#ifndef HEDDLE_SIMULATE_MEMORY_H_
#define HEDDLE_SIMULATE_MEMORY_H_

#include "simulate/code.h"

typedef enum memory_kind { MEMORY_GLOBAL, MEMORY_SHARED, MEMORY_STACK, MEMORY_CONSTANT } memory_kind;

// Who touched a granule of memory last. Threads are numbered over the whole grid, from 1 on; an epoch is the number of
// barriers that the thread's block had passed.
typedef struct memory_record {
  uint32_t writer, reader;
  uint32_t writer_epoch, reader_epoch;
  uint32_t block;      // shared memory: 1 + the block that all of this is about
  bool is_atomic;      // the writer's access
  bool reads_plainly;  // a reader's access was not atomic
  bool several_readers, several_blocks;
} memory_record;

typedef struct memory_range {
  memory_kind kind;
  uintptr_t begin, end;
  bool is_written;  // by the kernel
  int granule;
  memory_record *records;  // null: nobody watches
} memory_range;

// An argument's own bytes; ranges may hold several that overlap.
typedef struct memory_argument {
  uintptr_t begin, end;
} memory_argument;

typedef struct memory {
  const memory_argument *arguments;
  int count;
  memory_range *ranges;  // those of global memory by address, disjoint
  int64_t watched_bytes;
} memory;

// One lane's access.
typedef struct memory_access {
  uint32_t thread;  // from 1 on
  uint32_t block;   // from 1 on
  uint32_t block_threads;
  uint32_t epoch;
  bool writes, is_atomic;
} memory_access;

// The range in which `bytes` bytes lie; null if there is none, or if they are not the argument's that they have to be.
const memory_range *memory_find(const memory *m, uintptr_t address, int64_t bytes, sim_place *place);

// Adds a range; one that overlaps a range of the same kind is joined with it.
void memory_add(arena *a, memory *m, memory_range range);

// Gives ranges that threads could race for their records, as far as the host has memory for so many. False if there
// are ranges that nobody watches.
bool memory_watch(memory *m);
void memory_release(memory *m);  // the records

// What is wrong with the access, in words that follow "thread 3 of block 2": null if nothing is.
const char *memory_note(const memory_range *r, uintptr_t address, int64_t bytes, const memory_access *by);

#endif
