// Staged rows. A block's rows lie one behind the other, so its threads read them as one run whatever their length is,
// and a result has a thread of its own. That thread begins with the initial value and takes the elements in their
// order: it is right for every reducer.
#include "emit/grid_staged.h"

#include "emit/grid_reduction_maps.h"

// One reduction of a pass.
typedef struct staged_row {
  row_pass_emitter *s;
  const row_reduction *reduction;
  const int *tensors;  // by value
} staged_row;

static kernel_emitter *kernel_of(const row_pass_emitter *s) { return s->entry->kernel; }

static kernel_entry with_tensors(const row_pass_emitter *s) {
  kernel_entry e = *s->entry;
  e.carried = s->tensor_count;
  e.outputs = s->tensors;
  return e;
}

const int *grid_staged_allocate(row_pass_emitter *s, const row_pass *pass) {
  const hero_grid_reduction *h = &kernel_of(s)->plan->details.grid_reduction;
  const int64_t size = h->piece > 0 ? h->on_tiles.tile * h->spans * (h->piece + h->pad)
                                    : h->threads * (h->on_tiles.passes.space.reduced + h->pad);
  kernel_entry e = with_tensors(s);
  VEC(int) tensors = {0};
  for (int i = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    for (int v = 0; v < r->count; v++) {
      const MlirType type = emit_element_type(e.kernel->context, r->reduce->operands[v]->shape->dtype);
      vec_push(e.kernel->arena, &tensors, emit_entry_allocate(&e, type, size));
    }
  }
  s->tensors = e.outputs;
  s->tensor_count = e.carried;
  return tensors.data;
}

// Leaves an element of each reduction at `place`.
static void leave(row_pass_emitter *s, ir_builder *b, const row_pass *pass, const int *tensors,
                  const MlirValue *results, MlirValue place) {
  for (int i = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    for (int v = 0; v < r->count; v++, tensors++)
      s->tensors[*tensors] = emit_insert(b, results[r->first_result + v], s->tensors[*tensors], 1, &place);
  }
}

void grid_staged_visit(row_pass_emitter *s, ir_builder *b, const row_pass *pass, const int *stages,
                       const MlirValue *point, MlirValue *outputs) {
  const int groups = s->plan->passes.space.group_count;
  for (int t = 0; t < s->tensor_count; t++) s->tensors[t] = outputs[t];
  const row_point at = {
      .at = {.count = groups, .values = (MlirValue *)point}, .is_element = true, .column = point[groups]};
  const MlirValue *results = row_passes_call(s, b, pass->body, &at);
  row_passes_store(s, b, pass, results, &at);
  leave(s, b, pass, stages, results, point[groups + 1]);
  for (int t = 0; t < s->tensor_count; t++) outputs[t] = s->tensors[t];
}

void grid_staged_changes(const row_pass_emitter *s, const row_pass *pass, const int *stages, bool *changes) {
  row_passes_written(s, pass, changes);
  for (int i = 0; i < pass->reductions.size; i++)
    for (int v = 0; v < pass->reductions.data[i].count; v++) changes[*stages++] = true;
}

void grid_staged_take(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const int *stages,
                      const MlirValue *tensors, const MlirValue *place, MlirValue *so_far) {
  MlirValue *x = arena_array(b->arena, MlirValue, r->count);
  for (int v = 0; v < r->count; v++) x[v] = emit_extract(b, tensors[stages[v]], 1, place);
  row_passes_combine(s, b, r, so_far, x, so_far);
}

// Carries the tensors, then what has been combined.
static heddle_status take_element(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                  const void *argument) {
  (void)e;
  const staged_row *row = argument;
  row_pass_emitter *s = row->s;
  grid_staged_take(s, b, row->reduction, row->tensors, outputs, point->values, outputs + s->tensor_count);
  return status_ok();
}

static heddle_status combine(const staged_row *row) {
  row_pass_emitter *s = row->s;
  const row_reduction *r = row->reduction;
  arena *a = kernel_of(s)->arena;
  const int tensors = s->tensor_count;
  kernel_entry e = *s->entry;
  e.carried = tensors + r->count;
  e.outputs = arena_array(a, MlirValue, e.carried);
  bool *changes = arena_array(a, bool, e.carried);
  for (int t = 0; t < tensors; t++) e.outputs[t] = s->tensors[t];
  for (int v = 0; v < r->count; v++) {
    e.outputs[tensors + v] = row_passes_to_accumulator(&e.b, r, v, s->inits[r->first_init + v]);
    changes[tensors + v] = true;
  }
  const indexing_map *map = emit_grid_reduction_staged(a, kernel_of(s)->plan);
  TRY(emit_entry_loop_changing(&e, map, s->entry->ids.data, changes, take_element, row));
  for (int v = 0; v < r->count; v++) {
    const int result = s->tensor_of[r->first_carried + v];
    s->tensors[result] = emit_insert(&s->entry->b, e.outputs[tensors + v], s->tensors[result], 1, s->entry->ids.data);
  }
  return status_ok();
}

heddle_status grid_staged_combine(row_pass_emitter *s, const row_pass *pass, const int *tensors) {
  if (pass->reductions.size == 0) return status_ok();
  kernel_entry e = with_tensors(s);
  emit_entry_sync(&e, tensors[0]);
  for (int i = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    TRY(combine(&(staged_row){s, r, tensors}));
    tensors += r->count;
  }
  emit_entry_sync(&e, kernel_of(s)->plan->output_count);
  return status_ok();
}
