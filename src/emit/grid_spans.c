// Rows in order:
//
//   for each piece, carrying partial results:
//     loop over the elements of that piece of all spans of the block: body, leave the results in shared memory, store
//     barrier
//     each thread combines what there is of its own span
//     barrier
//   partial results meet in the order of their spans (grid_combine.c)
//
// So neighbouring threads read neighbouring elements, and yet a thread combines a span of neighbours, one after the
// other. What would save the way through memory, to shuffle after each read, takes five combinations for one.
#include "emit/grid_spans.h"

#include "emit/grid_combine.h"
#include "emit/grid_reduction_maps.h"
#include "emit/grid_staged.h"

// One pass. Loops carry the tensors, then the partial results of all reductions.
typedef struct span_walk {
  row_pass_emitter *s;
  const row_pass *pass;
  const int *stages;
  int values;
} span_walk;

static kernel_emitter *kernel_of(const row_pass_emitter *s) { return s->entry->kernel; }

static heddle_status visit(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                           const void *argument) {
  (void)e;
  const span_walk *w = argument;
  grid_staged_visit(w->s, b, w->pass, w->stages, point->values, outputs);
  return status_ok();
}

static heddle_status take(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                          const void *argument) {
  (void)e;
  const span_walk *w = argument;
  MlirValue *so_far = outputs + w->s->tensor_count;
  const int *stages = w->stages;
  for (int i = 0; i < w->pass->reductions.size; i++) {
    const row_reduction *r = &w->pass->reductions.data[i];
    grid_staged_take(w->s, b, r, stages, outputs, point->values, so_far);
    stages += r->count;
    so_far += r->count;
  }
  return status_ok();
}

static bool *changes_of_visit(const span_walk *w) {
  bool *changes = arena_array(kernel_of(w->s)->arena, bool, w->s->tensor_count + w->values);
  grid_staged_changes(w->s, w->pass, w->stages, changes);
  return changes;
}

static bool *changes_of_take(const span_walk *w) {
  bool *changes = arena_array(kernel_of(w->s)->arena, bool, w->s->tensor_count + w->values);
  for (int v = 0; v < w->values; v++) changes[w->s->tensor_count + v] = true;
  return changes;
}

// `e` goes on at its builder, with the tensors and partial results as its outputs.
static heddle_status do_piece(const span_walk *w, kernel_entry *e, MlirValue piece) {
  row_pass_emitter *s = w->s;
  arena *a = kernel_of(s)->arena;
  const kernel_plan *plan = kernel_of(s)->plan;
  MlirValue *dims = arena_array(a, MlirValue, e->ids.size + 1);
  for (int i = 0; i < e->ids.size; i++) dims[i] = e->ids.data[i];
  dims[e->ids.size] = piece;
  TRY(emit_entry_loop_changing(e, emit_grid_reduction_piece(a, plan), dims, changes_of_visit(w), visit, w));
  if (w->values == 0) return status_ok();
  kernel_entry tensors = *e;
  tensors.carried = s->tensor_count;
  emit_entry_sync(&tensors, w->stages[0]);
  TRY(emit_entry_loop_changing(e, emit_grid_reduction_own_piece(a, plan), dims, changes_of_take(w), take, w));
  emit_entry_sync(&tensors, w->stages[0]);
  return status_ok();
}

static heddle_status visit_piece(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                 const void *argument) {
  (void)point;
  kernel_entry inner = *e;
  inner.b = *b;
  inner.outputs = outputs;
  TRY(do_piece(argument, &inner, mlirBlockGetArgument(b->block, 0)));
  *b = inner.b;
  return status_ok();
}

static int count_values(const row_pass *pass) {
  int count = 0;
  for (int i = 0; i < pass->reductions.size; i++) count += pass->reductions.data[i].count;
  return count;
}

static void start(const span_walk *w, MlirValue *partial) {
  for (int i = 0; i < w->pass->reductions.size; i++) {
    const row_reduction *r = &w->pass->reductions.data[i];
    for (int v = 0; v < r->count; v++) *partial++ = grid_combine_start(w->s, r, v);
  }
}

heddle_status grid_spans_pass(row_pass_emitter *s, int pass) {
  arena *a = kernel_of(s)->arena;
  const kernel_plan *plan = kernel_of(s)->plan;
  span_walk w = {.s = s, .pass = &s->plan->passes.passes[pass]};
  w.values = count_values(w.pass);
  w.stages = grid_staged_allocate(s, w.pass);
  kernel_entry e = *s->entry;
  e.carried = s->tensor_count + w.values;
  e.outputs = arena_array(a, MlirValue, e.carried);
  for (int t = 0; t < s->tensor_count; t++) e.outputs[t] = s->tensors[t];
  start(&w, e.outputs + s->tensor_count);
  if (emit_grid_reduction_pieces(plan) == 1) {
    TRY(do_piece(&w, &e, ir_index(&e.b, 0)));
  } else {
    bool *changes = changes_of_visit(&w);
    for (int v = 0; v < w.values; v++) changes[s->tensor_count + v] = true;
    TRY(emit_entry_loop_changing(&e, emit_grid_reduction_all_pieces(a, plan), s->entry->ids.data, changes, visit_piece,
                                 &w));
  }
  s->entry->b = e.b;
  for (int t = 0; t < s->tensor_count; t++) s->tensors[t] = e.outputs[t];
  return grid_combine_pass(s, pass, e.outputs + s->tensor_count);
}
