// The reference interpreter: runs HLO on literals, slowly and plainly. It is the oracle other targets are compared
// with.
//
// Every operation rounds its result once to its type: integers wrap, floats of up to 32 bits are computed in double and
// rounded, so that results are correctly rounded or nearly so. Sums (reduce, dot, convolution) accumulate in double,
// short ones of f32 in dot and reduce-window in f32.
#ifndef HEDDLE_EVAL_EVALUATE_H_
#define HEDDLE_EVAL_EVALUATE_H_

#include "hlo/module.h"

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

// Runs the entry computation. Arguments must have the parameters' element types and dims (layouts do not matter);
// `result` is allocated in `a`, its shapes belong to the module. The module must have passed module_verify.
// HEDDLE_UNIMPLEMENTED, with the instruction's place, for an operation the interpreter lacks.
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

// What the interpreter takes a custom call for: its operands as they are (EVAL_CUSTOM_CALL_OPERANDS), zeros
// (EVAL_CUSTOM_CALL_ZEROS), the elementwise operation *opcode (EVAL_CUSTOM_CALL_OPCODE) or something else.
typedef enum eval_custom_call_meaning {
  EVAL_CUSTOM_CALL_OTHER,
  EVAL_CUSTOM_CALL_OPERANDS,
  EVAL_CUSTOM_CALL_ZEROS,
  EVAL_CUSTOM_CALL_OPCODE,
} eval_custom_call_meaning;
eval_custom_call_meaning eval_custom_call_means(str target, hlo_opcode *opcode);

#endif
