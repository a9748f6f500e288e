// The driver: a computation is put in order once and becomes a procedure, a list of steps with numbered slots; running
// it is a loop over the steps. A slot is released after its last use, so the memory held is that of the values still
// needed.
#include "eval/evaluate.h"

#include <unistd.h>

#include "base/call.h"
#include "base/heap.h"
#include "eval/dynamic_size.h"
#include "eval/parallel.h"

static heddle_status eval_parameter(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  *out = value_retain(in->arguments[i->attributes->index]);
  return status_ok();
}

const eval_op eval_ops[HLO_OPCODE_COUNT] = {
    [HLO_ABS] = eval_elementwise,
    [HLO_ACOS] = eval_elementwise,
    [HLO_ACOSH] = eval_elementwise,
    [HLO_ADD] = eval_elementwise,
    [HLO_ADD_DEPENDENCY] = eval_first_operand,
    [HLO_AFTER_ALL] = eval_after_all,
    [HLO_ALL_GATHER] = eval_collective,
    [HLO_ALL_GATHER_DONE] = eval_collective_done,
    [HLO_ALL_GATHER_START] = eval_collective,
    [HLO_ALL_REDUCE] = eval_collective,
    [HLO_ALL_REDUCE_DONE] = eval_collective_done,
    [HLO_ALL_REDUCE_START] = eval_collective,
    [HLO_ALL_TO_ALL] = eval_collective,
    [HLO_AND] = eval_elementwise,
    [HLO_ASIN] = eval_elementwise,
    [HLO_ASINH] = eval_elementwise,
    [HLO_ASYNC_DONE] = eval_async_done,
    [HLO_ASYNC_START] = eval_async_start,
    [HLO_ASYNC_UPDATE] = eval_first_operand,
    [HLO_ATAN] = eval_elementwise,
    [HLO_ATAN2] = eval_elementwise,
    [HLO_ATANH] = eval_elementwise,
    [HLO_BATCH_NORM_GRAD] = eval_batch_norm_grad,
    [HLO_BATCH_NORM_INFERENCE] = eval_batch_norm_inference,
    [HLO_BATCH_NORM_TRAINING] = eval_batch_norm_training,
    [HLO_BITCAST] = eval_bitcast,
    [HLO_BITCAST_CONVERT] = eval_bitcast_convert,
    [HLO_BROADCAST] = eval_broadcast,
    [HLO_CALL] = eval_call,
    [HLO_CBRT] = eval_elementwise,
    [HLO_CEIL] = eval_elementwise,
    [HLO_CHOLESKY] = eval_cholesky,
    [HLO_CLAMP] = eval_elementwise,
    [HLO_COLLECTIVE_BROADCAST] = eval_collective,
    [HLO_COLLECTIVE_PERMUTE] = eval_collective,
    [HLO_COLLECTIVE_PERMUTE_DONE] = eval_collective_done,
    [HLO_COLLECTIVE_PERMUTE_START] = eval_collective,
    [HLO_COLLECTIVE_REDUCE] = eval_collective,
    [HLO_COMPARE] = eval_elementwise,
    [HLO_COMPLEX] = eval_elementwise,
    [HLO_CONCATENATE] = eval_concatenate,
    [HLO_CONDITIONAL] = eval_conditional,
    [HLO_CONSTANT] = eval_constant,
    [HLO_CONVERT] = eval_elementwise,
    [HLO_CONVOLUTION] = eval_convolution,
    [HLO_COPY] = eval_first_operand,
    [HLO_COPY_DONE] = eval_copy_done,
    [HLO_COPY_START] = eval_copy_start,
    [HLO_COSH] = eval_elementwise,
    [HLO_COSINE] = eval_elementwise,
    [HLO_COUNT_LEADING_ZEROS] = eval_elementwise,
    [HLO_CUSTOM_CALL] = eval_custom_call,
    [HLO_DIVIDE] = eval_elementwise,
    [HLO_DOMAIN] = eval_first_operand,
    [HLO_DOT] = eval_dot,
    [HLO_DYNAMIC_RESHAPE] = eval_dynamic_reshape,
    [HLO_DYNAMIC_SLICE] = eval_dynamic_slice,
    [HLO_DYNAMIC_UPDATE_SLICE] = eval_dynamic_update_slice,
    [HLO_ERF] = eval_elementwise,
    [HLO_EXPONENTIAL] = eval_elementwise,
    [HLO_EXPONENTIAL_MINUS_ONE] = eval_elementwise,
    [HLO_FFT] = eval_fft,
    [HLO_FLOOR] = eval_elementwise,
    [HLO_FUSION] = eval_call,
    [HLO_GATHER] = eval_gather,
    [HLO_GET_DIMENSION_SIZE] = eval_get_dimension_size,
    [HLO_GET_TUPLE_ELEMENT] = eval_get_tuple_element,
    [HLO_IMAG] = eval_elementwise,
    [HLO_INFEED] = eval_infeed,
    [HLO_IOTA] = eval_iota,
    [HLO_IS_FINITE] = eval_elementwise,
    [HLO_LOG] = eval_elementwise,
    [HLO_LOG_PLUS_ONE] = eval_elementwise,
    [HLO_LOGISTIC] = eval_elementwise,
    [HLO_MAP] = eval_map,
    [HLO_MAXIMUM] = eval_elementwise,
    [HLO_MINIMUM] = eval_elementwise,
    [HLO_MULHI] = eval_elementwise,
    [HLO_MULTIPLY] = eval_elementwise,
    [HLO_NEGATE] = eval_elementwise,
    [HLO_NOT] = eval_elementwise,
    [HLO_OPT_BARRIER] = eval_first_operand,
    [HLO_OR] = eval_elementwise,
    [HLO_OUTFEED] = eval_outfeed,
    [HLO_PAD] = eval_pad,
    [HLO_PARAMETER] = eval_parameter,
    [HLO_PARTITION_ID] = eval_partition_id,
    [HLO_POPCNT] = eval_elementwise,
    [HLO_POWER] = eval_elementwise,
    [HLO_RAGGED_ALL_TO_ALL] = eval_collective,
    [HLO_RAGGED_DOT] = eval_ragged_dot,
    [HLO_REAL] = eval_elementwise,
    [HLO_RECV] = eval_recv,
    [HLO_RECV_DONE] = eval_recv_done,
    [HLO_REDUCE] = eval_reduce,
    [HLO_REDUCE_PRECISION] = eval_elementwise,
    [HLO_REDUCE_SCATTER] = eval_collective,
    [HLO_REDUCE_WINDOW] = eval_reduce_window,
    [HLO_REMAINDER] = eval_elementwise,
    [HLO_REPLICA_ID] = eval_replica_id,
    [HLO_RESHAPE] = eval_reshape,
    [HLO_REVERSE] = eval_reverse,
    [HLO_RNG] = eval_rng,
    [HLO_RNG_BIT_GENERATOR] = eval_rng_bit_generator,
    [HLO_RNG_GET_AND_UPDATE_STATE] = eval_rng_get_and_update_state,
    [HLO_ROUND_NEAREST_AFZ] = eval_elementwise,
    [HLO_ROUND_NEAREST_EVEN] = eval_elementwise,
    [HLO_RSQRT] = eval_elementwise,
    [HLO_SCALED_DOT] = eval_scaled_dot,
    [HLO_SCAN] = eval_scan,
    [HLO_SCATTER] = eval_scatter,
    [HLO_SELECT] = eval_select,
    [HLO_SELECT_AND_SCATTER] = eval_select_and_scatter,
    [HLO_SEND] = eval_send,
    [HLO_SEND_DONE] = eval_send_done,
    [HLO_SET_DIMENSION_SIZE] = eval_set_dimension_size,
    [HLO_SHIFT_LEFT] = eval_elementwise,
    [HLO_SHIFT_RIGHT_ARITHMETIC] = eval_elementwise,
    [HLO_SHIFT_RIGHT_LOGICAL] = eval_elementwise,
    [HLO_SHUFFLE] = eval_shuffle,
    [HLO_SIGN] = eval_elementwise,
    [HLO_SINE] = eval_elementwise,
    [HLO_SINH] = eval_elementwise,
    [HLO_SLICE] = eval_slice,
    [HLO_SORT] = eval_sort,
    [HLO_SQRT] = eval_elementwise,
    [HLO_STOCHASTIC_CONVERT] = eval_stochastic_convert,
    [HLO_SUBTRACT] = eval_elementwise,
    [HLO_TAN] = eval_elementwise,
    [HLO_TANH] = eval_elementwise,
    [HLO_TOPK] = eval_topk,
    [HLO_TRANSPOSE] = eval_transpose,
    [HLO_TRIANGULAR_SOLVE] = eval_triangular_solve,
    [HLO_TUPLE] = eval_tuple,
    [HLO_WHILE] = eval_while,
    [HLO_XOR] = eval_elementwise,
};

bool eval_supports(hlo_opcode op) { return eval_ops[op] != NULL; }

heddle_status interpreter_refuse(const instruction *i, const char *what) {
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "the interpreter cannot do %s " STR_FMT ": %s",
                   hlo_op_text(i->opcode), STR_ARG(i->name), what);
}

// One instruction of a procedure. Slots are numbered like steps.
typedef struct step {
  const instruction *instruction;
  const int *operands;
  int dead_count;
  const int *dead;  // slots not used after this step
} step;

typedef struct procedure {
  const computation *computation;
  int step_count;
  step *steps;
  int root;
  int max_operands;
} procedure;

static bool computation_has_side_effects(interpreter *in, const computation *c, int depth);

// Whether an instruction does something besides giving its result. A call of a routine that nobody wants the result of
// does nothing, unless it says so or has none.
static bool instruction_has_side_effects(interpreter *in, const instruction *i, int depth) {
  if (i->opcode == HLO_CUSTOM_CALL) return i->attributes->custom_call_has_side_effect || !shape_byte_size(i->shape);
  if (hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT)) return true;
  for (int k = 0; k < i->called_count; k++)
    if (computation_has_side_effects(in, i->called[k], depth + 1)) return true;
  return false;
}

static bool computation_has_side_effects(interpreter *in, const computation *c, int depth) {
  static char yes, no;
  const char *known = ptr_map_get(&in->side_effects, c);
  if (known || depth > INTERPRETER_MAX_DEPTH) return known != &no;
  bool has_side_effects = false;
  for (int k = 0; k < c->instructions.size && !has_side_effects; k++)
    has_side_effects = instruction_has_side_effects(in, c->instructions.data[k], depth);
  ptr_map_put(in->arena, &in->side_effects, c, has_side_effects ? &yes : &no);
  return has_side_effects;
}

// What must run: all the root depends on, and side effects.
static void mark_needed(interpreter *in, arena *scratch, const computation *c, ptr_map *needed) {
  VEC(const instruction *) work = {0};
  vec_push(scratch, &work, c->root);
  for (int k = 0; k < c->instructions.size; k++)
    if (instruction_has_side_effects(in, c->instructions.data[k], 0)) vec_push(scratch, &work, c->instructions.data[k]);
  while (work.size) {
    const instruction *i = vec_pop(&work);
    if (ptr_map_has(needed, i)) continue;
    ptr_map_put(scratch, needed, i, NULL);
    for (int k = 0; k < i->operand_count; k++) vec_push(scratch, &work, i->operands[k]);
  }
}

// Gives every slot but the root's to the step that uses it last.
static void find_last_uses(arena *a, procedure *p) {
  int *last = arena_array(a, int, p->step_count);
  for (int k = 0; k < p->step_count; k++) {
    last[k] = k;
    for (int j = 0; j < p->steps[k].instruction->operand_count; j++) last[p->steps[k].operands[j]] = k;
  }
  int *counts = arena_array(a, int, p->step_count);
  for (int k = 0; k < p->step_count; k++)
    if (k != p->root) counts[last[k]]++;
  for (int k = 0; k < p->step_count; k++) p->steps[k].dead = arena_array(a, int, counts[k]);
  for (int k = 0; k < p->step_count; k++) {
    step *s = &p->steps[last[k]];
    if (k != p->root) ((int *)s->dead)[s->dead_count++] = k;
  }
}

static heddle_status check_step(const instruction *i) {
  return eval_ops[i->opcode] ? status_ok() : interpreter_refuse(i, "not implemented");
}

static heddle_status make_procedure(interpreter *in, arena *scratch, const computation *c, procedure **out) {
  arena *a = in->arena;
  instruction_list order = {0};
  TRY(computation_post_order(scratch, c, &order));
  ptr_map needed = {0}, slots = {0};
  mark_needed(in, scratch, c, &needed);
  procedure *p = arena_new(a, procedure);
  p->computation = c;
  p->steps = arena_array(a, step, order.size);
  for (int k = 0; k < order.size; k++) {
    const instruction *i = order.data[k];
    if (!ptr_map_has(&needed, i)) continue;
    TRY(check_step(i));
    in->shapes->in_use |= !shape_is_static(i->shape);
    int *operands = arena_array(a, int, i->operand_count);
    for (int j = 0; j < i->operand_count; j++) operands[j] = (int)(intptr_t)ptr_map_get(&slots, i->operands[j]);
    if (i->operand_count > p->max_operands) p->max_operands = i->operand_count;
    if (i == c->root) p->root = p->step_count;
    ptr_map_put(scratch, &slots, i, (void *)(intptr_t)p->step_count);
    p->steps[p->step_count++] = (step){.instruction = i, .operands = operands};
  }
  find_last_uses(a, p);
  *out = p;
  return status_ok();
}

static heddle_status procedure_of(interpreter *in, const computation *c, procedure **out) {
  *out = ptr_map_get(&in->procedures, c);
  if (*out) return status_ok();
  arena *scratch = arena_create();
  heddle_status status = make_procedure(in, scratch, c, out);
  arena_destroy(scratch);
  if (status_is_ok(status)) ptr_map_put(in->arena, &in->procedures, c, *out);
  return status;
}

static heddle_status run_step(interpreter *in, const step *s, value **slots, value **operands, value **out) {
  const instruction *i = s->instruction;
  TRY(call_check());
  if (in->max_steps && ++in->steps > in->max_steps)
    return status_at(HEDDLE_INVALID, i->where, "stopped after %lld steps, the limit", (long long)in->max_steps);
  for (int k = 0; k < i->operand_count; k++) operands[k] = slots[s->operands[k]];
  heddle_status status =
      in->shapes->in_use ? dynamic_size_step(in, i, operands, out) : eval_ops[i->opcode](in, i, operands, out);
  // What the call's end has cut short is no result.
  if (status_is_ok(status) && call_is_over()) {
    value_release(*out);
    *out = NULL;
    status = call_cancelled();
  }
  // Values and libraries do not know for whom they work.
  return status_locate(status, i->where);
}

static heddle_status run_procedure(interpreter *in, const procedure *p, value **out) {
  value **slots = heap_try_allocate(((size_t)p->step_count + (size_t)p->max_operands) * sizeof *slots);
  if (!slots) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for %d values", p->step_count);
  heddle_status status = status_ok();
  for (int k = 0; k < p->step_count && status_is_ok(status); k++) {
    const step *s = &p->steps[k];
    value *result = NULL;
    status = run_step(in, s, slots, slots + p->step_count, &result);
    if (status_is_ok(status)) slots[k] = result;
    for (int j = 0; j < s->dead_count; j++) {
      value_release(slots[s->dead[j]]);
      slots[s->dead[j]] = NULL;
    }
  }
  if (status_is_ok(status)) *out = value_retain(slots[p->root]);
  for (int k = 0; k < p->step_count; k++) value_release(slots[k]);
  heap_free(slots);
  return status;
}

heddle_status interpreter_call(interpreter *in, const computation *c, value *const *arguments, source_location where,
                               value **out) {
  if (in->depth >= INTERPRETER_MAX_DEPTH)
    return status_at(HEDDLE_INVALID, where, "calls nested more than %d deep", INTERPRETER_MAX_DEPTH);
  procedure *p;
  TRY(procedure_of(in, c, &p));
  value *const *callers = in->arguments;
  in->arguments = arguments;
  in->depth++;
  heddle_status status = run_procedure(in, p, out);
  in->depth--;
  in->arguments = callers;
  return status;
}

// Three quarters of the machine's memory.
static int64_t default_max_bytes(void) {
  int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages / 4 * 3 * page : INT64_MAX / 2;
}

// Where the state of rng-get-and-update-state begins in XLA's programs for the CPU.
static const uint64_t FIRST_RANDOM_STATE = 0x7012395;

void interpreter_start(interpreter *in, const eval_options *options, process *p, dynamic_shapes *shapes) {
  *in = (interpreter){.arena = arena_create(), .process = p, .shapes = shapes};
  if (options) {
    in->max_steps = options->max_steps;
    in->seed = options->seed;
    in->noise = noise_start(options->noise_seed, options->noise_is_loose);
  }
  in->random_state[0] = FIRST_RANDOM_STATE + in->seed;
  in->pool.max_bytes = options && options->max_bytes ? options->max_bytes : default_max_bytes();
}

void interpreter_finish(interpreter *in) {
  for (int k = 0; k < in->probes.size; k++) value_release(in->probes.data[k].seen);
  arena_destroy(in->arena);
}

static heddle_status check_arguments(const computation *c, int count, literal *const *arguments) {
  if (count != c->parameters.size)
    return status_at(HEDDLE_INVALID, c->where, "%d arguments for %d parameters", count, c->parameters.size);
  for (int k = 0; k < count; k++) {
    if (dynamic_size_allows(c->parameters.data[k]->shape, arguments[k]->shape)) continue;
    arena *scratch = arena_create();
    heddle_status status =
        status_at(HEDDLE_INVALID, c->parameters.data[k]->where, "argument %d is %s, wanted %s", k,
                  shape_text(scratch, arguments[k]->shape), shape_text(scratch, c->parameters.data[k]->shape));
    arena_destroy(scratch);
    return status;
  }
  return status_ok();
}

// What the values of one call from outside live in, besides the pool.
typedef struct run_state {
  dynamic_shapes shapes;
  value_pool pool;
} run_state;

static void run_state_start(run_state *s, const eval_options *options) {
  *s = (run_state){.shapes = {.arena = arena_create()}};
  s->pool.max_bytes = options && options->max_bytes ? options->max_bytes : default_max_bytes();
}

static heddle_status borrow_all(run_state *s, int count, literal *const *arguments, value **values) {
  for (int k = 0; k < count; k++) TRY(value_borrow(&s->pool, arguments[k], &values[k]));
  return status_ok();
}

static void release_all(int count, value **values) {
  for (int k = 0; k < count; k++) value_release(values[k]);
}

heddle_status eval_parallel(arena *a, const eval_options *options, int replica_count, int partition_count,
                            eval_process *processes) {
  if (replica_count < 1 || partition_count < 1 || replica_count > EVAL_MAX_PROCESSES / partition_count)
    return status_error(HEDDLE_INVALID, "found %d replicas of %d partitions, wanted 1 to %d processes", replica_count,
                        partition_count, EVAL_MAX_PROCESSES);
  const int count = replica_count * partition_count;
  for (int k = 0; k < count; k++)
    TRY(check_arguments(processes[k].program, processes[k].argument_count, processes[k].arguments));
  run_state state;
  run_state_start(&state, options);
  process_grid *g = process_grid_create(options ? options->feeds : NULL, replica_count, partition_count, 0);
  process_program *programs = arena_array(state.shapes.arena, process_program, count);
  heddle_status status = status_ok();
  for (int k = 0; k < count; k++) {
    value **values = arena_array(state.shapes.arena, value *, processes[k].argument_count);
    if (status_is_ok(status)) status = borrow_all(&state, processes[k].argument_count, processes[k].arguments, values);
    programs[k] = (process_program){.program = processes[k].program, .arguments = values};
  }
  if (status_is_ok(status)) status = process_grid_run(g, options, &state.shapes, programs);
  for (int k = 0; k < count; k++) {
    if (status_is_ok(status))
      status = dynamic_size_result(a, programs[k].result, programs[k].program->root->shape, &processes[k].result);
    value_release(programs[k].result);
    release_all(processes[k].argument_count, (value **)programs[k].arguments);
  }
  process_grid_destroy(g);
  arena_destroy(state.shapes.arena);
  return status;
}

heddle_status eval_computation(arena *a, const computation *c, const eval_options *options, int argument_count,
                               literal *const *arguments, literal **result) {
  eval_process sole = {.program = c, .argument_count = argument_count, .arguments = arguments};
  TRY(eval_parallel(a, options, 1, 1, &sole));
  *result = sole.result;
  return status_ok();
}

heddle_status eval_module(arena *a, const module *m, int argument_count, literal *const *arguments, literal **result) {
  return eval_computation(a, m->entry, NULL, argument_count, arguments, result);
}

static heddle_status run_instruction(arena *a, interpreter *in, const instruction *i, value *const *operands,
                                     literal **result) {
  TRY(check_step(i));
  if (i->opcode == HLO_PARAMETER) return status_at(HEDDLE_INVALID, i->where, "a parameter alone has no value");
  in->shapes->in_use = !shape_is_static(i->shape);
  for (int k = 0; k < i->operand_count; k++) in->shapes->in_use |= !shape_is_static(i->operands[k]->shape);
  value *v;
  TRY(in->shapes->in_use ? dynamic_size_step(in, i, operands, &v) : eval_ops[i->opcode](in, i, operands, &v));
  heddle_status status = dynamic_size_result(a, v, i->shape, result);
  value_release(v);
  return status;
}

heddle_status eval_instruction(arena *a, const instruction *i, const eval_options *options, literal *const *operands,
                               literal **result) {
  run_state state;
  run_state_start(&state, options);
  process_grid *g = process_grid_create(options ? options->feeds : NULL, 1, 1, 0);
  interpreter in;
  interpreter_start(&in, options, process_grid_member(g, 0), &state.shapes);
  value **values = arena_array(in.arena, value *, i->operand_count);
  heddle_status status = borrow_all(&state, i->operand_count, operands, values);
  if (status_is_ok(status)) status = run_instruction(a, &in, i, values, result);
  release_all(i->operand_count, values);
  interpreter_finish(&in);
  process_grid_destroy(g);
  arena_destroy(state.shapes.arena);
  return status;
}
