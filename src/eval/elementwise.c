// Elementwise operations on whole arrays: block by block, loaded into the compute type, computed, rounded and stored.
#include "eval/elementwise.h"

#include "eval/interpreter.h"

elementwise_kernel elementwise_find(hlo_opcode op, dtype first_operand) {
  if (dtype_is_float(first_operand)) return elementwise_float[op];
  if (dtype_is_complex(first_operand)) return elementwise_complex[op];
  return dtype_is_array(first_operand) ? elementwise_integer[op] : NULL;
}

elementwise_call elementwise_call_of(const instruction *i) {
  return (elementwise_call){i, instruction_operand_shape(i, 0)->dtype, i->shape->dtype};
}

// clamp's bounds may be scalars beside an array: such an operand is the same in every lane.
static bool is_splat(const value *operand, const instruction *i) {
  return operand->shape->rank == 0 && i->shape->rank > 0;
}

heddle_status eval_elementwise(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const elementwise_call call = elementwise_call_of(i);
  const elementwise_kernel kernel = elementwise_find(i->opcode, call.operand);
  if (!kernel || i->operand_count > ELEMENTWISE_MAX_OPERANDS) return interpreter_refuse(i, dtype_name(call.operand));
  value *result;
  TRY(value_create(&in->pool, i->shape, i->where, &result));
  compute_block blocks[ELEMENTWISE_MAX_OPERANDS], computed;
  const void *inputs[ELEMENTWISE_MAX_OPERANDS] = {&blocks[0], &blocks[1], &blocks[2]};
  for (int k = 0; k < i->operand_count; k++) {
    if (!is_splat(operands[k], i)) continue;
    compute_load(operands[k]->shape->dtype, operands[k]->data, 0, 1, &blocks[k]);
    compute_splat(operands[k]->shape->dtype, &blocks[k], COMPUTE_LANES);
  }
  const int64_t total = shape_element_count(i->shape);
  for (int64_t first = 0; first < total; first += COMPUTE_LANES) {
    const int64_t count = total - first < COMPUTE_LANES ? total - first : COMPUTE_LANES;
    for (int k = 0; k < i->operand_count; k++)
      if (!is_splat(operands[k], i))
        compute_load(operands[k]->shape->dtype, operands[k]->data, first, count, &blocks[k]);
    kernel(&call, count, &computed, inputs);
    noise_on_results(&in->noise, i, count, &computed, inputs);
    compute_store(call.result, result->data, first, count, &computed);
  }
  *out = result;
  return status_ok();
}

// Moves elements without looking into them, so that every bit of a NaN survives.
heddle_status eval_select(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const uint8_t *conditions = operands[0]->data;
  if (operands[0]->shape->rank == 0) {
    *out = value_retain(operands[conditions[0] ? 1 : 2]);
    return status_ok();
  }
  value *result;
  TRY(value_create(&in->pool, i->shape, i->where, &result));
  const size_t size = (size_t)dtypes[i->shape->dtype].bytes;
  const int64_t total = shape_element_count(i->shape);
  for (int64_t k = 0; k < total; k++) {
    const char *from = operands[conditions[k] ? 1 : 2]->data;
    memcpy((char *)result->data + (size_t)k * size, from + (size_t)k * size, size);
  }
  *out = result;
  return status_ok();
}
