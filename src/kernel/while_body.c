// Copies go from what a body has to yield to operands. Values that the loop keeps are copied from outside of it, or are
// inputs of the kernel; carried ones and the counter are arguments. Where the state lies in memory, copying ends at
// what an earlier step has stored, and matrices may be taken from transposed copies.
#include "kernel/while_body.h"

#include "hlo/builder.h"

// `argument`: see kernel_body.
static instruction *add_argument(while_body *m, const shape *s, int argument) {
  const int number = m->arguments.size;
  str name = str_from(arena_printf(m->arena, argument < 0 ? "value_%d" : "input_%d", number));
  vec_push(m->arena, &m->arguments, argument);
  return computation_add_parameter(m->to, number, name, s);
}

static instruction *spread(while_body *m, instruction *scalar, const shape *dims) {
  if (dims->rank == 0) return scalar;
  const shape *s = shape_array(m->arena, scalar->shape->dtype, dims->rank, dims->dims);
  return computation_add(m->to, HLO_BROADCAST, (str){0}, s, 1, &scalar);
}

static const instruction *origin_of(const while_body *m, const instruction *i);

// The other dim of the matrix is contracted, since it is read transposed.
static void turn_operand(while_body *m, instruction *dot, int number) {
  hlo_attributes *x = attributes_copy(m->arena, dot->attributes);
  int64_t *first = arena_array(m->arena, int64_t, 1);
  int_list *contracted = number == 0 ? &x->lhs_contracting_dims : &x->rhs_contracting_dims;
  *contracted = (int_list){.data = first, .size = 1};
  dot->attributes = x;
}

static instruction *turned_matrix(while_body *m, const instruction *matrix, int array) {
  instruction *known = ptr_map_get(&m->turned_copies, matrix);
  if (known) return known;
  const int64_t dims[] = {matrix->shape->dims[1], matrix->shape->dims[0]};
  known = add_argument(m, shape_array(m->arena, matrix->shape->dtype, 2, dims), -2 - array);
  ptr_map_put(m->arena, &m->turned_copies, matrix, known);
  return known;
}

static instruction *copy_instruction(while_body *m, const instruction *from) {
  if (from->opcode == HLO_PARAMETER) return add_argument(m, from->shape, kernel_plan_input(m->plan, from));
  instruction **operands = arena_array(m->arena, instruction *, from->operand_count);
  for (int k = 0; k < from->operand_count; k++) operands[k] = ptr_map_get(&m->copies, from->operands[k]);
  int turned = -1, array = 0;
  const instruction *matrix = m->turned ? while_body_column_operand(m->state, from, &turned) : NULL;
  if (matrix) array = (int)(intptr_t)ptr_map_get(m->turned, origin_of(m, matrix));
  if (array > 0) operands[turned] = turned_matrix(m, origin_of(m, matrix), array - 1);
  instruction *to = computation_add(m->to, from->opcode, from->name, from->shape, from->operand_count, operands);
  to->attributes = from->attributes;
  to->literal = from->literal;
  to->where = from->where;
  if (from->called_count > 0) instruction_set_called(to, from->called_count, from->called);
  if (array > 0) turn_operand(m, to, turned);
  return to;
}

// What stands for a leaf of the state within a turn; null for what is copied from outside of the loop.
static instruction *leaf_value(while_body *m, int number) {
  const while_leaf *leaf = &m->state->leaves[number];
  const shape *s = m->state->loop->shape->elements[number];
  if (leaf->role == WHILE_COUNTER) return spread(m, add_argument(m, shape_scalar(m->arena, s->dtype), -1), s);
  if (leaf->role != WHILE_CARRIED) return NULL;
  if (m->stored) return add_argument(m, s, -2 - leaf->number);
  return spread(m, add_argument(m, shape_scalar(m->arena, s->dtype), -2 - leaf->number), s);
}

// The instruction that is copied for `i`: values that the loop keeps are those from outside.
static const instruction *origin_of(const while_body *m, const instruction *i) {
  const bool is_leaf = i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER;
  if (!is_leaf || m->state->leaves[i->attributes->index].role != WHILE_KEPT) return i;
  return m->state->values[i->attributes->index];
}

// Copies the instruction, once all it needs has been copied; false if something was pushed that has to come first.
static bool copy_one(while_body *m, instruction_list *stack, const instruction *i) {
  const instruction *origin = origin_of(m, i);
  if (origin != i) {
    instruction *copy = ptr_map_get(&m->copies, origin);
    if (!copy) vec_push(m->arena, stack, (instruction *)origin);
    else ptr_map_put(m->arena, &m->copies, i, copy);
    return copy;
  }
  const int array = m->stored && !ptr_map_has(m->own, i) ? (int)(intptr_t)ptr_map_get(m->stored, i) : 0;
  if (array > 0) {
    ptr_map_put(m->arena, &m->copies, i, add_argument(m, i->shape, -1 - array));
    return true;
  }
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) {
    ptr_map_put(m->arena, &m->copies, i, leaf_value(m, (int)i->attributes->index));
    return true;
  }
  const int before = stack->size;
  for (int k = 0; k < i->operand_count; k++)
    if (!ptr_map_has(&m->copies, i->operands[k])) vec_push(m->arena, stack, i->operands[k]);
  if (stack->size > before) return false;
  ptr_map_put(m->arena, &m->copies, i, copy_instruction(m, i));
  return true;
}

// The value over the dims of the space: an element for each point, or the same for all.
static instruction *in_space(while_body *m, const instruction *root, const shape *space) {
  instruction_list stack = {0};
  vec_push(m->arena, &stack, (instruction *)root);
  while (stack.size > 0) {
    const instruction *i = vec_last(&stack);
    if (ptr_map_has(&m->copies, i) || copy_one(m, &stack, i)) vec_drop(&stack);
  }
  instruction *copy = ptr_map_get(&m->copies, root);
  if (shape_same_dims(copy->shape, space)) return copy;
  if (copy->shape->rank == 0) return spread(m, copy, space);
  const shape *s = shape_array(m->arena, copy->shape->dtype, space->rank, space->dims);
  return computation_add(m->to, HLO_RESHAPE, (str){0}, s, 1, &copy);
}

static kernel_body finish(while_body *m, int count, instruction **elements) {
  const shape **shapes = arena_array(m->arena, const shape *, count);
  for (int n = 0; n < count; n++) shapes[n] = elements[n]->shape;
  const shape *tuple = shape_tuple(m->arena, count, shapes);
  computation_set_root(m->to, computation_add(m->to, HLO_TUPLE, (str){0}, tuple, count, elements));
  return (kernel_body){m->to, m->arguments.data, .first_array = m->stored ? 1 : 0};
}

kernel_body while_body_make(while_body *m, module *in, const char *name, int count, const instruction *const *roots,
                            const shape *space) {
  m->to = module_add_computation(in, str_from(name));
  instruction **elements = arena_array(m->arena, instruction *, count);
  for (int n = 0; n < count; n++) elements[n] = in_space(m, roots[n], space);
  return finish(m, count, elements);
}

kernel_body while_body_make_turned(while_body *m, module *in, const instruction *matrix) {
  static const int64_t swapped[] = {1, 0};
  m->to = module_add_computation(in, STR("turned"));
  const builder b = builder_in(m->to);
  instruction *turned = builder_transpose(&b, in_space(m, matrix, matrix->shape), swapped);
  return finish(m, 1, &turned);
}

const instruction *while_body_column_operand(const while_state *s, const instruction *dot, int *number) {
  if (dot->opcode != HLO_DOT || dot->operand_count != 2 || dot->attributes->lhs_batch_dims.size > 0) return NULL;
  // Neighbouring results go along the last free dim: the right operand's, if it has one.
  *number = dot->operands[1]->shape->rank > 1 ? 1 : 0;
  const instruction *matrix = dot->operands[*number];
  const hlo_attributes *x = dot->attributes;
  const int_list contracted = *number == 1 ? x->rhs_contracting_dims : x->lhs_contracting_dims;
  const bool is_leaf = matrix->opcode == HLO_GET_TUPLE_ELEMENT && matrix->operands[0]->opcode == HLO_PARAMETER;
  if (!is_leaf || s->leaves[matrix->attributes->index].role != WHILE_KEPT || matrix->shape->rank != 2) return NULL;
  return contracted.size == 1 && contracted.data[0] == 1 ? matrix : NULL;
}
