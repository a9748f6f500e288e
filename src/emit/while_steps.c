// A loop over turns that carries the outputs and the arrays; in it a loop over elements for each step, then one for
// each carried value, whose next elements take the place of the old ones.
#include "emit/while_steps.h"

#include "emit/while_turns.h"

// ()[i] -> the i-th element.
static const indexing_map *elements_map(arena *a, const shape *space) {
  indexing_map *m = indexing_map_create(a, 0, 1, 0, space->rank, 0);
  m->ranges[0] = (indexing_variable){.bounds = {0, shape_element_count(space) - 1}, .name = STR("i")};
  affine_delinearize(a, space->rank, space->dims, affine_symbol(a, 0), m->results);
  return indexing_map_simplify(a, m);
}

static const hero_while *plan_of(const kernel_entry *e) { return &e->kernel->plan->details.turns; }

static int tensor_of(const kernel_entry *e, int array) { return e->kernel->plan->output_count + array; }

// --- steps

typedef struct step_run {
  const while_step *step;
  MlirValue turn;  // null before the first
  MlirValue counter;
} step_run;

static MlirValue store(const kernel_entry *e, ir_builder *b, const shape *space, int array, MlirValue value,
                       const index_vector *point, MlirValue tensor) {
  const shape *s = plan_of(e)->arrays[array];
  ir_values at = {.data = (MlirValue *)point->values, .size = point->count};
  if (!shape_same_dims(space, s))
    at = ir_apply_indexing(b, hlo_indexing_reshape(b->arena, space, s), point->values, NULL);
  return emit_insert(b, value, tensor, at.size, at.data);
}

// Arrays are read as they were before the step: it reads none of what it stores.
static heddle_status run_point(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *tensors,
                               const void *argument) {
  const step_run *run = argument;
  const hero_while *h = plan_of(e);
  MlirValue *values = arena_array(b->arena, MlirValue, 1 + h->array_count);
  values[0] = run->counter;
  for (int n = 0; n < h->array_count; n++) values[1 + n] = e->outputs[tensor_of(e, n)];
  const MlirValue *made = while_turns_call(e, b, run->step->body, values, point);
  for (int r = 0; r < run->step->result_count; r++) {
    const int to = run->step->stores[r], t = to < 0 ? -1 - to : tensor_of(e, to);
    tensors[t] = to < 0 ? while_turns_store_row(e, b, t, run->turn, made[r], run->step->space, point, tensors[t])
                        : store(e, b, run->step->space, to, made[r], point, tensors[t]);
  }
  return status_ok();
}

// --- copies

typedef struct array_copy {
  int from, to;  // tensors
} array_copy;

static heddle_status copy_point(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *tensors,
                                const void *argument) {
  const array_copy *copy = argument;
  MlirValue x = emit_extract(b, e->outputs[copy->from], point->count, point->values);
  tensors[copy->to] = emit_insert(b, x, tensors[copy->to], point->count, point->values);
  return status_ok();
}

static heddle_status copy_array(kernel_entry *e, ir_builder *b, MlirValue *tensors, const shape *s, int from, int to) {
  const array_copy copy = {from, to};
  return emit_entry_inner_loop(e, b, tensors, elements_map(b->arena, s), NULL, copy_point, &copy);
}

// --- turns

static heddle_status run_turn(kernel_entry *e, ir_builder *b, MlirValue turn, MlirValue *tensors) {
  const hero_while *h = plan_of(e);
  step_run run = {.turn = turn, .counter = while_turns_counter(b, h, turn)};
  for (int n = h->before_count; n < h->step_count; n++) {
    run.step = &h->steps[n];
    TRY(emit_entry_inner_loop(e, b, tensors, elements_map(b->arena, run.step->space), NULL, run_point, &run));
  }
  for (int c = 0; c < h->carried_count; c++)
    TRY(copy_array(e, b, tensors, h->arrays[c], tensor_of(e, h->carried_count + c), tensor_of(e, c)));
  return status_ok();
}

static heddle_status run_turns(kernel_entry *e) {
  ir_builder *b = &e->b;
  MlirValue zero = ir_index(b, 0), turns = ir_index(b, plan_of(e)->turns), one = ir_index(b, 1);
  MlirOperation loop = ir_for(b, zero, turns, one, e->carried, e->outputs);
  MlirBlock block = ir_body(loop, 0);
  ir_builder inner = ir_builder_at_end(b->context, block, b->arena);
  MlirValue *tensors = arena_array(b->arena, MlirValue, e->carried);
  for (int t = 0; t < e->carried; t++) tensors[t] = mlirBlockGetArgument(block, 1 + t);
  TRY(run_turn(e, &inner, mlirBlockGetArgument(block, 0), tensors));
  ir_yield(&inner, e->carried, tensors);
  for (int t = 0; t < e->carried; t++) e->outputs[t] = ir_result(loop, t);
  return status_ok();
}

heddle_status emit_while_steps(kernel_entry *e) {
  const hero_while *h = plan_of(e);
  const int outputs = e->kernel->plan->output_count;
  for (int n = 0; n < h->array_count; n++) emit_entry_allocate_array(e, h->arrays[n]);
  for (int n = 0; n < h->before_count; n++) {
    const step_run run = {.step = &h->steps[n]};
    TRY(emit_entry_loop(e, elements_map(e->kernel->arena, run.step->space), NULL, run_point, &run));
  }
  TRY(run_turns(e));
  for (int n = 0; n < outputs; n++) {
    const while_output *o = &h->outputs[n];
    if (!o->is_stacked) TRY(copy_array(e, &e->b, e->outputs, h->arrays[o->value], tensor_of(e, o->value), n));
  }
  return status_ok();
}
