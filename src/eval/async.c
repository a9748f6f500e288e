// Runs asynchronous operations. The interpreter gains nothing by running them late: a start does all of the work, and
// its tuple carries the result to the done.
#include "eval/interpreter.h"

// A tuple of the first elements (borrowed) and contexts for the rest of the shape.
static heddle_status create_start(interpreter *in, const instruction *i, int count, value *const *first, value **out) {
  const shape *s = i->shape;
  arena *scratch = arena_create();
  value **elements = arena_array(scratch, value *, s->tuple_size);
  heddle_status status = status_ok();
  for (int k = 0; k < count; k++) elements[k] = value_retain(first[k]);
  for (int k = count; k < s->tuple_size && status_is_ok(status); k++)
    status = value_create_zeros(&in->pool, s->elements[k], i->where, &elements[k]);
  if (status_is_ok(status)) status = value_create_tuple(&in->pool, s, elements, i->where, out);
  for (int k = 0; k < s->tuple_size; k++) value_release(elements[k]);
  arena_destroy(scratch);
  return status;
}

// ((operands), result, contexts…)
heddle_status eval_async_start(interpreter *in, const instruction *i, value *const *operands, value **out) {
  if (i->called_count != 1) return interpreter_refuse(i, "no computation");
  value *parts[2] = {0};
  heddle_status status = interpreter_call(in, i->called[0], operands, i->where, &parts[1]);
  if (status_is_ok(status))
    status = value_create_tuple(&in->pool, i->shape->elements[0], operands, i->where, &parts[0]);
  if (status_is_ok(status)) status = create_start(in, i, 2, parts, out);
  value_release(parts[0]);
  value_release(parts[1]);
  return status;
}

heddle_status eval_async_done(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)in, (void)i;
  *out = value_retain(operands[0]->elements[1]);
  return status_ok();
}

// (target, source, contexts…)
heddle_status eval_copy_start(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return create_start(in, i, 2, (value *[]){operands[0], operands[0]}, out);
}

heddle_status eval_copy_done(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)in, (void)i;
  *out = value_retain(operands[0]->elements[0]);
  return status_ok();
}
