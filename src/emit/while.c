// All turns of a loop at one point of its space: a loop over turns that carries the state as values, within the loop
// over points. The vectorizer takes several points at once, which then carry vectors.
#include "emit/while.h"

#include "emit/loop.h"
#include "emit/while_steps.h"
#include "emit/while_turns.h"

// The body of the loop over turns, which carries the state and the outputs made of rows.
static void run_turn(kernel_entry *e, MlirOperation loop, const index_vector *point) {
  kernel_emitter *k = e->kernel;
  const hero_while *h = &k->plan->details.turns;
  MlirBlock block = ir_body(loop, 0);
  ir_builder b = ir_builder_at_end(k->context, block, k->arena);
  const int count = (int)mlirOperationGetNumResults(loop);
  MlirValue *values = arena_array(k->arena, MlirValue, 1 + count), *next = arena_array(k->arena, MlirValue, count);
  MlirValue turn = mlirBlockGetArgument(block, 0);
  values[0] = while_turns_counter(&b, h, turn);
  for (int c = 0; c < count; c++) values[1 + c] = mlirBlockGetArgument(block, 1 + c);
  const MlirValue *made = while_turns_call(e, &b, 0, values, point);
  for (int c = 0; c < h->carried_count; c++) next[c] = made[c];
  for (int n = 0, at = h->carried_count; n < k->plan->output_count; n++) {
    if (!h->outputs[n].is_stacked) continue;
    next[at] = while_turns_store_row(e, &b, n, turn, made[h->outputs[n].value], h->space, point, values[1 + at]);
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
  const MlirValue *before = h->carried_count > 0 ? while_turns_call(e, b, 1, NULL, point) : NULL;
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
  if (k->plan->details.turns.step_count > 0) {
    TRY(emit_while_steps(&entry));
    emit_entry_end(&entry);
    return status_ok();
  }
  const indexing_map *map = emit_loop_map(k->arena, target, &k->plan->launch, k->plan->details.turns.space);
  TRY(emit_entry_loop(&entry, map, entry.ids.data, run_turns, NULL));
  emit_entry_end(&entry);
  return status_ok();
}
