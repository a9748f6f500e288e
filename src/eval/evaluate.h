// The reference interpreter: runs HLO on literals, slowly and plainly. It is the oracle other targets are compared
// with.
//
// Every operation rounds its result once to its type: integers wrap, floats of up to 32 bits are computed in double and
// rounded, so that results are correctly rounded or nearly so. Sums (reduce, dot, convolution) accumulate in double,
// short ones of f32 in dot and reduce-window in f32.
#ifndef HEDDLE_EVAL_EVALUATE_H_
#define HEDDLE_EVAL_EVALUATE_H_

#include "eval/options.h"
#include "hlo/module.h"

// Runs the entry computation. Arguments must have the parameters' element types and dims (layouts do not matter);
// `result` is allocated in `a`, its shapes belong to the module. The module must have passed module_verify.
// HEDDLE_UNIMPLEMENTED, with the instruction's location, for an operation the interpreter lacks.
heddle_status eval_module(arena *a, const module *m, int argument_count, literal *const *arguments, literal **result);

// The same for any computation; `options` may be null. A parameter with dynamic dims takes any sizes up to its bounds;
// a result with dynamic dims has the sizes that came out, as a static shape in `a`.
heddle_status eval_computation(arena *a, const computation *c, const eval_options *options, int argument_count,
                               literal *const *arguments, literal **result);

// One process of a parallel run: its program, what it is given, and what it returns.
typedef struct eval_process {
  const computation *program;
  int argument_count;
  literal *const *arguments;
  literal *result;  // set by eval_parallel
} eval_process;

enum { EVAL_MAX_PROCESSES = 1024 };

// Runs replica_count x partition_count processes in lock step, of one program or of several; processes[r *
// partition_count + p] is replica r of partition p. Collectives, send and recv meet across them, in the modes that
// StableHLO's chapter on parallel execution names. Processes take turns in a fixed order, so that a run can be
// repeated; one that waits for what never comes ends the run with an error.
heddle_status eval_parallel(arena *a, const eval_options *options, int replica_count, int partition_count,
                            eval_process *processes);

// One instruction on given operand values (constant folding).
heddle_status eval_instruction(arena *a, const instruction *i, const eval_options *options, literal *const *operands,
                               literal **result);

// Whether the interpreter has the operation at all; single element types may still be refused.
bool eval_supports(hlo_opcode op);

#endif
