// What a scatter is made of where it is a kernel of its own, on every kind of target: its canonical form, the operands
// that it takes over, and the functions that its emitter calls.
#include "kernel/scatter_form.h"

#include "kernel/same_bytes.h"

static bool is_simplified(const instruction *scatter) {
  const hlo_attributes *x = scatter->attributes;
  const shape *operand = scatter->operands[0]->shape, *updates = scatter->operands[scatter->operand_count - 1]->shape;
  const shape *indices = scatter->operands[scatter->operand_count / 2]->shape;
  if (x->inserted_window_dims.size > 0 || x->input_batching_dims.size > 0 || x->index_vector_dim != 1) return false;
  if (indices->rank != 2 || updates->rank != operand->rank + 1) return false;
  for (int d = 0; d < x->update_window_dims.size; d++)
    if (x->update_window_dims.data[d] != d + 1) return false;
  return x->update_window_dims.size == operand->rank;
}

static bool is_read_by(const instruction *value, const instruction *reader) {
  for (int u = 0; u < value->users.size; u++) {
    const instruction *user = value->users.data[u];
    if (user == reader) continue;
    if (!same_bytes_kept(user) || user->users.size != 1 || user->users.data[0] != reader) return false;
  }
  return true;
}

// Output n is operand n with updates, in the operand's memory; nobody else reads the operand.
static bool is_in_place(const kernel_plan *k, const instruction *scatter, int n) {
  const kernel_output *o = &k->outputs[n];
  const instruction *operand = same_bytes_origin(scatter->operands[n]);
  int element;
  if (same_bytes_writer(o->root, o->element, &element) != scatter || element != n) return false;
  int input = kernel_plan_input(k, operand);
  return input >= 0 && k->inputs[input].slice == o->slice && is_read_by(operand, scatter);
}

const instruction *scatter_form_find(const kernel_plan *k) {
  int element;
  const instruction *scatter = same_bytes_writer(k->outputs[0].root, k->outputs[0].element, &element);
  if (scatter->opcode != HLO_SCATTER || !is_simplified(scatter)) return NULL;
  if (k->output_count != scatter->operand_count / 2) return NULL;
  for (int n = 0; n < k->output_count; n++)
    if (!is_in_place(k, scatter, n)) return NULL;
  return scatter;
}

const shape *scatter_form_updates(const instruction *scatter) {
  return scatter->operands[scatter->operand_count - 1]->shape;
}

int scatter_form_first_unmoved(const instruction *scatter) {
  const int_list *moved = &scatter->attributes->scatter_dims_to_operand_dims;
  int d = scatter->operands[0]->shape->rank;
  while (d > 0 && !int_list_has(*moved, d - 1)) d--;
  return d;
}

// --- parts

static const indexing_map *entry_map(arena *a, int64_t count, int64_t entry) {
  indexing_map *m = indexing_map_create(a, 1, 0, 0, 2, 0);
  m->dims[0].bounds = (interval){0, count - 1};
  m->results[0] = affine_dim(a, 0);
  m->results[1] = affine_constant(a, entry);
  return m;
}

void scatter_form_make_parts(arena *a, kernel_plan *k, const instruction *scatter) {
  int count = scatter->operand_count / 2, entries = scatter->attributes->scatter_dims_to_operand_dims.size;
  const shape *updates_shape = scatter_form_updates(scatter);
  kernel_value *updates = arena_array(a, kernel_value, count), *vector = arena_array(a, kernel_value, entries);
  for (int n = 0; n < count; n++) updates[n] = (kernel_value){.root = scatter->operands[count + 1 + n]};
  for (int j = 0; j < entries; j++)
    vector[j] = (kernel_value){.root = scatter->operands[count], .map = entry_map(a, updates_shape->dims[0], j)};
  kernel_part *parts = arena_array(a, kernel_part, 2);
  parts[0] = (kernel_part){.index_space = updates_shape, .result_count = count, .results = updates};
  const shape *numbers = shape_array(a, DTYPE_S64, 1, updates_shape->dims);
  parts[1] = (kernel_part){.index_space = numbers, .result_count = entries, .results = vector};
  k->parts = parts;
  k->part_count = entries > 0 ? 2 : 1;
}
