// Copies computations. The computations that a copied computation calls are shared, not copied.
#include "hlo/body_copy.h"

void body_copy_one(arena *scratch, const instruction *i, computation *into, bool is_new, ptr_map *copies) {
  arena *a = into->module->arena;
  instruction **operands = arena_array(scratch, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) operands[k] = ptr_map_get(copies, i->operands[k]);
  const str name = is_new ? i->name : STR("");
  instruction *to = computation_add(into, i->opcode, name, i->shape, i->operand_count, operands);
  to->attributes = attributes_copy(a, i->attributes);
  to->literal = i->literal;
  to->where = i->where;
  if (i->called_count > 0) instruction_set_called(to, i->called_count, i->called);
  for (int k = 0; k < i->control_predecessors.size; k++) {
    instruction *before = ptr_map_get(copies, i->control_predecessors.data[k]);
    if (before) vec_push(a, &to->control_predecessors, before);
  }
  ptr_map_put(scratch, copies, i, to);
}

heddle_status body_copy(arena *scratch, const computation *from, computation *into, bool is_new, ptr_map *copies) {
  instruction_list order = {0};
  TRY(computation_post_order(scratch, from, &order));
  for (int k = 0; k < order.size; k++)
    if (order.data[k]->opcode != HLO_PARAMETER && !ptr_map_has(copies, order.data[k]))
      body_copy_one(scratch, order.data[k], into, is_new, copies);
  return status_ok();
}

bool body_copy_takes_elements(const computation *c) {
  if (c->parameters.size != 1 || !shape_is_tuple(c->parameters.data[0]->shape)) return false;
  const instruction *parameter = c->parameters.data[0];
  if (c->root == parameter) return false;
  for (int k = 0; k < parameter->users.size; k++)
    if (parameter->users.data[k]->opcode != HLO_GET_TUPLE_ELEMENT) return false;
  return true;
}

void body_copy_put_elements(arena *scratch, const computation *c, instruction *const *elements, ptr_map *copies) {
  const instruction_list users = c->parameters.data[0]->users;
  for (int k = 0; k < users.size; k++) {
    instruction *element = elements[users.data[k]->attributes->index];
    if (element) ptr_map_put(scratch, copies, users.data[k], element);
  }
}
