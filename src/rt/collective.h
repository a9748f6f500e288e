// Computes each member's results of a collective from what all members have brought.
#ifndef HEDDLE_RT_COLLECTIVE_H_
#define HEDDLE_RT_COLLECTIVE_H_

#include "lib/combine.h"
#include "prog/library.h"

// Arrays of all members have the types and dims of `call`'s.
typedef struct collective {
  const lib_call *call;  // of this member
  int first;             // member m's operand k lies at brought[m][first + k]
  int size, self;
  int source;  // collective-permute: the member that sends to this one, or -1
  void *const *const *brought;
  int dimension;  // -1: none
  combine_fn combine;
  work_type work;
} collective;

// Writes this member's results.
typedef heddle_status (*collective_fn)(const collective *c);

typedef struct collective_kind {
  collective_fn fn;
  // Whether a group of `size` can do this with these arrays.
  bool (*fits)(const lib_call *call, int dimension, int size);
  bool has_reducer;
  bool needs_group;  // else devices in no group get zeros
} collective_kind;

heddle_status collective_zeros(const collective *c);  // what it gives to a device in no group

// Null for those that only ask for the device's number.
const collective_kind *collective_find(program_collective_kind kind);

#endif
