// The driver: a computation is put in order once and becomes a procedure, a list of steps with numbered slots; running
// it is a loop over the steps. A slot is released after its last use, so the memory held is that of the values still
// needed.
#include "eval/evaluate.h"

#include <stdlib.h>
#include <unistd.h>

#include "eval/interpreter.h"

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
    [HLO_AND] = eval_elementwise,
    [HLO_ASIN] = eval_elementwise,
    [HLO_ASINH] = eval_elementwise,
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
    [HLO_COMPARE] = eval_elementwise,
    [HLO_COMPLEX] = eval_elementwise,
    [HLO_CONCATENATE] = eval_concatenate,
    [HLO_CONDITIONAL] = eval_conditional,
    [HLO_CONSTANT] = eval_constant,
    [HLO_CONVERT] = eval_elementwise,
    [HLO_CONVOLUTION] = eval_convolution,
    [HLO_COPY] = eval_first_operand,
    [HLO_COSH] = eval_elementwise,
    [HLO_COSINE] = eval_elementwise,
    [HLO_COUNT_LEADING_ZEROS] = eval_elementwise,
    [HLO_CUSTOM_CALL] = eval_custom_call,
    [HLO_DIVIDE] = eval_elementwise,
    [HLO_DOMAIN] = eval_first_operand,
    [HLO_DOT] = eval_dot,
    [HLO_DYNAMIC_SLICE] = eval_dynamic_slice,
    [HLO_DYNAMIC_UPDATE_SLICE] = eval_dynamic_update_slice,
    [HLO_ERF] = eval_elementwise,
    [HLO_EXPONENTIAL] = eval_elementwise,
    [HLO_EXPONENTIAL_MINUS_ONE] = eval_elementwise,
    [HLO_FFT] = eval_fft,
    [HLO_FLOOR] = eval_elementwise,
    [HLO_FUSION] = eval_call,
    [HLO_GATHER] = eval_gather,
    [HLO_GET_TUPLE_ELEMENT] = eval_get_tuple_element,
    [HLO_IMAG] = eval_elementwise,
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
    [HLO_PAD] = eval_pad,
    [HLO_PARAMETER] = eval_parameter,
    [HLO_POPCNT] = eval_elementwise,
    [HLO_POWER] = eval_elementwise,
    [HLO_REAL] = eval_elementwise,
    [HLO_REDUCE] = eval_reduce,
    [HLO_REDUCE_PRECISION] = eval_elementwise,
    [HLO_REDUCE_WINDOW] = eval_reduce_window,
    [HLO_REMAINDER] = eval_elementwise,
    [HLO_RESHAPE] = eval_reshape,
    [HLO_REVERSE] = eval_reverse,
    [HLO_RNG_BIT_GENERATOR] = eval_rng_bit_generator,
    [HLO_ROUND_NEAREST_AFZ] = eval_elementwise,
    [HLO_ROUND_NEAREST_EVEN] = eval_elementwise,
    [HLO_RSQRT] = eval_elementwise,
    [HLO_SCATTER] = eval_scatter,
    [HLO_SELECT] = eval_select,
    [HLO_SELECT_AND_SCATTER] = eval_select_and_scatter,
    [HLO_SHIFT_LEFT] = eval_elementwise,
    [HLO_SHIFT_RIGHT_ARITHMETIC] = eval_elementwise,
    [HLO_SHIFT_RIGHT_LOGICAL] = eval_elementwise,
    [HLO_SIGN] = eval_elementwise,
    [HLO_SINE] = eval_elementwise,
    [HLO_SINH] = eval_elementwise,
    [HLO_SLICE] = eval_slice,
    [HLO_SORT] = eval_sort,
    [HLO_SQRT] = eval_elementwise,
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

// What must run: all the root depends on, and side effects.
static void mark_needed(arena *scratch, const computation *c, ptr_map *needed) {
  VEC(const instruction *) work = {0};
  vec_push(scratch, &work, c->root);
  for (int k = 0; k < c->instructions.size; k++)
    if (hlo_op_has(c->instructions.data[k]->opcode, TRAIT_SIDE_EFFECT))
      vec_push(scratch, &work, c->instructions.data[k]);
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
  if (!eval_ops[i->opcode]) return interpreter_refuse(i, "not implemented");
  if (!shape_is_static(i->shape)) return interpreter_refuse(i, "dynamic dimensions");
  return status_ok();
}

static heddle_status make_procedure(arena *a, arena *scratch, const computation *c, procedure **out) {
  instruction_list order = {0};
  TRY(computation_post_order(scratch, c, &order));
  ptr_map needed = {0}, slots = {0};
  mark_needed(scratch, c, &needed);
  procedure *p = arena_new(a, procedure);
  p->computation = c;
  p->steps = arena_array(a, step, order.size);
  for (int k = 0; k < order.size; k++) {
    const instruction *i = order.data[k];
    if (!ptr_map_has(&needed, i)) continue;
    TRY(check_step(i));
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
  heddle_status status = make_procedure(in->arena, scratch, c, out);
  arena_destroy(scratch);
  if (status_is_ok(status)) ptr_map_put(in->arena, &in->procedures, c, *out);
  return status;
}

static heddle_status run_step(interpreter *in, const step *s, value **slots, value **operands, value **out) {
  const instruction *i = s->instruction;
  if (in->max_steps && ++in->steps > in->max_steps)
    return status_at(HEDDLE_INVALID, i->where, "stopped after %lld steps, the limit", (long long)in->max_steps);
  for (int k = 0; k < i->operand_count; k++) operands[k] = slots[s->operands[k]];
  return eval_ops[i->opcode](in, i, operands, out);
}

static heddle_status run_procedure(interpreter *in, const procedure *p, value **out) {
  value **slots = calloc((size_t)p->step_count + (size_t)p->max_operands, sizeof *slots);
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
  free(slots);
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

static void interpreter_start(interpreter *in, const eval_options *options) {
  *in = (interpreter){.arena = arena_create(), .max_steps = options ? options->max_steps : 0};
  in->pool.max_bytes = options && options->max_bytes ? options->max_bytes : default_max_bytes();
}

static heddle_status check_arguments(const computation *c, int count, literal *const *arguments) {
  if (count != c->parameters.size)
    return status_at(HEDDLE_INVALID, c->where, "%d arguments for %d parameters", count, c->parameters.size);
  for (int k = 0; k < count; k++) {
    if (shape_compatible(arguments[k]->shape, c->parameters.data[k]->shape)) continue;
    arena *scratch = arena_create();
    heddle_status status =
        status_at(HEDDLE_INVALID, c->parameters.data[k]->where, "argument %d is %s, wanted %s", k,
                  shape_text(scratch, arguments[k]->shape), shape_text(scratch, c->parameters.data[k]->shape));
    arena_destroy(scratch);
    return status;
  }
  return status_ok();
}

// Runs one instruction if `i` is given, else the computation.
static heddle_status run(arena *a, interpreter *in, const computation *c, const instruction *i, value *const *arguments,
                         literal **result) {
  value *v;
  if (i) {
    TRY(check_step(i));
    if (i->opcode == HLO_PARAMETER) return status_at(HEDDLE_INVALID, i->where, "a parameter alone has no value");
    TRY(eval_ops[i->opcode](in, i, arguments, &v));
  } else {
    TRY(interpreter_call(in, c, arguments, c->where, &v));
  }
  heddle_status status = value_to_literal(a, v, i ? i->shape : c->root->shape, result);
  value_release(v);
  return status;
}

static heddle_status run_on_literals(arena *a, const eval_options *options, const computation *c, const instruction *i,
                                     int count, literal *const *arguments, literal **result) {
  interpreter in;
  interpreter_start(&in, options);
  value **values = arena_array(in.arena, value *, count);
  heddle_status status = status_ok();
  for (int k = 0; k < count && status_is_ok(status); k++) status = value_borrow(&in.pool, arguments[k], &values[k]);
  if (status_is_ok(status)) status = run(a, &in, c, i, values, result);
  for (int k = 0; k < count; k++) value_release(values[k]);
  arena_destroy(in.arena);
  return status;
}

heddle_status eval_computation(arena *a, const computation *c, const eval_options *options, int argument_count,
                               literal *const *arguments, literal **result) {
  TRY(check_arguments(c, argument_count, arguments));
  return run_on_literals(a, options, c, NULL, argument_count, arguments, result);
}

heddle_status eval_module(arena *a, const module *m, int argument_count, literal *const *arguments, literal **result) {
  return eval_computation(a, m->entry, NULL, argument_count, arguments, result);
}

heddle_status eval_instruction(arena *a, const instruction *i, const eval_options *options, literal *const *operands,
                               literal **result) {
  return run_on_literals(a, options, i->parent, i, i->operand_count, operands, result);
}
