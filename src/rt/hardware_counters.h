// Counters of the CPU, read through perf_event_open where the machine has them and the system lets a process read its
// own.
#ifndef HEDDLE_RT_HARDWARE_COUNTERS_H_
#define HEDDLE_RT_HARDWARE_COUNTERS_H_

#include <stdbool.h>

#include "base/status.h"

typedef enum hardware_counter {
  COUNTER_CYCLES,
  COUNTER_INSTRUCTIONS,
  COUNTER_CACHE_MISSES,   // of the last level
  HARDWARE_COUNTER_COUNT  // PROFILE_COUNTERS of rt/context.h
} hardware_counter;

const char *hardware_counters_name(hardware_counter counter);  // "cycles", "instructions", "cache_misses"

typedef struct hardware_counters hardware_counters;

// Counts what all threads that the process has now do in user space. HEDDLE_DEVICE_FAILED says why there are none: the
// system forbids it, or a virtual machine has no such counters.
heddle_status hardware_counters_open(hardware_counters **out);
void hardware_counters_close(hardware_counters *c);  // null is allowed

// Of the calling thread, or of all threads together, since they were opened. From any thread.
void hardware_counters_read(const hardware_counters *c, bool all_threads, uint64_t values[HARDWARE_COUNTER_COUNT]);

#endif
