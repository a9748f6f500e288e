// Rounding unlike the interpreter's own, at random: what other implementations of the same program may come to.
//
// A program run several times with noise shows how far each element of its results may be off, cancellation and
// amplification on the way included, and which integers and truth values hang on the last digit. Most runs move results
// at random. One in NOISE_GRID_EVERY takes them to the nearest point of a grid as wide as the error: two values that
// nearly agree then do, and what stands behind them meets the zeros and poles that chance never hits.
#ifndef HEDDLE_EVAL_NOISE_H_
#define HEDDLE_EVAL_NOISE_H_

#include "hlo/module.h"

typedef struct noise {
  uint64_t state;  // of the generator; 0: there is no noise, and nothing below does anything
  bool is_loose;   // roundings of floats narrower than 32 bits may be left out, as compiled code's default has it
  bool is_grid;
  int direction;  // of every move, all the way: the first runs', so that what an error may cross is crossed (forwards,
                  // what a type has not is finite all the way, too); 0: drawn
} noise;

// Times the real bound: a discontinuity within reach of the real error is then crossed by nearly every second run.
enum { NOISE_SIZE = 4, NOISE_GRID_EVERY = 4 };

noise noise_start(uint64_t seed, bool is_loose);

// Results of an elementwise `i`, in their compute type and not rounded yet: within NOISE_SIZE times the error that
// doc/numbers.md states for it; `operands` are what they were computed from. Operations that are exact to the last bit,
// and integers, stay as they are.
void noise_on_results(noise *n, const instruction *i, int64_t count, void *block, const void *const *operands);
// One step of a running sum or product that is kept in double: what its rounding in the sum's type may do, relative to
// the larger of operands and result. What that type cannot hold becomes infinite.
void noise_on_step(noise *n, const instruction *i, int64_t count, void *block, const void *const *operands);
// Factors of sums of `depth` products in type `sum`.
void noise_on_factors(noise *n, dtype factor, dtype sum, int64_t depth, int64_t count, void *block);
// Values about to be rounded to `t`, where the rounding may be left out.
void noise_on_rounding(noise *n, dtype t, int64_t count, void *block);
// A transform's results, or a matrix about to be factored: each element moves by `ulps` of their root mean square.
// Where one is not finite or close to overflow, which others are depends on the algorithm: all become zeros.
void noise_on_line(noise *n, dtype t, double ulps, int64_t count, void *block);

#endif
