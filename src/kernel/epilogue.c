// Finds a kernel's heroes and makes the part of the kernel that consumes their values.
#include "kernel/epilogue.h"

#include "index/hlo_indexing.h"

enum { MAX_EPILOGUE_OPS = 1000 };  // partitioned into one function, which no given value must leave

// Does not depend on a hero; is one; elementwise of one; bitcast of such, or elementwise of bitcasts.
enum { APART, HERO, BEHIND, MOVED };

// What is elementwise of bitcasts has a twin over the heroes' dims.
typedef struct marking {
  arena *arena;
  const shape *dims;  // of the heroes
  ptr_map twins;
} marking;

void kernel_epilogue_heroes(arena *a, const target_description *target, const instruction_list *body, hlo_opcode opcode,
                            kernel_alike_fn is_alike, instruction_list *heroes) {
  enum { APART_FROM_HEROES, FEEDS_A_HERO };
  for (int n = 0; n < body->size; n++) body->data[n]->mark = APART_FROM_HEROES;
  for (int n = body->size - 1; n >= 0; n--) {
    instruction *i = body->data[n];
    bool is_hero = i->opcode == opcode && i->mark == APART_FROM_HEROES;
    if (is_hero && !is_alike(target, heroes->size > 0 ? heroes->data[0] : i, i)) is_hero = false;
    if (is_hero) vec_push(a, heroes, i);
    for (int k = 0; k < i->operand_count; k++)
      if (is_hero || i->mark == FEEDS_A_HERO) i->operands[k]->mark = FEEDS_A_HERO;
  }
}

static bool is_move(const instruction *i) { return i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE; }

static bool is_elementwise(const instruction *i, const shape *dims) {
  hlo_index_rule rule = hlo_ops[i->opcode].index_rule;
  if (rule == INDEX_RULE_GET_TUPLE_ELEMENT) return i->operands[0]->mark == HERO && shape_same_dims(i->shape, dims);
  if (rule != INDEX_RULE_ELEMENTWISE || !shape_is_array(i->shape)) return false;
  for (int n = 0; n < i->operand_count; n++)
    if (!shape_same_dims(i->operands[n]->shape, dims)) return false;
  return shape_same_dims(i->shape, dims);
}

static const shape *dims_of(const instruction *hero) {
  return shape_is_tuple(hero->shape) ? hero->shape->elements[0] : hero->shape;
}

// --- twins

// What a bitcast of a hero's consumers shows, over the heroes' dims.
static instruction *unmoved(const marking *m, const instruction *i) {
  while (i->mark == MOVED) {
    instruction *twin = ptr_map_get(&m->twins, i);
    if (twin) return twin;
    i = i->operands[0];
  }
  return (instruction *)i;
}

static instruction *over_dims(const marking *m, const instruction *like) {
  instruction *i = arena_new(m->arena, instruction);
  *i = *like;
  i->shape = shape_array(m->arena, like->shape->dtype, m->dims->rank, m->dims->dims);
  i->users = (instruction_list){0};
  i->operands = arena_array(m->arena, instruction *, like->operand_count > 0 ? like->operand_count : 1);
  return i;
}

static instruction *reshaped(const marking *m, instruction *apart) {
  if (shape_same_dims(apart->shape, m->dims)) return apart;
  instruction *i = over_dims(m, apart);
  i->opcode = HLO_RESHAPE;
  i->attributes = arena_new(m->arena, hlo_attributes);
  i->literal = NULL;
  i->called_count = 0;
  i->operand_count = 1;
  i->operands[0] = apart;
  return i;
}

// The bitcast behind instead of before.
static void add_twin(marking *m, const instruction *of) {
  instruction *twin = over_dims(m, of);
  for (int k = 0; k < of->operand_count; k++) {
    instruction *x = of->operands[k];
    twin->operands[k] = x->mark == APART ? reshaped(m, x) : unmoved(m, x);
  }
  twin->mark = BEHIND;
  ptr_map_put(m->arena, &m->twins, of, twin);
}

// --- consumers

static bool mark_consumer(marking *m, instruction *i) {
  bool depends = false, moved = false;
  for (int k = 0; k < i->operand_count; k++) {
    depends |= i->operands[k]->mark != APART;
    moved |= i->operands[k]->mark == MOVED;
  }
  if (!depends) return true;
  if (!moved && is_elementwise(i, m->dims)) {
    i->mark = BEHIND;
    return true;
  }
  const bool is_bitcast = is_move(i);
  if (i->shape->layout || (!is_bitcast && !is_elementwise(i, i->shape))) return false;
  if (!is_bitcast) add_twin(m, i);
  i->mark = MOVED;
  return true;
}

// Marks everything in the body; false where a consumer is not elementwise.
static bool mark_consumers(marking *m, const instruction_list *body, int hero_count, const instruction *const *heroes) {
  int behind = 0;
  for (int n = 0; n < body->size; n++) body->data[n]->mark = APART;
  for (int h = 0; h < hero_count; h++) ((instruction *)heroes[h])->mark = HERO;
  for (int n = 0; n < body->size; n++) {
    instruction *i = body->data[n];
    if (i->mark == HERO) continue;
    if (!mark_consumer(m, i)) return false;
    behind += i->mark != APART;
    if (behind > MAX_EPILOGUE_OPS) return false;
  }
  return true;
}

bool kernel_epilogue_find(arena *a, const kernel_plan *k, const instruction_list *body, int hero_count,
                          const instruction *const *heroes, kernel_epilogue *out) {
  const shape *dims = dims_of(heroes[0]);
  for (int h = 1; h < hero_count; h++)
    if (!shape_same_dims(dims_of(heroes[h]), dims)) return false;
  marking m = {.arena = a, .dims = dims};
  if (!mark_consumers(&m, body, hero_count, heroes)) return false;
  kernel_value *results = arena_array(a, kernel_value, k->output_count);
  out->maps = arena_array(a, const indexing_map *, k->output_count);
  bool *is_apart = arena_array(a, bool, k->output_count);
  out->is_apart = is_apart;
  for (int n = 0; n < k->output_count; n++) {
    const kernel_output *o = &k->outputs[n];
    const instruction *root = unmoved(&m, o->root);
    if (shape_element_count(o->shape) != shape_element_count(dims)) return false;
    results[n] = (kernel_value){.root = root, .element = o->element};
    is_apart[n] = root->mark == APART;
    if (shape_same_dims(o->shape, dims)) continue;
    out->maps[n] = hlo_indexing_reshape(a, dims, o->shape);
    if (is_apart[n]) results[n].map = out->maps[n];
  }
  out->part = (kernel_part){.index_space = dims,
                            .result_count = k->output_count,
                            .results = results,
                            .given_count = hero_count,
                            .given = heroes};
  return true;
}
