// A sequence runs thunks in an order that keeps what their slices force and runs what is independent at the same time.
//
// The order is decided once, when the sequence is made. Whatever it is, the bytes that come out are those of running
// the thunks one after another as the program lists them.
#ifndef HEDDLE_RT_SEQUENCE_H_
#define HEDDLE_RT_SEQUENCE_H_

#include "rt/thunk.h"

typedef struct sequence sequence;

// Prepares all thunks of `from`, nested ones included. The sequence lives in the arena, but has to be released. After
// an error *out is null, and what had been prepared is released.
heddle_status sequence_create(arena *a, const run_context *context, const program_sequence *from, sequence **out);
void sequence_release(sequence *s);  // what the arena does not hold; null is allowed

// Runs all of it; f->scratch must have sequence_scratch_bytes. Returns the first error it sees, after everything that
// had been started has ended.
heddle_status sequence_execute(const sequence *s, const run_frame *f);

// One thunk of it, in the frame that the sequence runs in: a profiler sees it, an error says where it is.
heddle_status sequence_execute_thunk(const thunk *t, const run_frame *f);
heddle_status sequence_failure(const thunk *t, heddle_status s);  // the error with that

int64_t sequence_scratch_bytes(const sequence *s);
double sequence_cost(const sequence *s);       // seconds on one thread, estimated
bool sequence_is_serial(const sequence *s);    // more threads than one change nothing
bool sequence_has_effects(const sequence *s);  // see thunk

// For reports and tests: steps run one after another; each is one thunk or a parallel step of several.
int sequence_step_count(const sequence *s);
int sequence_step_size(const sequence *s, int step);
const thunk *sequence_step_thunk(const sequence *s, int step, int number);

#endif
