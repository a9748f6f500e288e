// Reductions on a grid:
//
//   for each pass:
//     loop over the thread's elements, carrying partial results: body, combine, store
//     threads bring their partial results together (grid_combine.c)
//   or, staged:
//     loop over the block's elements: body, leave the results in shared memory, store
//     each thread combines a row (grid_staged.c)
//   or, rows in order: the same piece by piece, a thread for each span, then as in the first (grid_spans.c)
//   what is computed of the results, by one thread for each
#include "emit/grid_reduction.h"

#include "emit/grid_combine.h"
#include "emit/grid_reduction_maps.h"
#include "emit/grid_spans.h"
#include "emit/grid_staged.h"

// One pass being emitted. What its loop carries is the tensors, then the partial results.
typedef struct pass_walk {
  row_pass_emitter *s;
  const row_pass *pass;
  bool has_lanes;     // partial results are vectors, of which the loop's last range variable says the element
  const int *stages;  // tensors in which elements are left for a thread to combine; null: there are none
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

static MlirValue lane_of(const ir_builder *b, const indexing_map *map) {
  return mlirBlockGetArgument(b->block, map->range_count - 1);
}

static void accumulate(const pass_walk *w, ir_builder *b, const MlirValue *results, MlirValue *partial) {
  const indexing_map *map = emit_grid_reduction_elements(b->arena, w->s->entry->kernel->plan);
  for (int i = 0, done = 0; i < w->pass->reductions.size; i++) {
    const row_reduction *r = &w->pass->reductions.data[i];
    MlirValue *so_far = arena_array(b->arena, MlirValue, 2 * r->count), *next = so_far + r->count;
    for (int v = 0; v < r->count; v++) {
      const MlirType type = emit_element_type(b->context, r->accumulators[v]);
      so_far[v] = w->has_lanes ? grid_combine_get(b, partial[done + v], lane_of(b, map), type) : partial[done + v];
    }
    row_passes_combine(w->s, b, r, so_far, results + r->first_result, next);
    for (int v = 0; v < r->count; v++, done++)
      partial[done] = w->has_lanes ? grid_combine_put(b, next[v], partial[done], lane_of(b, map)) : next[v];
  }
}

static void start(const pass_walk *w, MlirValue *partial) {
  for (int i = 0, next = 0; i < w->pass->reductions.size; i++) {
    const row_reduction *r = &w->pass->reductions.data[i];
    for (int v = 0; v < r->count; v++, next++) {
      partial[next] = grid_combine_start(w->s, r, v);
      if (w->has_lanes) partial[next] = grid_combine_spread(&w->s->entry->b, partial[next], hero_of(w->s)->vector);
    }
  }
}

// --- passes

static heddle_status visit(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                           const void *argument) {
  (void)e;
  const pass_walk *w = argument;
  row_pass_emitter *s = w->s;
  if (w->stages) {
    grid_staged_visit(s, b, w->pass, w->stages, point->values, outputs);
    return status_ok();
  }
  const int groups = s->plan->passes.space.group_count;
  for (int t = 0; t < s->tensor_count; t++) s->tensors[t] = outputs[t];
  row_point at = {.at = {.count = groups, .values = point->values}, .is_element = true};
  if (s->plan->is_column) at.column = point->values[groups];
  const MlirValue *results = row_passes_call(s, b, w->pass->body, &at);
  row_passes_store(s, b, w->pass, results, &at);
  if (!hero_of(s)->is_staged) accumulate(w, b, results, outputs + s->tensor_count);
  for (int t = 0; t < s->tensor_count; t++) outputs[t] = s->tensors[t];
  return status_ok();
}

static heddle_status emit_pass(row_pass_emitter *s, int number) {
  const row_pass *pass = &s->plan->passes.passes[number];
  if (pass->body < 0) return status_ok();
  if (hero_of(s)->piece > 0) return grid_spans_pass(s, number);
  arena *a = s->entry->kernel->arena;
  const bool is_staged = hero_of(s)->is_staged;
  const int staged_values = is_staged ? count_values(pass) : 0;
  const int values = is_staged ? 0 : count_values(pass);
  pass_walk w = {s, pass, s->plan->is_column && hero_of(s)->vector > 1, NULL};
  if (staged_values > 0) w.stages = grid_staged_allocate(s, pass);
  const int carried = s->tensor_count + values;
  kernel_entry loop = *s->entry;
  loop.carried = carried;
  loop.outputs = arena_array(a, MlirValue, carried);
  bool *changes = arena_array(a, bool, carried);
  row_passes_written(s, pass, changes);
  for (int t = 0; t < s->tensor_count; t++) loop.outputs[t] = s->tensors[t];
  for (int v = 0; v < values; v++) changes[s->tensor_count + v] = true;
  for (int v = 0; v < staged_values; v++) changes[w.stages[v]] = true;
  if (!is_staged) start(&w, loop.outputs + s->tensor_count);
  const indexing_map *map = emit_grid_reduction_elements(a, s->entry->kernel->plan);
  TRY(emit_entry_loop_changing(&loop, map, s->entry->ids.data, changes, visit, &w));
  for (int t = 0; t < s->tensor_count; t++) s->tensors[t] = loop.outputs[t];
  return is_staged ? grid_staged_combine(s, pass, w.stages)
                   : grid_combine_pass(s, number, loop.outputs + s->tensor_count);
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

heddle_status emit_grid_reduction(kernel_entry *e) {
  const kernel_plan *kernel = e->kernel->plan;
  const hero_reduction *plan = &kernel->details.grid_reduction.on_tiles;
  row_pass_emitter s;
  TRY(row_passes_begin(&s, e, plan));
  for (int n = 0; n < plan->passes.pass_count; n++) TRY(emit_pass(&s, n));
  TRY(emit_results(&s));
  for (int o = 0; o < kernel->output_count; o++) e->outputs[o] = s.tensors[o];
  return status_ok();
}

heddle_status emit_grid_reduction_entry(kernel_emitter *k, const target_description *target) {
  kernel_entry e;
  TRY(emit_entry_begin(k, target, &e));
  TRY(emit_grid_reduction(&e));
  emit_entry_end(&e);
  return status_ok();
}
