// Operations that run computations as programs: call, fusion, conditional, while; and map, one call per element.

#include "base/heap.h"
#include "eval/interpreter.h"
#include "eval/loop_watch.h"
#include "eval/scalar_program.h"

heddle_status eval_call(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return interpreter_call(in, i->called[0], operands, i->where, out);
}

// Branch by index, the last one for an index out of range; or true and false by pred. Each branch has one operand.
heddle_status eval_conditional(interpreter *in, const instruction *i, value *const *operands, value **out) {
  int64_t branch = value_get_int(operands[0], 0);
  if (operands[0]->shape->dtype == DTYPE_PRED) branch = branch ? 0 : 1;
  else if (branch < 0 || branch >= i->called_count) branch = i->called_count - 1;
  return interpreter_call(in, i->called[branch], &operands[branch + 1], i->where, out);
}

static heddle_status condition_holds(interpreter *in, const instruction *i, value *state, bool *holds) {
  value *condition;
  TRY(interpreter_call(in, i->called[0], &state, i->where, &condition));
  *holds = value_get_int(condition, 0) != 0;
  value_release(condition);
  return status_ok();
}

heddle_status eval_while(interpreter *in, const instruction *i, value *const *operands, value **out) {
  value *state = value_retain(operands[0]);
  heddle_status status;
  loop_watch watch;
  loop_watch_start(in, i, &watch);
  for (;;) {
    bool holds = false;
    status = condition_holds(in, i, state, &holds);
    if (!status_is_ok(status) || !holds) break;
    status = loop_watch_turn(&watch, state);
    if (!status_is_ok(status)) break;
    value *next;
    status = interpreter_call(in, i->called[1], &state, i->where, &next);
    if (!status_is_ok(status)) break;
    value_release(state);
    state = next;
  }
  loop_watch_finish(&watch);
  if (status_is_ok(status)) *out = state;
  else value_release(state);
  return status;
}

static heddle_status map_blocks(interpreter *in, const instruction *i, scalar_program *p, value *const *operands,
                                compute_block *blocks, const void **inputs, value *result) {
  const int64_t total = shape_element_count(i->shape);
  compute_block block;
  void *outputs[] = {&block};
  for (int k = 0; k < i->operand_count; k++) inputs[k] = &blocks[k];
  for (int64_t first = 0; first < total; first += COMPUTE_LANES) {
    const int64_t lanes = total - first < COMPUTE_LANES ? total - first : COMPUTE_LANES;
    for (int k = 0; k < i->operand_count; k++)
      compute_load(operands[k]->shape->dtype, operands[k]->data, first, lanes, &blocks[k]);
    TRY(scalar_program_run(in, p, lanes, inputs, outputs));
    compute_store(i->shape->dtype, result->data, first, lanes, &block);
  }
  return status_ok();
}

heddle_status eval_map(interpreter *in, const instruction *i, value *const *operands, value **out) {
  scalar_program *p;
  TRY(scalar_program_of(in, i, 0, SCALAR_EXACT, &p));
  if (scalar_program_result_count(p) != 1) return interpreter_refuse(i, "a computation with several results");
  value *result;
  TRY(value_create(&in->pool, i->shape, i->where, &result));
  compute_block *blocks = heap_try_allocate((size_t)i->operand_count * sizeof *blocks);
  const void **inputs = heap_try_allocate((size_t)i->operand_count * sizeof *inputs);
  heddle_status status;
  if (!blocks || !inputs)
    status = status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no memory for %d operands", i->operand_count);
  else status = map_blocks(in, i, p, operands, blocks, inputs, result);
  heap_free(blocks);
  heap_free(inputs);
  if (status_is_ok(status)) *out = result;
  else value_release(result);
  return status;
}
