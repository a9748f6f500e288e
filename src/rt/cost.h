// Rough times, to tell work that is worth another thread from work that is not.
#ifndef HEDDLE_RT_COST_H_
#define HEDDLE_RT_COST_H_

// Until another thread has woken up and has been waited for again (an empty parallel region costs 1 to 10 µs).
#define COST_WAKE_SECONDS 6e-6
// One core's memory traffic and simple operations in a second.
#define COST_BYTES_PER_SECOND 1e10
#define COST_OPERATIONS_PER_SECOND 4e9
// Less than this is not split over threads.
#define COST_PARALLEL_SECONDS COST_WAKE_SECONDS

#endif
