// Counts what a warp's accesses move: bytes of global memory in sectors of 32 bytes, and passes over the 32 banks of
// shared memory.
#ifndef HEDDLE_SIMULATE_TRAFFIC_H_
#define HEDDLE_SIMULATE_TRAFFIC_H_

#include "simulate/memory.h"

// One access of a warp, `bytes` bytes at addresses[l] of each active lane. Global accesses of several lanes to one and
// the same address are broadcasts and move nothing that counts.
void traffic_count(sim_traffic *t, memory_kind kind, sim_mask active, const uint64_t *addresses, int64_t bytes);

#endif
