// Bodies take the counter, which follows from the number of the turn, and rows are stored where that number says.
#include "emit/while_turns.h"

MlirValue *while_turns_call(const kernel_entry *e, ir_builder *b, int number, const MlirValue *values,
                            const index_vector *point) {
  kernel_emitter *k = e->kernel;
  const kernel_body *body = &k->plan->bodies[number];
  const int count = body->computation->parameters.size;
  MlirValue *arguments = arena_array(k->arena, MlirValue, count);
  for (int i = 0; i < count; i++) {
    const int argument = body->arguments[i];
    arguments[i] = argument >= 0 ? e->inputs[argument] : values[-1 - argument];
  }
  return emit_call(k, b, partition_entry(k->partition, body->computation), arguments, point, "inline");
}

// first + by * turn
static MlirValue at_turn(ir_builder *b, const hero_while *h, MlirValue turn, int64_t first, int64_t by) {
  indexing_map *m = indexing_map_create(b->arena, 1, 0, 0, 1, 0);
  m->dims[0] = (indexing_variable){.bounds = {0, h->turns - 1}, .name = STR("turn")};
  m->results[0] = affine_add(b->arena, affine_mul_constant(b->arena, affine_dim(b->arena, 0), by),
                             affine_constant(b->arena, first));
  return ir_apply_indexing(b, indexing_map_simplify(b->arena, m), &turn, NULL).data[0];
}

MlirValue while_turns_counter(ir_builder *b, const hero_while *h, MlirValue turn) {
  const MlirType type = emit_element_type(b->context, h->counter);
  return ir_cast(b, "arith.index_cast", type, at_turn(b, h, turn, h->start, h->step));
}

MlirValue while_turns_store_row(const kernel_entry *e, ir_builder *b, int output, MlirValue turn, MlirValue value,
                                const shape *space, const index_vector *point, MlirValue tensor) {
  const hero_while *h = &e->kernel->plan->details.turns;
  const while_output *o = &h->outputs[output];
  const shape *whole = e->kernel->plan->outputs[output].shape;
  const shape *row = shape_array(b->arena, whole->dtype, whole->rank - 1, whole->dims + 1);
  ir_values rest = {.data = (MlirValue *)point->values, .size = point->count};
  if (!shape_same_dims(row, space))
    rest = ir_apply_indexing(b, hlo_indexing_reshape(b->arena, space, row), point->values, NULL);
  ir_values at = {0};
  vec_push(b->arena, &at, at_turn(b, h, turn, o->first_row, o->by_row));
  for (int d = 0; d < rest.size; d++) vec_push(b->arena, &at, rest.data[d]);
  return emit_insert(b, value, tensor, at.size, at.data);
}
