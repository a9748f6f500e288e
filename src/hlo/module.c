// Building and changing modules: every edge of the graph is made and cut here, so that users stay in step.
//
// Names: a generated name ends in a number above that of every name seen before, which makes it unique without a
// search.
#include "hlo/module.h"

#include <limits.h>

module *module_create(arena *a, str name) {
  module *m = arena_new(a, module);
  m->arena = a;
  m->name = str_copy(a, name);
  return m;
}

int64_t module_open_count(const module *m, const shape *s) {
  int64_t count = 1;
  for (int d = 0; m->open_from > 0 && d < s->rank; d++)
    if (s->dims[d] >= m->open_from) count *= s->dims[d];
  return count;
}

// Remembers the number a name ends in (`add.17`), so that no generated name repeats it.
static void note_number(module *m, str name) {
  int64_t number = 0, digit = 1;
  size_t i = name.size;
  for (; i > 0 && name.data[i - 1] >= '0' && name.data[i - 1] <= '9' && digit < INT_MAX / 10; i--, digit *= 10)
    number += (name.data[i - 1] - '0') * digit;
  if (i > 0 && i < name.size && name.data[i - 1] == '.' && number >= m->next_name) m->next_name = (int)number + 1;
}

static str generate_name(module *m, str stem) {
  const char *name = arena_printf(m->arena, STR_FMT ".%d", STR_ARG(stem), m->next_name++);
  return str_from(name);
}

computation *module_add_computation(module *m, str name) {
  computation *c = arena_new(m->arena, computation);
  note_number(m, name);
  bool is_new = name.size && !str_map_has(&m->computation_names, name);
  c->name = is_new ? str_copy(m->arena, name) : generate_name(m, name.size ? name : STR("computation"));
  c->module = m;
  str_map_put(m->arena, &m->computation_names, c->name, c);
  vec_push(m->arena, &m->computations, c);
  return c;
}

void module_remove_computation(module *m, computation *c) {
  int i = m->computations.size - 1;
  while (i >= 0 && m->computations.data[i] != c) i--;
  if (i < 0) return;
  memmove(&m->computations.data[i], &m->computations.data[i + 1],
          (size_t)(m->computations.size - i - 1) * sizeof *m->computations.data);
  m->computations.size--;
  str_map_put(m->arena, &m->computation_names, c->name, NULL);
}

computation *module_find_computation(const module *m, str name) { return str_map_get(&m->computation_names, name); }

static void set_operands(instruction *i, int count, instruction *const *operands) {
  arena *a = i->parent->module->arena;
  i->operand_count = count;
  i->operands = arena_array(a, instruction *, count);
  for (int k = 0; k < count; k++) {
    i->operands[k] = operands[k];
    if (operands[k]) vec_push(a, &operands[k]->users, i);
  }
}

instruction *computation_add(computation *c, hlo_opcode opcode, str name, const shape *s, int operand_count,
                             instruction *const *operands) {
  module *m = c->module;
  instruction *i = arena_new(m->arena, instruction);
  i->opcode = opcode;
  i->id = m->next_id++;
  note_number(m, name);
  i->name = name.size ? str_copy(m->arena, name) : generate_name(m, str_from(hlo_op_text(opcode)));
  i->shape = s;
  i->attributes = attributes_create(m->arena);
  i->parent = c;
  set_operands(i, operand_count, operands);
  vec_push(m->arena, &c->instructions, i);
  return i;
}

// Parameters may come in any order; the list is kept sorted by number. A gap or a repeated number is for the verifier.
instruction *computation_add_parameter(computation *c, int number, str name, const shape *s) {
  instruction *i = computation_add(c, HLO_PARAMETER, name, s, 0, NULL);
  i->attributes->index = number;
  vec_push(c->module->arena, &c->parameters, i);
  int k = c->parameters.size - 1;
  for (; k > 0 && c->parameters.data[k - 1]->attributes->index > number; k--)
    c->parameters.data[k] = c->parameters.data[k - 1];
  c->parameters.data[k] = i;
  return i;
}

instruction *computation_add_copy(computation *c, const instruction *from, instruction *const *operands) {
  instruction *i = computation_add(c, from->opcode, from->name, from->shape, from->operand_count, operands);
  i->attributes = attributes_copy(c->module->arena, from->attributes);
  i->literal = from->literal;
  i->where = from->where;
  if (from->called_count > 0) instruction_set_called(i, from->called_count, from->called);
  return i;
}

// Takes out the last entry equal to `i`: what is removed was usually added late.
static void list_remove(instruction_list *list, const instruction *i) {
  int k = list->size - 1;
  while (k >= 0 && list->data[k] != i) k--;
  if (k < 0) return;
  memmove(&list->data[k], &list->data[k + 1], (size_t)(list->size - k - 1) * sizeof *list->data);
  list->size--;
}

// Parameters above a removed one move down by one.
void computation_remove(computation *c, instruction *i) {
  computation_detach(c, i);
  list_remove(&c->instructions, i);
}

void computation_drop_detached(computation *c) {
  int kept = 0;
  for (int k = 0; k < c->instructions.size; k++)
    if (c->instructions.data[k]->parent) c->instructions.data[kept++] = c->instructions.data[k];
  c->instructions.size = kept;
}

void computation_detach(computation *c, instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    if (i->operands[k]) list_remove(&i->operands[k]->users, i);
  if (i->opcode == HLO_PARAMETER) {
    list_remove(&c->parameters, i);
    for (int k = 0; k < c->parameters.size; k++)
      if (c->parameters.data[k]->attributes->index > i->attributes->index) c->parameters.data[k]->attributes->index--;
  }
  i->operand_count = 0;
  i->parent = NULL;
}

void computation_set_root(computation *c, instruction *i) { c->root = i; }

void instruction_set_operand(instruction *i, int index, instruction *to) {
  instruction *from = i->operands[index];
  if (from == to) return;
  if (from) list_remove(&from->users, i);
  i->operands[index] = to;
  if (to) vec_push(i->parent->module->arena, &to->users, i);
}

void instruction_set_called(instruction *i, int count, computation *const *called) {
  i->called_count = count;
  i->called = arena_array(i->parent->module->arena, computation *, count);
  if (count) memcpy(i->called, called, (size_t)count * sizeof *called);
}

// From the operand behind the last one found: operands are mostly replaced one after the other.
static int find_operand(instruction *user, const instruction *operand) {
  const int count = user->operand_count;
  for (int k = 0; k < count; k++) {
    if (user->next_use >= count) user->next_use = 0;
    const int index = user->next_use++;
    if (user->operands[index] == operand) return index;
  }
  return -1;
}

// Uses of `from` by `to` itself stay: replacing x by f(x) must not make f its own operand.
void instruction_replace_uses(instruction *from, instruction *to) {
  if (from == to) return;
  arena *a = from->parent->module->arena;
  instruction_list users = from->users;
  from->users = (instruction_list){0};
  for (int k = 0; k < users.size; k++) {
    instruction *user = users.data[k];
    if (user == to) {
      vec_push(a, &from->users, user);
      continue;
    }
    // A user of several operands equal to `from` is listed once for each: replace one of them per entry.
    const int index = find_operand(user, from);
    if (index < 0) continue;
    user->operands[index] = to;
    vec_push(a, &to->users, user);
  }
  if (from->parent->root == from) from->parent->root = to;
}

int instruction_user_count(const instruction *i) {
  if (i->users.size < 2) return i->users.size;
  arena *scratch = arena_create();
  ptr_map seen = {0};
  for (int k = 0; k < i->users.size; k++)
    if (k == 0 || i->users.data[k] != i->users.data[k - 1]) ptr_map_put(scratch, &seen, i->users.data[k], NULL);
  int count = seen.size;
  arena_destroy(scratch);
  return count;
}

const shape *instruction_operand_shape(const instruction *i, int index) { return i->operands[index]->shape; }
