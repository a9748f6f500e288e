// Random numbers that a run draws one after another, from a state of its own: HLO's rng and rng-get-and-update-state.
//
// HLO promises of rng only the distribution. Here the numbers follow from a seed and from how many were drawn before,
// so that a run can be repeated.
#ifndef HEDDLE_LIB_DRAW_H_
#define HEDDLE_LIB_DRAW_H_

#include "lib/call.h"

typedef struct draw_stream {
  uint64_t seed;      // the run's, plus the device's number
  uint64_t count;     // numbers drawn so far
  uint64_t state[2];  // of rng-get-and-update-state: a number of 128 bits, low word first
} draw_stream;

// Written in place: each run begins so, and copying a struct that was just written field by field waits for the fields.
void draw_stream_start(draw_stream *s, uint64_t seed, int device);

// heddle.rng_uniform and heddle.rng_normal: operands are the two parameters, scalars of the result's type.
// heddle.rng_get_and_update_state: result u64[2], attribute delta.
bool draw_is_target(const char *target);
heddle_status draw_check(const char *target, const lib_call *call);
void draw_execute(const char *target, const lib_call *call, draw_stream *stream);  // a call that has passed

#endif
