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
  kernel_entry e = with_tensors(s);
  VEC(int) tensors = {0};
  for (int i = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    for (int v = 0; v < r->count; v++) {
      const MlirType type = emit_element_type(e.kernel->context, r->reduce->operands[v]->shape->dtype);
      const int tensor = emit_entry_allocate(&e, type, h->threads * (h->on_tiles.passes.space.reduced + h->pad));
      vec_push(e.kernel->arena, &tensors, tensor);
    }
  }
  s->tensors = e.outputs;
  s->tensor_count = e.carried;
  return tensors.data;
}

void grid_staged_leave(row_pass_emitter *s, ir_builder *b, const row_pass *pass, const int *tensors,
                       const MlirValue *results, MlirValue place) {
  for (int i = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    for (int v = 0; v < r->count; v++, tensors++)
      s->tensors[*tensors] = emit_insert(b, results[r->first_result + v], s->tensors[*tensors], 1, &place);
  }
}

// Carries the tensors, then what has been combined.
static heddle_status take_element(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                  const void *argument) {
  (void)e;
  const staged_row *row = argument;
  const row_reduction *r = row->reduction;
  MlirValue *x = arena_array(b->arena, MlirValue, r->count), *so_far = outputs + row->s->tensor_count;
  for (int v = 0; v < r->count; v++) x[v] = emit_extract(b, outputs[row->tensors[v]], 1, point->values);
  row_passes_combine(row->s, b, r, so_far, x, so_far);
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
