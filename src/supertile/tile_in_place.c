// Who reads the array is known from the data flow alone: what the loop waits for has run before it.
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

// Whether nobody reads the array behind the loop: those whose steps give what the loop reads run before it.
static bool is_last_read(const tile_search *s, const tile_group *g, const ptr_map *gone, const instruction *array) {
  ptr_map ancestors = {0};
  if (!is_read_outside(s, gone, array)) return true;
  find_ancestors(s, g, array, &ancestors);
  for (int u = 0; u < array->users.size; u++) {
    const instruction *user = array->users.data[u];
    const bool runs_before = ptr_map_has(&ancestors, user) && plan_steps_of(s->steps, user);
    if (!runs_before && !is_among(gone, s, user)) return false;
  }
  return array != array->parent->root && array->control_predecessors.size == 0;
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

// A donated parameter's memory is that of one result.
static bool may_be_written(const tile_search *s, const instruction *i, const instruction *result) {
  if (i->opcode == HLO_PARAMETER) return ptr_map_get(&s->donated, i) == result;
  const bool is_name = i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER;
  return i->opcode != HLO_CONSTANT && i->opcode != HLO_BITCAST && !is_name && plan_steps_is_temporary(s->steps, i);
}

instruction *tile_in_place_find(tile_search *s, const tile_group *g) {
  const instruction *bottom = g->bottom;
  ptr_map gone = {0};
  if (g->outputs.size > 1 || g->is_sum || !shape_is_array(bottom->shape)) return NULL;
  for (int k = 0; k < g->members.size; k++) {
    instruction *i = g->members.data[k].instruction;
    if (i == bottom || !is_read_outside(s, &gone, i)) ptr_map_put(s->arena, &gone, i, s);
  }
  for (int k = 0; k < g->externals.size; k++) {
    instruction *x = g->externals.data[k];
    if (!shape_is_array(x->shape) || x->shape->dtype != bottom->shape->dtype) continue;
    if (!shape_same_dims(x->shape, bottom->shape) || !may_be_written(s, x, bottom)) continue;
    if (is_read_where_written(s, g, x) && is_last_read(s, g, &gone, x)) return x;
  }
  return NULL;
}
