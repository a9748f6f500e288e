// Notes how often loops run, while it is still easy to see.
#ifndef HEDDLE_FUSE_TRIP_COUNT_H_
#define HEDDLE_FUSE_TRIP_COUNT_H_

#include "hlo/module.h"

// Notes the count of every loop that counts (opt/while_trip_count.h) in its backend_config, as XLA does:
// {"known_trip_count":{"n":"5"}}. To be done before fusion hides the condition and the step.
void trip_count_note(module *m);

// Notes this count of one loop.
void trip_count_set(instruction *loop, int64_t count);

// The count noted, or -1.
int64_t trip_count_of(const instruction *loop);

#endif
