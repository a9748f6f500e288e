// Sorts unsigned integers in vectors, on machines with AVX2 or AVX-512.
#ifndef HEDDLE_LIB_SORT_LANES_H_
#define HEDDLE_LIB_SORT_LANES_H_

#include <stdbool.h>
#include <stdint.h>

// Sorts `count` uint32_t or uint64_t (item_bytes 4 or 8) in place, compared as a whole; `spare` is as large as `items`.
// False, with nothing done, on machines that have neither (as far as base/cpu_level.h lets us use them).
bool sort_lanes_run(int item_bytes, void *items, void *spare, int64_t count);

// The same with AVX2, which the machine has.
void sort_lanes_run_avx2(int item_bytes, void *items, void *spare, int64_t count);

// How often samples may choose what items are divided by: twice as many times as halving takes.
int sort_lanes_samplings(int64_t count);

#endif
