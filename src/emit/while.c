// All turns of a loop at one point of its space: a loop over turns that carries the state as values, within the loop
// over points. The vectorizer takes several points at once, which then carry vectors.
#include "emit/while.h"

#include "emit/entry.h"
#include "emit/loop.h"

static MlirValue *call_body(kernel_entry *e, ir_builder *b, int number, const MlirValue *values,
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

static MlirValue counter_at(ir_builder *b, const hero_while *h, MlirValue turn) {
  const MlirType type = emit_element_type(b->context, h->counter);
  return ir_cast(b, "arith.index_cast", type, at_turn(b, h, turn, h->start, h->step));
}

// Indices of the point in a row: in the output behind its first dim.
static void store_row(const kernel_entry *e, ir_builder *b, int output, MlirValue turn, MlirValue value,
                      const index_vector *point, MlirValue *tensor) {
  const hero_while *h = &e->kernel->plan->details.turns;
  const while_output *o = &h->outputs[output];
  const shape *whole = e->kernel->plan->outputs[output].shape;
  const shape *row = shape_array(b->arena, whole->dtype, whole->rank - 1, whole->dims + 1);
  ir_values rest = {.data = (MlirValue *)point->values, .size = point->count};
  if (!shape_same_dims(row, h->space))
    rest = ir_apply_indexing(b, hlo_indexing_reshape(b->arena, h->space, row), point->values, NULL);
  ir_values at = {0};
  vec_push(b->arena, &at, at_turn(b, h, turn, o->first_row, o->by_row));
  for (int d = 0; d < rest.size; d++) vec_push(b->arena, &at, rest.data[d]);
  *tensor = emit_insert(b, value, *tensor, at.size, at.data);
}

// The body of the loop over turns, which carries the state and the outputs made of rows.
static void run_turn(kernel_entry *e, MlirOperation loop, const index_vector *point) {
  kernel_emitter *k = e->kernel;
  const hero_while *h = &k->plan->details.turns;
  MlirBlock block = ir_body(loop, 0);
  ir_builder b = ir_builder_at_end(k->context, block, k->arena);
  const int count = (int)mlirOperationGetNumResults(loop);
  MlirValue *values = arena_array(k->arena, MlirValue, 1 + count), *next = arena_array(k->arena, MlirValue, count);
  MlirValue turn = mlirBlockGetArgument(block, 0);
  values[0] = counter_at(&b, h, turn);
  for (int c = 0; c < count; c++) values[1 + c] = mlirBlockGetArgument(block, 1 + c);
  const MlirValue *made = call_body(e, &b, 0, values, point);
  for (int c = 0; c < h->carried_count; c++) next[c] = made[c];
  for (int n = 0, at = h->carried_count; n < k->plan->output_count; n++) {
    if (!h->outputs[n].is_stacked) continue;
    next[at] = values[1 + at];
    store_row(e, &b, n, turn, made[h->outputs[n].value], point, &next[at]);
    at++;
  }
  ir_yield(&b, count, next);
}

static heddle_status run_turns(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                               const void *argument) {
  (void)argument;
  kernel_emitter *k = e->kernel;
  const hero_while *h = &k->plan->details.turns;
  ir_values firsts = {0};
  const MlirValue *before = h->carried_count > 0 ? call_body(e, b, 1, NULL, point) : NULL;
  for (int c = 0; c < h->carried_count; c++) vec_push(k->arena, &firsts, before[c]);
  for (int n = 0; n < k->plan->output_count; n++)
    if (h->outputs[n].is_stacked) vec_push(k->arena, &firsts, outputs[n]);
  MlirValue zero = ir_index(b, 0), turns = ir_index(b, h->turns), one = ir_index(b, 1);
  MlirOperation loop = ir_for(b, zero, turns, one, firsts.size, firsts.data);
  run_turn(e, loop, point);
  for (int n = 0, at = h->carried_count; n < k->plan->output_count; n++) {
    if (h->outputs[n].is_stacked) outputs[n] = ir_result(loop, at++);
    else outputs[n] = emit_insert(b, ir_result(loop, h->outputs[n].value), outputs[n], point->count, point->values);
  }
  return status_ok();
}

heddle_status emit_while_entry(kernel_emitter *k, const target_description *target) {
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  const indexing_map *map = emit_loop_map(k->arena, target, &k->plan->launch, k->plan->details.turns.space);
  TRY(emit_entry_loop(&entry, map, entry.ids.data, run_turns, NULL));
  emit_entry_end(&entry);
  return status_ok();
}
