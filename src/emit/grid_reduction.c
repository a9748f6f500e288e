// Reductions on a grid:
//
//   for each pass:
//     loop over the thread's elements, carrying partial results: body, combine, store
//     threads bring their partial results together (grid_combine.c)
//   what is computed of the results, by one thread for each
#include "emit/grid_reduction.h"

#include "emit/grid_combine.h"
#include "emit/grid_reduction_maps.h"

// One pass being emitted. What its loop carries is the tensors, then the partial results.
typedef struct pass_walk {
  row_pass_emitter *s;
  const row_pass *pass;
  bool has_lanes;  // partial results are vectors, of which the loop's last range variable says the element
} pass_walk;

static const hero_grid_reduction *hero_of(const row_pass_emitter *s) {
  return &s->entry->kernel->plan->details.grid_reduction;
}

static int count_values(const row_pass *pass) {
  int count = 0;
  for (int i = 0; i < pass->reductions.size; i++) count += pass->reductions.data[i].count;
  return count;
}

// --- partial results

static MlirNamedAttribute any_position(MlirContext c) {
  return ir_named(c, "static_position", mlirDenseI64ArrayGet(c, 1, (int64_t[]){INT64_MIN}));
}

static MlirValue lane_of(const ir_builder *b, const indexing_map *map) {
  return mlirBlockGetArgument(b->block, map->range_count - 1);
}

static MlirValue get_lane(ir_builder *b, MlirValue vector, MlirValue lane) {
  const MlirNamedAttribute position = any_position(b->context);
  return ir_value_with(b, "vector.extract", ir_element_type(mlirValueGetType(vector)), 2, (MlirValue[]){vector, lane},
                       1, &position);
}

static MlirValue put_lane(ir_builder *b, MlirValue x, MlirValue vector, MlirValue lane) {
  const MlirNamedAttribute position = any_position(b->context);
  return ir_value_with(b, "vector.insert", mlirValueGetType(vector), 3, (MlirValue[]){x, vector, lane}, 1, &position);
}

static void accumulate(const pass_walk *w, ir_builder *b, const MlirValue *results, MlirValue *partial) {
  const indexing_map *map = emit_grid_reduction_elements(b->arena, w->s->entry->kernel->plan);
  for (int i = 0, done = 0; i < w->pass->reductions.size; i++) {
    const row_reduction *r = &w->pass->reductions.data[i];
    MlirValue *so_far = arena_array(b->arena, MlirValue, 2 * r->count), *next = so_far + r->count;
    for (int v = 0; v < r->count; v++)
      so_far[v] = w->has_lanes ? get_lane(b, partial[done + v], lane_of(b, map)) : partial[done + v];
    row_passes_combine(w->s, b, r, so_far, results + r->first_result, next);
    for (int v = 0; v < r->count; v++, done++)
      partial[done] = w->has_lanes ? put_lane(b, next[v], partial[done], lane_of(b, map)) : next[v];
  }
}

static MlirValue spread(ir_builder *b, MlirValue x, int64_t lanes) {
  return ir_value(b, "vector.broadcast", mlirVectorTypeGet(1, &lanes, mlirValueGetType(x)), 1, &x);
}

static void start(const pass_walk *w, MlirValue *partial) {
  for (int i = 0, next = 0; i < w->pass->reductions.size; i++) {
    const row_reduction *r = &w->pass->reductions.data[i];
    for (int v = 0; v < r->count; v++, next++) {
      partial[next] = grid_combine_start(w->s, r, v);
      if (w->has_lanes) partial[next] = spread(&w->s->entry->b, partial[next], hero_of(w->s)->vector);
    }
  }
}

// --- passes

static heddle_status visit(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                           const void *argument) {
  (void)e;
  const pass_walk *w = argument;
  row_pass_emitter *s = w->s;
  const int groups = s->plan->passes.space.group_count;
  for (int t = 0; t < s->tensor_count; t++) s->tensors[t] = outputs[t];
  row_point at = {.at = {.count = groups, .values = point->values}, .is_element = true};
  if (s->plan->is_column) at.column = point->values[groups];
  const MlirValue *results = row_passes_call(s, b, w->pass->body, &at);
  row_passes_store(s, b, w->pass, results, &at);
  accumulate(w, b, results, outputs + s->tensor_count);
  for (int t = 0; t < s->tensor_count; t++) outputs[t] = s->tensors[t];
  return status_ok();
}

static heddle_status emit_pass(row_pass_emitter *s, int number) {
  const row_pass *pass = &s->plan->passes.passes[number];
  if (pass->body < 0) return status_ok();
  arena *a = s->entry->kernel->arena;
  const int values = count_values(pass), carried = s->tensor_count + values;
  const pass_walk w = {s, pass, s->plan->is_column && hero_of(s)->vector > 1};
  kernel_entry loop = *s->entry;
  loop.carried = carried;
  loop.outputs = arena_array(a, MlirValue, carried);
  bool *changes = arena_array(a, bool, carried);
  row_passes_written(s, pass, changes);
  for (int t = 0; t < s->tensor_count; t++) loop.outputs[t] = s->tensors[t];
  for (int v = 0; v < values; v++) changes[s->tensor_count + v] = true;
  start(&w, loop.outputs + s->tensor_count);
  const indexing_map *map = emit_grid_reduction_elements(a, s->entry->kernel->plan);
  TRY(emit_entry_loop_changing(&loop, map, s->entry->ids.data, changes, visit, &w));
  for (int t = 0; t < s->tensor_count; t++) s->tensors[t] = loop.outputs[t];
  return grid_combine_pass(s, number, loop.outputs + s->tensor_count);
}

// --- results

static heddle_status visit_result(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                  const void *argument) {
  (void)e;
  row_pass_emitter *s = ((const pass_walk *)argument)->s;
  const row_pass *results = &s->plan->passes.row_results;
  for (int t = 0; t < s->tensor_count; t++) s->tensors[t] = outputs[t];
  row_point at = {.at = *point};
  if (s->plan->is_column) at.column = point->values[--at.at.count];
  row_passes_store(s, b, results, row_passes_call(s, b, results->body, &at), &at);
  for (int t = 0; t < s->tensor_count; t++) outputs[t] = s->tensors[t];
  return status_ok();
}

static heddle_status emit_results(row_pass_emitter *s) {
  const row_pass *results = &s->plan->passes.row_results;
  if (results->body < 0) return status_ok();
  arena *a = s->entry->kernel->arena;
  kernel_entry loop = *s->entry;
  loop.carried = s->tensor_count;
  loop.outputs = arena_array(a, MlirValue, s->tensor_count);
  bool *changes = arena_array(a, bool, s->tensor_count);
  row_passes_written(s, results, changes);
  for (int t = 0; t < s->tensor_count; t++) loop.outputs[t] = s->tensors[t];
  const indexing_map *map = emit_grid_reduction_results(a, s->entry->kernel->plan);
  TRY(emit_entry_loop_changing(&loop, map, s->entry->ids.data, changes, visit_result, &(pass_walk){.s = s}));
  for (int t = 0; t < s->tensor_count; t++) s->tensors[t] = loop.outputs[t];
  return status_ok();
}

heddle_status emit_grid_reduction_entry(kernel_emitter *k, const target_description *target) {
  const hero_reduction *plan = &k->plan->details.grid_reduction.on_tiles;
  kernel_entry e;
  row_pass_emitter s;
  TRY(emit_entry_begin(k, target, &e));
  TRY(row_passes_begin(&s, &e, plan));
  for (int n = 0; n < plan->passes.pass_count; n++) TRY(emit_pass(&s, n));
  TRY(emit_results(&s));
  for (int o = 0; o < k->plan->output_count; o++) e.outputs[o] = s.tensors[o];
  emit_entry_end(&e);
  return status_ok();
}
