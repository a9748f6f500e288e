// The computations of reduce, scatter, sort and map, which run once per element: compiled to a list of kernels on
// blocks, so that a step costs a few nanoseconds and allocates nothing.
#ifndef HEDDLE_EVAL_SCALAR_PROGRAM_H_
#define HEDDLE_EVAL_SCALAR_PROGRAM_H_

#include "eval/compute.h"
#include "eval/interpreter.h"

typedef struct scalar_program scalar_program;

typedef enum scalar_precision {
  SCALAR_EXACT,  // every step rounds to its type
  // Accumulating floats may keep the precision of double until the caller rounds the end result, as long as the
  // computation is a sum, not a recurrence that rounds more than once per step, and does not itself ask for a rounding
  // (convert, reduce-precision).
  SCALAR_WIDE,
} scalar_precision;

// The program of the computation i->called[which], whose parameters and results are scalars; made on first use, kept
// for the evaluation. A computation that is more than elementwise operations works too, at the price of a call per
// lane.
heddle_status scalar_program_of(interpreter *in, const instruction *i, int which, scalar_precision precision,
                                scalar_program **out);

int scalar_program_result_count(const scalar_program *p);
dtype scalar_program_result_type(const scalar_program *p, int k);

// Runs `count` ≤ COMPUTE_LANES lanes: parameter k is inputs[k], result k (of a tuple, or the only one) goes to
// outputs[k]; both are blocks in the compute types of the types in question. An output may be an input.
heddle_status scalar_program_run(interpreter *in, scalar_program *p, int64_t count, const void *const *inputs,
                                 void *const *outputs);

#endif
