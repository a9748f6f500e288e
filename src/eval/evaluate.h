// The reference interpreter: runs HLO on literals, slowly and plainly. It is the oracle other targets are compared
// with.
//
// Every operation rounds its result once to its type: integers wrap, floats of up to 32 bits are computed in double and
// rounded, so that results are correctly rounded or nearly so. Sums (reduce, dot, convolution) accumulate in double.
#ifndef HEDDLE_EVAL_EVALUATE_H_
#define HEDDLE_EVAL_EVALUATE_H_

#include "hlo/module.h"

typedef struct eval_options {
  int64_t max_steps;  // instructions run, those of called computations included; 0 = no limit
  int64_t max_bytes;  // held by intermediate values at one time; 0 = three quarters of the machine's memory
} eval_options;

// Runs the entry computation. Arguments must have the parameters' element types and dims (layouts do not matter);
// `result` is allocated in `a`, its shapes belong to the module. The module must have passed module_verify.
// HEDDLE_UNIMPLEMENTED, with the instruction's place, for an operation the interpreter lacks.
heddle_status eval_module(arena *a, const module *m, int argument_count, literal *const *arguments, literal **result);

// The same for any computation; `options` may be null.
heddle_status eval_computation(arena *a, const computation *c, const eval_options *options, int argument_count,
                               literal *const *arguments, literal **result);

// One instruction on given operand values (constant folding).
heddle_status eval_instruction(arena *a, const instruction *i, const eval_options *options, literal *const *operands,
                               literal **result);

// Whether the interpreter has the operation at all; single element types may still be refused.
bool eval_supports(hlo_opcode op);

#endif
