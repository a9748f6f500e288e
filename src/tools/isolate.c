// Clones the module, called computations and all, and gives the clone a new entry that holds one instruction: so
// nothing has to be known about what an instruction can refer to.
#include "tools/isolate.h"

static bool is_array_or_tuple_of_arrays(const shape *s) {
  if (!shape_is_tuple(s)) return shape_is_array(s);
  // Tuples nest at most SHAPE_MAX_NESTING deep.
  for (int i = 0; i < s->tuple_size; i++)
    if (!is_array_or_tuple_of_arrays(s->elements[i])) return false;
  return true;
}

bool isolate_is_worth_it(const instruction *i) {
  switch (i->opcode) {
    case HLO_PARAMETER:
    case HLO_CONSTANT:
    case HLO_TUPLE:
    case HLO_GET_TUPLE_ELEMENT: return false;
    default: break;
  }
  bool has_values = is_array_or_tuple_of_arrays(i->shape);
  for (int k = 0; k < i->operand_count; k++) has_values &= is_array_or_tuple_of_arrays(i->operands[k]->shape);
  return has_values;
}

static instruction *copy_of(computation *into, const instruction *from, int operand_count, instruction **operands) {
  instruction *i = computation_add(into, from->opcode, from->name, from->shape, operand_count, operands);
  i->attributes = from->attributes;
  i->literal = from->literal;
  i->where = from->where;
  if (from->called_count) instruction_set_called(i, from->called_count, from->called);
  return i;
}

// The operand as the new computation has it: a copy of a constant, else a parameter; the same operand twice is one.
static instruction *provide(arena *a, computation *into, ptr_map *made, const instruction *operand) {
  instruction *i = ptr_map_get(made, operand);
  if (i) return i;
  if (operand->opcode == HLO_CONSTANT) i = copy_of(into, operand, 0, NULL);
  else i = computation_add_parameter(into, into->parameters.size, operand->name, operand->shape);
  ptr_map_put(a, made, operand, i);
  return i;
}

module *isolate_instruction(arena *a, const module *m, int position) {
  module *clone = module_clone(a, m);
  computation *old = clone->entry;
  const instruction *wanted = old->instructions.data[position];
  computation *entry = module_add_computation(clone, STR("isolated"));
  instruction **operands = arena_array(a, instruction *, wanted->operand_count);
  ptr_map made = {0};
  for (int k = 0; k < wanted->operand_count; k++) operands[k] = provide(a, entry, &made, wanted->operands[k]);
  computation_set_root(entry, copy_of(entry, wanted, wanted->operand_count, operands));
  clone->entry = entry;
  module_remove_computation(clone, old);
  // What the header says of the old entry (layouts, aliases, schedule) does not hold of the new one.
  clone->attributes.size = 0;
  clone->is_scheduled = false;
  clone->entry_parameters_layout = clone->entry_result_layout = NULL;
  return clone;
}
