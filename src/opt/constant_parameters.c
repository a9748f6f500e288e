// Constants to parameters: what tests say as constants reaches kernels as data.
//
// A test that holds its own arguments and its expected results is a constant expression, and all that is left of it
// behind the passes is the interpreter's answer: not folding is not enough, since moves of constants, algebra and LLVM
// evaluate as well. Of a parameter nobody knows anything.
#include "opt/constant_parameters.h"

#include "opt/call_inliner.h"
#include "opt/rewrite.h"

// A user's shape or meaning hangs on the value.
static bool must_be_known(const instruction *constant) {
  for (int u = 0; u < constant->users.size; u++) {
    const hlo_opcode user = constant->users.data[u]->opcode;
    if (user == HLO_SET_DIMENSION_SIZE || user == HLO_CUSTOM_CALL) return true;
  }
  return false;
}

static bool becomes_parameter(const instruction *i, const ptr_map *waited_for) {
  return i->opcode == HLO_CONSTANT && shape_is_array(i->shape) && !i->literal->is_elided && !must_be_known(i) &&
         !ptr_map_has(waited_for, i);
}

static void replace(module *m, instruction *constant) {
  computation *entry = m->entry;
  instruction *parameter = computation_add_parameter(entry, entry->parameters.size, constant->name, constant->shape);
  parameter->where = constant->where;
  instruction_replace_uses(constant, parameter);
  computation_detach(entry, constant);
}

// The entry's declared layout names every parameter.
static void extend_layout(module *m, const constant_values *values) {
  const shape *declared = m->entry_parameters_layout;
  if (!declared) return;
  const int given = declared->tuple_size;
  const shape **all = arena_array(m->arena, const shape *, given + values->size);
  for (int k = 0; k < given; k++) all[k] = declared->elements[k];
  for (int k = 0; k < values->size; k++) all[given + k] = m->entry->parameters.data[given + k]->shape;
  m->entry_parameters_layout = shape_tuple(m->arena, given + values->size, all);
}

heddle_status constant_parameters_run(arena *a, module *m, constant_values *values) {
  TRY(call_inliner_run(a, m, NULL));
  instruction_list found = {0};
  ptr_map waited_for = {0};
  rewrite_find_waited_for(a, m->entry, &waited_for);
  for (int k = 0; k < m->entry->instructions.size; k++)
    if (becomes_parameter(m->entry->instructions.data[k], &waited_for))
      vec_push(a, &found, m->entry->instructions.data[k]);
  for (int k = 0; k < found.size; k++) {
    vec_push(a, values, found.data[k]->literal);
    replace(m, found.data[k]);
  }
  computation_drop_detached(m->entry);
  extend_layout(m, values);
  return computation_sort(a, m->entry);
}
