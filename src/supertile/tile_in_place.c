// Who reads the array is known from the data flow alone: who does not wait for the loop can run before it.
#include "supertile/tile_in_place.h"

// What the externals are computed from, as far back as `from`.
static void find_ancestors(const tile_search *s, const tile_group *g, const instruction *from, ptr_map *out) {
  instruction_list work = {0};
  for (int k = 0; k < g->externals.size; k++) vec_push(s->arena, &work, g->externals.data[k]);
  for (int w = 0; w < work.size; w++) {
    instruction *i = work.data[w];
    if (tile_search_order(s, i) <= tile_search_order(s, from) || ptr_map_has(out, i)) continue;
    ptr_map_put(s->arena, out, i, i);
    for (int k = 0; k < i->operand_count; k++) vec_push(s->arena, &work, i->operands[k]);
  }
}

// What needs the bottom, wherever it stands.
static void find_descendants(const tile_search *s, const instruction *bottom, ptr_map *out) {
  instruction_list work = {0};
  vec_push(s->arena, &work, (instruction *)bottom);
  for (int w = 0; w < work.size; w++) {
    const instruction_list users = work.data[w]->users;
    for (int u = 0; u < users.size; u++) {
      if (ptr_map_has(out, users.data[u])) continue;
      ptr_map_put(s->arena, out, users.data[u], users.data[u]);
      vec_push(s->arena, &work, users.data[u]);
    }
  }
}

static bool is_among(const ptr_map *set, const tile_search *s, const instruction *i) {
  return ptr_map_has(set, i) || ptr_map_has(&s->dead, i);
}

// Whether somebody outside reads what the instruction has computed there. `gone` are members that only the loop
// computes.
static bool is_read_outside(const tile_search *s, const ptr_map *gone, const instruction *i) {
  for (int u = 0; u < i->users.size; u++)
    if (!is_among(gone, s, i->users.data[u])) return true;
  return i == i->parent->root || i->control_predecessors.size > 0;
}

// Whether the instruction is done with what it reads when it has run: what no step stores is computed by its readers.
static bool runs_apart(const tile_search *s, const instruction *i) {
  return hlo_op_has(i->opcode, TRAIT_CONTROL) || plan_steps_of(s->steps, i);
}

// Whether the tuple is what loops begin with that run before, and that leave nothing of the array behind.
static bool is_read_by_loops(const ptr_map *ancestors, const instruction *tuple, const instruction *array) {
  for (int u = 0; u < tuple->users.size; u++) {
    const instruction *loop = tuple->users.data[u];
    if (loop->opcode != HLO_WHILE || !ptr_map_has(ancestors, loop)) return false;
    for (int k = 0; k < loop->users.size; k++) {
      const instruction *x = loop->users.data[k];
      if (x->opcode != HLO_GET_TUPLE_ELEMENT) return false;
      if (tuple->operands[x->attributes->index] == array && x->users.size > 0) return false;
    }
  }
  return tuple->opcode == HLO_TUPLE;
}

// Whether nobody reads the array behind the loop: those whose steps give what the loop reads run before it.
static bool is_last_read(const tile_search *s, const tile_group *g, const ptr_map *gone, const instruction *array) {
  ptr_map ancestors = {0};
  find_ancestors(s, g, array, &ancestors);
  for (int u = 0; u < array->users.size; u++) {
    const instruction *user = array->users.data[u];
    const bool runs_before =
        ptr_map_has(&ancestors, user) && (plan_steps_of(s->steps, user) || is_read_by_loops(&ancestors, user, array));
    if (!runs_before && !is_among(gone, s, user)) return false;
  }
  return array != array->parent->root && array->control_predecessors.size == 0;
}

// Whether nobody has to read the donated parameter behind the loop: whoever does not need what it writes can run before
// it, and is made to (lhlo/schedule.c).
static bool may_be_last_read(const tile_search *s, const tile_group *g, const ptr_map *gone, const instruction *array) {
  ptr_map descendants = {0}, seen = {0};
  instruction_list work = {0};
  find_descendants(s, g->bottom, &descendants);
  vec_push(s->arena, &work, (instruction *)array);
  for (int w = 0; w < work.size; w++) {
    const instruction *x = work.data[w];
    if (x == x->parent->root || x->control_predecessors.size > 0) return false;
    for (int u = 0; u < x->users.size; u++) {
      instruction *user = x->users.data[u];
      if (is_among(gone, s, user) || ptr_map_has(&seen, user)) continue;
      if (ptr_map_has(&descendants, user)) return false;
      ptr_map_put(s->arena, &seen, user, user);
      if (!runs_apart(s, user)) vec_push(s->arena, &work, user);
    }
  }
  return true;
}

// Whether each turn reads of the array what it then writes of the bottom, and nothing else.
static bool is_read_where_written(tile_search *s, const tile_group *g, const instruction *array) {
  const region *written = &g->members.data[g->outputs.data[0].member].region;
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    for (int o = 0; o < m->instruction->operand_count; o++) {
      region in;
      if (m->instruction->operands[o] != array) continue;
      if (m->operands[o] >= 0 || tile_group_operand(s, g, m, g->inside, o, &in) != REGION_FOUND) return false;
      if (!region_equal(&in, written)) return false;
    }
  }
  return true;
}

// A donated parameter's memory is that of one result, and a loop's state that of what the next turn finds there.
static bool may_be_written(const tile_search *s, const instruction *i, const instruction *result) {
  if (i->opcode == HLO_PARAMETER) return ptr_map_get(&s->donated, i) == result;
  if (plan_steps_own_state(result) == i) return true;
  const bool is_name = i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER;
  return i->opcode != HLO_CONSTANT && i->opcode != HLO_BITCAST && !is_name && plan_steps_is_temporary(s->steps, i);
}

// Whether the caller has given a parameter's memory for the result.
static bool is_donated_to(const tile_search *s, const instruction *result) {
  const instruction_list *all = &result->parent->parameters;
  for (int k = 0; k < all->size; k++)
    if (ptr_map_get(&s->donated, all->data[k]) == result) return true;
  return false;
}

instruction *tile_in_place_find(tile_search *s, const tile_group *g) {
  const instruction *bottom = g->bottom;
  ptr_map gone = {0};
  if (g->outputs.size > 1 || g->is_sum || !shape_is_array(bottom->shape)) return NULL;
  for (int k = 0; k < g->members.size; k++) {
    instruction *i = g->members.data[k].instruction;
    if (i == bottom || !is_read_outside(s, &gone, i)) ptr_map_put(s->arena, &gone, i, s);
  }
  const bool is_donated = is_donated_to(s, bottom);
  for (int k = 0; k < g->externals.size; k++) {
    instruction *x = g->externals.data[k];
    if (is_donated && x->opcode != HLO_PARAMETER) continue;  // it would have to be copied behind the loop
    if (!shape_is_array(x->shape) || x->shape->dtype != bottom->shape->dtype) continue;
    if (!shape_same_dims(x->shape, bottom->shape) || !may_be_written(s, x, bottom)) continue;
    if (!is_read_where_written(s, g, x)) continue;
    if (!is_read_outside(s, &gone, x) || is_last_read(s, g, &gone, x)) return x;
    if (is_donated && may_be_last_read(s, g, &gone, x)) return x;
  }
  return NULL;
}
