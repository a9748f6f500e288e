// A deep copy of a module into another arena: nothing of the original is shared, unless values may be, so either may be
// changed or freed.
#include "hlo/module.h"

typedef struct clone_state {
  arena *arena;  // the copy's
  arena *scratch;
  const module *from;
  module *to;
  ptr_map computations;  // original -> copy
  ptr_map instructions;
  ptr_map shapes;  // shapes are shared by many instructions, in the copy too
  bool shares_values;
} clone_state;

static const shape *clone_shape(clone_state *s, const shape *from) {
  if (!from) return NULL;
  shape *to = ptr_map_get(&s->shapes, from);
  if (to) return to;
  to = shape_copy(s->arena, from);
  ptr_map_put(s->scratch, &s->shapes, from, to);
  return to;
}

static source_location clone_location(clone_state *s, source_location where) {
  if (where.file && where.file == s->from->file) where.file = s->to->file;
  else if (where.file) where.file = arena_strdup(s->arena, where.file, strlen(where.file));
  return where;
}

static str clone_text(clone_state *s, str from) { return from.size ? str_copy(s->arena, from) : (str){0}; }

static literal *clone_literal(clone_state *s, const literal *from) {
  if (!s->shares_values) return literal_copy(s->arena, from);
  literal *to = arena_new(s->arena, literal);
  *to = *from;
  return to;
}

static void clone_instruction(clone_state *s, const instruction *from, computation *parent) {
  instruction *to = arena_new(s->arena, instruction);
  to->opcode = from->opcode;
  to->name = str_copy(s->arena, from->name);
  to->id = from->id;
  to->shape = clone_shape(s, from->shape);
  to->attributes = attributes_copy(s->arena, from->attributes);
  if (from->literal) to->literal = clone_literal(s, from->literal);
  to->parent = parent;
  to->where = clone_location(s, from->where);
  ptr_map_put(s->scratch, &s->instructions, from, to);
  vec_push(s->arena, &parent->instructions, to);
}

static void clone_list(clone_state *s, const instruction_list *from, instruction_list *to) {
  for (int i = 0; i < from->size; i++) vec_push(s->arena, to, ptr_map_get(&s->instructions, from->data[i]));
}

// Edges are made when every instruction has its copy, in a form that keeps the original order of users.
static void clone_edges(clone_state *s, const instruction *from) {
  instruction *to = ptr_map_get(&s->instructions, from);
  to->operand_count = from->operand_count;
  to->operands = arena_array(s->arena, instruction *, from->operand_count);
  for (int i = 0; i < from->operand_count; i++) to->operands[i] = ptr_map_get(&s->instructions, from->operands[i]);
  to->called_count = from->called_count;
  to->called = arena_array(s->arena, computation *, from->called_count);
  for (int i = 0; i < from->called_count; i++) to->called[i] = ptr_map_get(&s->computations, from->called[i]);
  clone_list(s, &from->users, &to->users);
  clone_list(s, &from->control_predecessors, &to->control_predecessors);
}

static void clone_computation(clone_state *s, const computation *from) {
  computation *to = ptr_map_get(&s->computations, from);
  to->execution_thread = clone_text(s, from->execution_thread);
  to->attributes_text = clone_text(s, from->attributes_text);
  to->where = clone_location(s, from->where);
  for (int i = 0; i < from->instructions.size; i++) clone_instruction(s, from->instructions.data[i], to);
  clone_list(s, &from->parameters, &to->parameters);
  to->root = ptr_map_get(&s->instructions, from->root);
}

static void clone_contents(clone_state *s) {
  const module *from = s->from;
  for (int i = 0; i < from->computations.size; i++) {
    computation *c = from->computations.data[i];
    ptr_map_put(s->scratch, &s->computations, c, module_add_computation(s->to, c->name));
  }
  for (int i = 0; i < from->computations.size; i++) clone_computation(s, from->computations.data[i]);
  for (int i = 0; i < from->computations.size; i++) {
    const instruction_list *instructions = &from->computations.data[i]->instructions;
    for (int k = 0; k < instructions->size; k++) clone_edges(s, instructions->data[k]);
  }
  s->to->entry = ptr_map_get(&s->computations, from->entry);
}

static module *clone(arena *a, const module *m, bool shares_values) {
  module *to = module_create(a, m->name);
  to->file = m->file ? arena_strdup(a, m->file, strlen(m->file)) : NULL;
  clone_state s = {.arena = a, .scratch = arena_create(), .from = m, .to = to, .shares_values = shares_values};
  clone_contents(&s);
  to->is_scheduled = m->is_scheduled;
  for (int i = 0; i < m->attributes.size; i++)
    vec_push(a, &to->attributes,
             (module_attribute){clone_text(&s, m->attributes.data[i].name), clone_text(&s, m->attributes.data[i].value),
                                m->attributes.data[i].where});
  to->entry_parameters_layout = clone_shape(&s, m->entry_parameters_layout);
  to->entry_result_layout = clone_shape(&s, m->entry_result_layout);
  to->tables = clone_text(&s, m->tables);
  to->next_id = m->next_id;
  to->next_name = m->next_name;
  to->open_from = m->open_from;
  to->takes_sizes = m->takes_sizes;
  to->open_multiple = m->open_multiple;
  to->open_is_large = m->open_is_large;
  arena_destroy(s.scratch);
  return to;
}

module *module_clone(arena *a, const module *m) { return clone(a, m, false); }

module *module_clone_around_values(arena *a, const module *m) { return clone(a, m, true); }
