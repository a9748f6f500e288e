// Rough times, to tell work that is worth another thread from work that is not: those of any CPU (base/target.h), since
// what a run does must not depend on the machine.
#ifndef HEDDLE_RT_COST_H_
#define HEDDLE_RT_COST_H_

#include "base/target.h"

// Until another thread has woken up and has been waited for again.
#define COST_WAKE_SECONDS (target_any_cpu.wake_ns * 1e-9)
// One core's memory traffic, wherever the data lie, and simple operations in a second.
#define COST_BYTES_PER_SECOND (target_any_cpu.mixed_bytes_per_ns * 1e9)
#define COST_OPERATIONS_PER_SECOND (target_any_cpu.scalar_operations_per_ns * 1e9)
// Less than this is not split over threads.
#define COST_PARALLEL_SECONDS COST_WAKE_SECONDS

#endif
