// What a program's schedule is, as text: `heddle compile --emit=schedule`.
#ifndef HEDDLE_RT_SCHEDULE_PRINT_H_
#define HEDDLE_RT_SCHEDULE_PRINT_H_

#include "base/str.h"
#include "prog/program.h"

// Streams that are printed for a program that asks for none: how many run is the device's to say.
enum { SCHEDULE_SHOWN_STREAMS = 2 };

// Prints what runs in which order and what side by side: of a CPU the steps on `threads` threads (rt/thunk_schedule.h),
// of a device the batches of its streams and who waits for whom (rt/stream_schedule.h). There need be no device.
// HEDDLE_INVALID for a program that contradicts itself.
heddle_status schedule_print(text *out, const program *p, int threads);

#endif
