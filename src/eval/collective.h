// Finds which processes a collective joins.
#ifndef HEDDLE_EVAL_COLLECTIVE_H_
#define HEDDLE_EVAL_COLLECTIVE_H_

#include "eval/parallel.h"

typedef struct collective_group {
  int size;      // 0: this process takes no part
  int *members;  // process ids, in the group's order
  int self;      // this process's place among them
} collective_group;

// The group of this process by `replica_groups`, `channel_id` and `use_global_device_ids`; lists live in `scratch`.
heddle_status collective_group_of(interpreter *in, const instruction *i, arena *scratch, collective_group *out);

// Pair `pair` of `source_target_pairs`, whose target is this process; `source` is the sender's place in its group.
typedef struct collective_arrival {
  int pair, source;
} collective_arrival;
typedef VEC(collective_arrival) collective_arrivals;

// The processes that `source_target_pairs` connects with each other, in ascending order, and what arrives at this one,
// in the pairs' order.
heddle_status collective_pairs_of(interpreter *in, const instruction *i, arena *scratch, collective_group *out,
                                  collective_arrivals *arrivals);

// Whether the transfer says in its frontend attributes who sends to whom. Then `source` is the process that sends to
// this one and `target` the one that it sends to, each -1 for nobody.
bool collective_transfer_of(interpreter *in, const instruction *i, int *source, int *target);

#endif
