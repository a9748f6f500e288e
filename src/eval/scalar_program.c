// Compiling a computation of scalars to kernels on blocks in compute types, and running it lane by lane of a block at
// once.
//
// Every instruction has a slot: a pointer to a block. Constants are filled once; parameters point at the caller's
// blocks; calls are inlined. What does not fit (a loop inside a reducer, a nested reduce) makes the whole program fall
// back on the interpreter, one call per lane.
#include "eval/scalar_program.h"

#include "base/call.h"
#include "eval/elementwise.h"

enum {
  MAX_INLINED_DEPTH = 100,           // nested calls
  MAX_INLINED_INSTRUCTIONS = 10000,  // of all calls together, which may multiply
};

typedef struct program_step {
  elementwise_kernel kernel;
  elementwise_call call;
  int operands[ELEMENTWISE_MAX_OPERANDS];
  int operand_count;
  int slot;
  bool rounds;
} program_step;

typedef VEC(int) slot_list;

struct scalar_program {
  const computation *computation;
  bool is_compiled;  // false: one interpreter call per lane
  bool rounds;
  bool sums;  // called for one term after the other
  VEC(void *) slots;
  VEC(dtype) types;
  VEC(program_step) steps;
  slot_list results;
  int instructions;   // compiled so far
  value **arguments;  // of a call per lane
};

// What the instructions of one computation became; tuples have several slots.
typedef struct scope {
  ptr_map slots;  // instruction -> slot_list *
  const slot_list *arguments;
  int depth;
} scope;

static bool compile_computation(interpreter *in, scalar_program *p, const computation *c, const slot_list *arguments,
                                int depth, slot_list *results);

static int new_slot(interpreter *in, scalar_program *p, dtype t) {
  vec_push(in->arena, &p->slots, arena_alloc(in->arena, (size_t)compute_size(t) * COMPUTE_LANES));
  vec_push(in->arena, &p->types, t);
  return p->slots.size - 1;
}

// bitcast-convert of one width, through the types' own bits.
static void same_width_bitcast(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  uint64_t bits[2 * COMPUTE_LANES];
  compute_store(call->operand, bits, 0, count, in[0]);
  compute_load(call->result, bits, 0, count, out);
}

static elementwise_kernel find_kernel(const instruction *i) {
  const elementwise_call call = elementwise_call_of(i);
  if (i->opcode != HLO_BITCAST_CONVERT) return elementwise_find(i->opcode, call.operand);
  const dtype_info *from = &dtypes[call.operand], *to = &dtypes[call.result];
  return from->bits == to->bits && from->bits >= 8 ? same_width_bitcast : NULL;
}

// Operands come before users, so theirs are made.
static const slot_list *operand_slots(const scope *s, const instruction *i, int k) {
  return ptr_map_get(&s->slots, i->operands[k]);
}

static bool compile_step(interpreter *in, scalar_program *p, scope *s, const instruction *i, slot_list *made) {
  if (i->operand_count == 0 || i->operand_count > ELEMENTWISE_MAX_OPERANDS) return false;
  program_step step = {find_kernel(i), elementwise_call_of(i), {0}, i->operand_count, 0, true};
  if (!step.kernel) return false;
  for (int k = 0; k < i->operand_count; k++) step.operands[k] = operand_slots(s, i, k)->data[0];
  step.rounds = p->rounds || !(dtypes[i->shape->dtype].class & (CLASS_FLOAT | CLASS_COMPLEX));
  step.slot = new_slot(in, p, i->shape->dtype);
  vec_push(in->arena, &p->steps, step);
  vec_push(in->arena, made, step.slot);
  return true;
}

static bool compile_constant(interpreter *in, scalar_program *p, const instruction *i, slot_list *made) {
  if (!shape_is_scalar(i->shape)) return false;
  int slot = new_slot(in, p, i->shape->dtype);
  compute_load(i->shape->dtype, i->literal->data, 0, 1, p->slots.data[slot]);
  compute_splat(i->shape->dtype, p->slots.data[slot], COMPUTE_LANES);
  vec_push(in->arena, made, slot);
  return true;
}

static bool compile_call(interpreter *in, scalar_program *p, scope *s, const instruction *i, slot_list *made) {
  slot_list *arguments = arena_array(in->arena, slot_list, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) arguments[k] = *operand_slots(s, i, k);
  return compile_computation(in, p, i->called[0], arguments, s->depth + 1, made);
}

static bool is_scalar_or_tuple_of_scalars(const shape *s) {
  if (!shape_is_tuple(s)) return shape_is_scalar(s);
  for (int k = 0; k < s->tuple_size; k++)
    if (!shape_is_scalar(s->elements[k])) return false;
  return true;
}

static bool compile_instruction(interpreter *in, scalar_program *p, scope *s, const instruction *i, slot_list *made) {
  if (!is_scalar_or_tuple_of_scalars(i->shape) || ++p->instructions > MAX_INLINED_INSTRUCTIONS) return false;
  switch (i->opcode) {
    case HLO_PARAMETER: *made = s->arguments[i->attributes->index]; return true;
    case HLO_CONSTANT: return compile_constant(in, p, i, made);
    case HLO_COPY:
    case HLO_RESHAPE:
    case HLO_BROADCAST:
    case HLO_TRANSPOSE:
    case HLO_OPT_BARRIER: *made = *operand_slots(s, i, 0); return true;
    case HLO_GET_TUPLE_ELEMENT:
      vec_push(in->arena, made, operand_slots(s, i, 0)->data[i->attributes->index]);
      return true;
    case HLO_TUPLE:
      for (int k = 0; k < i->operand_count; k++) vec_push(in->arena, made, operand_slots(s, i, k)->data[0]);
      return true;
    case HLO_CALL:
    case HLO_FUSION: return compile_call(in, p, s, i, made);
    default: return shape_is_scalar(i->shape) && compile_step(in, p, s, i, made);
  }
}

static bool compile_computation(interpreter *in, scalar_program *p, const computation *c, const slot_list *arguments,
                                int depth, slot_list *results) {
  if (depth > MAX_INLINED_DEPTH) return false;
  scope s = {.arguments = arguments, .depth = depth};
  instruction_list order = {0};
  heddle_status status = computation_post_order(in->arena, c, &order);
  if (!status_is_ok(status)) {  // the interpreter will meet the same error and report it
    heddle_status_free(status);
    return false;
  }
  for (int k = 0; k < order.size; k++) {
    slot_list *made = arena_new(in->arena, slot_list);
    if (!compile_instruction(in, p, &s, order.data[k], made)) return false;
    ptr_map_put(in->arena, &s.slots, order.data[k], made);
  }
  *results = *(slot_list *)ptr_map_get(&s.slots, c->root);
  return true;
}

static bool asks_for_rounding(const computation *c) {
  for (int k = 0; k < c->instructions.size; k++) {
    const instruction *i = c->instructions.data[k];
    if (i->opcode == HLO_CONVERT || i->opcode == HLO_REDUCE_PRECISION || i->opcode == HLO_BITCAST_CONVERT ||
        i->called_count > 0)
      return true;
  }
  return false;
}

static int depth_of(const ptr_map *depths, const instruction *i) { return (int)(intptr_t)ptr_map_get(depths, i); }

// 1 for the accumulators, which are the first half of the parameters, one more behind every operation on them that
// rounds, and 0 for what does not depend on them.
static int rounding_depth(const ptr_map *depths, const computation *c, const instruction *i) {
  if (i->opcode == HLO_PARAMETER) return i->attributes->index < c->parameters.size / 2 ? 1 : 0;
  int depth = 0;
  for (int k = 0; k < i->operand_count; k++)
    if (depth < depth_of(depths, i->operands[k])) depth = depth_of(depths, i->operands[k]);
  const bool computes = shape_is_array(i->shape) && hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) &&
                        i->opcode != HLO_SELECT && (dtypes[i->shape->dtype].class & (CLASS_FLOAT | CLASS_COMPLEX));
  return depth > 0 && computes ? depth + 1 : depth;
}

// Whether an accumulator goes through more than one rounding in a step. That is no sum, which is the same in any order
// but for its roundings; what comes out of a recurrence depends on where it is written to round.
static bool is_recurrence(interpreter *in, const computation *c) {
  instruction_list order = {0};
  heddle_status status = computation_post_order(in->arena, c, &order);
  if (!status_is_ok(status)) {  // found again, and reported, where the computation is compiled or called
    heddle_status_free(status);
    return false;
  }
  ptr_map depths = {0};
  for (int k = 0; k < order.size; k++) {
    const int depth = rounding_depth(&depths, c, order.data[k]);
    if (depth > 2) return true;
    ptr_map_put(in->arena, &depths, order.data[k], (void *)(intptr_t)depth);
  }
  return false;
}

static void copy_block(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  memcpy(out, in[0], (size_t)(count * compute_size(call->result)));
}

// A result that is a parameter gets a slot of its own: its block may be another result's output.
static void separate_results(interpreter *in, scalar_program *p) {
  for (int k = 0; k < p->results.size; k++) {
    int from = p->results.data[k];
    if (from >= p->computation->parameters.size) continue;
    dtype t = p->types.data[from];
    int to = new_slot(in, p, t);
    const program_step step = {copy_block, {.operand = t, .result = t}, {from}, 1, to, false};
    vec_push(in->arena, &p->steps, step);
    p->results.data[k] = to;
  }
}

static scalar_program *compile(interpreter *in, const computation *c, scalar_precision precision) {
  scalar_program *p = arena_new(in->arena, scalar_program);
  p->computation = c;
  p->sums = precision != SCALAR_EXACT;
  p->rounds = precision == SCALAR_EXACT || asks_for_rounding(c) || is_recurrence(in, c);
  slot_list *parameters = arena_array(in->arena, slot_list, c->parameters.size);
  p->is_compiled = true;
  for (int k = 0; k < c->parameters.size; k++) {
    const shape *s = c->parameters.data[k]->shape;
    p->is_compiled = p->is_compiled && shape_is_scalar(s);
    vec_push(in->arena, &p->slots, NULL);
    vec_push(in->arena, &p->types, s->dtype);
    vec_push(in->arena, &parameters[k], k);
  }
  slot_list results = {0};
  if (p->is_compiled) p->is_compiled = compile_computation(in, p, c, parameters, 0, &results);
  for (int k = 0; k < results.size; k++) vec_push(in->arena, &p->results, results.data[k]);
  if (p->is_compiled) separate_results(in, p);
  p->arguments = arena_array(in->arena, value *, c->parameters.size);
  return p;
}

// Programs of one instruction, by called computation. The list of these stands for the instruction: one refined to
// the actual sizes of dynamic operands shares it.
heddle_status scalar_program_of(interpreter *in, const instruction *i, int which, scalar_precision precision,
                                scalar_program **out) {
  scalar_program **made = ptr_map_get(&in->programs, i->called);
  if (!made) {
    made = arena_array(in->arena, scalar_program *, i->called_count);
    ptr_map_put(in->arena, &in->programs, i->called, made);
  }
  const computation *c = i->called[which];
  const shape *result = c->root->shape;
  if (!is_scalar_or_tuple_of_scalars(result))
    return status_at(HEDDLE_INVALID, i->where, "computation " STR_FMT " of %s must give scalars", STR_ARG(c->name),
                     hlo_op_text(i->opcode));
  if (!made[which]) made[which] = compile(in, c, precision);
  *out = made[which];
  return status_ok();
}

int scalar_program_result_count(const scalar_program *p) {
  const shape *s = p->computation->root->shape;
  return shape_is_tuple(s) ? s->tuple_size : 1;
}

dtype scalar_program_result_type(const scalar_program *p, int k) {
  const shape *s = p->computation->root->shape;
  return shape_is_tuple(s) ? s->elements[k]->dtype : s->dtype;
}

static void run_steps(interpreter *in, scalar_program *p, int64_t count) {
  for (int k = 0; k < p->steps.size; k++) {
    const program_step *step = &p->steps.data[k];
    const void *operands[ELEMENTWISE_MAX_OPERANDS];
    for (int j = 0; j < step->operand_count; j++) operands[j] = p->slots.data[step->operands[j]];
    void *result = p->slots.data[step->slot];
    step->kernel(&step->call, count, result, operands);
    const instruction *i = step->call.instruction;
    if (i && p->sums) noise_on_step(&in->noise, i, count, result, operands);
    else if (i) noise_on_results(&in->noise, i, count, result, operands);
    if (step->rounds) compute_round(step->call.result, result, count);
  }
}

// One lane through the interpreter.
static heddle_status run_lane(interpreter *in, scalar_program *p, int64_t lane, const void *const *inputs,
                              void *const *outputs) {
  const instruction_list parameters = p->computation->parameters;
  value **arguments = p->arguments;
  heddle_status status = status_ok();
  int made = 0;
  for (; made < parameters.size && status_is_ok(status); made++) {
    const shape *s = parameters.data[made]->shape;
    status = value_create(&in->pool, s, parameters.data[made]->where, &arguments[made]);
    if (!status_is_ok(status)) break;
    compute_store(s->dtype, arguments[made]->data, 0, 1, (const char *)inputs[made] + lane * compute_size(s->dtype));
  }
  value *result = NULL;
  if (status_is_ok(status)) status = interpreter_call(in, p->computation, arguments, p->computation->where, &result);
  for (int k = 0; status_is_ok(status) && k < scalar_program_result_count(p); k++) {
    const value *part = result->elements ? result->elements[k] : result;
    dtype t = part->shape->dtype;
    compute_load(t, part->data, 0, 1, (char *)outputs[k] + lane * compute_size(t));
  }
  value_release(result);
  for (int k = 0; k < made; k++) value_release(arguments[k]);
  return status;
}

heddle_status scalar_program_run(interpreter *in, scalar_program *p, int64_t count, const void *const *inputs,
                                 void *const *outputs) {
  TRY(call_check());
  if (!p->is_compiled) {
    for (int64_t lane = 0; lane < count; lane++) TRY(run_lane(in, p, lane, inputs, outputs));
    return status_ok();
  }
  for (int k = 0; k < p->computation->parameters.size; k++) p->slots.data[k] = (void *)inputs[k];
  run_steps(in, p, count);
  for (int k = 0; k < p->results.size; k++) {
    const int slot = p->results.data[k];
    memcpy(outputs[k], p->slots.data[slot], (size_t)(count * compute_size(p->types.data[slot])));
  }
  return status_ok();
}
