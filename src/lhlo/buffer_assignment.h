// Says where every value lies: in which allocation, at which offset.
#ifndef HEDDLE_LHLO_BUFFER_ASSIGNMENT_H_
#define HEDDLE_LHLO_BUFFER_ASSIGNMENT_H_

#include "lhlo/buffer_values.h"

enum { BUFFER_ALIGNMENT = 64 };

typedef struct buffer_assignment {
  buffer_values *values;
  int allocation_count;  // parameters, results, constants, then the arena if there is one
  lhlo_allocation *allocations;
  bool has_arena;           // even an empty one: arrays without elements lie somewhere
  int *rooms;               // by value that stands for its buffer: the result whose memory it uses meanwhile, or -1
  int64_t *offsets;         // by value that stands for its buffer: in the arena or there
  int *fixed;               // by value that stands for its buffer: a value with a fixed allocation, or -1
  int64_t temporary_bytes;  // of the arena
  int64_t *live_bytes;      // by event: of temporaries, wherever they lie
  int64_t most_live_bytes;  // what any arena needs: the values of it that live at one time
} buffer_assignment;

heddle_status buffer_assignment_find(arena *a, buffer_values *v, buffer_assignment *out);

// Allocation and offset of a value; the shape is as given.
lhlo_slice buffer_assignment_slice(const buffer_assignment *b, int value, const shape *s);

#endif
