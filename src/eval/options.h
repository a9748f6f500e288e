// The options of an evaluation: what the interpreter is told beside the program and its arguments.
#ifndef HEDDLE_EVAL_OPTIONS_H_
#define HEDDLE_EVAL_OPTIONS_H_

#include "base/vec.h"
#include "hlo/literal.h"

// What flows into a program and out of it beside arguments and results. All processes of a run share one.
typedef struct eval_feeds {
  int infeed_count;
  literal *const *infeed;  // what each infeed gives, in order, without the token
  int infeed_taken;        // so far
  arena *arena;            // of `outfeed`
  VEC(literal *) outfeed;  // what each outfeed was given, appended
} eval_feeds;

typedef struct eval_options {
  int64_t max_steps;    // instructions run, those of called computations included; 0 = no limit
  int64_t max_bytes;    // held by intermediate values at one time; 0 = three quarters of the machine's memory
  uint64_t seed;        // of rng and rng-get-and-update-state: equal seeds, equal results
  uint64_t noise_seed;  // 0: none; else results are off at random by what rounding elsewhere may do (eval/noise.h)
  bool noise_is_loose;  // and by roundings of narrow floats that are left out (doc/numbers.md, excess precision)
  eval_feeds *feeds;    // null: infeed is an error, what outfeed is given is dropped
} eval_options;

#endif
