// Loops that write their state to two buffers in turn, instead of copying it back after every round.
#ifndef HEDDLE_LHLO_LOOP_ALTERNATION_H_
#define HEDDLE_LHLO_LOOP_ALTERNATION_H_

#include "kernel/kernel.h"

// Finds the loops of a fused module whose rounds would copy much of what they carry, because the body cannot write over
// what it reads, and makes their bodies two rounds long: the first reads one buffer and writes another, the second goes
// back. *out is `m` itself if there is nothing to do or nothing is won by it, else a module in `a` with such loops.
heddle_status loop_alternation_run(arena *a, const module *m, const target_description *target, const module **out);

#endif
