// Computes Fourier transforms over the last one to three dims, from plans that are made once.
#ifndef HEDDLE_LIB_FFT_H_
#define HEDDLE_LIB_FFT_H_

#include "base/arena.h"
#include "lib/call.h"

typedef struct fft_plan fft_plan;

// From the shapes, types and attributes of a call (prog/library.h, program_fft). HEDDLE_INVALID when they do not fit
// together. Lives in the arena, but must be released.
heddle_status fft_plan_make(arena *a, const lib_call *call, fft_plan **plan);
void fft_plan_release(fft_plan *plan);

// Bytes of scratch memory that a call wants, on as many threads as the call that the plan was made from.
int64_t fft_plan_scratch(const fft_plan *plan);

// `call` is of the shapes that the plan was made for, with data and scratch memory; more threads than the plan was made
// for are not used. The same input gives the same bits
// for every number of threads.
void fft_plan_execute(const fft_plan *plan, const lib_call *call);

// Operations it takes, roughly.
double fft_plan_work(const fft_plan *plan);

// FFTW makes and drops plans in shared tables: whoever does it holds this lock.
void fft_lock_planner(void);
void fft_unlock_planner(void);

#endif
