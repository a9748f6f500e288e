// Holds the state of one evaluation in progress, as the functions that evaluate operations see it. Internal to eval.
#ifndef HEDDLE_EVAL_INTERPRETER_H_
#define HEDDLE_EVAL_INTERPRETER_H_

#include "eval/noise.h"
#include "eval/options.h"
#include "eval/value.h"

enum { INTERPRETER_MAX_DEPTH = 1000 };  // nested calls

typedef struct process process;                // parallel.h
typedef struct dynamic_shapes dynamic_shapes;  // dynamic_size.h

// What an interpreter.probe saw.
typedef struct probe_record {
  str name;
  value *seen;
} probe_record;

typedef struct interpreter {
  arena *arena;  // procedures and scalar programs; lives as long as the evaluation
  value_pool pool;
  ptr_map procedures;       // computation -> procedure (evaluate.c)
  ptr_map programs;         // instruction.called -> scalar_program
  ptr_map side_effects;     // computation -> whether it has side effects (evaluate.c)
  ptr_map deciding;         // while -> what of its state decides about its end (loop_watch.c)
  value *const *arguments;  // of the running computation
  int depth;
  int64_t steps;
  int64_t max_steps;  // 0 = no limit
  process *process;   // the one that runs here
  uint64_t seed;
  uint64_t random_count;  // numbers drawn by rng so far
  noise noise;
  uint64_t random_state[2];  // of rng-get-and-update-state: a number of 128 bits, low word first
  dynamic_shapes *shapes;    // shared by all processes of a run
  VEC(probe_record) probes;  // in the order in which they ran
} interpreter;

// Ready to run programs as `p`; interpreter_finish gives back what it holds.
void interpreter_start(interpreter *in, const eval_options *options, process *p, dynamic_shapes *shapes);
void interpreter_finish(interpreter *in);

// Evaluates `i` on operand values (borrowed) and returns a new reference. Shapes have been verified.
typedef heddle_status (*eval_op)(interpreter *in, const instruction *i, value *const *operands, value **out);

// Indexed by opcode; an empty slot means that the interpreter lacks the operation.
extern const eval_op eval_ops[HLO_OPCODE_COUNT];

// Runs a computation on arguments (borrowed); `out` is a new reference.
heddle_status interpreter_call(interpreter *in, const computation *c, value *const *arguments, source_location where,
                               value **out);

// The refusal for what the interpreter lacks: `opcode name: what` at the instruction's location.
heddle_status interpreter_refuse(const instruction *i, const char *what);

// Whether a sum of so many terms rounds at every step to `t` instead of once at the end. Long sums are kept in double,
// since nobody fixes their order; of short ones the order is certain in practice, and where terms cancel only the same
// roundings give the same digits.
static inline bool interpreter_sum_rounds(dtype t, int64_t terms) {
  return terms <= 16 && (t == DTYPE_F32 || t == DTYPE_C64);
}

// elementwise.c
heddle_status eval_elementwise(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_select(interpreter *in, const instruction *i, value *const *operands, value **out);
// bitcast.c
heddle_status eval_bitcast(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_bitcast_convert(interpreter *in, const instruction *i, value *const *operands, value **out);
// move.c
heddle_status eval_constant(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_iota(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_broadcast(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_reshape(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_transpose(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_reverse(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_first_operand(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_tuple(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_get_tuple_element(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_after_all(interpreter *in, const instruction *i, value *const *operands, value **out);
// slice.c
heddle_status eval_slice(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_pad(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_concatenate(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_dynamic_slice(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_dynamic_update_slice(interpreter *in, const instruction *i, value *const *operands, value **out);
// gather_scatter.c
heddle_status eval_gather(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_scatter(interpreter *in, const instruction *i, value *const *operands, value **out);
// reduce.c
heddle_status eval_reduce(interpreter *in, const instruction *i, value *const *operands, value **out);
// reduce_window.c
heddle_status eval_reduce_window(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_select_and_scatter(interpreter *in, const instruction *i, value *const *operands, value **out);
// sort.c
heddle_status eval_sort(interpreter *in, const instruction *i, value *const *operands, value **out);
// convolution.c
heddle_status eval_convolution(interpreter *in, const instruction *i, value *const *operands, value **out);
// random.c
heddle_status eval_rng_bit_generator(interpreter *in, const instruction *i, value *const *operands, value **out);
// random_distribution.c
heddle_status eval_rng(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_rng_get_and_update_state(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_stochastic_convert(interpreter *in, const instruction *i, value *const *operands, value **out);
// collective.c
heddle_status eval_collective(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_collective_done(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_partition_id(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_replica_id(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_shuffle(interpreter *in, const instruction *i, value *const *operands, value **out);
// async.c
heddle_status eval_async_start(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_async_done(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_copy_start(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_copy_done(interpreter *in, const instruction *i, value *const *operands, value **out);
// transfer.c
heddle_status eval_infeed(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_outfeed(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_send(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_send_done(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_recv(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_recv_done(interpreter *in, const instruction *i, value *const *operands, value **out);
// dynamic_size.c
heddle_status eval_get_dimension_size(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_set_dimension_size(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_dynamic_reshape(interpreter *in, const instruction *i, value *const *operands, value **out);
// dot.c
heddle_status eval_dot(interpreter *in, const instruction *i, value *const *operands, value **out);
// dot_ragged.c
heddle_status eval_ragged_dot(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_scaled_dot(interpreter *in, const instruction *i, value *const *operands, value **out);
// scan.c
heddle_status eval_scan(interpreter *in, const instruction *i, value *const *operands, value **out);
// control.c
heddle_status eval_call(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_conditional(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_while(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_map(interpreter *in, const instruction *i, value *const *operands, value **out);
// batch_norm.c
heddle_status eval_batch_norm_grad(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_batch_norm_inference(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_batch_norm_training(interpreter *in, const instruction *i, value *const *operands, value **out);
// linear_algebra.c
heddle_status eval_cholesky(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status eval_triangular_solve(interpreter *in, const instruction *i, value *const *operands, value **out);
// fft.c
heddle_status eval_fft(interpreter *in, const instruction *i, value *const *operands, value **out);
// top_k.c
heddle_status eval_topk(interpreter *in, const instruction *i, value *const *operands, value **out);
// custom_call.c
heddle_status eval_custom_call(interpreter *in, const instruction *i, value *const *operands, value **out);

#endif
