// Evaluates rng-bit-generator: checks it and takes memory; the generators are the library's (lib/random.h).
#include "lib/random.h"
#include "eval/interpreter.h"

static void generate(random_algorithm algorithm, const value *state, value *new_state, value *bits) {
  const value *values[3] = {state, new_state, bits};
  lib_array arrays[3];
  for (int k = 0; k < 3; k++) {
    const shape *s = values[k]->shape;
    arrays[k] = (lib_array){.type = s->dtype, .rank = s->rank, .dims = s->dims, .data = values[k]->data};
  }
  const int64_t number = algorithm == RANDOM_THREE_FRY ? RANDOM_BITS_THREE_FRY : RANDOM_BITS_PHILOX;
  const named_attribute attribute = {.name = "algorithm", .kind = NAMED_INTS, .count = 1, .ints = &number};
  random_bits_execute(&(lib_call){.operand_count = 1,
                                  .operands = &arrays[0],
                                  .result_count = 2,
                                  .results = &arrays[1],
                                  .attribute_count = 1,
                                  .attributes = &attribute,
                                  .threads = 1});
}

heddle_status eval_rng_bit_generator(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const random_algorithm algorithm = i->attributes->algorithm;
  const value *state = operands[0];
  const int64_t words = shape_is_array(state->shape) ? shape_element_count(state->shape) : 0;
  if (state->shape->dtype != DTYPE_U64 || words < 2 || words > 3 || (algorithm == RANDOM_THREE_FRY && words != 2))
    return interpreter_refuse(i, "a state of this shape");
  if (!shape_is_tuple(i->shape) || i->shape->tuple_size != 2 ||
      !(dtypes[i->shape->elements[1]->dtype].class & (CLASS_INTEGER | CLASS_FLOAT)))
    return interpreter_refuse(i, "results other than (state, numbers)");
  value *results[2] = {0};
  heddle_status status = value_create(&in->pool, state->shape, i->where, &results[0]);
  if (status_is_ok(status)) status = value_create(&in->pool, i->shape->elements[1], i->where, &results[1]);
  if (status_is_ok(status)) {
    generate(algorithm, state, results[0], results[1]);
    status = value_create_tuple(&in->pool, i->shape, results, i->where, out);
  }
  value_release(results[0]);
  value_release(results[1]);
  return status;
}
